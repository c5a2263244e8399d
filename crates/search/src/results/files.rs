//! The files of a search, by name beneath `search_ckpts`.

use super::{Report, page};
use crate::TrialError;
use passes::interface::{Training, graph_file_with};
use serde_json::Value as Json;

/// Graphs that are written; a front can have hundreds of points.
pub const MAX_GRAPHS: usize = 20;

impl Report<'_> {
    /// All files: trials as JSON and CSV, a chart, a page, the best as configs and graphs; `best.json` comes last.
    /// The graphs keep the record of the training that made their weights.
    pub fn files(
        &self,
        title: &str,
        training: Option<&Training>,
    ) -> Result<Vec<(String, Vec<u8>)>, TrialError> {
        let mut files: Vec<(String, Vec<u8>)> = vec![
            ("log.json".to_owned(), json_bytes(&self.log())),
            ("trials.csv".to_owned(), self.table().to_csv().into_bytes()),
            ("front.svg".to_owned(), self.chart().to_svg().into_bytes()),
            ("report.html".to_owned(), page(self, title).into_bytes()),
        ];
        for trial in self.best_spread(MAX_GRAPHS) {
            let graph = self.search.graph(&trial.point)?;
            let name = format!("best/trial_{}", trial.number);
            let config = self.search.task.formats.to_toml(&trial.point);
            files.push((format!("{name}.toml"), config.into_bytes()));
            files.push((format!("{name}.mz"), graph_file_with(&graph, training)?));
        }
        files.push(("best.json".to_owned(), json_bytes(&self.best_json())));
        Ok(files)
    }
}

fn json_bytes(json: &Json) -> Vec<u8> {
    format!("{json:#}\n").into_bytes()
}
