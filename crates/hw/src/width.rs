//! The narrowest two's-complement or unsigned word of an interval.

use serde::{Deserialize, Serialize};

/// The bits of a word, and if its highest is a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Width {
    /// Bits, at least one.
    pub bits: u32,
    /// True when the highest bit counts negatively.
    pub signed: bool,
}

impl Width {
    /// The narrowest word that holds every value from `lo` to `hi`.
    pub fn of(lo: i64, hi: i64) -> Self {
        let magnitude = |x: i64| 64 - x.leading_zeros();
        if lo >= 0 {
            Self {
                bits: magnitude(hi).max(1),
                signed: false,
            }
        } else {
            let bits = magnitude(hi.max(0)).max(magnitude(!lo)) + 1;
            Self { bits, signed: true }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_narrowest_that_hold_both_ends() {
        let holds = |width: Width, x: i64| {
            let (x, one) = (i128::from(x), 1_i128);
            if width.signed {
                -(one << (width.bits - 1)) <= x && x < one << (width.bits - 1)
            } else {
                0 <= x && x < one << width.bits
            }
        };
        for lo in -40_i64..=40 {
            for hi in lo..=40 {
                let width = Width::of(lo, hi);
                assert!(holds(width, lo) && holds(width, hi), "{lo}..={hi}");
                let narrower = Width {
                    bits: width.bits - 1,
                    ..width
                };
                let fits = narrower.bits > 0 && holds(narrower, lo) && holds(narrower, hi);
                assert!(!fits, "{lo}..={hi} fits {narrower:?}");
            }
        }
        assert_eq!(Width::of(i64::MIN, i64::MAX).bits, 64);
    }
}
