//! Rounding to multiples of a real step about a zero point, every operation in f32 and in the order of the definition.

use super::fixed::round_even;
use super::{Columns, RoundingRule, clamped};

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
            before,
            ..
        } = *self;
        for (y, &x) in y.iter_mut().zip(x) {
            let code = if before {
                direction.whole(clamped(x / scale + zero, lo, hi))
            } else {
                clamped(direction.whole(x / scale) + zero, lo, hi)
            };
            *y = (code - zero) * scale;
        }
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
    fn columns(&self) -> Option<Columns> {
        let is_usual = self.direction == Direction::HalfEven && !self.before;
        is_usual.then_some([self.scale, self.zero, self.lo, self.hi])
    }

    #[inline(always)]
    fn round_by([scale, zero, lo, hi]: Columns, x: f32) -> f32 {
        (clamped(round_even(x / scale) + zero, lo, hi) - zero) * scale
    }

    fn pass(&self) -> (f32, f32) {
        let code = |x: f32| self.unbounded(self.direction, x);
        let high = last_that(self.value(self.hi + 0.5), |x| code(x) <= self.hi);
        // The mirror image: the smallest float that fits is the negative of the largest one that does from the other side.
        let low = -last_that(-self.value(self.lo - 0.5), |x| code(-x) >= self.lo);
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
