//! The program computed element by element, as its documentation says: slow, and with nothing in common with the executor.

use super::super::range::CodeRange;
use super::super::round_map::RoundMap;
use super::super::stage::Stage;
use super::source::pool_window;
use super::{MatMul, Program, ProgramStep, Source};
use format::{Overflow, Rounding};

impl Program {
    /// The codes of every result for the floats of every input.
    ///
    /// # Panics
    /// When an input is missing or too short: an error of the caller.
    pub fn interpret(&self, inputs: &[Vec<f32>]) -> Vec<Vec<i64>> {
        let values = self.values(inputs);
        let outputs = self.outputs.iter();
        outputs.map(|output| values[output.step].clone()).collect()
    }

    /// The codes of every step for the floats of every input.
    ///
    /// # Panics
    /// When an input is missing or too short: an error of the caller.
    pub fn values(&self, inputs: &[Vec<f32>]) -> Vec<Vec<i64>> {
        let mut values: Vec<Vec<i64>> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let operand = |k: usize| values[step.inputs[k]].as_slice();
            let element = |i: usize| {
                let code = source(step, i, inputs, &operand);
                staged(step, i, code)
            };
            values.push((0..step.len()).map(element).collect());
        }
        values
    }
}

/// The element after all stages; a code outside its proven range is an error of the program.
fn staged(step: &ProgramStep, i: usize, code: i128) -> i64 {
    let check = |code: i128, range: &CodeRange| {
        debug_assert!(
            range.min <= code && code <= range.max,
            "{}: element {i} is {code}, outside {range:?}",
            step.node
        );
        code
    };
    let stages = step.stages.iter().zip(&step.ranges[1..]);
    let code = check(code, &step.ranges[0]);
    stages.fold(code, |code, (stage, range)| {
        check(map(stage, i, code), range)
    }) as i64
}

fn source<'a>(
    step: &ProgramStep,
    i: usize,
    inputs: &[Vec<f32>],
    operand: &impl Fn(usize) -> &'a [i64],
) -> i128 {
    let at = |k: usize, element: usize| i128::from(operand(k)[element]);
    match &step.source {
        Source::Encode { input, grids } => {
            grids.code(i, inputs[*input][i], step.ranges[0].frac).into()
        }
        Source::Constant(codes) => codes[i].into(),
        Source::Copy => at(0, i),
        Source::Layer { rows, weights } => {
            let start = i128::from(weights.start[rows.column(weights, i)]);
            let terms = rows.terms(weights, i).into_iter();
            terms.fold(start, |sum, (element, weight)| {
                sum + at(0, element) * i128::from(weights.codes[weight])
            })
        }
        Source::Gather(indices) => at(0, indices[i]),
        Source::Sum {
            indices,
            bits,
            subtract,
        } => {
            let [a, b] = [0, 1].map(|k| at(k, indices[k][i]) << bits[k]);
            if *subtract { a - b } else { a + b }
        }
        Source::Product { indices } => at(0, indices[0][i]) * at(1, indices[1][i]),
        Source::Pool {
            windows,
            plane,
            is_max,
        } => {
            let elements = pool_window(windows, *plane, i).into_iter();
            let codes = elements.map(|element| at(0, element));
            if *is_max {
                codes.max().unwrap_or(0)
            } else {
                codes.sum()
            }
        }
        Source::Total { targets } => {
            let terms = targets.iter().enumerate();
            let own = terms.filter(|(_, target)| **target == i);
            own.map(|(element, _)| at(0, element)).sum()
        }
        Source::Argmax { classes } => {
            let code = |place: &i128| at(0, i * classes + *place as usize);
            // The last of equal ones is the first of the places in reverse.
            let places = (0..*classes as i128).rev();
            places.max_by_key(code).unwrap_or(0)
        }
        Source::Cat { parts } => {
            let total: usize = parts.iter().map(|part| part.run).sum();
            let (piece, mut rest, mut k) = (i / total, i % total, 0);
            while rest >= parts[k].run {
                rest -= parts[k].run;
                k += 1;
            }
            at(k, piece * parts[k].run + rest) << parts[k].bits
        }
        Source::MatMul(MatMul { m, k, n, pairs }) => {
            let (left, right) = pairs[i / (m * n)];
            let (row, column) = (i / n % m, i % n);
            let term =
                |t: usize| at(0, (left * m + row) * k + t) * at(1, (right * k + t) * n + column);
            (0..*k).map(term).sum()
        }
    }
}

/// The result of a stage for the code of element `i`.
fn map(stage: &Stage, i: usize, code: i128) -> i128 {
    let (channels, inner) = stage.channels();
    let c = i / inner % channels;
    match stage {
        Stage::Round { maps, .. } => round(maps[c], code),
        Stage::Affine { scale, offset, .. } => code * i128::from(scale[c]) + i128::from(offset[c]),
        Stage::Clamp { lo, hi } => code.clamp((*lo).into(), (*hi).into()),
        Stage::Table { first, maps, .. } => maps[c][(code - i128::from(*first)) as usize].into(),
    }
}

/// The code at the step of the format, rounded, bounded and moved to the left.
fn round(map: RoundMap, code: i128) -> i128 {
    // Beyond these bits nothing changes any more: codes have 64.
    let rounded = if map.shift <= 0 {
        code << (-map.shift).min(64)
    } else {
        let one = 1_i128 << map.shift.min(100);
        let (quotient, rest) = (code.div_euclid(one), code.rem_euclid(one));
        let is_up = match map.rounding {
            Rounding::Floor => false,
            Rounding::NearestEven => 2 * rest > one || (2 * rest == one && quotient % 2 != 0),
            Rounding::NearestUp => 2 * rest >= one,
        };
        quotient + i128::from(is_up)
    };
    let (lo, hi) = (i128::from(map.lo), i128::from(map.hi));
    let code = match map.overflow {
        Overflow::Saturate => rounded.clamp(lo, hi),
        Overflow::Wrap => (rounded - lo).rem_euclid(hi - lo + 1) + lo,
    };
    code << map.lift
}
