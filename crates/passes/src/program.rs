//! The passes of a config file, in its order or in that of a pipeline.

use crate::catalog::{find, find_run};
use crate::pass::Configured;
use crate::{Context, Kind, PassEntry, PassError, PassReport, pipelines};
use config::{Item, Key, Problem, Reader, Span, Table, Value};
use ir::{Graph, NodeId, VerifyError, verify};
use std::time::{Duration, Instant};

/// The key of `[passes]` that names the pipeline to run.
const PIPELINE: &str = "pipeline";
/// The key of `[passes]` under which a file defines pipelines.
const PIPELINES: &str = "pipelines";
/// The key of a pass's table that names the pass, where the key of the table does not.
const TYPE: &str = "type";

/// Passes with their configs, ready to run.
pub struct Program {
    steps: Vec<Step>,
    notes: Vec<String>,
}

struct Step {
    key: String,
    span: Span,
    entry: &'static PassEntry,
    pass: Box<dyn Configured>,
    notes: Vec<String>,
}

/// The outcome of one pass of a program.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// The key in the file: `quantize`, `count_flops_2`.
    pub key: String,
    /// The pass.
    pub name: &'static str,
    /// The report of the pass.
    pub report: PassReport,
    /// The time it took, the check of the graph included.
    pub time: Duration,
}

/// A pass that failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Keys of the file do not fit the graph.
    #[error("{pass}: the config does not fit the graph")]
    Config {
        /// The key of the pass.
        pass: String,
        /// The problems with their places in the file.
        problems: Vec<Problem>,
    },
    /// The pass could not do its work.
    #[error("{pass}: {source}")]
    Pass {
        /// The key of the pass.
        pass: String,
        /// The place of its table in the file.
        span: Span,
        /// The error.
        source: Box<PassError>,
    },
    /// The pass made a graph that breaks rules: a fault of the pass.
    #[error("{pass}: the graph is invalid after this pass: {source}")]
    InvalidGraph {
        /// The key of the pass.
        pass: String,
        /// The rules.
        source: VerifyError,
    },
}

impl Program {
    /// Reads the table `[passes]`: every pass, or every problem. Passes run in the order of their tables, or, with
    /// `pipeline = "NAME"`, in that of the pipeline.
    pub fn read(table: &Table) -> Result<Self, Vec<Problem>> {
        let Some((_, item)) = table.get(PIPELINE) else {
            return Self::read_tables(table);
        };
        match &item.value {
            Value::Text(name) => Self::read_steps(table, name, &item.span),
            other => Err(vec![Problem {
                span: item.span.clone(),
                message: format!("pipeline: {other} is not the name of a pipeline"),
            }]),
        }
    }

    /// Reads a pipeline of the table or of the file, whatever `pipeline` the file names. `table` is the file's `[passes]`,
    /// which may define pipelines and configure steps.
    pub fn read_pipeline(table: Option<&Table>, name: &str) -> Result<Self, Vec<Problem>> {
        Self::read_steps(table.unwrap_or(&Table::default()), name, &(0..0))
    }

    /// The passes of a file without a pipeline.
    fn read_tables(table: &Table) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let own = pipelines::read_own(table, &mut problems);
        let mut steps = Vec::new();
        for (key, item) in pass_tables(table) {
            steps.extend(read_step(key, Some(item), &mut problems));
        }
        if steps.is_empty() && problems.is_empty() {
            let hint = match own.first() {
                Some((own, _)) => format!("choose a pipeline, pipeline = \"{}\"", own.name),
                None => "give tables such as [passes.report_graph]".to_owned(),
            };
            problems.push(Problem {
                span: 0..0,
                message: format!("there are no passes; {hint}"),
            });
        }
        Self::of(steps, problems)
    }

    /// The passes of a pipeline; `span` is the place of its name in the file.
    fn read_steps(table: &Table, name: &str, span: &Span) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let keys = pipelines::steps(table, name, span, &mut problems);
        let mut steps = Vec::new();
        for key in &keys {
            // A key that is no pass was reported where the pipeline was read.
            if find(&key.name).is_err() {
                continue;
            }
            let configured = pass_tables(table).find(|(other, _)| is_same_run(other, key));
            steps.extend(match configured {
                Some((own, item)) => read_step(own, Some(item), &mut problems),
                None => read_step(key, None, &mut problems),
            });
        }
        for (key, item) in pass_tables(table) {
            match find_table(key, Some(item)) {
                Err(message) => problems.push(Problem {
                    span: key.span.clone(),
                    message,
                }),
                // Without steps the pipeline has a problem of its own.
                Ok(_) if keys.is_empty() || keys.iter().any(|step| is_same_run(key, step)) => {}
                Ok(_) => {
                    let names: Vec<&str> = keys.iter().map(|step| step.name.as_str()).collect();
                    problems.push(Problem {
                        span: key.span.clone(),
                        message: format!(
                            "'{}' is not a step of pipeline '{name}', which runs {}",
                            key.name,
                            names.join(", ")
                        ),
                    });
                }
            }
        }
        Self::of(steps, problems)
    }

    fn of(mut steps: Vec<Step>, problems: Vec<Problem>) -> Result<Self, Vec<Problem>> {
        if problems.is_empty() {
            let notes = steps.iter_mut().flat_map(|step| step.notes.drain(..));
            let notes = notes.collect();
            Ok(Self { steps, notes })
        } else {
            Err(problems)
        }
    }

    /// Notes on keys of the file that are accepted and change nothing.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The keys of the passes, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(|step| step.key.as_str())
    }

    /// True for a word that names one of the passes, by its key or by the pass.
    pub fn has(&self, word: &str) -> bool {
        self.steps.iter().any(|step| step.is(word))
    }

    /// Leaves out what comes after a pass.
    pub fn stop_after(&mut self, word: &str) {
        if let Some(last) = self.steps.iter().position(|step| step.is(word)) {
            self.steps.truncate(last + 1);
        }
    }

    /// Runs all passes; `on_step` is called after each. A pass that fails ends the run and leaves the graph as
    /// it was before it.
    pub fn run(
        &self,
        graph: &mut Graph,
        context: &mut Context,
        mut on_step: impl FnMut(&StepReport, &Graph, &mut Context),
    ) -> Result<Vec<StepReport>, RunError> {
        let mut reports = Vec::new();
        for step in &self.steps {
            let report = step.run(graph, context)?;
            on_step(&report, graph, context);
            reports.push(report);
        }
        Ok(reports)
    }
}

/// The tables `[passes.KEY]`: all but the keys of pipelines.
fn pass_tables(table: &Table) -> impl Iterator<Item = &(Key, Item)> {
    let is_pass = |(key, _): &&(Key, Item)| ![PIPELINE, PIPELINES].contains(&key.name.as_str());
    table.0.iter().filter(is_pass)
}

/// The pass of a table: that of its key or, under a key of the user's own, that of its `type`.
fn find_table(key: &Key, item: Option<&Item>) -> Result<&'static PassEntry, String> {
    let of_key = find(&key.name);
    match item.and_then(type_of) {
        Some(name) if of_key.is_err() => find(name).map_err(|error| format!("type: {error}")),
        _ => of_key,
    }
}

/// The word that a table has for `type`.
fn type_of(item: &Item) -> Option<&str> {
    let (_, item) = item.as_table()?.get(TYPE)?;
    match &item.value {
        Value::Text(name) => Some(name),
        _ => None,
    }
}

/// True for keys of the same pass that are numbered alike, by whatever names.
fn is_same_run(a: &Key, b: &Key) -> bool {
    match (find_run(&a.name), find_run(&b.name)) {
        (Ok((a, a_run)), Ok((b, b_run))) => a.name == b.name && a_run == b_run,
        _ => false,
    }
}

/// Reads the config of a pass; without an item, the defaults that it has in a pipeline.
fn read_step(key: &Key, item: Option<&Item>, problems: &mut Vec<Problem>) -> Option<Step> {
    let mut refuse = |span: &Span, message: String| {
        let span = span.clone();
        problems.push(Problem { span, message });
    };
    let entry = match find_table(key, item) {
        Ok(entry) => entry,
        Err(message) => {
            refuse(&key.span, message);
            return None;
        }
    };
    let default;
    let table = if let Some(item) = item {
        let Some(table) = item.as_table() else {
            let message = format!("{}: write it as a table, [passes.{0}]", key.name);
            refuse(&item.span, message);
            return None;
        };
        table
    } else {
        default = Table::parse(pipelines::default_config(entry.name)).expect("defaults are TOML");
        &default
    };
    let name = format!("passes.{}", key.name);
    let mut reader = Reader::new(table, key.span.clone()).named(name);
    let named = item.and_then(type_of).and_then(|name| find(name).ok());
    if named.is_some_and(|named| named.name == entry.name) {
        reader.item(TYPE);
    }
    let pass = (entry.read)(&mut reader);
    let notes = reader.take_notes();
    problems.extend(reader.finish());
    Some(Step {
        key: key.name.clone(),
        span: key.span.clone(),
        entry,
        pass,
        notes,
    })
}

impl Step {
    fn is(&self, word: &str) -> bool {
        self.key == word || self.entry.name == word
    }

    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<StepReport, RunError> {
        let started = Instant::now();
        let mut changed = graph.clone();
        context.key.clone_from(&self.key);
        let report = self
            .pass
            .run(&mut changed, context)
            .map_err(|error| self.error(error))?;
        verify(&changed).map_err(|source| RunError::InvalidGraph {
            pass: self.key.clone(),
            source,
        })?;
        if self.entry.kind == Kind::Transform {
            drop_stale_statistics(graph, &mut changed);
        }
        *graph = changed;
        Ok(StepReport {
            key: self.key.clone(),
            name: self.entry.name,
            report,
            time: started.elapsed(),
        })
    }

    fn error(&self, error: PassError) -> RunError {
        let pass = self.key.clone();
        match error {
            PassError::Config(problems) => RunError::Config { pass, problems },
            source => RunError::Pass {
                pass,
                span: self.span.clone(),
                source: Box::new(source),
            },
        }
    }
}

/// Forgets what was found of parameters that a pass has replaced, of the results of their nodes, and of all values that
/// follow from these.
fn drop_stale_statistics(before: &Graph, after: &mut Graph) {
    let mut is_changed: Vec<bool> = Vec::with_capacity(after.nodes().len());
    for index in 0..after.nodes().len() {
        let node = after.node_mut(NodeId(index as u32));
        let reads_change = |k: usize| is_changed[node.inputs[k].node.index()];
        let stale_inputs: Vec<bool> = (0..node.inputs.len()).map(reads_change).collect();
        let old = before.nodes().iter().find(|old| old.name == node.name);
        let is_whole = old.is_none_or(|old| {
            old.op == node.op && old.params == node.params && old.masks == node.masks
        });
        let gives_change = !is_whole || stale_inputs.contains(&true);
        let is_stale = |port: &str| {
            let input = port.strip_prefix("data_in_");
            match input.and_then(|k| k.parse::<usize>().ok()) {
                Some(k) => stale_inputs.get(k) != Some(&false),
                None if port.starts_with("data_out_") => gives_change,
                None => old.is_some_and(|old| old.params.get(port) != node.params.get(port)),
            }
        };
        let mut statistics = std::mem::take(&mut node.statistics);
        statistics.retain(|port, _| !is_stale(port));
        node.statistics = statistics;
        is_changed.push(gives_change);
    }
}
