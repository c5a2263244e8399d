//! Rounding to multiples of a real step about a zero point, every operation in f32 and in the order of the definition.

use super::fixed::{MAGIC, round_even};
use super::{ColumnRule, Columns, RoundingRule, clamped, float_below};

/// The rounding of a number between two whole ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To the nearest, ties to even.
    #[default]
    HalfEven,
    /// To the nearest, ties away from zero.
    HalfUp,
    /// To the nearest, ties towards zero.
    HalfDown,
    /// Away from zero.
    Up,
    /// Towards zero.
    Down,
    /// To the one below.
    Floor,
    /// To the one above.
    Ceil,
}

impl Direction {
    /// The whole number.
    #[inline(always)]
    fn whole(self, v: f32) -> f32 {
        let nearest = round_even(v);
        // Exact, for they are at most half apart; none for infinities.
        let rest = if nearest == v { 0.0 } else { v - nearest };
        let away = 1f32.copysign(v);
        // Further from zero than the nearest whole number, or nearer.
        let (further, nearer) = (rest * away > 0.0, rest * away < 0.0);
        let is_tie = rest.abs() == 0.5;
        let step = |moves: bool, by: f32| if moves { by } else { 0.0 };
        match self {
            Self::HalfEven => nearest,
            Self::HalfUp => nearest + step(is_tie && further, away),
            Self::HalfDown => nearest - step(is_tie && nearer, away),
            Self::Up => nearest + step(further, away),
            Self::Down => nearest - step(nearer, away),
            Self::Floor => nearest - step(nearest > v, 1.0),
            Self::Ceil => nearest + step(nearest < v, 1.0),
        }
    }
}

/// (clip(round(x / scale) + zero) − zero)·scale, or with the zero point added before rounding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AffineGrid {
    pub scale: f32,
    pub zero: f32,
    pub lo: f32,
    pub hi: f32,
    pub direction: Direction,
    /// Adds the zero point, and clips, before rounding.
    pub before: bool,
}

impl AffineGrid {
    /// The code of a number, beyond the bounds if it is.
    #[inline(always)]
    fn unbounded(&self, direction: Direction, x: f32) -> f32 {
        if self.before {
            direction.whole(x / self.scale + self.zero)
        } else {
            direction.whole(x / self.scale) + self.zero
        }
    }

    #[inline(always)]
    fn round_all(&self, direction: Direction, x: &[f32], y: &mut [f32]) {
        let Self {
            scale,
            zero,
            lo,
            hi,
            ..
        } = *self;
        // One loop for each order, so that none asks inside.
        if self.before {
            for (y, &x) in y.iter_mut().zip(x) {
                let code = direction.whole(clamped(x / scale + zero, lo, hi));
                *y = (code - zero) * scale;
            }
        } else {
            for (y, &x) in y.iter_mut().zip(x) {
                let code = clamped(direction.whole(x / scale) + zero, lo, hi);
                *y = (code - zero) * scale;
            }
        }
    }

    /// The smallest and the largest code less the zero point, where few codes are rounded to nearest and the zero point is
    /// a code: all these numbers are whole and exact, so that clipping first gives the same bits.
    #[inline(always)]
    fn narrow(&self) -> Option<(f32, f32)> {
        let (lo, hi) = (self.lo - self.zero, self.hi - self.zero);
        let is_usual = self.direction == Direction::HalfEven && !self.before;
        let is_narrow = lo.abs().max(hi.abs()) <= MAGIC / 3.0;
        (is_usual && is_narrow).then_some((lo, hi))
    }

    /// The code of a value of the grid.
    pub fn code(&self, y: f32) -> f32 {
        round_even(y / self.scale + self.zero)
    }

    /// The value of a code.
    pub fn value(&self, code: f32) -> f32 {
        (code - self.zero) * self.scale
    }
}

/// The largest float that fits, where every smaller one does; minus infinity if none does. The nearer the guess, the fewer
/// floats are tried.
fn last_that(guess: f32, fits: impl Fn(f32) -> bool) -> f32 {
    // The place behind infinity is never tried.
    let (first, end) = (ordered(f32::MIN), ordered(f32::INFINITY) + 1);
    if !fits(f32::MIN) {
        return f32::NEG_INFINITY;
    }
    let start = ordered(guess).clamp(first, end - 1);
    let (mut inside, mut outside, mut step) = (start, start, 1);
    if fits(from_ordered(start)) {
        while inside + step < end && fits(from_ordered(inside + step)) {
            inside += step;
            step *= 2;
        }
        outside = end.min(inside + step);
    } else {
        while outside - step > first && !fits(from_ordered(outside - step)) {
            outside -= step;
            step *= 2;
        }
        inside = first.max(outside - step);
    }
    while outside - inside > 1 {
        let middle = inside + (outside - inside) / 2;
        if fits(from_ordered(middle)) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    from_ordered(inside)
}

/// The place of a float among all of them, in their order.
fn ordered(x: f32) -> i64 {
    let bits = i64::from(x.to_bits() & 0x7fff_ffff);
    if x.is_sign_negative() { -bits } else { bits }
}

/// The float at a place.
fn from_ordered(place: i64) -> f32 {
    let magnitude = f32::from_bits(place.unsigned_abs() as u32);
    if place < 0 { -magnitude } else { magnitude }
}

impl RoundingRule for AffineGrid {
    #[inline(always)]
    fn round(&self, x: &[f32], y: &mut [f32]) {
        if let Some((lo, hi)) = self.narrow() {
            // Nothing here takes as long as the division.
            let scale = self.scale;
            for (y, &x) in y.iter_mut().zip(x) {
                *y = (clamped(x / scale, lo, hi) + MAGIC - MAGIC) * scale;
            }
            return;
        }
        // One loop for each direction, so that none asks inside.
        match self.direction {
            Direction::HalfEven => self.round_all(Direction::HalfEven, x, y),
            Direction::HalfUp => self.round_all(Direction::HalfUp, x, y),
            Direction::HalfDown => self.round_all(Direction::HalfDown, x, y),
            Direction::Up => self.round_all(Direction::Up, x, y),
            Direction::Down => self.round_all(Direction::Down, x, y),
            Direction::Floor => self.round_all(Direction::Floor, x, y),
            Direction::Ceil => self.round_all(Direction::Ceil, x, y),
        }
    }

    #[inline(always)]
    fn pass(&self) -> (f32, f32) {
        match self.narrow() {
            Some((lo, hi)) => (-self.last_below(-lo), self.last_below(hi)),
            None => self.search_pass(),
        }
    }
}

impl ColumnRule for AffineGrid {
    #[inline(always)]
    fn columns(&self) -> Option<Columns> {
        let is_usual = self.direction == Direction::HalfEven && !self.before;
        is_usual.then_some([self.scale, self.zero, self.lo, self.hi])
    }

    #[inline(always)]
    fn round_by([scale, zero, lo, hi]: Columns, x: f32) -> f32 {
        (clamped(round_even(x / scale) + zero, lo, hi) - zero) * scale
    }
}

impl AffineGrid {
    /// The largest float whose quotient by the scale is rounded to nearest to at most `code`, which is not negative.
    #[inline(always)]
    fn last_below(&self, code: f32) -> f32 {
        // A half goes to the even one of its neighbours.
        let half = code + 0.5;
        let is_even = (code as u32).is_multiple_of(2);
        let last = if is_even { half } else { half.next_down() };
        // Quotients up to the middle between this float and the next become it. 25 bits by 24 bits: exact, and no float, for
        // the last of the 25 is set.
        let middle = 0.5 * (f64::from(last) + f64::from(last.next_up()));
        float_below(middle * f64::from(self.scale), true)
    }

    fn search_pass(&self) -> (f32, f32) {
        let code = |x: f32| self.unbounded(self.direction, x);
        let [below, above] = self.guesses();
        let high = last_that(above, |x| code(x) <= self.hi);
        // The mirror image: the smallest float that fits is the negative of the largest one that does from the other side.
        let low = -last_that(below, |x| code(-x) >= self.lo);
        (low, high)
    }

    /// Magnitudes near the last ones that fit, from which these are found in a few steps.
    fn guesses(&self) -> [f32; 2] {
        [-self.value(self.lo - 0.5), self.value(self.hi + 0.5)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, step by step.
    fn by_definition(grid: &AffineGrid, x: f32) -> f32 {
        let code = clamped(round_even(x / grid.scale) + grid.zero, grid.lo, grid.hi);
        (code - grid.zero) * grid.scale
    }

    #[test]
    fn few_codes_are_rounded_to_the_bits_of_the_definition() {
        let mut grid = AffineGrid {
            scale: 1.0,
            zero: 0.0,
            lo: 0.0,
            hi: 0.0,
            direction: Direction::HalfEven,
            before: false,
        };
        let mut ends = vec![f32::NAN, f32::INFINITY, -f32::INFINITY, 0.0, -0.0, 1e-40];
        ends.extend([f32::MAX, f32::MIN, f32::MIN_POSITIVE, -1e-45, 8388609.0]);
        for scale in [0.1, 0.0625, 3.7, 1e-37, 1e37, f32::MIN_POSITIVE] {
            for (zero, lo, hi) in [
                (0.0, -128.0, 127.0),
                (3.0, -128.0, 127.0),
                (-128.0, -128.0, 127.0),
                (0.0, 0.0, 255.0),
                (255.0, 0.0, 255.0),
                (0.0, -1.0, 0.0),
                (0.0, -2097152.0, 2097151.0),
                (2097151.0, -2097152.0, 2097151.0),
            ] {
                grid = AffineGrid {
                    scale,
                    zero,
                    lo,
                    hi,
                    ..grid
                };
                assert!(grid.narrow().is_some(), "{grid:?}");
                // Codes and their middles, and the floats around them.
                let middles = (-600..600).map(|half| half as f32 * 0.5 * scale);
                let near = middles.flat_map(|x| [x.next_down(), x, x.next_up()]);
                let x: Vec<f32> = near.chain(ends.iter().copied()).collect();
                let mut y = vec![0.0; x.len()];
                grid.round(&x, &mut y);
                for (&x, &y) in x.iter().zip(&y) {
                    let want = by_definition(&grid, x);
                    let same = y.to_bits() == want.to_bits() || y.is_nan() && want.is_nan();
                    assert!(same, "{grid:?}: {x}: {y}, by the definition {want}");
                }
            }
        }
        let wide = (-8388608.0, 8388607.0);
        (grid.lo, grid.hi) = wide;
        assert!(grid.narrow().is_none());
    }

    #[test]
    fn the_bounds_of_few_codes_are_those_that_a_search_finds() {
        let scales = [0.1f32, 0.0625, 0.7, 3.7, 1e-37, 1e37, f32::MIN_POSITIVE];
        let more = (1..400).map(|at| 1.0 + at as f32 / 399.0);
        for scale in scales.into_iter().chain(more) {
            for (zero, lo, hi) in [
                (0.0, -128.0, 127.0),
                (3.0, -128.0, 127.0),
                (0.0, -127.0, 127.0),
                (-128.0, -128.0, 127.0),
                (0.0, 0.0, 255.0),
                (7.0, 0.0, 15.0),
                (0.0, -2.0, 1.0),
                (0.0, -1.0, 0.0),
                (0.0, -2097152.0, 2097151.0),
            ] {
                let grid = AffineGrid {
                    scale,
                    zero,
                    lo,
                    hi,
                    direction: Direction::HalfEven,
                    before: false,
                };
                assert!(grid.narrow().is_some(), "{grid:?}");
                assert_eq!(grid.pass(), grid.search_pass(), "{grid:?}");
            }
        }
    }

    #[test]
    fn the_last_float_that_fits_does_not_depend_on_the_guess() {
        let limits = [
            f32::MIN,
            -3.5,
            -1e-40,
            0.0,
            1e-40,
            0.75,
            2f32.powi(90),
            f32::MAX,
        ];
        let guesses = [f32::NEG_INFINITY, -3.5, 0.0, 0.7, 1e9, f32::INFINITY];
        for limit in limits {
            for guess in guesses {
                let last = last_that(guess, |x| x <= limit);
                assert_eq!(last.to_bits(), limit.to_bits(), "{limit} from {guess}");
            }
        }
        assert_eq!(last_that(0.0, |_| false), f32::NEG_INFINITY);
        assert_eq!(last_that(0.0, |_| true), f32::INFINITY);
    }
}
