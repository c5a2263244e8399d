//! The networks both sides run, with data to run them on.

use anyhow::{Context, Result};
use engine::{Input, Network, Optimizer, OptimizerKind, PlanOptions, Score};
use ir::{DType, Graph, NodeId, Op, Verified};
use random::Random;

/// Batches of data; the first-level caches do not hold them all.
const BATCHES: usize = 16;

/// A network with data.
pub struct Workload {
    network: Network,
    optimizer: Optimizer,
    rows: usize,
    inputs: Vec<Data>,
    labels: Vec<u32>,
    batches: usize,
    next: usize,
}

/// One of several batches.
#[derive(Clone, Copy)]
struct Place {
    at: usize,
    batches: usize,
}

/// All batches of one input.
enum Data {
    Floats(Vec<f32>),
    Indices(Vec<i64>),
}

/// The graph of a benchmark network.
pub fn graph(name: &str) -> Result<Graph> {
    let mlp = include_str!("../networks/mlp.mg");
    let mut graph = match name {
        "mlp" => Graph::parse(mlp)?,
        "bert-tiny" => models::build(name, &classes(2))?,
        "mlp-qat" => with_formats(Graph::parse(mlp)?, &["linear"])?,
        integer if integer.ends_with("-integer") => {
            let float = integer.trim_end_matches("-integer");
            let graph = if float == "mlp" {
                Graph::parse(mlp)?
            } else {
                models::build(float, &models::ModelInfo::default())?
            };
            with_formats(graph, &["linear", "conv2d", "batch_norm1d"])?
        }
        zoo => match zoo.split_once('@') {
            Some((model, side)) => on_images(model, side.parse()?)?,
            None => models::build(zoo, &models::ModelInfo::default())?,
        },
    };
    graph.initialize(0);
    Ok(graph)
}

/// A network on square images, with ten classes.
fn on_images(model: &str, side: usize) -> Result<Graph> {
    let channels = models::find(model)?.input_shape[0];
    let info = models::ModelInfo {
        input: Some(vec![channels, side, side]),
        ..classes(10)
    };
    Ok(models::build(model, &info)?)
}

/// Samples as the model has them by itself, with this many classes.
fn classes(classes: usize) -> models::ModelInfo {
    models::ModelInfo {
        input: None,
        classes: Some(classes),
    }
}

/// `integer(8, 4)` on weight and bias of the named operators, and on the data of all but a batch norm inside the network:
/// that takes the exact result of the layer before it.
fn with_formats(mut graph: Graph, ops: &[&str]) -> Result<Graph> {
    let format = format::Format::parse("integer(8, 4)")?;
    let ids: Vec<NodeId> = graph.iter().map(|(id, _)| id).collect();
    for id in ids {
        let node = graph.node(id);
        let is_norm = matches!(node.op, Op::BatchNorm1d(_));
        let is_first = node
            .inputs
            .first()
            .is_some_and(|input| matches!(graph.node(input.node).op, Op::Placeholder(_)));
        let ports = if is_norm && !is_first {
            &["weight", "bias"][..]
        } else {
            &["data_in_0", "weight", "bias"]
        };
        let node = graph.node_mut(id);
        for port in ports.iter().filter(|_| ops.contains(&node.op.name())) {
            node.formats.insert((*port).to_owned(), format.clone());
        }
    }
    Ok(graph)
}

impl Workload {
    /// A network by its name on both sides, at its batch size.
    pub fn new(name: &str, rows: usize, threads: usize) -> Result<Self> {
        Self::of(Network::new(graph(name)?, threads)?, rows)
    }

    /// A network in this many rows at a time.
    pub fn of(network: Network, rows: usize) -> Result<Self> {
        Self::with_batches(network, rows, BATCHES)
    }

    /// The same with this many batches of data.
    pub fn with_batches(network: Network, rows: usize, batches: usize) -> Result<Self> {
        let verified = ir::verify(network.graph())?;
        let output = verified
            .ty(verified.output_values()[0])
            .shape
            .bind(rows)
            .context("the output has a size")?;
        let (classes, labels) = (
            *output.last().context("the output has classes")?,
            output[..output.len() - 1].iter().product::<usize>(),
        );
        let random = Random::new(1, "benchmark");
        let inputs = verified.placeholders().into_iter();
        let inputs = inputs
            .map(|input| Data::random(&verified, input, rows * batches, random))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            optimizer: Optimizer::new(
                OptimizerKind::Adam { weight_decay: 0.0 },
                1e-3,
                network.state(),
            ),
            network,
            rows,
            inputs,
            labels: (0..labels * batches)
                .map(|k| (random.bits(k as u64) % classes as u64) as u32)
                .collect(),
            batches,
            next: 0,
        })
    }

    /// One step of training on the next batch.
    pub fn train(&mut self) -> Result<Score> {
        let at = self.advance();
        let inputs: Vec<Input> = self.inputs.iter().map(|data| data.batch(at)).collect();
        let labels = part(&self.labels, at);
        Ok(self
            .network
            .train_step(&inputs, labels, self.rows, &mut self.optimizer)?)
    }

    /// One forward pass in evaluation mode on the next batch.
    pub fn evaluate(&mut self) -> Result<()> {
        let at = self.advance();
        let inputs: Vec<Input> = self.inputs.iter().map(|data| data.batch(at)).collect();
        self.network.run(PlanOptions::eval(self.rows), &inputs)?;
        Ok(())
    }

    /// The place of the next batch and the number of all.
    fn advance(&mut self) -> Place {
        self.next = (self.next + 1) % self.batches;
        Place {
            at: self.next,
            batches: self.batches,
        }
    }
}

impl Data {
    /// Words below the size of the table that takes them, a mask that shows everything, or normal floats.
    fn random(graph: &Verified, input: NodeId, rows: usize, random: Random) -> Result<Self> {
        let ty = graph.ty(input.into());
        let shape = ty.shape.bind(rows);
        let elements = shape.context("the input has a size")?.iter().product();
        if ty.dtype == DType::I64 {
            let tables = graph.graph().iter().filter_map(|(_, node)| match &node.op {
                Op::Embedding(table) if node.inputs[0].node == input => Some(table.num_embeddings),
                _ => None,
            });
            let words = tables.min().context("words have a table")? as u64;
            let words = (0..elements).map(|k: usize| (random.bits(k as u64) % words) as i64);
            return Ok(Self::Indices(words.collect()));
        }
        if graph.graph().node(input).name == "attention_mask" {
            return Ok(Self::Floats(vec![1.0; elements]));
        }
        let floats = (0..elements).map(|k| random.normal(k as u64));
        Ok(Self::Floats(floats.collect()))
    }

    fn batch(&self, at: Place) -> Input<'_> {
        match self {
            Self::Floats(all) => Input::F32(part(all, at)),
            Self::Indices(all) => Input::I64(part(all, at)),
        }
    }
}

fn part<T>(all: &[T], Place { at, batches }: Place) -> &[T] {
    let len = all.len() / batches;
    &all[at * len..(at + 1) * len]
}
