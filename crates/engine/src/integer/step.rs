//! One pass over memory: a source of codes, the stages that follow it, and the narrow store.

use super::buffer::Buffer;
use super::grid::Grids;
use super::layer::{Layer, Scratch};
use super::lowering::WideKernel;
use super::range::CodeRange;
use super::reorder::Reorder;
use super::rescale::Rescaling;
use super::stage::Stage;
use crate::ops::pool::integer::Pool;

/// The source of the codes of a step.
pub(crate) enum Source {
    /// A placeholder's floats, rounded.
    Encode { input: usize, grids: Grids },
    /// A stored tensor, rounded.
    Constant(Vec<i64>),
    /// The operand as it is.
    Copy,
    /// A product with weights, which applies the stages itself.
    Layer(Box<Layer>),
    /// The largest codes of windows. A stage that nobody else sees the effect of may move to the operand.
    MaxPool { pool: Box<Pool>, owns_operand: bool },
    /// The operand's codes in another order, under the same condition.
    Reorder {
        reorder: Reorder,
        owns_operand: bool,
    },
    /// Anything else.
    Wide(Box<dyn WideKernel>),
}

/// A step whose integers are not chosen yet.
pub(crate) struct UnplacedStep {
    pub source: Source,
    /// The steps whose values it reads.
    pub inputs: Vec<usize>,
    /// The range of the source's results, and those of the results of every stage.
    pub ranges: Vec<CodeRange>,
    pub stages: Vec<Stage>,
    /// Elements of the result.
    pub len: usize,
}

impl UnplacedStep {
    /// The range of the result.
    pub fn result(&self) -> CodeRange {
        self.ranges[self.stages.len()]
    }

    /// The stages, and the rounding of floats before them, as float maps.
    fn rescaling(&self) -> Option<Rescaling> {
        if self.result().magnitude() > i16::MAX.into() {
            return None;
        }
        let columns = self.stages.iter().map(|stage| stage.channels().0);
        let columns = columns.max().unwrap_or(1);
        match &self.source {
            Source::Encode { grids, .. } => {
                Rescaling::of_floats(grids.single()?, &self.stages, columns)
            }
            Source::Copy => Rescaling::of(self.ranges[0], &self.stages, columns),
            _ => None,
        }
    }
}

/// A step, which makes the value of its own number.
pub(crate) struct Step {
    source: Source,
    inputs: Vec<usize>,
    stages: Vec<Stage>,
    rescaling: Option<Rescaling>,
    /// The range of the source's results.
    made: CodeRange,
}

/// Working memory of all steps.
#[derive(Default)]
pub(crate) struct Memory {
    layer: Scratch,
    operands: Vec<Vec<i64>>,
    result: Vec<i64>,
}

impl Step {
    /// The step of a step whose first operand, if any, has this range.
    pub fn new(step: UnplacedStep, operand: Option<CodeRange>) -> Self {
        let (sums, result, rescaling) = (step.ranges[0], step.result(), step.rescaling());
        let UnplacedStep {
            mut source,
            inputs,
            stages,
            ..
        } = step;
        if let (Source::Layer(layer), Some(x)) = (&mut source, operand) {
            layer.prepare([x, sums, result], &stages);
        }
        Self {
            source,
            inputs,
            stages,
            rescaling,
            made: sums,
        }
    }

    /// The name of the kernel in reports.
    pub fn kernel(&self) -> String {
        let name = match &self.source {
            Source::Layer(layer) => return layer.kernel(),
            Source::Encode { .. } => "encode",
            Source::Constant(_) => "constant",
            Source::Copy => "elementwise",
            Source::MaxPool { .. } if self.stages.is_empty() => "maximum",
            Source::Reorder { .. } => "reorder",
            Source::MaxPool { .. } | Source::Wide(_) => "i64",
        };
        let after = match &self.rescaling {
            Some(_) => ", rescaled in f32",
            None if self.stages.is_empty() => "",
            None => ", stages in i64",
        };
        format!("{name}{after}")
    }

    /// Computes the step's value, `y`, from earlier ones.
    pub fn run(&self, inputs: &[&[f32]], earlier: &[Buffer], y: &mut Buffer, memory: &mut Memory) {
        let operand = |k: usize| &earlier[self.inputs[k]];
        match (&self.source, &self.rescaling) {
            (Source::Layer(layer), _) => layer.run(operand(0), y, &mut memory.layer),
            (Source::MaxPool { pool, .. }, _) if self.stages.is_empty() => {
                pool.largest(operand(0), y);
            }
            (Source::Reorder { reorder, .. }, _) => reorder.run(operand(0), y),
            (Source::Encode { input, .. }, Some(rescaling)) => {
                rescaling.run(inputs[*input], 0, y);
            }
            (Source::Copy, Some(rescaling)) => match operand(0) {
                Buffer::U8(codes) => rescaling.run(codes, 0, y),
                Buffer::I8(codes) => rescaling.run(codes, 0, y),
                Buffer::I16(codes) => rescaling.run(codes, 0, y),
                Buffer::I32(codes) => rescaling.run(codes, 0, y),
                Buffer::I64(_) => self.run_wide(inputs, earlier, y, memory),
            },
            _ => self.run_wide(inputs, earlier, y, memory),
        }
    }

    /// The same in 64 bits, one stage after the other.
    fn run_wide(&self, inputs: &[&[f32]], earlier: &[Buffer], y: &mut Buffer, memory: &mut Memory) {
        let Memory {
            operands, result, ..
        } = memory;
        let operand = |k: usize| &earlier[self.inputs[k]];
        result.clear();
        match &self.source {
            Source::Encode { input, grids } => {
                result.extend(grids.encode(inputs[*input], self.made));
            }
            Source::Constant(codes) => result.extend(codes),
            Source::Copy => operand(0).load(result),
            Source::Layer(_) | Source::Reorder { .. } => {}
            Source::MaxPool { pool, .. } => {
                operands.resize(operands.len().max(1), Vec::new());
                operand(0).load(&mut operands[0]);
                result.resize(y.len(), 0);
                pool.run(&operands[..1], result);
            }
            Source::Wide(kernel) => {
                let n = self.inputs.len();
                operands.resize(operands.len().max(n), Vec::new());
                operands
                    .iter_mut()
                    .zip(0..n)
                    .for_each(|(wide, k)| operand(k).load(wide));
                result.resize(y.len(), 0);
                kernel.run(&operands[..n], result);
            }
        }
        for stage in &self.stages {
            stage.apply(0, result);
        }
        y.store(0, result);
    }
}
