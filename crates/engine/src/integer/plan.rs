//! A graph compiled to integers, ready to run any number of times.

use super::buffer::Code;
use super::buffer::{Buffer, with_buffer};
use super::codes::decode;
use super::compile::compile;
use super::error::IntegerError;
use super::program::Program;
use super::range::CodeRange;
use super::report::NodeReport;
use super::step::{Memory, Step};
use crate::input::{InputInfo, input_infos};
use crate::state::State;
use crate::{EngineError, Input, PlanOptions};
use format::Integer;
use ir::Verified;
use std::sync::atomic::{AtomicBool, Ordering};

/// A graph whose every operand is fixed point, compiled for a number of rows and the present parameters.
pub struct IntegerPlan {
    rows: usize,
    inputs: Vec<InputInfo>,
    steps: Vec<Step>,
    /// The value that each step makes.
    buffers: Vec<Buffer>,
    outputs: Vec<(usize, CodeRange)>,
    reports: Vec<NodeReport>,
    memory: Memory,
    /// Per input, room for rows that lie apart, or are no floats.
    copies: Vec<Vec<f32>>,
}

impl IntegerPlan {
    /// Compiles a verified graph for a batch of `rows` rows. Every width is proven here: running never overflows.
    pub fn compile(verified: &Verified, state: &State, rows: usize) -> Result<Self, IntegerError> {
        let compiled = compile(Program::of(verified, state, rows)?);
        Ok(Self {
            rows,
            inputs: input_infos(verified, &PlanOptions::eval(rows))?,
            steps: compiled.steps,
            buffers: compiled.buffers,
            outputs: compiled.outputs,
            reports: compiled.reports,
            memory: Memory::default(),
            copies: Vec::new(),
        })
    }

    /// Runs the graph on a batch.
    pub fn run(&mut self, inputs: &[Input]) -> Result<(), IntegerError> {
        self.run_until(inputs, &AtomicBool::new(false))
    }

    /// Runs the graph on a batch, and gives it up before the next step when the flag is set.
    pub fn run_until(&mut self, inputs: &[Input], stop: &AtomicBool) -> Result<(), IntegerError> {
        if inputs.len() != self.inputs.len() {
            let (expected, got) = (self.inputs.len(), inputs.len());
            return Err(EngineError::InputCount { expected, got }.into());
        }
        for (info, input) in self.inputs.iter().zip(inputs) {
            info.check(input, self.rows)?;
        }
        let floats = floats(inputs, &self.inputs, self.rows, &mut self.copies);
        for (at, step) in self.steps.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                return Err(EngineError::Interrupted.into());
            }
            let (earlier, later) = self.buffers.split_at_mut(at);
            step.run(&floats, earlier, &mut later[0], &mut self.memory);
        }
        Ok(())
    }

    /// Result `k` as floats: each the float nearest to code·2^-frac, exact where it fits.
    pub fn output(&self, k: usize) -> Vec<f32> {
        let (step, range) = self.outputs[k];
        with_buffer!(&self.buffers[step], codes => codes.iter().map(|code| decode(code.widen(), range.frac)).collect())
    }

    /// The codes of result `k` and the narrowest format that holds all it can be.
    pub fn output_codes(&self, k: usize) -> (Vec<i64>, Integer) {
        let (step, range) = self.outputs[k];
        let mut codes = Vec::new();
        self.buffers[step].load(&mut codes);
        (codes, range.format())
    }

    /// The result of every node but the graph's edges: its format, how it is stored, which kernel computes it.
    pub fn describe(&self) -> &[NodeReport] {
        &self.reports
    }
}

/// The values of every input, row after row: its own where they lie so, else a copy.
fn floats<'a>(
    inputs: &[Input<'a>],
    infos: &[InputInfo],
    rows: usize,
    copies: &'a mut Vec<Vec<f32>>,
) -> Vec<&'a [f32]> {
    copies.resize(inputs.len(), Vec::new());
    let all = inputs.iter().zip(infos).zip(copies);
    all.map(|((input, info), copy)| match input {
        Input::F32(values) => values,
        other => {
            copy.resize(info.elements(), 0.0);
            other.copy_to(0, info.width(rows), copy);
            copy.as_slice()
        }
    })
    .collect()
}
