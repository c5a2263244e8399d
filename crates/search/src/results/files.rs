//! The files of a search, by name beneath `search_ckpts`.

use super::Report;
use crate::TrialError;
use data::Preparation;
use ir::Graph;
use passes::interface::graph_file;
use serde_json::Value as Json;
use study::Trial;

/// Graphs that are written; a front can have hundreds of points.
pub const MAX_GRAPHS: usize = 20;

/// One of the best trials, and its network.
pub struct BestGraph<'a> {
    /// The trial.
    pub trial: &'a Trial,
    /// Its network with weights.
    pub graph: Graph,
}

impl Report<'_> {
    /// The networks of the best trials that files are written of, from the best value of the first objective on.
    pub fn best_graphs(&self) -> Result<Vec<BestGraph<'_>>, TrialError> {
        let best = self.best_spread(MAX_GRAPHS).into_iter();
        best.map(|trial| {
            let graph = self.search.graph(&trial.point)?;
            Ok(BestGraph { trial, graph })
        })
        .collect()
    }

    /// All files but the page: trials as JSON and CSV, a chart, the best as configs and graphs; `best.json` comes last.
    pub fn files(
        &self,
        best: &[BestGraph],
        preparation: &Preparation,
    ) -> Result<Vec<(String, Vec<u8>)>, TrialError> {
        let mut files: Vec<(String, Vec<u8>)> = vec![
            ("log.json".to_owned(), json_bytes(&self.log())),
            ("trials.csv".to_owned(), self.table().to_csv().into_bytes()),
            ("front.svg".to_owned(), self.chart().to_svg().into_bytes()),
        ];
        for BestGraph { trial, graph } in best {
            let name = format!("best/trial_{}", trial.number);
            let config = self.search.space.to_toml(&trial.point);
            files.push((format!("{name}.toml"), config.into_bytes()));
            files.push((format!("{name}.mz"), graph_file(graph, preparation)?));
        }
        files.push(("best.json".to_owned(), json_bytes(&self.best_json())));
        Ok(files)
    }
}

fn json_bytes(json: &Json) -> Vec<u8> {
    format!("{json:#}\n").into_bytes()
}
