//! `[search]` of a config file: the space, the sampler and the goals.

mod metrics;
mod space;
mod strategy;

use crate::goals::Goals;
use crate::space::SpaceRules;
use crate::trial_training::TrialTraining;
use config::{Item, Problem, Reader, Sort, Table, Value, is_same_name, not_here};
use data::SplitName;
use hw::synth::Target;
use passes::By;
use serde_json::{Value as Json, json};
use space::{SPACES, is_channel_space, no_rules, read_space};
use std::sync::Arc;
use std::time::Duration;
use strategy::read_strategy;
use study::{SamplerConfig, SamplerEntry, find_sampler};

/// Everything that a search follows from besides the network and its rows.
#[derive(Clone, Debug)]
pub struct SearchConfig {
    /// The choices, by node.
    pub space: SpaceRules,
    /// The sampler with its settings.
    pub sampler: SamplerChoice,
    /// Trials at most.
    pub n_trials: u64,
    /// No new trial is begun after this long.
    pub timeout: Option<Duration>,
    /// Threads; none given: one for each core.
    pub n_jobs: Option<usize>,
    /// The rows that trials are scored on.
    pub split: SplitName,
    /// Number of rows; all if not given.
    pub num_samples: Option<usize>,
    /// Bits that memory density compares with.
    pub compare_to: f64,
    /// The device that netlists are made for, where goals ask for their costs.
    pub target: &'static Target,
    /// Objectives and budgets.
    pub goals: Goals,
    /// Gives up a trial that can no longer reach the front; the sampler decides if not given.
    pub early_stop: Option<bool>,
    /// Training before scoring, if trials are trained.
    pub training: Option<TrialTraining>,
    /// Notes on keys of the file that are accepted and change nothing.
    pub notes: Vec<String>,
}

/// A sampler with its settings.
#[derive(Clone, Debug)]
pub struct SamplerChoice {
    /// The sampler's name.
    pub name: &'static str,
    /// Its settings.
    pub settings: Arc<dyn SamplerConfig>,
    /// `[search.strategy.sampler_config]` as it stands in the file, for a sampler that is chosen later.
    given: Option<Item>,
}

impl SamplerChoice {
    /// The settings as the file gives them.
    pub fn to_json(&self) -> Json {
        self.given.as_ref().map_or_else(|| json!({}), Item::to_json)
    }

    /// Takes another sampler, with the settings that the file gives.
    pub fn replace(&mut self, entry: &'static SamplerEntry) -> Result<(), Vec<Problem>> {
        let empty = Table::default();
        let table = self.given.as_ref().and_then(Item::as_table);
        let span = self.given.as_ref().map_or(0..0, |item| item.span.clone());
        let mut reader = Reader::new(table.unwrap_or(&empty), span);
        (self.name, self.settings) = (entry.name, (entry.read)(&mut reader));
        let problems = reader.finish();
        if problems.is_empty() {
            Ok(())
        } else {
            Err(problems)
        }
    }
}
impl SearchConfig {
    /// The device that netlists are made for; none where no goal asks for their costs.
    pub fn netlist_target(&self) -> Option<&'static Target> {
        self.goals.ask_for_netlist().then_some(self.target)
    }

    /// Reads the table `[search]`; all problems at once.
    pub fn read(table: &Table) -> Result<Self, Vec<Problem>> {
        // What is missing is shown where the table begins.
        let first = table.0.first();
        let span = first.map_or(0..0, |(key, _)| key.span.clone());
        let mut reader = Reader::new(table, span).named("search");
        reader.ignore(&["nas", "sw_runner", "hw_runner"]);
        let space = reader.table("search_space", read_space);
        if space.is_none() {
            reader.missing("[search.search_space]", "say what may be chosen");
        }
        let space = space.unwrap_or(SpaceRules::Formats(no_rules(By::Name)));
        let config = reader.table("strategy", |strategy| read_strategy(strategy, space));
        if config.is_none() {
            reader.missing("[search.strategy]", "say how to search and for what");
        }
        let notes = reader.take_notes();
        let problems = reader.finish();
        match config {
            Some(config) if problems.is_empty() => Ok(Self { notes, ..config }),
            _ => Err(problems),
        }
    }
}
/// Reports a name of the original that is not here; what else stands in its table is then no matter.
fn is_not_here(reader: &mut Reader, key: &'static str, sort: Sort) -> bool {
    let Some((item, name)) = reader.item(key).and_then(|item| match &item.value {
        Value::Text(name) => Some((item, name)),
        _ => None,
    }) else {
        return false;
    };
    let is_here = match sort {
        Sort::SearchSpace => {
            is_channel_space(name) || SPACES.iter().any(|(known, ())| is_same_name(known, name))
        }
        _ => find_sampler(name).is_ok(),
    };
    let message = not_here(sort, name).filter(|_| !is_here);
    let is_missing = message.is_some();
    if let Some(message) = message {
        reader.problem(item.span.clone(), format!("{key}: {message}"));
        reader.rest();
    }
    is_missing
}
