//! `ch compare A B [DATASET]`: two networks side by side.

use crate::command_line::whole;
use crate::output::{Console, Level, Output, OutputArgs, Stream, fit, json_text};
use crate::rows::{self, DataArgs};
use crate::{checkpoints, missing, pipeline, source};
use anyhow::{Result, bail};
use data::{Arrays, InputArray, NetworkInput, OpenOptions, Rows, Split, Standardize, Values};
use interop::checkpoint::{self, Checkpoint};
use ir::{DType, Graph, NodeId};
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
    /// Rows to run both on; random numbers if not given
    #[arg(value_name = "DATASET")]
    dataset: Option<String>,
    /// The model of a checkpoint that holds weights alone
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Number of rows
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = whole::<u32>(1, Some(1_000_000)))]
    num_samples: u32,
    #[command(flatten)]
    data: DataArgs,
    /// Seed of starting weights and random rows
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    output: OutputArgs,
}

/// Compares.
pub fn run(args: &Args) -> Result<Output> {
    let (definition, _) = define(args, &args.a, &ModelInfo::default())?;
    let inputs = pipeline::inputs_of(&definition)?;
    let data = match &args.dataset {
        Some(name) => {
            missing::check_dataset(name)?;
            let standardize = standardize(&args.a)?;
            let mut console = Console::new(args.output, Level::Info);
            Some(rows::reporting(&mut console, |options| {
                let options = OpenOptions {
                    standardize,
                    inputs: &inputs,
                    ..args.data.apply(options)
                };
                data::open(name, &options)
            })?)
        }
        None => None,
    };
    let info = data
        .as_ref()
        .map_or_else(ModelInfo::default, |data| ModelInfo {
            input: Some(data.info.sample_shape.clone()),
            classes: Some(data.info.classes.len()),
        });
    let (a, b) = (open(args, &args.a, &info)?, open(args, &args.b, &info)?);
    let width = ir::verify(&a)?.input_width();
    let own = ir::verify(&b)?.input_width();
    if own != width {
        bail!(
            "{} takes {width} values a row, {} takes {own}",
            args.a,
            args.b
        );
    }
    let types = |inputs: &[NetworkInput]| -> Vec<DType> {
        inputs.iter().map(|input| input.dtype).collect()
    };
    if types(&inputs) != types(&pipeline::inputs_of(&b)?) {
        bail!("{} and {} take inputs of different types", args.a, args.b);
    }
    let rows = match &data {
        Some(data) if data.test.is_empty() => bail!("dataset {} has no test rows", data.info.name),
        Some(data) => {
            data.check_inputs(&ir::verify(&a)?)?;
            data.test.head(args.num_samples as usize)
        }
        None => random_rows(args.num_samples as usize, &a, args.seed)?,
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
        fit::report(&report, Stream::Out, |_| "--json".to_owned())
    };
    Ok(text.into())
}

/// The standardising that the rows of a file need: that of the first network's training.
fn standardize(network: &str) -> Result<Standardize> {
    let path = network_file(network)?;
    let is_text = path.extension().is_some_and(|extension| extension == "mg");
    if is_text || !path.is_file() {
        return Ok(Standardize::None);
    }
    let trained = rows::preparation_of(&path)?;
    Ok(trained
        .standardizer
        .map_or(Standardize::None, Standardize::By))
}

/// A network with weights: its own, or those it starts from.
fn open(args: &Args, name: &str, info: &ModelInfo) -> Result<Graph> {
    let (mut graph, weights) = define(args, name, info)?;
    match weights {
        None => {}
        Some(Weights::Start) => graph.initialize(args.seed),
        Some(Weights::Stored(file)) => {
            let mut console = Console::new(args.output, Level::Info);
            let path = Path::new(name);
            checkpoints::load(&mut graph, path, &file.tensors, false, &mut console)?;
        }
    }
    Ok(graph)
}

/// The weights that a network still needs.
enum Weights {
    /// Those it starts from.
    Start,
    /// Those of a checkpoint.
    Stored(Box<Checkpoint>),
}

/// The file of a network, which for the folder of a run is its best checkpoint. A model is no file.
fn network_file(name: &str) -> Result<PathBuf> {
    let path = Path::new(name);
    if checkpoints::is_weights(name) {
        checkpoints::resolve(path)
    } else {
        Ok(path.to_owned())
    }
}

/// A network, and the weights that it still needs.
fn define(args: &Args, name: &str, info: &ModelInfo) -> Result<(Graph, Option<Weights>)> {
    let path = &network_file(name)?;
    let is_text = path.extension().is_some_and(|extension| extension == "mg");
    if is_text || (!path.is_file() && models::find(name).is_ok()) {
        let graph = source::load(name, info)?;
        source::verify(name, &graph)?;
        return Ok((graph, Some(Weights::Start)));
    }
    if !path.is_file() && source::is_path(name) {
        bail!(missing::sentence(path));
    }
    if !path.is_file() {
        let why = models::find(name)
            .err()
            .map_or_else(String::new, |error| error.to_string());
        bail!("'{name}' is no file, and as a model: {why}");
    }
    let file = checkpoint::read(path, None)?;
    if file.graph.is_some() {
        return Ok((passes::interface::graph_of(path, &file)?, None));
    }
    let recorded = checkpoints::recorded(&file, "model");
    let Some(model) = args.model.as_deref().or(recorded) else {
        bail!("{name} holds weights and does not say of which model; name it with --model");
    };
    let recorded = checkpoints::recorded_sizes(&file);
    let info = ModelInfo {
        input: info.input.clone().or(recorded.input),
        classes: info.classes.or(recorded.classes),
    };
    let graph = source::load(model, &info)?;
    source::verify(model, &graph)?;
    Ok((graph, Some(Weights::Stored(Box::new(file)))))
}

/// Rows of random numbers: floats are normal, integers are any that the network knows.
fn random_rows(count: usize, graph: &Graph, seed: u64) -> Result<Split> {
    let verified = ir::verify(graph)?;
    let takes = pipeline::inputs_of(graph)?;
    if data::is_table(&takes) {
        let width = verified.input_width();
        let values = normals(Random::new(seed, "compare"), count * width);
        let rows = Rows {
            values,
            labels: vec![0; count],
            width,
        };
        return Ok(Split::new(Arc::new(rows), (0..count as u32).collect()));
    }
    let array = |(id, input): (NodeId, NetworkInput)| {
        let sizes = verified.ty(id.into()).shape.bind(1).unwrap_or_default();
        let shape = sizes.get(1..).unwrap_or_default().to_vec();
        let len = count * shape.iter().product::<usize>();
        let random = Random::new(seed, &input.name);
        let values = match (input.dtype, input.default) {
            (DType::I64, Some(value)) => Values::I64(vec![value; len]),
            (DType::I64, None) => {
                let bound = verified.index_bound(id).unwrap_or(1) as u64;
                Values::I64(
                    (0..len as u64)
                        .map(|k| (random.bits(k) % bound) as i64)
                        .collect(),
                )
            }
            (_, Some(value)) => Values::F32(vec![value as f32; len]),
            (_, None) => Values::F32(normals(random, len)),
        };
        InputArray {
            name: input.name,
            shape,
            values,
        }
    };
    let placeholders = verified.placeholders().into_iter();
    let arrays = Arrays {
        inputs: placeholders.zip(takes).map(array).collect(),
        labels: vec![0; count],
    };
    Ok(Split::of_arrays(
        Arc::new(arrays),
        (0..count as u32).collect(),
    ))
}

fn normals(random: Random, count: usize) -> Vec<f32> {
    (0..count as u64).map(|k| random.normal(k)).collect()
}
