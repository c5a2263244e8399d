//! `ch predict MODEL DATASET|ARRAY.npy --out Y.npy`: runs a network and writes its outputs.

use crate::output::Output;
use crate::output::json_text;
use crate::output::{Console, OutputArgs};
use crate::settings::{Action, Config, SettingArgs, Settings, hide_unused};
use crate::{classes, pipeline};
use anyhow::{Context, Result, bail};
use engine::{Input, IntegerPlan};
use ir::Graph;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Arguments of `ch predict`.
#[derive(clap::Args)]
#[command(mut_args = hide_unused(Action::Use))]
pub struct Args {
    #[command(flatten)]
    settings: SettingArgs,
    /// NumPy file for the outputs, a row for each sample
    #[arg(long, value_name = "Y.npy", help_heading = "Prediction")]
    out: PathBuf,
    /// Rows of the dataset
    #[arg(long, value_name = "WORD", default_value = "test", value_parser = ["train", "val", "test"], help_heading = "Prediction")]
    split: String,
    /// Compute in exact integers; every operand must be fixed point
    #[arg(long, help_heading = "Prediction")]
    integer: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// Rows of samples in memory, with the shape of one.
struct Samples {
    values: Vec<f32>,
    width: usize,
    info: Option<data::Info>,
}

/// Rows at a time in integers.
const ROWS: usize = 256;

/// Predicts.
pub fn run(args: &Args) -> Result<Output> {
    let config = Config::resolve(&args.settings, Action::Use)?;
    let settings = &config.settings;
    let mut console = pipeline::begin(&config, args.output)?;
    if pipeline::starts_fresh(settings) {
        console.note("no --load given: these are the outputs of starting weights");
    }
    let samples = samples(settings, args, &mut console)?;
    let graph = pipeline::open_graph(settings, samples.info.as_ref(), &mut console)?;
    if let Some(info) = &samples.info {
        let name = settings.model.as_ref().unwrap_or(&graph.name);
        classes::check_count(name, &graph, info, &mut console)?;
    }
    let rows = samples.values.len() / samples.width.max(1);
    if rows == 0 {
        bail!("there are no rows to run");
    }
    check_width(&graph, samples.width)?;
    let outputs = if args.integer {
        integers(&graph, &samples)?
    } else {
        let mut network = pipeline::open_network(settings, graph)?;
        train::predict(&mut network, &samples.values, samples.width)?
    };
    interop::npy::write(&args.out, &[rows, outputs.len() / rows], &outputs)?;
    let text = if args.output.json {
        json_text(
            &json!({ "rows": rows, "width": outputs.len() / rows, "out": args.out, "integer": args.integer }),
        )?
    } else {
        format!(
            "wrote {rows} × {} outputs to {}\n",
            outputs.len() / rows,
            args.out.display()
        )
    };
    Ok(text.into())
}

fn samples(settings: &Settings, args: &Args, console: &mut Console) -> Result<Samples> {
    let name = settings.dataset.as_deref();
    let name = name.context("no dataset given; name a dataset or an array (.npy)")?;
    if pipeline::is_array(name) {
        let array = interop::npy::read(Path::new(name))?;
        let rows = array.shape.first().copied().unwrap_or(1).max(1);
        return Ok(Samples {
            width: array.values.len() / rows,
            values: array.values,
            info: None,
        });
    }
    let data = pipeline::open_data(settings, console)?;
    let split = match args.split.as_str() {
        "train" => &data.train,
        "val" => &data.val,
        _ => &data.test,
    };
    let width = split.width();
    let row = |&index: &u32| &split.rows()[index as usize * width..(index as usize + 1) * width];
    let values = split.indices().iter().flat_map(row).copied().collect();
    Ok(Samples {
        values,
        width,
        info: Some(data.info),
    })
}

fn check_width(graph: &Graph, got: usize) -> Result<()> {
    let expected = pipeline::input_width(graph)?;
    if expected != got {
        bail!("rows have {got} values, but the network takes {expected}");
    }
    Ok(())
}

fn integers(graph: &Graph, samples: &Samples) -> Result<Vec<f32>> {
    let verified = ir::verify(graph)?;
    let state = engine::State::new(&verified)?;
    let mut outputs = Vec::new();
    let mut plan: Option<(usize, IntegerPlan)> = None;
    for values in samples.values.chunks(ROWS * samples.width) {
        let rows = values.len() / samples.width;
        if plan.as_ref().is_none_or(|(planned, _)| *planned != rows) {
            let compiled = IntegerPlan::compile(&verified, &state, rows)
                .context("the network cannot run in integers")?;
            plan = Some((rows, compiled));
        }
        if let Some((_, plan)) = &mut plan {
            plan.run(&[Input::F32(values)])?;
            outputs.extend(plan.output(0));
        }
    }
    Ok(outputs)
}
