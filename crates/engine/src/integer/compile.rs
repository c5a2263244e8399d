//! From a program to steps that run: orders of axes are chosen, and stages join the kernel where codes become narrow.
//!
//! Convolutions compute on pixels of channels. Their results stay so until a step needs planes.

use super::buffer::{Buffer, Storage};
use super::layer::Layer;
use super::program::{Program, ProgramStep, Rows, Source};
use super::range::CodeRange;
use super::reorder::{Reorder, channels_and_plane};
use super::report::NodeReport;
use super::stage::Stage;
use super::step::{Kernel, Step, UnplacedStep};
use crate::ops::pool::integer::Pool;
use crate::order::Order;

/// Steps in order, the value that each makes, and what the program returns.
pub(crate) struct Compiled {
    pub steps: Vec<Step>,
    pub buffers: Vec<Buffer>,
    pub outputs: Vec<(usize, CodeRange)>,
    pub reports: Vec<NodeReport>,
}

/// Compiles a program.
pub(crate) fn compile(program: Program) -> Compiled {
    let mut compiler = Compiler::new(&program);
    for step in program.steps {
        compiler.step(step);
    }
    let outputs = program.outputs.iter();
    let outputs = outputs.map(|output| {
        let value = compiler.read(output.step, Order::Planes);
        (value.step, output.range)
    });
    let outputs = outputs.collect();
    let places: Vec<Made> = program
        .results
        .iter()
        .map(|result| compiler.made[result.step][result.stages])
        .collect();
    let (steps, buffers, results) = compiler.finish();
    let reports = program.results.iter().zip(places).map(|(result, made)| {
        let is_stored = results[made.step] == (made.stages, result.range);
        NodeReport {
            node: result.node.clone(),
            op: result.op,
            format: result.range.format(),
            storage: is_stored.then(|| Storage::of(result.range)),
            kernel: steps[made.step].kernel(),
        }
    });
    let reports = reports.collect();
    Compiled {
        steps,
        buffers,
        outputs,
        reports,
    }
}

/// The value of a step of the program.
#[derive(Clone)]
struct Value {
    step: usize,
    /// As the graph has it, whatever the order in memory.
    shape: Vec<usize>,
    order: Order,
    range: CodeRange,
    /// True when it is read once, so that its reader may change the step that makes it.
    is_sole: bool,
}

/// The step that makes an inner value of a step of the program, and the number of its stages then.
#[derive(Clone, Copy)]
struct Made {
    step: usize,
    stages: usize,
}

struct Compiler {
    /// Per step of the program, the number of its readers.
    reads: Vec<usize>,
    unplaced: Vec<UnplacedStep>,
    /// Per step of the program, its value.
    values: Vec<Value>,
    /// The same after its source and after every stage.
    made: Vec<Vec<Made>>,
}

impl Compiler {
    fn new(program: &Program) -> Self {
        let mut reads = vec![0; program.steps.len()];
        let read = program.steps.iter().flat_map(|step| &step.inputs);
        let returned = program.outputs.iter().map(|output| &output.step);
        read.chain(returned).for_each(|&step| reads[step] += 1);
        Self {
            reads,
            unplaced: Vec::new(),
            values: Vec::with_capacity(program.steps.len()),
            made: Vec::with_capacity(program.steps.len()),
        }
    }

    fn step(&mut self, step: ProgramStep) {
        let order = self.order(&step);
        let owns_operand = step.inputs.first().is_some_and(|&k| self.reads[k] == 1);
        let operands: Vec<Value> = step.inputs.iter().map(|&k| self.read(k, order)).collect();
        let shape = match (&step.source, operands.first()) {
            // Stages see the channels that the order has.
            (Source::Copy, Some(operand)) => operand.shape.clone(),
            _ => step.shape,
        };
        let kernel = kernel(step.source, &shape, order, owns_operand);
        let inputs = operands.iter().map(|value| value.step).collect();
        let mut value = self.push_step(kernel, inputs, step.ranges[0], shape, order);
        let mut made = vec![self.made(&value)];
        for (stage, &range) in step.stages.into_iter().zip(&step.ranges[1..]) {
            value = self.extend(value, stage, range);
            made.push(self.made(&value));
        }
        self.values.push(value);
        self.made.push(made);
    }

    fn made(&self, value: &Value) -> Made {
        Made {
            step: value.step,
            stages: self.unplaced[value.step].stages.len(),
        }
    }

    /// The order that a step computes in, which is that of its operands and its result.
    fn order(&self, step: &ProgramStep) -> Order {
        let operands = || step.inputs.iter().map(|&k| &self.values[k]);
        let mut pixels = operands().filter(|value| value.order == Order::Pixels);
        let has_pixels = match &step.source {
            Source::Layer { rows, .. } => matches!(rows, Rows::Windows(_)),
            Source::Copy => pixels.any(|value| {
                let channels = channels_and_plane(&value.shape);
                let first = step.stages.first();
                first.is_none_or(|stage| stage.in_pixels(channels).is_some())
            }),
            Source::Pool { plane, .. } => pixels.any(|value| {
                let (channels, elements) = channels_and_plane(&value.shape);
                elements == plane[0] * plane[1] && channels == channels_and_plane(&step.shape).0
            }),
            Source::Sum { .. } | Source::Product { .. } => {
                pixels.filter(|value| value.shape == step.shape).count() == step.inputs.len()
            }
            Source::Encode { .. }
            | Source::Constant(_)
            | Source::Gather(_)
            | Source::Total { .. }
            | Source::Argmax { .. }
            | Source::Cat { .. }
            | Source::MatMul(_) => false,
        };
        if has_pixels {
            Order::Pixels
        } else {
            Order::Planes
        }
    }

    /// The value of a step of the program, with its axes in an order.
    fn read(&mut self, step: usize, order: Order) -> Value {
        let is_sole = self.reads[step] == 1;
        let value = self.values[step].clone();
        self.in_order(Value { is_sole, ..value }, order)
    }

    fn in_order(&mut self, value: Value, order: Order) -> Value {
        if value.order == order {
            return value;
        }
        match Reorder::new(&value.shape, order) {
            None => Value { order, ..value },
            Some(reorder) => {
                let kernel = Kernel::Reorder {
                    reorder,
                    owns_operand: value.is_sole,
                };
                self.push_step(kernel, vec![value.step], value.range, value.shape, order)
            }
        }
    }

    /// Maps the elements of a value to a range: in a step that makes it, or in a new one.
    fn extend(&mut self, value: Value, stage: Stage, range: CodeRange) -> Value {
        let (value, stage) = self.fitting(value, stage);
        let (value, host) = if let Some(host) = self.host(value.step, &stage) {
            (value, host)
        } else {
            let Value { shape, order, .. } = value;
            let inputs = vec![value.step];
            let copy = self.push_step(Kernel::Copy, inputs, value.range, shape, order);
            let host = copy.step;
            (copy, host)
        };
        let mut at = value.step;
        while at != host {
            self.unplaced[at].ranges = vec![range];
            at = self.unplaced[at].inputs[0];
        }
        self.unplaced[host].stages.push(stage);
        self.unplaced[host].ranges.push(range);
        Value { range, ..value }
    }

    /// The step that can map a value that a step makes: that step, or one before it. The largest of rounded codes is the
    /// largest code, rounded, and codes may be rounded before they are moved: a stage goes to where the codes come from.
    fn host(&self, step: usize, stage: &Stage) -> Option<usize> {
        let unplaced = &self.unplaced[step];
        let before = || self.host(unplaced.inputs[0], stage);
        match &unplaced.kernel {
            Kernel::Layer(layer) => layer.accepts(stage).then_some(step),
            Kernel::MaxPool { pool, owns_operand } => {
                let is_alike = stage.channels().0 == 1 || pool.has_pixels();
                let is_early = unplaced.stages.is_empty() && stage.is_monotone();
                let passes = *owns_operand && is_alike && is_early;
                passes.then(before).flatten().or(Some(step))
            }
            Kernel::Reorder { owns_operand, .. } => {
                let passes = *owns_operand && stage.channels().0 == 1;
                passes.then(before).flatten()
            }
            _ => Some(step),
        }
    }

    /// The value, and the stage for the order that it lies in.
    fn fitting(&mut self, value: Value, stage: Stage) -> (Value, Stage) {
        if value.order == Order::Planes {
            return (value, stage);
        }
        match stage.in_pixels(channels_and_plane(&value.shape)) {
            Some(stage) => (value, stage),
            None => (self.in_order(value, Order::Planes), stage),
        }
    }

    fn push_step(
        &mut self,
        kernel: Kernel,
        inputs: Vec<usize>,
        range: CodeRange,
        shape: Vec<usize>,
        order: Order,
    ) -> Value {
        let step = self.unplaced.len();
        self.unplaced.push(UnplacedStep {
            kernel,
            inputs,
            ranges: vec![range],
            stages: Vec::new(),
            len: shape.iter().product(),
        });
        Value {
            step,
            shape,
            order,
            range,
            is_sole: true,
        }
    }

    /// The steps, the buffers of their values, and per step the number of its stages and the range of its value.
    fn finish(self) -> (Vec<Step>, Vec<Buffer>, Vec<(usize, CodeRange)>) {
        let unplaced = self.unplaced;
        let result = |step: &UnplacedStep| (step.stages.len(), step.result());
        let results: Vec<(usize, CodeRange)> = unplaced.iter().map(result).collect();
        let buffer = |step: &UnplacedStep| Buffer::zeros(Storage::of(step.result()), step.len);
        let buffers = unplaced.iter().map(buffer).collect();
        let steps = unplaced.into_iter().map(|step| {
            let operand = step.inputs.first().map(|&input| results[input].1);
            Step::new(step, operand)
        });
        (steps.collect(), buffers, results)
    }
}

/// The kernel of a source whose result has this shape.
fn kernel(source: Source, shape: &[usize], order: Order, owns_operand: bool) -> Kernel {
    match source {
        Source::Encode { input, grids } => Kernel::Encode { input, grids },
        Source::Constant(codes) => Kernel::Constant(codes),
        Source::Copy => Kernel::Copy,
        Source::Layer { rows, weights } => Kernel::Layer(Box::new(Layer::new(&rows, weights))),
        Source::Pool {
            windows,
            plane,
            is_max,
        } => {
            let inner = match order {
                Order::Planes => 1,
                Order::Pixels => channels_and_plane(shape).0,
            };
            let pool = Box::new(Pool::new(windows, plane, inner));
            if is_max {
                Kernel::MaxPool { pool, owns_operand }
            } else {
                Kernel::SumPool(pool)
            }
        }
        wide @ (Source::Gather(_)
        | Source::Sum { .. }
        | Source::Product { .. }
        | Source::Total { .. }
        | Source::Argmax { .. }
        | Source::Cat { .. }
        | Source::MatMul(_)) => Kernel::Wide(wide),
    }
}
