//! One pass over memory: a source of codes, the stages that follow it, and the narrow store.

use super::buffer::Buffer;
use super::codes::encode;
use super::layer::{Layer, Scratch};
use super::ops::WideKernel;
use super::range::CodeRange;
use super::stage::Stage;
use crate::Input;
use format::FixedPoint;

/// Where the codes of a step come from.
pub(crate) enum Source {
    /// A placeholder's floats, rounded.
    Encode { input: usize, format: FixedPoint },
    /// A stored tensor, rounded.
    Constant(Vec<i64>),
    /// The operand as it is.
    Copy,
    /// A product with weights, which applies the stages itself.
    Layer(Box<Layer>),
    /// Anything else.
    Wide(Box<dyn WideKernel>),
}

/// A step, which makes the value of its own number.
pub(crate) struct Step {
    source: Source,
    inputs: Vec<usize>,
    stages: Vec<Stage>,
}

/// Working memory of all steps.
#[derive(Default)]
pub(crate) struct Memory {
    layer: Scratch,
    operands: Vec<Vec<i64>>,
    result: Vec<i64>,
}

impl Step {
    /// A step whose first operand, if any, has this range.
    pub fn new(
        mut source: Source,
        inputs: Vec<usize>,
        operand: Option<CodeRange>,
        stages: Vec<Stage>,
    ) -> Self {
        if let (Source::Layer(layer), Some(range)) = (&mut source, operand) {
            layer.prepare(range, &stages);
        }
        Self {
            source,
            inputs,
            stages,
        }
    }

    /// The name of the kernel in reports.
    pub fn kernel(&self) -> &'static str {
        match &self.source {
            Source::Encode { .. } => "encode",
            Source::Constant(_) => "constant",
            Source::Copy => "elementwise",
            Source::Layer(layer) => layer.kernel(),
            Source::Wide(_) => "i64",
        }
    }

    /// Computes the step's value, `y`, from earlier ones.
    pub fn run(&self, inputs: &[Input], earlier: &[Buffer], y: &mut Buffer, memory: &mut Memory) {
        let Memory {
            layer: scratch,
            operands,
            result,
        } = memory;
        let operand = |k: usize| &earlier[self.inputs[k]];
        match &self.source {
            Source::Layer(layer) => return layer.run(operand(0), y, scratch),
            Source::Encode { input, format } => {
                result.clear();
                if let Input::F32(values) = inputs[*input] {
                    result.extend(values.iter().map(|&value| encode(value, *format)));
                }
            }
            Source::Constant(codes) => result.clone_from(codes),
            Source::Copy => operand(0).load(result),
            Source::Wide(kernel) => {
                operands.resize(operands.len().max(self.inputs.len()), Vec::new());
                for (k, wide) in operands.iter_mut().enumerate().take(self.inputs.len()) {
                    operand(k).load(wide);
                }
                result.clear();
                result.resize(y.len(), 0);
                kernel.run(&operands[..self.inputs.len()], result);
            }
        }
        for stage in &self.stages {
            stage.apply(0, result);
        }
        y.store(0, result);
    }
}
