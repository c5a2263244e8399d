//! `ch predict MODEL DATASET|ARRAYS --out Y.csv`: runs a network and writes its outputs.

mod file;

use crate::output::Output;
use crate::output::json_text;
use crate::output::{Console, OutputArgs};
use crate::rows::{self, Part, SPLIT_HELP};
use crate::settings::{Action, Config, SettingArgs, Settings, hide_unused};
use crate::{classes, pipeline};
use anyhow::{Context, Result, bail};
use data::{Dataset, Info, Split};
use engine::IntegerPlan;
use file::{Kind, Predictions};
use ir::Verified;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Arguments of `ch predict`.
#[derive(clap::Args)]
#[command(mut_args = hide_unused(Action::Use))]
pub struct Args {
    #[command(flatten)]
    settings: SettingArgs,
    /// File for the outputs, a row for each sample: .csv, .npy, .npz or .json
    #[arg(long, value_name = "Y.csv", help_heading = "Prediction")]
    out: PathBuf,
    #[arg(long, value_name = "WORD", help = SPLIT_HELP, help_heading = "Prediction")]
    split: Option<Part>,
    /// Compute in exact integers; every operand must be fixed point
    #[arg(long, help_heading = "Prediction")]
    integer: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// Rows at a time in integers.
const ROWS: usize = 256;

/// Predicts.
pub fn run(args: &Args) -> Result<Output> {
    let config = Config::resolve(&args.settings, Action::Use)?;
    let settings = &config.settings;
    let kind = Kind::of(&args.out)?;
    let mut console = pipeline::begin(&config, args.output)?;
    if pipeline::starts_fresh(settings) {
        console.note("no --load given: these are the outputs of starting weights");
    }
    let (data, rows, info) = open(settings, args, &mut console)?;
    let graph = pipeline::open_graph(settings, info.as_ref(), &mut console)?;
    if let Some(info) = info.as_ref().filter(|info| !info.classes.is_empty()) {
        let name = settings.model.as_ref().unwrap_or(&graph.name);
        classes::check_count(name, &graph, info, &mut console)?;
    }
    if rows.is_empty() {
        bail!("there are no rows to run");
    }
    let verified = ir::verify(&graph)?;
    data.check_inputs(&verified)?;
    let (got, expected) = (rows.width(), verified.input_width());
    if got != expected {
        bail!("rows have {got} values, but the network takes {expected}");
    }
    let shape = result_shape(&verified, rows.len(), &mut console);
    let outputs = if args.integer {
        integers(&verified, &rows)?
    } else {
        let mut network = pipeline::open_network(settings, graph.clone())?;
        train::predict(&mut network, &rows)?
    };
    let labels = (!is_unlabeled(settings)).then(|| rows.labels_of(rows.indices()));
    let predictions = Predictions {
        shape: &shape,
        outputs: &outputs,
        classes: &class_names(settings, info.as_ref())?,
        labels: labels.as_deref(),
    };
    predictions.write(&args.out, kind)?;
    let (rows, width) = (rows.len(), predictions.width());
    let text = if args.output.json {
        json_text(
            &json!({ "rows": rows, "width": width, "out": args.out, "integer": args.integer }),
        )?
    } else {
        format!("wrote {rows} × {width} outputs to {}\n", args.out.display())
    };
    Ok(text.into())
}

/// True for a file of arrays, which has no labels.
fn is_unlabeled(settings: &Settings) -> bool {
    settings.dataset.as_deref().is_some_and(pipeline::is_array)
}

/// The names of the classes: those of the dataset, else those that the network was trained with.
fn class_names(settings: &Settings, info: Option<&Info>) -> Result<Vec<String>> {
    let own = info.map(|info| info.classes.clone());
    match own.filter(|classes| !classes.is_empty()) {
        Some(classes) => Ok(classes),
        None => Ok(rows::preparation(settings)?.classes.unwrap_or_default()),
    }
}

/// The dataset, its rows to run on, and the description that the model is built for.
fn open(
    settings: &Settings,
    args: &Args,
    console: &mut Console,
) -> Result<(Dataset, Split, Option<Info>)> {
    let name = settings.dataset.as_deref();
    let name = name.context("no dataset given; name a dataset or a file of arrays (.npy, .npz)")?;
    if !pipeline::is_array(name) {
        let (data, rows) = rows::open_part(settings, args.split, console)?;
        let info = data.info.clone();
        return Ok((data, rows, Some(info)));
    }
    let data = rows::open_arrays(settings, Path::new(name), console)?;
    // Floats may be laid out in any shape, so that they say nothing of the model's.
    let is_table = data::is_table(&pipeline::network_inputs(settings)?);
    let info = (!is_table).then(|| data.info.clone());
    let rows = data.whole();
    Ok((data, rows, info))
}

/// The axes of the first result for so many rows; a note when there are others.
fn result_shape(verified: &Verified, rows: usize, console: &mut Console) -> Vec<usize> {
    let results = verified.output_values();
    if let [first, _, ..] = results {
        console.note(&format!(
            "{} returns {} results; the first, {}, is written",
            verified.graph().name,
            results.len(),
            verified.graph().node(first.node).name
        ));
    }
    let first = results
        .first()
        .and_then(|first| verified.ty(*first).shape.bind(rows));
    first.unwrap_or_default()
}

fn integers(verified: &Verified, split: &Split) -> Result<Vec<f32>> {
    let state = engine::State::new(verified)?;
    let mut outputs = Vec::new();
    let mut plan: Option<(usize, IntegerPlan)> = None;
    for indices in split.indices().chunks(ROWS) {
        let rows = indices.len();
        if plan.as_ref().is_none_or(|(planned, _)| *planned != rows) {
            let compiled = IntegerPlan::compile(verified, &state, rows)
                .context("the network cannot run in integers")?;
            plan = Some((rows, compiled));
        }
        if let Some((_, plan)) = &mut plan {
            plan.run(&engine::gather(split.elements(), indices))?;
            outputs.extend(plan.output(0));
        }
    }
    Ok(outputs)
}
