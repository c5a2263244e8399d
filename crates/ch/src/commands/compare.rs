//! `ch compare A B [DATASET]`: two networks side by side.

use crate::output::{Console, Level, Output, OutputArgs, json_text};
use crate::{checkpoints, pipeline, rows, source};
use anyhow::{Result, bail};
use data::{OpenOptions, Rows, Split, Standardize};
use interop::checkpoint;
use ir::Graph;
use models::ModelInfo;
use passes::compare::Compare;
use random::Random;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments of `ch compare`.
#[derive(clap::Args)]
pub struct Args {
    /// The first network: a model, a graph (.mg, .mz) or a checkpoint
    #[arg(value_name = "A")]
    a: String,
    /// The second network: a model, a graph (.mg, .mz) or a checkpoint
    #[arg(value_name = "B")]
    b: String,
    /// Rows to run both on; normal random numbers if not given
    #[arg(value_name = "DATASET")]
    dataset: Option<String>,
    /// The model of a checkpoint that holds weights alone
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Number of rows
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    num_samples: u32,
    #[arg(
        long,
        value_name = "FOLDER",
        help = "Folder with datasets; $MASE_DATA if not given"
    )]
    data_dir: Option<PathBuf>,
    /// Seed of starting weights and random rows
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    output: OutputArgs,
}

/// Compares.
pub fn run(args: &Args) -> Result<Output> {
    let data = match &args.dataset {
        Some(name) => Some(data::open(
            name,
            &OpenOptions {
                data_dir: args.data_dir.clone(),
                standardize: standardize(&args.a)?,
                ..OpenOptions::default()
            },
        )?),
        None => None,
    };
    let info = data
        .as_ref()
        .map_or_else(ModelInfo::default, |data| ModelInfo {
            input: Some(data.info.sample_shape.clone()),
            classes: Some(data.info.classes.len()),
        });
    let (a, b) = (open(args, &args.a, &info)?, open(args, &args.b, &info)?);
    let width = pipeline::input_width(&a)?;
    for (name, graph) in [(&args.a, &a), (&args.b, &b)] {
        let own = pipeline::input_width(graph)?;
        if own != width {
            bail!("{} takes {width} values a row, {name} takes {own}", args.a);
        }
    }
    let rows = match &data {
        Some(data) if data.test.is_empty() => bail!("dataset {} has no test rows", data.info.name),
        Some(data) => data.test.head(args.num_samples as usize),
        None => random_rows(args.num_samples as usize, width, args.seed),
    };
    if rows.width() != width {
        bail!(
            "rows have {} values, but {} takes {width}",
            rows.width(),
            args.a
        );
    }
    let compare = Compare {
        a: (&args.a, &a),
        b: (&args.b, &b),
        rows: &rows,
        threads: 1,
    };
    let report = compare.report()?;
    let text = if args.output.json {
        json_text(&report.to_json())?
    } else {
        report.to_text()
    };
    Ok(text.into())
}

/// The standardising that the rows of a file need: that of the first network's training.
fn standardize(network: &str) -> Result<Standardize> {
    let trained = rows::preparation_of(Path::new(network))?;
    Ok(trained
        .standardizer
        .map_or(Standardize::None, Standardize::By))
}

/// A network with weights: its own, or those it starts from.
fn open(args: &Args, name: &str, info: &ModelInfo) -> Result<Graph> {
    let path = Path::new(name);
    let is_text = path.extension().is_some_and(|extension| extension == "mg");
    if is_text || (!path.is_file() && models::find(name).is_ok()) {
        let mut graph = source::load(name, info)?;
        source::verify(name, &graph)?;
        graph.initialize(args.seed);
        return Ok(graph);
    }
    if !path.is_file() {
        let why = models::find(name)
            .err()
            .map_or_else(String::new, |error| error.to_string());
        bail!("'{name}' is no file, and as a model: {why}");
    }
    let file = checkpoint::read(path, None)?;
    if file.graph.is_some() {
        return Ok(passes::interface::graph_of(path, &file)?);
    }
    let recorded = file
        .training
        .as_ref()
        .and_then(|training| training.hyper_parameters.get("model"));
    let model = args
        .model
        .as_deref()
        .or_else(|| recorded.and_then(serde_json::Value::as_str));
    let Some(model) = model else {
        bail!("{name} holds weights and does not say of which model; name it with --model");
    };
    let mut graph = source::load(model, info)?;
    source::verify(model, &graph)?;
    let mut console = Console::new(args.output, Level::Info);
    checkpoints::load(&mut graph, path, &file.tensors, false, &mut console)?;
    Ok(graph)
}

fn random_rows(count: usize, width: usize, seed: u64) -> Split {
    let random = Random::new(seed, "compare");
    let values = (0..count * width)
        .map(|k| random.normal(k as u64))
        .collect();
    let rows = Rows {
        values,
        labels: vec![0; count],
        width,
    };
    Split::new(Arc::new(rows), (0..count as u32).collect())
}
