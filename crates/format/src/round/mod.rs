//! The rules by which every format rounds: to a fixed-point grid, to multiples of a real step, to floats of few bits, to
//! powers of two.
//!
//! Each loop is plain code that the compiler turns into vector instructions: no library calls, no branches inside.
//! Functions are always inlined, so that a caller compiled for a wider instruction set gets wider loops.

mod affine;
mod fixed;
mod float;
mod power;
mod ratio;

pub(crate) use affine::{AffineGrid, Direction};
pub(crate) use fixed::Fixed;
pub(crate) use float::Float;
pub(crate) use power::{Power, rounded_log2};
pub(crate) use ratio::RatioGrid;

/// The two numbers by which the rounding of one block's elements differs from that of another's.
pub(crate) type Lane = [f32; 2];

/// Four numbers by which the rounding of one element differs from that of its neighbours.
pub(crate) type Columns = [f32; 4];

/// A rule by which elements are rounded.
pub(crate) trait RoundingRule: Copy {
    /// Rounds every element.
    fn round(&self, x: &[f32], y: &mut [f32]);
    /// The two numbers of a block that [`Self::round_lane`] needs, if it can round the block's elements.
    #[inline(always)]
    fn lane(&self) -> Option<Lane> {
        None
    }
    /// Rounds an element of the block that `lane` is from, which may be another one of the same format. Not asked of
    /// a rule without lanes.
    #[inline(always)]
    fn round_lane(&self, x: f32, _lane: Lane) -> f32 {
        x
    }
    /// The smallest and largest float that do not saturate.
    #[inline(always)]
    fn pass(&self) -> (f32, f32) {
        (f32::NEG_INFINITY, f32::INFINITY)
    }
}

/// A rule that may be told by four numbers, so that elements with different rules are rounded side by side.
pub(crate) trait ColumnRule: RoundingRule {
    /// The four numbers that [`Self::round_by`] needs, where they tell the whole rule.
    fn columns(&self) -> Option<Columns>;
    /// Rounds an element by the numbers of its rule.
    fn round_by(columns: Columns, x: f32) -> f32;
}

/// Sums side by side in [`scale_gradient`].
const LANES: usize = 16;

/// Zeroes the gradient where rounding `x` to y saturates. Returns the sum of gradient·(y − x) where it does not and of
/// gradient·y where it does: the gradient of the logarithm of the step, with rounding passed straight through.
#[inline(always)]
pub(crate) fn scale_gradient<R: ColumnRule>(rule: &R, x: &[f32], grad: &mut [f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let (lo, hi) = rule.pass();
    let columns = rule.columns();
    let mut rounded = [0.0; LANES];
    for (x, grad) in x.chunks(LANES).zip(grad.chunks_mut(LANES)) {
        let y = &mut rounded[..x.len()];
        match columns {
            Some(columns) => {
                for (y, &x) in y.iter_mut().zip(x) {
                    *y = R::round_by(columns, x);
                }
            }
            None => rule.round(x, y),
        }
        for (((sum, y), &x), grad) in sums.iter_mut().zip(&*y).zip(x).zip(grad) {
            let saturates = x < lo || x > hi;
            *sum += *grad * (y - if saturates { 0.0 } else { x });
            *grad = if saturates { 0.0 } else { *grad };
        }
    }
    sums.iter().sum()
}

/// `x` between two bounds that are not NaN; NaN stays. Unlike [`f32::clamp`] it has no branch for wrong bounds.
#[inline(always)]
pub(crate) fn clamped(x: f32, lo: f32, hi: f32) -> f32 {
    let above = if x < lo { lo } else { x };
    if above > hi { hi } else { above }
}

/// 2^exponent, exactly.
#[inline(always)]
pub(crate) fn exp2(exponent: i32) -> f64 {
    debug_assert!((-1022..=1023).contains(&exponent));
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Below the logarithm of any float, and far from overflowing.
const LOG2_OF_ZERO: i32 = -100_000;

/// The exponent of a non-negative number: floor(log2 x), far below every other for 0.
#[inline(always)]
pub(crate) fn floor_log2(x: f64) -> i32 {
    if x == 0.0 {
        return LOG2_OF_ZERO;
    }
    (x.to_bits() >> 52) as i32 - 1023
}

/// The largest float that is at most `bound`, or below it if the bound is not included.
#[inline(always)]
pub(crate) fn float_below(bound: f64, included: bool) -> f32 {
    let nearest = bound as f32;
    let (near, fits) = (f64::from(nearest), f64::from(nearest) <= bound);
    if fits && (included || near < bound) {
        nearest
    } else {
        nearest.next_down()
    }
}

#[cfg(test)]
mod tests {
    use super::clamped;

    #[test]
    fn a_number_at_a_bound_stays_with_its_sign() {
        for (x, lo, hi, want) in [
            (-0.0, 0.0, 1.0, -0.0f32),
            (0.0, -1.0, -0.0, 0.0),
            (-0.0, -1.0, 0.0, -0.0),
            (-1.5, -1.0, 2.0, -1.0),
            (2.5, -1.0, 2.0, 2.0),
            (1.5, -1.0, 2.0, 1.5),
        ] {
            let got = clamped(x, lo, hi);
            assert_eq!(
                got.to_bits(),
                want.to_bits(),
                "{x} from {lo} to {hi}: {got}"
            );
        }
        assert!(clamped(f32::NAN, -1.0, 1.0).is_nan());
    }
}
