//! Passes over one network with their files: reports as text, Markdown, CSV and JSON, and the graph that came out.

use crate::commands::report;
use crate::commands::test::test_command;
use crate::output::folder::{self, write_file};
use crate::output::{Console, Folder, Role, Stream, calendar, fit};
use crate::settings::{Settings, Source};
use anyhow::{Result, anyhow, bail};
use config::did_you_mean;
use data::{Dataset, Preparation};
use ir::Graph;
use passes::{Context, OutputFile, Program, RunError, StepReport};
use serde_json::{Value as Json, json};
use std::path::Path;

/// Options of passes on the command line.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// Run the passes of this pipeline, whichever the file names: `ch list pipelines`
    #[arg(long, value_name = "NAME", help_heading = "Passes")]
    pub pipeline: Option<String>,
    /// Print the graph after this pass
    #[arg(long, value_name = "PASS", help_heading = "Passes")]
    pub print_after: Vec<String>,
    /// Leave out what comes after this pass
    #[arg(long, value_name = "PASS", help_heading = "Passes")]
    pub stop_after: Option<String>,
    /// Show the formulas of costs with their numbers
    #[arg(long, help_heading = "Passes")]
    pub explain: bool,
}

impl Options {
    /// The passes to run of those of the file.
    pub fn select(&self, mut program: Program) -> Result<Program> {
        for word in self.print_after.iter().chain(&self.stop_after) {
            if !program.has(word) {
                let close = did_you_mean(word, program.keys());
                let keys: Vec<&str> = program.keys().collect();
                let hint = if close.is_empty() {
                    format!("; it has {}", keys.join(", "))
                } else {
                    close
                };
                bail!("the file has no pass '{word}'{hint}");
            }
        }
        if let Some(word) = &self.stop_after {
            program.stop_after(word);
        }
        Ok(program)
    }
}

/// Passes over one network.
pub struct TransformRun<'a> {
    /// All settings.
    pub settings: &'a Settings,
    /// The file of the passes.
    pub source: &'a Source,
    /// Rows to run the network on.
    pub data: Option<&'a Dataset>,
    /// The preparation of the rows that the network was trained on.
    pub preparation: Preparation,
    /// The options on the command line.
    pub options: &'a Options,
    /// True when nothing is written.
    pub is_dry: bool,
}

/// The result of the passes.
pub struct Outcome {
    /// The graph before the first pass.
    before: Graph,
    /// The graph after the last pass that was done.
    pub graph: Graph,
    /// The report of every pass.
    pub steps: Vec<StepReport>,
    /// The error of the pass after those, if one failed.
    pub failure: Option<anyhow::Error>,
    /// The preparation of the rows that the graph was trained on.
    preparation: Preparation,
    files: Vec<OutputFile>,
    started: String,
    is_dry: bool,
}

impl TransformRun<'_> {
    /// Runs the passes; nothing is written yet.
    pub fn apply(&self, program: &Program, graph: Graph, console: &mut Console) -> Outcome {
        let started = calendar::now();
        let before = graph.clone();
        let mut graph = graph;
        let mut context = Context::new(&graph, self.data);
        context.preparation = self.preparation.clone();
        context.seed = self.settings.seed;
        context.run_batch_size = self.settings.batch_size.get();
        context.threads = self.settings.threads();
        context.explain = self.options.explain;
        let mut steps = Vec::new();
        let ended = program.run(&mut graph, &mut context, |step, graph, context| {
            self.report_step(step, graph, context, console);
            steps.push(step.clone());
        });
        Outcome {
            before,
            graph,
            steps,
            failure: ended.err().map(|error| describe(self.source, error)),
            preparation: context.preparation,
            files: context.files,
            started,
            is_dry: self.is_dry,
        }
    }

    /// Finds what does not fit the graph before a long training: runs the passes in memory as far as they need no rows.
    pub fn check(&self, program: &Program, graph: &Graph) -> Result<()> {
        let mut graph = graph.clone();
        let mut context = Context::new(&graph, None);
        match program.run(&mut graph, &mut context, |_, _, _| {}) {
            Err(error @ RunError::Config { .. }) => Err(describe(self.source, error)),
            // Whatever else is wrong may be right with trained weights and rows.
            _ => Ok(()),
        }
    }

    fn report_step(
        &self,
        step: &StepReport,
        graph: &Graph,
        context: &mut Context,
        console: &mut Console,
    ) {
        let milliseconds = step.time.as_secs_f64() * 1e3;
        let title = format!("== {} ({milliseconds:.1} ms)", step.key);
        console.print_as(Role::Title, &title);
        let text = report_text(step, self.is_dry, console.stream());
        console.print(text.trim_end());
        for note in context.notes.drain(..) {
            console.note(&format!("{}: {note}", step.key));
        }
        let is_named = |word: &String| *word == step.key || *word == step.name;
        if self.options.print_after.iter().any(is_named) {
            console.print(graph.to_string().trim_end());
        }
        console.print("");
    }

    /// Writes the reports, then the graph, and `run.json` at the end, so that a run that is cut short does not look complete.
    /// If a pass failed, only the reports of those before it are written.
    pub fn write(&self, outcome: &Outcome, software: &Path, console: &mut Console) -> Result<()> {
        let transform = software.join("transform");
        let mut all: Vec<OutputFile> = outcome.steps.iter().flat_map(report_files).collect();
        for file in &outcome.files {
            all.retain(|known| known.path != file.path);
            all.push(file.clone());
        }
        for file in all {
            write_file(&transform.join(&file.path), &file.bytes, console)?;
        }
        if outcome.failure.is_some() {
            return Ok(());
        }
        let graph = passes::interface::graph_file(&outcome.graph, &outcome.preparation)?;
        write_file(&graph_path(software), &graph, console)?;
        let networks = [&outcome.before, &outcome.graph];
        match report::of_change(&outcome.graph.name, networks, self.data) {
            Ok(page) => write_file(&transform.join("report.html"), page.as_bytes(), console)?,
            Err(error) => console.note(&format!("no report.html: {error}")),
        }
        let facts = json!({
            "config": self.settings.effective(),
            "version": env!("CARGO_PKG_VERSION"),
            "machine": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            "seed": self.settings.seed,
            "transform": { "started": outcome.started, "ended": calendar::now(), "passes": outcome.passes_json() },
        });
        folder::record(software, &facts)
    }
}

/// An error with its place in the file.
fn describe(source: &Source, error: RunError) -> anyhow::Error {
    match &error {
        RunError::Config { problems, .. } => anyhow!("{}", source.describe(problems)),
        RunError::Pass { .. } | RunError::InvalidGraph { .. } => error.into(),
    }
}

/// A report within the width of the terminal.
fn report_text(step: &StepReport, is_dry: bool, stream: Stream) -> String {
    fit::report(&step.report, stream, |name| {
        if is_dry {
            "--json".to_owned()
        } else {
            format!("transform/{}/{name}.csv", step.key)
        }
    })
}

/// The forms of one report.
fn report_files(step: &StepReport) -> Vec<OutputFile> {
    let file = |path: String, text: String| OutputFile {
        path: path.into(),
        bytes: text.into_bytes(),
    };
    let (key, report) = (&step.key, &step.report);
    let tables = report
        .tables()
        .map(|(name, table)| file(format!("{key}/{name}.csv"), table.to_csv()));
    let mut files: Vec<OutputFile> = tables.collect();
    files.push(file(format!("{key}.txt"), report.to_text()));
    files.push(file(format!("{key}.md"), report.to_markdown()));
    files.push(file(
        format!("{key}.json"),
        format!("{:#}\n", report.to_json()),
    ));
    files
}

impl Outcome {
    /// True when every check of the passes holds.
    pub fn passed(&self) -> bool {
        self.steps.iter().all(|step| step.report.is_good)
    }

    /// Every pass with its time and report.
    pub fn passes_json(&self) -> Json {
        let step = |step: &StepReport| {
            json!({
                "key": step.key,
                "pass": step.name,
                "seconds": step.time.as_secs_f64(),
                "report": step.report.to_json(),
            })
        };
        self.steps.iter().map(step).collect()
    }

    /// The result for programs.
    pub fn to_json(&self, folder: Option<&Folder>) -> Json {
        json!({
            "passes": self.passes_json(),
            "graph": folder.map(|folder| graph_path(&folder.software())),
        })
    }

    /// The reports of the passes, for people.
    pub fn reports(&self) -> String {
        let text = |step: &StepReport| report_text(step, self.is_dry, Stream::Out);
        let one = |step: &StepReport| format!("== {}\n{}\n", step.key, text(step));
        self.steps.iter().map(one).collect()
    }

    /// The last lines for people, after the reports.
    pub fn closing(&self, settings: &Settings, folder: Option<&Folder>) -> String {
        let Some(folder) = folder else {
            return "dry run: nothing was written\n".to_owned();
        };
        let graph = graph_path(&folder.software());
        format!(
            "wrote {}\nuse it: {}\n",
            folder.software().join("transform").display(),
            test_command(settings, &self.graph.name, &graph)
        )
    }
}

/// The file of the transformed graph.
pub fn graph_path(software: &Path) -> std::path::PathBuf {
    software.join("transform/transformed_ckpt/graph.mz")
}
