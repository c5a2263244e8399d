//! Named sequences of passes: those of the table, and those that a file defines.
//!
//! `[passes] pipeline = "ptq"` runs the steps of a pipeline in its order. A table `[passes.STEP]` configures a step; one
//! without a table has its defaults, which for passes that do nothing without a config are those of [`default_config`].

use crate::catalog::find;
use config::{Key, Problem, Reader, Span, Table, did_you_mean};

/// A sequence of passes with a name.
#[derive(Clone, Copy, Debug)]
pub struct Pipeline {
    /// The name in configs.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// In the order in which they run.
    pub steps: &'static [PipelineStep],
}

/// A step of a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct PipelineStep {
    /// The pass.
    pub pass: &'static str,
    /// The reason of its place.
    pub why: &'static str,
}

impl PipelineStep {
    const fn new(pass: &'static str, why: &'static str) -> Self {
        Self { pass, why }
    }
}

/// Every pipeline, in reading order.
pub static PIPELINES: &[Pipeline] = &[
    Pipeline {
        name: "report",
        about: "the graph, its types and shapes, and what it costs",
        steps: &[
            PipelineStep::new("verify", "what breaks a rule is not worth counting"),
            PipelineStep::new("report_graph", "the whole before its parts"),
            PipelineStep::new("report_node_type", "what every node is"),
            PipelineStep::new("report_node_shape", "what it reads and makes"),
            PipelineStep::new("count_flops", "what it computes, whatever the formats"),
            PipelineStep::new("count_bitops", "what that costs with the formats"),
            PipelineStep::new("calculate_avg_bits", "all formats in two numbers"),
        ],
    },
    Pipeline {
        name: "ptq",
        about: "post-training quantisation: fold, quantise, calibrate, GPTQ, correct biases, calibrate again",
        steps: &[
            PipelineStep::new("fuse_batch_norm", "only layers without formats are folded"),
            PipelineStep::new("quantize", "what follows chooses for the formats there are"),
            PipelineStep::new(
                "calibrate",
                "weights and inputs get their grids before weights are fixed to them",
            ),
            PipelineStep::new(
                "gptq",
                "the errors that it makes good are those of the final grids",
            ),
            PipelineStep::new("correct_bias", "takes out the mean error that is left"),
            PipelineStep::new(
                "calibrate_2",
                "inputs get the grids that suit the new weights and biases",
            ),
            PipelineStep::new(
                "correct_bias_2",
                "takes out the mean error of the new grids",
            ),
        ],
    },
    Pipeline {
        name: "prune",
        about: "masks half of the weights, and counts what is left",
        steps: &[
            PipelineStep::new("prune", "makes the masks"),
            PipelineStep::new("add_pruning_metadata", "lists the masks"),
            PipelineStep::new("count_flops", "counts effective FLOPs when there are masks"),
        ],
    },
];

/// The config of a step without a table, for passes that have nothing to do without one: 8-bit integers for every operand
/// but biases, which have 16 bits, as they are added to sums of products; half of the weights pruned.
pub fn default_config(pass: &str) -> &'static str {
    match pass {
        "quantize" => {
            "default = { name = \"integer\", data_in_width = 8, weight_width = 8, bias_width = 16 }"
        }
        "prune" => "weight = { sparsity = 0.5 }",
        _ => "",
    }
}

/// The keys of a pipeline's passes, each with its place in the file; those of the table stand where the name does.
pub(crate) fn steps(
    passes: &Table,
    name: &str,
    span: &Span,
    problems: &mut Vec<Problem>,
) -> Vec<Key> {
    let own = read_own(passes, problems);
    if let Some((_, steps)) = own.iter().find(|(key, _)| key.name == name) {
        return steps.clone();
    }
    if let Some(pipeline) = PIPELINES.iter().find(|pipeline| pipeline.name == name) {
        let key = |step: &PipelineStep| Key {
            name: step.pass.to_owned(),
            span: span.clone(),
        };
        return pipeline.steps.iter().map(key).collect();
    }
    let own = own.iter().map(|(key, _)| key.name.as_str());
    let names: Vec<&str> = PIPELINES.iter().map(|p| p.name).chain(own).collect();
    let close = did_you_mean(name, names.iter().copied());
    let hint = if close.is_empty() {
        format!("; there are {}", names.join(", "))
    } else {
        close
    };
    problems.push(Problem {
        span: span.clone(),
        message: format!("unknown pipeline '{name}'{hint}"),
    });
    Vec::new()
}

/// The pipelines under `[passes.pipelines]`, each with its steps.
pub(crate) fn read_own(passes: &Table, problems: &mut Vec<Problem>) -> Vec<(Key, Vec<Key>)> {
    let Some((key, item)) = passes.get("pipelines") else {
        return Vec::new();
    };
    let Some(table) = item.as_table() else {
        problems.push(Problem {
            span: item.span.clone(),
            message: "pipelines: write it as tables, [passes.pipelines.NAME]".to_owned(),
        });
        return Vec::new();
    };
    let mut reader = Reader::new(table, key.span.clone());
    let mut own = Vec::new();
    for (key, item) in reader.rest() {
        if PIPELINES.iter().any(|pipeline| pipeline.name == key.name) {
            let message = format!(
                "'{}' is a pipeline of the program; choose another name",
                key.name
            );
            reader.problem(key.span.clone(), message);
        }
        if let Some(steps) = reader.inner(&key.name, item, |inner| read_steps(inner)) {
            own.push((key.clone(), steps));
        }
    }
    problems.extend(reader.finish());
    own
}

fn read_steps(reader: &mut Reader) -> Vec<Key> {
    let steps = reader.words("steps").unwrap_or_default();
    if steps.is_empty() {
        reader.missing(
            "steps",
            "list passes, such as [\"quantize\", \"calibrate\"]",
        );
    }
    for (index, step) in steps.iter().enumerate() {
        if let Err(message) = find(&step.name) {
            reader.problem(step.span.clone(), message);
        } else if steps[..index].iter().any(|other| other.name == step.name) {
            let message = format!(
                "step '{0}' is there twice; write '{0}_2' to run it again",
                step.name
            );
            reader.problem(step.span.clone(), message);
        }
    }
    steps
}
