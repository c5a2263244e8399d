//! From a verified graph to steps: formats are carried from node to node, widths are proven, and maps of single elements
//! join the kernel whose result nobody else reads.
//!
//! Convolutions compute on pixels of channels. Their results stay so until an operator needs planes.

use super::buffer::{Buffer, Storage};
use super::error::{IntegerError, Refusal};
use super::grid::Grids;
use super::lowering::{IntegerForm, Kernel, Lowered, Operand, Site};
use super::range::CodeRange;
use super::reorder::{Reorder, channels_and_plane};
use super::report::NodeReport;
use super::stage::Stage;
use super::step::{Source, Step, UnplacedStep};

use crate::EngineError;
use crate::ops::{integer_form, order_stance};
use crate::order::{Order, Stance};
use crate::state::State;
use ir::{Node, NodeId, Op, Value, Verified};
use std::collections::HashMap;

/// Steps in order, the value that each makes, and what the graph returns.
pub(crate) struct Compiled {
    pub steps: Vec<Step>,
    pub buffers: Vec<Buffer>,
    pub outputs: Vec<(usize, CodeRange)>,
    pub reports: Vec<NodeReport>,
}

/// Compiles the graph for a batch of `rows` rows.
pub(crate) fn compile(
    verified: &Verified,
    state: &State,
    rows: usize,
) -> Result<Compiled, IntegerError> {
    let mut compiler = Compiler {
        verified,
        state,
        rows,
        reads: count_reads(verified),
        unplaced: Vec::new(),
        values: HashMap::new(),
        n_inputs: 0,
        made: Vec::new(),
        outputs: Vec::new(),
    };
    for (id, node) in verified.graph().iter() {
        compiler.node(id, node)?;
    }
    Ok(compiler.finish())
}

/// The number of inputs that read each value.
fn count_reads(verified: &Verified) -> HashMap<Value, usize> {
    let mut reads = HashMap::new();
    for value in verified
        .graph()
        .nodes()
        .iter()
        .flat_map(|node| &node.inputs)
    {
        *reads.entry(*value).or_insert(0) += 1;
    }
    reads
}

/// A value as far as it is known.
#[derive(Clone)]
struct Known {
    /// As the graph has it, whatever the order in memory.
    shape: Vec<usize>,
    order: Order,
    place: Place,
    /// True when it is read once, so that its reader may extend the step that makes it.
    is_sole: bool,
}

#[derive(Clone)]
enum Place {
    /// Floats that no format has rounded yet.
    Floats(Floats),
    /// The codes that a step makes.
    Codes { step: usize, range: CodeRange },
}

#[derive(Clone)]
enum Floats {
    /// A placeholder, by its number.
    Input(usize),
    /// A stored tensor.
    Constant(Vec<f32>),
}

/// A result of a node: the step that makes it, and the number of stages after which it is made.
struct Made {
    node: NodeId,
    step: usize,
    stages: usize,
    range: CodeRange,
}

struct Compiler<'a> {
    verified: &'a Verified<'a>,
    state: &'a State,
    rows: usize,
    reads: HashMap<Value, usize>,
    unplaced: Vec<UnplacedStep>,
    values: HashMap<Value, Known>,
    n_inputs: usize,
    made: Vec<Made>,
    outputs: Vec<(usize, CodeRange)>,
}

impl Compiler<'_> {
    fn node(&mut self, id: NodeId, node: &Node) -> Result<(), IntegerError> {
        let results = match &node.op {
            Op::Output(_) => {
                return self.outputs(node).map_err(|refusal| refusal.at(node));
            }
            Op::Placeholder(_) => {
                self.n_inputs += 1;
                vec![self.floats(id, node, Floats::Input(self.n_inputs - 1))?]
            }
            Op::Constant(_) => {
                let values = self.state.trained[self.state.range(id, "value")].to_vec();
                let known = self.floats(id, node, Floats::Constant(values))?;
                let rounded = self.at_port(node, "value", known);
                vec![rounded.map_err(|refusal| refusal.at(node))?]
            }
            _ => self.operator(id, node)?,
        };
        for (output, known) in results.into_iter().enumerate() {
            self.define(id, node, output, known)
                .map_err(|refusal| refusal.at(node))?;
        }
        Ok(())
    }

    fn outputs(&mut self, node: &Node) -> Result<(), Refusal> {
        for (value, port) in node.inputs.iter().zip(node.data_ports()) {
            let known = self.masked(node, &port, self.values[value].clone())?;
            let known = self.in_order(known, Order::Planes);
            self.outputs.push(codes(&known, &port)?);
        }
        Ok(())
    }

    fn floats(&self, id: NodeId, node: &Node, floats: Floats) -> Result<Known, IntegerError> {
        let shape = self.shapes(id, node)?.remove(0);
        Ok(Known {
            shape,
            order: Order::Planes,
            place: Place::Floats(floats),
            is_sole: true,
        })
    }

    fn operator(&mut self, id: NodeId, node: &Node) -> Result<Vec<Known>, IntegerError> {
        let outputs = self.shapes(id, node)?;
        let operands = self.operands(node).map_err(|refusal| refusal.at(node))?;
        let (operands, order) = self.ordered(node, operands);
        let form = integer_form(&node.op);
        if let IntegerForm::SameElements = form {
            let shape = outputs.into_iter().next().unwrap_or_default();
            return Ok(operands
                .into_iter()
                .take(1)
                .map(|known| Known {
                    shape: shape.clone(),
                    ..known
                })
                .collect());
        }
        let lower = || {
            let ports = node.data_ports().into_iter().zip(&operands);
            let parts = ports.map(|(port, known)| {
                codes(known, &port).map(|(step, range)| {
                    (
                        step,
                        Operand {
                            shape: known.shape.clone(),
                            range,
                        },
                    )
                })
            });
            let (steps, operands): (Vec<usize>, Vec<Operand>) =
                parts.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
            let graph = self.verified.graph();
            let site = Site {
                id,
                node,
                graph,
                state: self.state,
                operands,
                outputs: outputs.clone(),
                order,
            };
            let lowered = match &form {
                IntegerForm::Exact(lower) => lower(&site)?,
                IntegerForm::SameElements | IntegerForm::Missing => {
                    return Err(Refusal::NoForm("has no exact integer form".to_owned()));
                }
            };
            Ok((steps, lowered))
        };
        let (steps, lowered) = lower().map_err(|refusal| refusal.at(node))?;
        self.place(&operands, steps, lowered, &outputs, order)
            .map_err(|refusal| refusal.at(node))
    }

    /// Turns what a node was lowered to into steps.
    fn place(
        &mut self,
        operands: &[Known],
        steps: Vec<usize>,
        lowered: Lowered,
        outputs: &[Vec<usize>],
        order: Order,
    ) -> Result<Vec<Known>, Refusal> {
        let shape = outputs[0].clone();
        match lowered {
            Lowered::Stages(stages) => {
                let known = self.extend_all(operands[0].clone(), stages)?;
                Ok(vec![Known { shape, ..known }])
            }
            Lowered::Kernel(kernel, range, stages) => {
                let source = match kernel {
                    Kernel::MaxPool(pool) => Source::MaxPool {
                        pool,
                        owns_operand: operands[0].is_sole,
                    },
                    other => other.into(),
                };
                let known = self.push_step(source, steps, range, shape, order);
                Ok(vec![self.extend_all(known, stages)?])
            }
            Lowered::Several(kernels) => {
                let Place::Codes { range, .. } = operands[0].place else {
                    return Ok(Vec::new());
                };
                let pieces = kernels.into_iter().zip(outputs);
                Ok(pieces
                    .map(|(kernel, shape)| {
                        let steps = steps.clone();
                        self.push_step(kernel.into(), steps, range, shape.clone(), order)
                    })
                    .collect())
            }
        }
    }

    /// The node's data inputs, each rounded to the format of its port and masked.
    fn operands(&mut self, node: &Node) -> Result<Vec<Known>, Refusal> {
        let ports = node.data_ports();
        let pairs = node.inputs.iter().zip(ports);
        pairs
            .map(|(value, port)| {
                let rounded = self.at_port(node, &port, self.values[value].clone())?;
                self.masked(node, &port, rounded)
            })
            .collect()
    }

    /// The operands in the order that the node computes in, which is that of its result.
    fn ordered(&mut self, node: &Node, operands: Vec<Known>) -> (Vec<Known>, Order) {
        let all_pixels = operands
            .iter()
            .all(|known| known.order == Order::Pixels && known.shape == operands[0].shape);
        let order = match order_stance(&node.op) {
            Stance::Convolution => Order::Pixels,
            Stance::Sum | Stance::Follower if all_pixels => Order::Pixels,
            Stance::Sum | Stance::Follower | Stance::Planes => Order::Planes,
        };
        let operands = operands.into_iter();
        (
            operands.map(|known| self.in_order(known, order)).collect(),
            order,
        )
    }

    /// The value with its axes in an order.
    fn in_order(&mut self, known: Known, order: Order) -> Known {
        let Place::Codes { step, range } = known.place else {
            return known;
        };
        if known.order == order {
            return known;
        }
        match Reorder::new(&known.shape, order) {
            None => Known { order, ..known },
            Some(reorder) => {
                let source = Source::Reorder {
                    reorder,
                    owns_operand: known.is_sole,
                };
                self.push_step(source, vec![step], range, known.shape, order)
            }
        }
    }

    /// The value as the port sees it.
    fn at_port(&mut self, node: &Node, port: &str, known: Known) -> Result<Known, Refusal> {
        match Grids::of(node, port, &known.shape)? {
            Some(grids) => self.round(known, &grids),
            None => Ok(known),
        }
    }

    /// The codes, zero where the mask of a data input is. Rounding before it gives the same as rounding after it: zero is
    /// a code of every fixed-point format.
    fn masked(&mut self, node: &Node, port: &str, known: Known) -> Result<Known, Refusal> {
        let Some(mask) = node.masks.get(port) else {
            return Ok(known);
        };
        let (_, range) = codes(&known, port)?;
        let keep: Vec<i64> = mask.values().iter().map(|&keep| keep as i64).collect();
        let stage = Stage::Affine {
            offset: vec![0; keep.len()],
            scale: keep,
            inner: 1,
            frac: range.frac,
        };
        self.extend(known, stage)
    }

    fn round(&mut self, known: Known, grids: &Grids) -> Result<Known, Refusal> {
        let range = grids.range()?;
        match &known.place {
            Place::Floats(floats) => {
                let source = match floats {
                    Floats::Input(input) => Source::Encode {
                        input: *input,
                        grids: grids.clone(),
                    },
                    Floats::Constant(values) => {
                        Source::Constant(grids.encode(values, range).collect())
                    }
                };
                Ok(self.push_step(source, Vec::new(), range, known.shape, Order::Planes))
            }
            Place::Codes { range: from, .. } => {
                let on_grid = grids.single().is_some()
                    && from.frac == range.frac
                    && from.min >= range.min
                    && from.max <= range.max;
                if on_grid {
                    Ok(known)
                } else {
                    let stage = grids.round(from.frac, range);
                    self.extend(known, stage)
                }
            }
        }
    }

    fn extend_all(&mut self, known: Known, stages: Vec<Stage>) -> Result<Known, Refusal> {
        stages
            .into_iter()
            .try_fold(known, |known, stage| self.extend(known, stage))
    }

    /// Maps the elements of a value: in the step that makes it when nobody else reads it, in a new one otherwise.
    fn extend(&mut self, known: Known, stage: Stage) -> Result<Known, Refusal> {
        let (known, stage) = self.fitting(known, stage);
        let Place::Codes { step, range } = known.place else {
            return Ok(known);
        };
        let host = known.is_sole.then(|| self.host(step, &stage)).flatten();
        let (known, host) = if let Some(host) = host {
            (known, host)
        } else {
            let host = self.unplaced.len();
            let Known { shape, order, .. } = known;
            let copy = self.push_step(Source::Copy, vec![step], range, shape, order);
            (copy, host)
        };
        let range = stage.range(range)?;
        let Place::Codes { step, .. } = known.place else {
            return Ok(known);
        };
        let mut at = step;
        while at != host {
            self.unplaced[at].ranges = vec![range];
            at = self.unplaced[at].inputs[0];
        }
        self.unplaced[host].stages.push(stage);
        self.unplaced[host].ranges.push(range);
        Ok(Known {
            place: Place::Codes { step, range },
            ..known
        })
    }

    /// The step that can map a value that a step makes: that step, or one before it. The largest of rounded codes is the
    /// largest code, rounded, and codes may be rounded before they are moved: a stage goes to where the codes come from.
    fn host(&self, step: usize, stage: &Stage) -> Option<usize> {
        let unplaced = &self.unplaced[step];
        let before = || self.host(unplaced.inputs[0], stage);
        match &unplaced.source {
            Source::Layer(layer) => layer.accepts(stage).then_some(step),
            Source::MaxPool { pool, owns_operand } => {
                let is_alike = stage.channels().0 == 1 || pool.has_pixels();
                let is_early = unplaced.stages.is_empty() && stage.is_monotone();
                let passes = *owns_operand && is_alike && is_early;
                passes.then(before).flatten().or(Some(step))
            }
            Source::Reorder { owns_operand, .. } => {
                let passes = *owns_operand && stage.channels().0 == 1;
                passes.then(before).flatten()
            }
            _ => Some(step),
        }
    }

    /// The value, and the stage for the order that it lies in.
    fn fitting(&mut self, known: Known, stage: Stage) -> (Known, Stage) {
        if known.order == Order::Planes {
            return (known, stage);
        }
        match stage.in_pixels(channels_and_plane(&known.shape)) {
            Some(stage) => (known, stage),
            None => (self.in_order(known, Order::Planes), stage),
        }
    }

    fn push_step(
        &mut self,
        source: Source,
        inputs: Vec<usize>,
        range: CodeRange,
        shape: Vec<usize>,
        order: Order,
    ) -> Known {
        let step = self.unplaced.len();
        let len = shape.iter().product();
        self.unplaced.push(UnplacedStep {
            source,
            inputs,
            ranges: vec![range],
            stages: Vec::new(),
            len,
        });
        Known {
            shape,
            order,
            place: Place::Codes { step, range },
            is_sole: true,
        }
    }

    /// Makes a value the result of a node, rounded where the result has a format.
    fn define(
        &mut self,
        id: NodeId,
        node: &Node,
        output: usize,
        known: Known,
    ) -> Result<(), Refusal> {
        let mut known = self.at_port(node, &format!("data_out_{output}"), known)?;
        let value = Value {
            node: id,
            output: output as u16,
        };
        known.is_sole &= self.reads.get(&value).is_none_or(|&reads| reads == 1);
        if let Place::Codes { step, range } = known.place {
            self.made.push(Made {
                node: id,
                step,
                stages: self.unplaced[step].stages.len(),
                range,
            });
        }
        self.values.insert(value, known);
        Ok(())
    }

    fn shapes(&self, id: NodeId, node: &Node) -> Result<Vec<Vec<usize>>, IntegerError> {
        let too_large = || EngineError::TooLarge {
            node: node.name.clone(),
            rows: self.rows,
        };
        let bound = self
            .verified
            .outputs(id)
            .iter()
            .map(|ty| ty.shape.bind(self.rows));
        Ok(bound.collect::<Option<_>>().ok_or_else(too_large)?)
    }

    fn finish(self) -> Compiled {
        let graph = self.verified.graph();
        let results: Vec<CodeRange> = self.unplaced.iter().map(UnplacedStep::result).collect();
        let counts: Vec<usize> = self
            .unplaced
            .iter()
            .map(|unplaced| unplaced.stages.len())
            .collect();
        let buffers = self
            .unplaced
            .iter()
            .zip(&results)
            .map(|(unplaced, &range)| Buffer::zeros(Storage::of(range), unplaced.len));
        let buffers = buffers.collect();
        let steps: Vec<Step> = self
            .unplaced
            .into_iter()
            .map(|unplaced| {
                let operand = unplaced.inputs.first().map(|&input| results[input]);
                Step::new(unplaced, operand)
            })
            .collect();
        let report = |made: &Made| {
            let node = graph.node(made.node);
            let is_stored = made.stages == counts[made.step] && made.range == results[made.step];
            NodeReport {
                node: node.name.clone(),
                op: node.op.name(),
                format: made.range.format(),
                storage: is_stored.then(|| Storage::of(made.range)),
                kernel: steps[made.step].kernel(),
            }
        };
        let reports = self.made.iter().map(report).collect();
        Compiled {
            steps,
            buffers,
            outputs: self.outputs,
            reports,
        }
    }
}

/// The step and range of a value that is fixed point.
fn codes(known: &Known, port: &str) -> Result<(usize, CodeRange), Refusal> {
    match &known.place {
        Place::Codes { step, range } => Ok((*step, *range)),
        Place::Floats(_) => Err(Refusal::NoFormat(port.to_owned())),
    }
}

impl From<Kernel> for Source {
    fn from(kernel: Kernel) -> Self {
        match kernel {
            Kernel::Layer(layer) => Self::Layer(layer),
            Kernel::MaxPool(pool) => Self::MaxPool {
                pool,
                owns_operand: false,
            },
            Kernel::Wide(kernel) => Self::Wide(kernel),
        }
    }
}
