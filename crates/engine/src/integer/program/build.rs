//! From a verified graph to a program: formats are carried from node to node, ranges are proven, and maps of single elements
//! join the step whose result nobody else reads.

use super::super::error::{IntegerError, Refusal};
use super::super::lowering::{IntegerForm, Lowered, Operand, Site};
use super::value::{Floats, Known, Place};
use super::{NodeResult, Program, ProgramInput, ProgramOutput};
use crate::EngineError;
use crate::ops::integer_form;
use crate::state::State;
use ir::{Node, NodeId, Op, Value, Verified};
use std::collections::HashMap;

/// Builds the program of a graph for a batch of `rows` rows.
pub(super) fn build(
    verified: &Verified,
    state: &State,
    rows: usize,
) -> Result<Program, IntegerError> {
    if rows == 0 {
        return Err(EngineError::EmptyBatch.into());
    }
    let program = Program {
        rows,
        inputs: Vec::new(),
        steps: Vec::new(),
        outputs: Vec::new(),
        results: Vec::new(),
    };
    let mut builder = Builder {
        verified,
        state,
        reads: count_reads(verified),
        values: HashMap::new(),
        program,
    };
    for (id, node) in verified.graph().iter() {
        builder.node(id, node)?;
    }
    Ok(builder.program)
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

pub(super) struct Builder<'a> {
    verified: &'a Verified<'a>,
    state: &'a State,
    reads: HashMap<Value, usize>,
    pub values: HashMap<Value, Known>,
    pub program: Program,
}

impl Builder<'_> {
    fn node(&mut self, id: NodeId, node: &Node) -> Result<(), IntegerError> {
        let results = match &node.op {
            Op::Output(_) => {
                return self.outputs(node).map_err(|refusal| refusal.at(node));
            }
            Op::Placeholder(_) => {
                let input = Floats::Input(self.program.inputs.len());
                let known = self.floats(id, node, input)?;
                self.program.inputs.push(ProgramInput {
                    name: node.name.clone(),
                    shape: known.shape.clone(),
                });
                vec![known]
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
            let (step, range) = known.codes(&port)?;
            let shape = known.shape;
            self.program
                .outputs
                .push(ProgramOutput { step, range, shape });
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
        let results = self.operator_results(id, node, outputs);
        results.map_err(|refusal| refusal.at(node))
    }

    fn operator_results(
        &mut self,
        id: NodeId,
        node: &Node,
        outputs: Vec<Vec<usize>>,
    ) -> Result<Vec<Known>, Refusal> {
        let operands = self.operands(node)?;
        let form = integer_form(&node.op);
        if let IntegerForm::SameElements = form {
            let same = operands.into_iter().zip(outputs);
            return Ok(same
                .map(|(known, shape)| Known { shape, ..known })
                .collect());
        }
        let mut steps = Vec::with_capacity(operands.len());
        let mut ranges = Vec::with_capacity(operands.len());
        for (port, known) in node.data_ports().iter().zip(&operands) {
            let (step, range) = known.codes(port)?;
            let shape = known.shape.clone();
            steps.push(step);
            ranges.push(Operand { shape, range });
        }
        let site = Site {
            id,
            node,
            graph: self.verified.graph(),
            state: self.state,
            operands: ranges,
            outputs,
        };
        let lowered = match &form {
            IntegerForm::Exact(lower) => lower(&site)?,
            IntegerForm::SameElements | IntegerForm::Missing => {
                return Err(Refusal::NoForm("has no exact integer form; end the network before it, or put an operator that has one in its place".to_owned()));
            }
        };
        let outputs = site.outputs;
        self.place(node, &operands, steps, lowered, &outputs)
    }

    /// Turns what a node was lowered to into steps.
    fn place(
        &mut self,
        node: &Node,
        operands: &[Known],
        steps: Vec<usize>,
        lowered: Lowered,
        outputs: &[Vec<usize>],
    ) -> Result<Vec<Known>, Refusal> {
        let shape = outputs[0].clone();
        match lowered {
            Lowered::Stages(stages) => {
                let known = self.extend_all(node, operands[0].clone(), stages)?;
                Ok(vec![Known { shape, ..known }])
            }
            Lowered::Step(source, range, stages) => {
                let known = self.push_step(node, *source, steps, range, shape);
                Ok(vec![self.extend_all(node, known, stages)?])
            }
            Lowered::Several(sources) => {
                let Place::Codes { range, .. } = operands[0].place else {
                    return Ok(Vec::new());
                };
                let pieces = sources.into_iter().zip(outputs);
                Ok(pieces
                    .map(|(source, shape)| {
                        self.push_step(node, source, steps.clone(), range, shape.clone())
                    })
                    .collect())
            }
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
            self.program.results.push(NodeResult {
                node: node.name.clone(),
                op: node.op.name(),
                step,
                stages: self.program.steps[step].stages.len(),
                range,
            });
        }
        self.values.insert(value, known);
        Ok(())
    }

    fn shapes(&self, id: NodeId, node: &Node) -> Result<Vec<Vec<usize>>, IntegerError> {
        let too_large = || EngineError::TooLarge {
            node: node.name.clone(),
            rows: self.program.rows,
        };
        let bound = self
            .verified
            .outputs(id)
            .iter()
            .map(|ty| ty.shape.bind(self.program.rows));
        Ok(bound.collect::<Option<_>>().ok_or_else(too_large)?)
    }
}
