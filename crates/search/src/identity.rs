//! The identity of a study: everything that the results of a search follow from.

use crate::{Budget, Goal, Search};
use data::Dataset;
use serde_json::json;
use std::sync::Arc;
use study::storage::StudyInfo;

impl Search {
    /// The identity of this search's study on a dataset; storages continue a study only under the same.
    pub fn info(&self, data: &Dataset) -> StudyInfo {
        let config = &self.config;
        let objective = |goal: &Goal| {
            json!([
                goal.objective.name(),
                goal.scale,
                format!("{:?}", goal.direction)
            ])
        };
        let budget = |budget: &Budget| {
            json!([
                budget.objective.name(),
                format!("{:?}", budget.side),
                budget.limit
            ])
        };
        let (space, goals) = (self.space.study_space(), &config.goals);
        let facts = json!({
            "seed": self.seed,
            "sampler": config.sampler.name,
            "sampler_config": config.sampler.to_json(),
            "network": format!("{:016x}", passes::interface::graph_hash(&self.network)),
            "dataset": format!("{:016x}", data.info.hash),
            "split": config.split.name(),
            "rows": self.rows.len(),
            "objectives": goals.objectives.iter().map(objective).collect::<Vec<_>>(),
            "sum_scaled_metrics": goals.sum.map(|direction| format!("{direction:?}")),
            "budgets": goals.budgets.iter().map(budget).collect::<Vec<_>>(),
            "training": config.training.map(|training| training.facts()),
            "early_stop": config.early_stop,
            "compare_to": config.compare_to,
            "target": config.netlist_target().map(|target| target.name),
            "space": self.space.facts(),
            // Points follow from the order of the parameters, and from what of the space is possible.
            "parameters": space.parameters().iter().map(|p| &p.name).collect::<Vec<_>>(),
            "configurations": space.size().map(|size| size.to_string()),
        });
        StudyInfo {
            name: self.network.name.clone(),
            directions: goals.directions(),
            metric_names: goals.names(),
            facts: facts.as_object().cloned().unwrap_or_default(),
            space: Arc::clone(space),
        }
    }
}
