//! One pass over memory: a kernel, the stages that follow it, and the narrow store.

use super::buffer::Buffer;
use super::grid::Grids;
use super::layer::{Layer, Scratch};
use super::program::Source;
use super::range::CodeRange;
use super::reorder::Reorder;
use super::rescale::Rescaling;
use super::stage::Stage;
use super::wide;
use crate::ops::pool::integer::Pool;

/// The kernel that computes the codes of a step.
pub(crate) enum Kernel {
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
    /// The sums of windows.
    SumPool(Box<Pool>),
    /// Anything else, in 64 bits.
    Wide(Source),
}

/// A step whose integers are not chosen yet.
pub(crate) struct UnplacedStep {
    pub kernel: Kernel,
    /// The steps whose values it reads.
    pub inputs: Vec<usize>,
    /// The range of the kernel's results, and those of the results of every stage.
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
        match &self.kernel {
            Kernel::Encode { grids, .. } => {
                Rescaling::of_floats(grids.single()?, &self.stages, columns)
            }
            Kernel::Copy => Rescaling::of(self.ranges[0], &self.stages, columns),
            _ => None,
        }
    }
}

/// A step, which makes the value of its own number.
pub(crate) struct Step {
    kernel: Kernel,
    inputs: Vec<usize>,
    stages: Vec<Stage>,
    rescaling: Option<Rescaling>,
    /// The range of the kernel's results.
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
            mut kernel,
            inputs,
            stages,
            ..
        } = step;
        if let (Kernel::Layer(layer), Some(x)) = (&mut kernel, operand) {
            layer.prepare([x, sums, result], &stages);
        }
        Self {
            kernel,
            inputs,
            stages,
            rescaling,
            made: sums,
        }
    }

    /// The name of the kernel in reports.
    pub fn kernel(&self) -> String {
        let name = match &self.kernel {
            Kernel::Layer(layer) => return layer.kernel(),
            Kernel::Encode { .. } => "encode",
            Kernel::Constant(_) => "constant",
            Kernel::Copy => "elementwise",
            Kernel::MaxPool { .. } if self.stages.is_empty() => "maximum",
            Kernel::Reorder { .. } => "reorder",
            Kernel::MaxPool { .. } | Kernel::SumPool(_) | Kernel::Wide(_) => "i64",
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
        match (&self.kernel, &self.rescaling) {
            (Kernel::Layer(layer), _) => layer.run(operand(0), y, &mut memory.layer),
            (Kernel::MaxPool { pool, .. }, _) if self.stages.is_empty() => {
                pool.largest(operand(0), y);
            }
            (Kernel::Reorder { reorder, .. }, _) => reorder.run(operand(0), y),
            (Kernel::Encode { input, .. }, Some(rescaling)) => {
                rescaling.run(inputs[*input], 0, y);
            }
            (Kernel::Copy, Some(rescaling)) => match operand(0) {
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
        let n = self.inputs.len();
        operands.resize(operands.len().max(n), Vec::new());
        let loaded = operands.iter_mut().zip(&self.inputs);
        result.clear();
        match &self.kernel {
            Kernel::Encode { input, grids } => {
                result.extend(grids.encode(inputs[*input], self.made));
            }
            Kernel::Constant(codes) => result.extend(codes),
            Kernel::Copy => earlier[self.inputs[0]].load(result),
            Kernel::Layer(_) | Kernel::Reorder { .. } => {}
            Kernel::MaxPool { pool, .. } => {
                loaded.for_each(|(wide, &input)| earlier[input].load(wide));
                result.resize(y.len(), 0);
                pool.join(&operands[0], result, i64::max);
            }
            Kernel::SumPool(pool) => {
                loaded.for_each(|(wide, &input)| earlier[input].load(wide));
                result.resize(y.len(), 0);
                pool.join(&operands[0], result, |a, b| a + b);
            }
            Kernel::Wide(source) => {
                loaded.for_each(|(wide, &input)| earlier[input].load(wide));
                result.resize(y.len(), 0);
                wide::run(source, &operands[..n], result);
            }
        }
        for stage in &self.stages {
            stage.apply(0, result);
        }
        y.store(0, result);
    }
}
