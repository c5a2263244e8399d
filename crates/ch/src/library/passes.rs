//! Passes over a graph in memory.

use crate::settings::{Action, Config, SettingArgs, Settings, Source};
use ::passes::{Context, OutputFile, Program, RunError, StepReport};
use anyhow::{Result, anyhow, bail};
use config::Table;
use data::Dataset;
use ir::Graph;
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Passes with their configs, ready to run.
pub struct Passes {
    program: Program,
    settings: Settings,
    source: Source,
}

/// The outcome of passes that all succeeded.
pub struct Applied {
    /// The graph after the last pass.
    pub graph: Graph,
    /// Every pass, in order.
    pub steps: Vec<AppliedStep>,
    /// Things to note.
    pub notes: Vec<String>,
}

/// The outcome of one pass.
pub struct AppliedStep {
    /// Its report.
    pub report: StepReport,
    /// The files that it would write.
    pub files: Vec<OutputFile>,
}

impl Passes {
    /// One pass by its name, with the keys of its table.
    pub fn of_keys(name: &str, keys: &Map<String, Json>, settings: Settings) -> Result<Self> {
        let entry = Map::from_iter([(name.to_owned(), Json::Object(keys.clone()))]);
        let program = Program::read(&Table::of_json(&entry)).map_err(|problems| {
            let texts: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
            anyhow!("{}", texts.join("\n"))
        })?;
        Ok(Self {
            program,
            settings,
            source: Source::default(),
        })
    }

    /// The passes of a file, as `ch transform --config` runs them.
    pub fn of_file(path: &Path) -> Result<Self> {
        let args = SettingArgs {
            typed: Vec::new(),
            config: Some(PathBuf::from(path)),
        };
        let mut config = Config::resolve(&args, Action::Transform)?;
        let Some(program) = config.passes.take() else {
            bail!(
                "{} has no passes; add tables such as [passes.quantize]",
                path.display()
            );
        };
        Ok(Self {
            program,
            settings: config.settings,
            source: config.source,
        })
    }

    /// Runs all passes over a copy of a graph.
    pub fn apply(&self, graph: &Graph, data: Option<&Dataset>) -> Result<Applied> {
        let mut graph = graph.clone();
        let mut context = Context::new(&graph, data);
        context.seed = self.settings.seed;
        context.run_batch_size = self.settings.batch_size.get();
        context.threads = self.settings.threads();
        let mut notes = self.program.notes().to_vec();
        let (mut steps, mut seen) = (Vec::new(), BTreeSet::new());
        let ended = self
            .program
            .run(&mut graph, &mut context, |step, _, context| {
                let is_new = |file: &&OutputFile| seen.insert(file.path.clone());
                let files = context.files.iter().filter(is_new).cloned().collect();
                let report = step.clone();
                steps.push(AppliedStep { report, files });
                notes.append(&mut context.notes);
            });
        ended.map_err(|error| self.describe(error))?;
        Ok(Applied {
            graph,
            steps,
            notes,
        })
    }

    /// An error with its places in the file; the keys of a single pass have none.
    fn describe(&self, error: RunError) -> anyhow::Error {
        match &error {
            RunError::Config { problems, pass } if self.source.name.is_empty() => {
                let texts = problems.iter().map(|p| format!("{pass}: {}", p.message));
                anyhow!("{}", texts.collect::<Vec<_>>().join("\n"))
            }
            RunError::Config { problems, .. } => anyhow!("{}", self.source.describe(problems)),
            RunError::Pass { .. } | RunError::InvalidGraph { .. } => error.into(),
        }
    }
}
