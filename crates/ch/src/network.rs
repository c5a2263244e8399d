//! A network as commands name it: a model, a graph, a checkpoint or the folder of a run; and rows to run it on.

use crate::command_line::whole;
use crate::output::{Console, Level, OutputArgs};
use crate::rows::{self, DataArgs};
use crate::settings::BatchAxis;
use crate::{checkpoints, missing, pipeline, source};
use anyhow::{Result, bail};
use data::{
    Arrays, Dataset, InputArray, NetworkInput, OpenOptions, Rows, Split, Standardize, Values,
};
use interop::checkpoint::{self, Checkpoint};
use ir::{DType, Graph, NodeId};
use models::ModelInfo;
use random::Random;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The options of a command that runs networks on some rows.
#[derive(clap::Args)]
pub struct SampleArgs {
    /// Number of rows
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = whole::<u32>(1, Some(1_000_000)))]
    pub num_samples: u32,
    #[command(flatten)]
    pub data: DataArgs,
    /// Seed of starting weights and random rows
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// The options by which networks are opened.
#[derive(Clone, Copy)]
pub struct Opener<'a> {
    /// The model of a checkpoint that holds weights alone.
    pub model: Option<&'a str>,
    /// Seed of starting weights and random rows.
    pub seed: u64,
    /// The axis of a file's inputs that becomes the batch.
    pub batch_axis: BatchAxis,
    pub output: OutputArgs,
}

impl Opener<'_> {
    /// The dataset for a network, with its rows prepared as for the network's training.
    pub fn dataset(&self, network: &str, name: &str, places: &DataArgs) -> Result<Dataset> {
        let (definition, _) = self.define(network, &ModelInfo::default())?;
        let inputs = pipeline::inputs_of(&definition)?;
        missing::check_dataset(name)?;
        let standardize = standardize(network)?;
        let mut console = Console::new(self.output, Level::Info);
        Ok(rows::reporting(&mut console, |options| {
            let options = OpenOptions {
                standardize,
                inputs: &inputs,
                ..places.apply(options)
            };
            data::open(name, &options)
        })?)
    }

    /// The first test rows of a dataset, or rows of random numbers, for a network.
    pub fn rows(&self, graph: &Graph, data: Option<&Dataset>, count: usize) -> Result<Split> {
        match data {
            Some(data) if data.test.is_empty() => {
                bail!("dataset {} has no test rows", data.info.name)
            }
            Some(data) => {
                data.check_inputs(&ir::verify(graph)?)?;
                Ok(data.test.head(count))
            }
            None => random_rows(count, graph, self.seed),
        }
    }

    /// A network with weights: its own, or those it starts from.
    pub fn open(&self, name: &str, info: &ModelInfo) -> Result<Graph> {
        let (mut graph, weights) = self.define(name, info)?;
        match weights {
            None => {}
            Some(Weights::Start) => graph.initialize(self.seed),
            Some(Weights::Stored(file)) => {
                let mut console = Console::new(self.output, Level::Info);
                let path = Path::new(name);
                checkpoints::load(&mut graph, path, &file.tensors, false, &mut console)?;
            }
        }
        Ok(graph)
    }

    /// A network, and the weights that it still needs.
    fn define(&self, name: &str, info: &ModelInfo) -> Result<(Graph, Option<Weights>)> {
        let path = &network_file(name)?;
        let is_defined = |ending: &str| path.extension().is_some_and(|own| own == ending);
        if is_defined("mg")
            || source::is_foreign(path)
            || (!path.is_file() && models::find(name).is_ok())
        {
            let axis = if source::is_foreign(path) {
                self.batch_axis
            } else {
                BatchAxis::None
            };
            let graph = source::load(name, info, axis)?;
            source::verify(name, &graph)?;
            let mut console = Console::new(self.output, Level::Info);
            for note in source::take_notes() {
                console.note(&note);
            }
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
        let Some(model) = self.model.or(recorded) else {
            bail!("{name} holds weights and does not say of which model; name it with --model");
        };
        let recorded = checkpoints::recorded_sizes(&file);
        let info = ModelInfo {
            input: info.input.clone().or(recorded.input),
            classes: info.classes.or(recorded.classes),
        };
        let graph = source::load(model, &info, BatchAxis::None)?;
        source::verify(model, &graph)?;
        Ok((graph, Some(Weights::Stored(Box::new(file)))))
    }
}

/// The sizes that a dataset gives a model.
pub fn sizes(data: Option<&Dataset>) -> ModelInfo {
    data.map_or_else(ModelInfo::default, |data| ModelInfo {
        input: Some(data.info.sample_shape.clone()),
        classes: Some(data.info.classes.len()),
    })
}

/// Refuses networks that cannot take the same rows.
pub fn check_same_inputs(a: (&str, &Graph), b: (&str, &Graph)) -> Result<()> {
    let [width, own] = [a.1, b.1].map(|graph| ir::verify(graph).map(|known| known.input_width()));
    let (width, own) = (width?, own?);
    if own != width {
        bail!("{} takes {width} values a row, {} takes {own}", a.0, b.0);
    }
    let types = |graph: &Graph| -> Result<Vec<DType>> {
        let inputs = pipeline::inputs_of(graph)?;
        Ok(inputs.iter().map(|input| input.dtype).collect())
    };
    if types(a.1)? != types(b.1)? {
        bail!("{} and {} take inputs of different types", a.0, b.0);
    }
    Ok(())
}

/// Refuses rows that are not as wide as a network's inputs.
pub fn check_width((name, graph): (&str, &Graph), rows: &Split) -> Result<()> {
    let width = ir::verify(graph)?.input_width();
    if rows.width() != width {
        bail!(
            "rows have {} values, but {name} takes {width}",
            rows.width()
        );
    }
    Ok(())
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
