//! Codes from floats and back, with one rounding each way.

use format::{FixedPoint, Overflow, Rounding};

/// The code of a float in a fixed point whose codes fit `i64`; NaN has none and becomes 0.
pub(crate) fn encode(x: f32, point: FixedPoint) -> i64 {
    // Infinities are the largest floats, as everywhere. Exact: f32 times 2^±149 is a normal f64.
    let scaled = f64::from(x.clamp(f32::MIN, f32::MAX)) * 2_f64.powi(point.frac_width);
    let whole = match point.rounding {
        Rounding::NearestEven => scaled.round_ties_even(),
        // Exact: the sum has at most 24 bits more than a half.
        Rounding::NearestUp => (scaled + 0.5).floor(),
        Rounding::Floor => scaled.floor(),
    };
    match point.overflow {
        Overflow::Saturate => (whole as i128).clamp(point.min, point.max) as i64,
        Overflow::Wrap => wrap(whole, point),
    }
}

/// The code that is the same modulo the span of a fixed point.
fn wrap(whole: f64, point: FixedPoint) -> i64 {
    let span = point.max - point.min + 1;
    // A whole number of at most 24 bits, so that nothing is left of one that i128 does not hold.
    let whole = if whole.abs() < 2_f64.powi(126) {
        whole as i128
    } else {
        0
    };
    ((whole - point.min).rem_euclid(span) + point.min) as i64
}

/// The float nearest to code·2^-frac, ties to even.
pub(crate) fn decode(code: i64, frac: i32) -> f32 {
    let magnitude = code.unsigned_abs();
    // What 53 bits cannot hold is kept as one sticky bit below them, which is enough for a later rounding to 24.
    let dropped = (64 - magnitude.leading_zeros()).saturating_sub(53);
    let rest = magnitude & ((1 << dropped) - 1);
    let kept = (magnitude >> dropped) | u64::from(rest != 0);
    let value = kept as f64 * 2_f64.powi((dropped as i32).saturating_sub(frac));
    (if code < 0 { -value } else { value }) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::Format;
    use proptest::prelude::*;

    #[test]
    fn decoding_rounds_once() {
        assert_eq!(decode(3, 1), 1.5);
        assert_eq!(decode(-3, -2), -12.0);
        // 2^24 + 1 lies between two floats; the even one wins, unless a bit far below breaks the tie.
        assert_eq!(decode((1 << 24) + 1, 0), 16_777_216.0);
        assert_eq!(decode((((1 << 24) + 1) << 38) + 1, 38), 16_777_218.0);
        assert_eq!(decode(i64::MIN, 0), -(2_f32.powi(63)));
        assert_eq!(decode(1, 149), f32::from_bits(1));
        assert_eq!(decode(i64::MAX, 1 << 20), 0.0);
        assert_eq!(decode(i64::MAX, -(1 << 20)), f32::INFINITY);
    }

    proptest! {
        #[test]
        fn codes_are_those_of_the_format(
            bits in any::<u32>(), small in -40.0_f32..40.0, width in 1_u32..=63, frac in -104_i32..=149, signed: bool,
            rounding in prop::sample::select(&["nearest_even", "nearest_up", "floor"]), wrap: bool,
        ) {
            let overflow = if wrap && (signed || width <= 24) { "wrap" } else { "saturate" };
            let fields = format!("signed = {signed}, rounding = {rounding}, overflow = {overflow}");
            let format = Format::parse(&format!("integer({width}, {frac}, {fields})")).unwrap();
            let fixed = FixedPoint::from(format.fixed_point().unwrap());
            let near = small * 2_f32.powi(-frac);
            for x in [f32::from_bits(bits), small, near, -near, f32::INFINITY] {
                let code = format.encode(&[x], &[1]).get(0);
                let sign = if signed && code >> (width - 1) == 1 { 1_i128 << width } else { 0 };
                prop_assert_eq!(i128::from(encode(x, fixed)), i128::from(code) - sign, "{}", x);
            }
        }
    }
}
