//! Expressions of single words.

use crate::net::Interval;
use crate::width::Width;

/// A constant's low bits.
pub fn constant(value: i64, bits: u32) -> String {
    let mask = u64::MAX >> (64 - bits.clamp(1, 64));
    format!("{bits}'d{}", value as u64 & mask)
}

/// Bits `from..from + bits` of a word, extended by its sign.
pub fn slice(name: &str, width: Width, from: u32, bits: u32) -> String {
    let top = width.bits - 1;
    if from > top {
        return if width.signed {
            repeated(bits, &format!("{name}[{top}]"))
        } else {
            constant(0, bits)
        };
    }
    let own = (width.bits - from).min(bits);
    let taken = match (from, own) {
        (0, own) if own == width.bits => name.to_owned(),
        _ => format!("{name}[{}:{from}]", from + own - 1),
    };
    match bits - own {
        0 => taken,
        more if width.signed => {
            format!("{{{}, {taken}}}", repeated(more, &format!("{name}[{top}]")))
        }
        more => format!("{{{}, {taken}}}", constant(0, more)),
    }
}

fn repeated(times: u32, bit: &str) -> String {
    format!("{{{times}{{{bit}}}}}")
}

/// A word of an interval, at the nearest of `bounds` where it lies outside, in `bits` bits.
pub fn saturated(name: &str, from: Interval, bounds: Interval, bits: u32) -> String {
    let width = from.width();
    let inside = slice(name, width, 0, bits);
    let above = if from.hi > bounds.hi {
        format!(
            "{} ? {} : {inside}",
            above(
                name,
                width,
                bounds.hi,
                from.lo < bounds.lo && bounds.lo == 0
            ),
            constant(bounds.hi, bits)
        )
    } else {
        inside
    };
    if from.lo < bounds.lo {
        format!(
            "{} ? {} : ({above})",
            below(name, width, bounds.lo),
            constant(bounds.lo, bits)
        )
    } else {
        above
    }
}

/// A condition that is true above a bound: a word that is not negative has a one above a mask of ones.
fn above(name: &str, width: Width, bound: i64, is_positive: bool) -> String {
    let sign = width.bits - 1;
    if bound >= 0 && (bound as u64 + 1).is_power_of_two() {
        let low = (bound as u64 + 1).trailing_zeros();
        let top = if width.signed { sign - 1 } else { sign };
        let ones = format!("(|{name}[{top}:{low}])");
        return if width.signed && !is_positive {
            format!("(~{name}[{sign}] & {ones})")
        } else {
            ones
        };
    }
    compared(name, width, '>', bound)
}

/// A condition that is true below a bound.
fn below(name: &str, width: Width, bound: i64) -> String {
    let sign = width.bits - 1;
    if bound == 0 {
        return format!("{name}[{sign}]");
    }
    if bound < 0 && bound.unsigned_abs().is_power_of_two() {
        let low = bound.unsigned_abs().trailing_zeros();
        return format!("({name}[{sign}] & ~(&{name}[{}:{low}]))", sign - 1);
    }
    compared(name, width, '<', bound)
}

fn compared(name: &str, width: Width, sign: char, bound: i64) -> String {
    if width.signed {
        format!(
            "($signed({name}) {sign} $signed({}))",
            constant(bound, width.bits)
        )
    } else {
        format!("({name} {sign} {})", constant(bound, width.bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNED: Width = Width {
        bits: 5,
        signed: true,
    };
    const UNSIGNED: Width = Width {
        bits: 5,
        signed: false,
    };

    /// One below a power of two is exceeded where a bit above it is set, and zero is undercut by what has a sign.
    #[test]
    fn bounds_at_powers_of_two_are_bits() {
        assert_eq!(above("x", UNSIGNED, 7, true), "(|x[4:3])");
        assert_eq!(above("x", SIGNED, 7, true), "(|x[3:3])");
        assert_eq!(above("x", SIGNED, 3, false), "(~x[4] & (|x[3:2]))");
        assert_eq!(above("x", UNSIGNED, 0, false), "(|x[4:0])");
        assert_eq!(below("x", SIGNED, 0), "x[4]");
        assert_eq!(below("x", SIGNED, -4), "(x[4] & ~(&x[3:2]))");
    }

    #[test]
    fn other_bounds_are_compared_with() {
        assert_eq!(above("x", UNSIGNED, 5, true), "(x > 5'd5)");
        assert_eq!(above("x", SIGNED, 6, false), "($signed(x) > $signed(5'd6))");
        assert_eq!(
            above("x", SIGNED, -1, false),
            "($signed(x) > $signed(5'd31))"
        );
        assert_eq!(below("x", SIGNED, -3), "($signed(x) < $signed(5'd29))");
        assert_eq!(below("x", UNSIGNED, 3), "(x < 5'd3)");
    }
}
