//! The passes of a config file, in its order.

use crate::catalog::find;
use crate::pass::Configured;
use crate::{Context, Kind, PassEntry, PassError, PassReport};
use config::{Problem, Reader, Span, Table};
use ir::{Graph, Node, NodeId, VerifyError, verify};
use std::time::{Duration, Instant};

/// Passes with their configs, ready to run.
pub struct Program {
    steps: Vec<Step>,
}

struct Step {
    key: String,
    span: Span,
    entry: &'static PassEntry,
    pass: Box<dyn Configured>,
}

/// What one pass of a program did.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// The key in the file: `quantize`, `count_flops_2`.
    pub key: String,
    /// The pass.
    pub name: &'static str,
    /// What it has to say.
    pub report: PassReport,
    /// How long it took, the check of the graph included.
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
        /// What is wrong, and where in the file.
        problems: Vec<Problem>,
    },
    /// The pass could not do its work.
    #[error("{pass}: {source}")]
    Pass {
        /// The key of the pass.
        pass: String,
        /// Where its table stands in the file.
        span: Span,
        /// Why.
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
    /// Reads the table `[passes]`: every pass, or every problem.
    pub fn read(table: &Table) -> Result<Self, Vec<Problem>> {
        let mut steps = Vec::new();
        let mut problems = Vec::new();
        for (key, item) in &table.0 {
            let entry = match find(&key.name) {
                Ok(entry) => entry,
                Err(message) => {
                    let span = key.span.clone();
                    problems.push(Problem { span, message });
                    continue;
                }
            };
            let Some(table) = item.as_table() else {
                let message = format!("{}: write it as a table, [passes.{0}]", key.name);
                let span = item.span.clone();
                problems.push(Problem { span, message });
                continue;
            };
            let mut reader = Reader::new(table, key.span.clone());
            let pass = (entry.read)(&mut reader);
            problems.extend(reader.finish());
            steps.push(Step {
                key: key.name.clone(),
                span: key.span.clone(),
                entry,
                pass,
            });
        }
        if table.0.is_empty() {
            let message =
                "there are no passes; give tables such as [passes.report_graph]".to_owned();
            problems.push(Problem {
                span: 0..0,
                message,
            });
        }
        if problems.is_empty() {
            Ok(Self { steps })
        } else {
            Err(problems)
        }
    }

    /// The keys of the passes, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(|step| step.key.as_str())
    }

    /// Whether a word names one of the passes: by its key or by the pass.
    pub fn has(&self, word: &str) -> bool {
        self.steps.iter().any(|step| step.is(word))
    }

    /// Leaves out what comes after a pass.
    pub fn stop_after(&mut self, word: &str) {
        if let Some(last) = self.steps.iter().position(|step| step.is(word)) {
            self.steps.truncate(last + 1);
        }
    }

    /// Runs all passes; `listen` hears of each when it is done. A pass that fails ends the run and leaves the graph as
    /// it was before it.
    pub fn run(
        &self,
        graph: &mut Graph,
        context: &mut Context,
        mut listen: impl FnMut(&StepReport, &Graph, &mut Context),
    ) -> Result<Vec<StepReport>, RunError> {
        let mut reports = Vec::new();
        for step in &self.steps {
            let report = step.run(graph, context)?;
            listen(&report, graph, context);
            reports.push(report);
        }
        Ok(reports)
    }
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

/// Forgets what was found of parameters that a pass has replaced, and of the results of their nodes.
fn drop_stale_statistics(before: &Graph, after: &mut Graph) {
    for index in 0..after.nodes().len() {
        let node = after.node_mut(NodeId(index as u32));
        let old = before.nodes().iter().find(|old| old.name == node.name);
        let Some(old) = old.filter(|_| !node.statistics.is_empty()) else {
            continue;
        };
        let is_whole = old.op == node.op && old.params == node.params;
        let is_stale = |port: &str, node: &Node| {
            let is_result = port.starts_with("data_out_");
            (is_result && !is_whole) || old.params.get(port) != node.params.get(port)
        };
        let mut statistics = std::mem::take(&mut node.statistics);
        statistics.retain(|port, _| !is_stale(port, node));
        node.statistics = statistics;
    }
}
