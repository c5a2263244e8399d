//! The values of a netlist, many rows at a time.

use super::builder::requant;
use super::{CellId, Net, Operation, Term};

/// Rows that are computed together: the values of some thousand cells stay in the second-level cache.
const BLOCK: usize = 64;

impl Net {
    /// The results of rows of input elements, `rows × n_inputs`, as `rows × outputs`. Registers pass their values on.
    pub fn evaluate(&self, n_inputs: usize, x: &[i64]) -> Vec<i64> {
        let narrow = |bits: u32| bits <= 31;
        if self.iter().all(|(id, _)| narrow(self.width(id).bits)) {
            self.evaluate_as::<i32>(n_inputs, x)
        } else {
            self.evaluate_as::<i64>(n_inputs, x)
        }
    }

    fn evaluate_as<T: Word>(&self, n_inputs: usize, x: &[i64]) -> Vec<i64> {
        let rows = x.len().checked_div(n_inputs).unwrap_or(1);
        let mut y = vec![0; rows * self.outputs.len()];
        let mut values = vec![[T::default(); BLOCK]; self.cells.len()];
        for start in (0..rows).step_by(BLOCK) {
            let n = BLOCK.min(rows - start);
            let block = &x[start * n_inputs..(start + n) * n_inputs];
            for at in 0..self.cells.len() {
                let (earlier, later) = values.split_at_mut(at);
                self.compute(at, n_inputs, block, earlier, &mut later[0]);
            }
            let own = &mut y[start * self.outputs.len()..];
            for (k, &Term { cell, shift }) in self.outputs.iter().enumerate() {
                let codes = values[cell.index()].iter().take(n);
                for (row, code) in codes.enumerate() {
                    own[row * self.outputs.len() + k] = code.widen() << shift;
                }
            }
        }
        y
    }

    fn compute<T: Word>(
        &self,
        at: usize,
        n_inputs: usize,
        x: &[i64],
        earlier: &[[T; BLOCK]],
        y: &mut [T; BLOCK],
    ) {
        match &self.cells[at].operation {
            Operation::Input { element } => {
                let column = x.iter().skip(*element as usize).step_by(n_inputs.max(1));
                y.iter_mut()
                    .zip(column)
                    .for_each(|(y, x)| *y = T::narrow(*x));
            }
            Operation::Const { value } => y.fill(T::narrow(*value)),
            Operation::AddSub {
                a,
                sa,
                b,
                sb,
                subtract,
            } => {
                let (sa, sb) = (*sa, *sb);
                if *subtract {
                    pairwise(earlier, [*a, *b], y, |a, b| T::sub(a.shl(sa), b.shl(sb)));
                } else {
                    pairwise(earlier, [*a, *b], y, |a, b| T::add(a.shl(sa), b.shl(sb)));
                }
            }
            Operation::Shift { a, bits } => {
                let a = &earlier[a.index()];
                y.iter_mut().zip(a).for_each(|(y, a)| *y = a.shl(*bits));
            }
            Operation::Delay { a } => *y = earlier[a.index()],
            Operation::Less { a, b } => {
                pairwise(earlier, [*a, *b], y, |a, b| T::narrow((a < b).into()));
            }
            Operation::Max { a, b } => pairwise(earlier, [*a, *b], y, T::max),
            Operation::Mul { a, b } => {
                let product = |a: T, b: T| T::narrow(a.widen().wrapping_mul(b.widen()));
                pairwise(earlier, [*a, *b], y, product);
            }
            Operation::Mux { select, zero, one } => {
                let [select, zero, one] = [select, zero, one].map(|id| &earlier[id.index()]);
                for (row, y) in y.iter_mut().enumerate() {
                    *y = if select[row] == T::default() {
                        zero[row]
                    } else {
                        one[row]
                    };
                }
            }
            Operation::Neg { a } => map(&earlier[a.index()], y, |a| -a),
            Operation::Clamp { a, lo, hi } => {
                map(&earlier[a.index()], y, |a| a.clamp(*lo, *hi));
            }
            Operation::Requant {
                a,
                shift,
                tie_to_even,
                bounds,
            } => {
                let (shift, even, bounds) = (*shift, *tie_to_even, Some(*bounds));
                map(&earlier[a.index()], y, |a| requant(a, shift, even, bounds));
            }
            Operation::Table { a, values } => {
                let lo = self.cell(*a).interval.lo;
                // Rows beyond the block's end hold what the last block left there.
                map(&earlier[a.index()], y, |a| {
                    values.get((a - lo) as usize).copied().unwrap_or(0)
                });
            }
        }
    }
}

fn pairwise<T: Word>(
    earlier: &[[T; BLOCK]],
    [a, b]: [CellId; 2],
    y: &mut [T; BLOCK],
    of: impl Fn(T, T) -> T,
) {
    let pairs = earlier[a.index()].iter().zip(&earlier[b.index()]);
    y.iter_mut()
        .zip(pairs)
        .for_each(|(y, (a, b))| *y = of(*a, *b));
}

fn map<T: Word>(a: &[T; BLOCK], y: &mut [T; BLOCK], of: impl Fn(i64) -> i64) {
    y.iter_mut()
        .zip(a)
        .for_each(|(y, a)| *y = T::narrow(of(a.widen())));
}

/// The integers that values are computed in. Nothing wraps: the intervals of the cells fit.
trait Word: Copy + Default + Ord {
    fn narrow(x: i64) -> Self;
    fn widen(self) -> i64;
    fn shl(self, bits: u32) -> Self;
    fn add(a: Self, b: Self) -> Self;
    fn sub(a: Self, b: Self) -> Self;
}

macro_rules! word {
    ($type:ty) => {
        impl Word for $type {
            fn narrow(x: i64) -> Self {
                x as Self
            }
            fn widen(self) -> i64 {
                self.into()
            }
            fn shl(self, bits: u32) -> Self {
                self.wrapping_shl(bits)
            }
            fn add(a: Self, b: Self) -> Self {
                a.wrapping_add(b)
            }
            fn sub(a: Self, b: Self) -> Self {
                a.wrapping_sub(b)
            }
        }
    };
}

word!(i32);
word!(i64);
