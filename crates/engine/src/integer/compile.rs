//! From a verified graph to steps: formats are carried from node to node, widths are proven, and maps of single elements
//! join the kernel whose result nobody else reads.

use super::buffer::{Buffer, Storage};
use super::error::{IntegerError, Refusal};
use super::grid::Grids;
use super::lowering::{IntegerForm, Kernel, Lowered, Operand, Site};
use super::range::CodeRange;
use super::report::NodeReport;
use super::stage::Stage;
use super::step::{Source, Step, UnplacedStep};
use crate::EngineError;
use crate::ops::integer_form;
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
    shape: Vec<usize>,
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

struct Compiler<'a> {
    verified: &'a Verified<'a>,
    state: &'a State,
    rows: usize,
    reads: HashMap<Value, usize>,
    unplaced: Vec<UnplacedStep>,
    values: HashMap<Value, Known>,
    n_inputs: usize,
    /// Per result of a node, the step that makes it and the number of stages after which it is made.
    made: Vec<(NodeId, usize, usize)>,
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
            self.outputs.push(codes(&known, &port)?);
        }
        Ok(())
    }

    fn floats(&self, id: NodeId, node: &Node, floats: Floats) -> Result<Known, IntegerError> {
        let shape = self.shapes(id, node)?.remove(0);
        Ok(Known {
            shape,
            place: Place::Floats(floats),
            is_sole: true,
        })
    }

    fn operator(&mut self, id: NodeId, node: &Node) -> Result<Vec<Known>, IntegerError> {
        let outputs = self.shapes(id, node)?;
        let operands = self.operands(node).map_err(|refusal| refusal.at(node))?;
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
        self.place(&operands, steps, lowered, &outputs)
            .map_err(|refusal| refusal.at(node))
    }

    /// Turns what a node was lowered to into steps.
    fn place(
        &mut self,
        operands: &[Known],
        steps: Vec<usize>,
        lowered: Lowered,
        outputs: &[Vec<usize>],
    ) -> Result<Vec<Known>, Refusal> {
        let shape = outputs[0].clone();
        match lowered {
            Lowered::Stages(stages) => {
                let known = self.extend_all(operands[0].clone(), stages)?;
                Ok(vec![Known { shape, ..known }])
            }
            Lowered::Kernel(kernel, range, stages) => {
                let known = self.push_step(kernel.into(), steps, range, shape);
                Ok(vec![self.extend_all(known, stages)?])
            }
            Lowered::Several(kernels) => {
                let Place::Codes { range, .. } = operands[0].place else {
                    return Ok(Vec::new());
                };
                let pieces = kernels.into_iter().zip(outputs);
                Ok(pieces
                    .map(|(kernel, shape)| {
                        self.push_step(kernel.into(), steps.clone(), range, shape.clone())
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
                Ok(self.push_step(source, Vec::new(), range, known.shape))
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
        let Place::Codes { step, range } = known.place else {
            return Ok(known);
        };
        let takes = match &self.unplaced[step].source {
            Source::Layer(layer) => layer.accepts(&stage),
            _ => true,
        };
        let known = if known.is_sole && takes {
            known
        } else {
            self.push_step(Source::Copy, vec![step], range, known.shape)
        };
        let range = stage.range(range)?;
        let Place::Codes { step, .. } = known.place else {
            return Ok(known);
        };
        let unplaced = &mut self.unplaced[step];
        unplaced.stages.push(stage);
        unplaced.ranges.push(range);
        Ok(Known {
            place: Place::Codes { step, range },
            ..known
        })
    }

    fn push_step(
        &mut self,
        source: Source,
        inputs: Vec<usize>,
        range: CodeRange,
        shape: Vec<usize>,
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
        if let Place::Codes { step, .. } = known.place {
            self.made.push((id, step, self.unplaced[step].stages.len()));
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
        let ranges: Vec<Vec<CodeRange>> = self
            .unplaced
            .iter()
            .map(|unplaced| unplaced.ranges.clone())
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
        let report = |&(id, step, stages): &(NodeId, usize, usize)| {
            let (node, range) = (graph.node(id), ranges[step][stages]);
            let is_stored = stages + 1 == ranges[step].len();
            NodeReport {
                node: node.name.clone(),
                op: node.op.name(),
                format: range.format(),
                storage: is_stored.then(|| Storage::of(range)),
                kernel: steps[step].kernel(),
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
            Kernel::Wide(kernel) => Self::Wide(kernel),
        }
    }
}
