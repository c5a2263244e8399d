//! The program computed element by element, as its documentation says: slow, and with nothing in common with the executor.
//!
//! Sources are computed in any [`Arithmetic`]: that of codes, or one of whatever stands for them.

use super::super::range::CodeRange;
use super::super::round_map::RoundMap;
use super::super::stage::Stage;
use super::source::pool_window;
use super::{MatMul, Program, ProgramStep, Source};
use format::{Overflow, Rounding};

/// Arithmetic on codes, or on what stands for them.
pub trait Arithmetic {
    /// A code, or what stands for one.
    type Value;

    /// `Σ value·factor + offset`.
    fn sum(&mut self, terms: Vec<(Self::Value, i64)>, offset: i64) -> Self::Value;

    /// `a·b`.
    fn product(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;

    /// The largest of several.
    fn max(&mut self, values: Vec<Self::Value>) -> Self::Value;

    /// The place of the largest of several, the first of equal ones.
    fn argmax(&mut self, values: Vec<Self::Value>) -> Self::Value;
}

/// The arithmetic of codes themselves.
struct Codes;

impl Arithmetic for Codes {
    type Value = i128;

    fn sum(&mut self, terms: Vec<(i128, i64)>, offset: i64) -> i128 {
        let products = terms.iter().map(|term| term.0 * i128::from(term.1));
        products.fold(offset.into(), |sum, product| sum + product)
    }

    fn product(&mut self, a: i128, b: i128) -> i128 {
        a * b
    }

    fn max(&mut self, values: Vec<i128>) -> i128 {
        values.into_iter().max().unwrap_or(0)
    }

    fn argmax(&mut self, values: Vec<i128>) -> i128 {
        // The last of equal ones is the first of the places in reverse.
        let places = (0..values.len()).rev();
        places.max_by_key(|&place| values[place]).unwrap_or(0) as i128
    }
}

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
            let operand = |k: usize, at: usize| i128::from(values[step.inputs[k]][at]);
            let element = |i: usize| {
                let code = match &step.source {
                    Source::Encode { input, grids } => {
                        grids.code(i, inputs[*input][i], step.ranges[0].frac).into()
                    }
                    _ => step.source_of(i, &mut Codes, operand),
                };
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
        check(stage.code(i, code), range)
    }) as i64
}

impl ProgramStep {
    /// Element `i` before its stages, computed from elements of the step's operands. Terms of factor 0 are not read. An element of
    /// a placeholder has no operands, and is 0 here.
    pub fn source_of<A: Arithmetic>(
        &self,
        i: usize,
        arithmetic: &mut A,
        operand: impl Fn(usize, usize) -> A::Value,
    ) -> A::Value {
        let one = |k: usize, at: usize| (operand(k, at), 1);
        match &self.source {
            Source::Encode { .. } => arithmetic.sum(Vec::new(), 0),
            Source::Constant(codes) => arithmetic.sum(Vec::new(), codes[i]),
            Source::Copy => operand(0, i),
            Source::Layer { rows, weights } => {
                let terms = rows.terms(weights, i).into_iter();
                let terms = terms.map(|(at, weight)| (at, weights.codes[weight]));
                let terms = terms.filter(|term| term.1 != 0);
                let terms = terms.map(|(at, factor)| (operand(0, at), factor)).collect();
                arithmetic.sum(terms, weights.start[rows.column(weights, i)])
            }
            Source::Gather(indices) => operand(0, indices[i]),
            Source::Sum {
                indices,
                bits,
                subtract,
            } => {
                let sign = if *subtract { -1 } else { 1 };
                let factors = [1_i64 << bits[0], sign << bits[1]];
                let terms = [0, 1].map(|k| (operand(k, indices[k][i]), factors[k]));
                arithmetic.sum(terms.into(), 0)
            }
            Source::Product { indices } => {
                arithmetic.product(operand(0, indices[0][i]), operand(1, indices[1][i]))
            }
            Source::Pool {
                windows,
                plane,
                is_max,
            } => {
                let own = pool_window(windows, *plane, i).into_iter();
                if *is_max {
                    arithmetic.max(own.map(|at| operand(0, at)).collect())
                } else {
                    arithmetic.sum(own.map(|at| one(0, at)).collect(), 0)
                }
            }
            Source::Total { targets } => {
                let own = (0..targets.len()).filter(|&at| targets[at] == i);
                arithmetic.sum(own.map(|at| one(0, at)).collect(), 0)
            }
            Source::Argmax { classes } => {
                let own = i * classes..(i + 1) * classes;
                arithmetic.argmax(own.map(|at| operand(0, at)).collect())
            }
            Source::Cat { parts } => {
                let total: usize = parts.iter().map(|part| part.run).sum();
                let (piece, mut rest, mut k) = (i / total, i % total, 0);
                while rest >= parts[k].run {
                    rest -= parts[k].run;
                    k += 1;
                }
                let own = operand(k, piece * parts[k].run + rest);
                arithmetic.sum(vec![(own, 1 << parts[k].bits)], 0)
            }
            Source::MatMul(MatMul { m, k, n, pairs }) => {
                let (left, right) = pairs[i / (m * n)];
                let (row, column) = (i / n % m, i % n);
                let mut term = |t: usize| {
                    let a = operand(0, (left * m + row) * k + t);
                    let b = operand(1, (right * k + t) * n + column);
                    (arithmetic.product(a, b), 1)
                };
                let terms = (0..*k).map(&mut term).collect();
                arithmetic.sum(terms, 0)
            }
        }
    }
}

impl Stage {
    /// The result for the code of element `i`.
    ///
    /// # Panics
    /// When a table has no such code: an error of the caller.
    pub fn code(&self, i: usize, code: i128) -> i128 {
        let (channels, inner) = self.channels();
        let c = i / inner % channels;
        match self {
            Self::Round { maps, .. } => round(maps[c], code),
            Self::Affine { scale, offset, .. } => {
                code * i128::from(scale[c]) + i128::from(offset[c])
            }
            Self::Clamp { lo, hi } => code.clamp((*lo).into(), (*hi).into()),
            Self::Table { first, maps, .. } => maps[c][(code - i128::from(*first)) as usize].into(),
        }
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
