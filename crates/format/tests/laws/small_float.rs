//! The 8-bit floats of the standards, told again from their tables of codes.

use crate::specs::{quantized, short_floats};
use format::Format;

/// A kind: bits and bias of the exponent, the first magnitude code that is no finite number, the one NaN with a sign.
const KINDS: [(&str, u32, i32, u64, bool); 4] = [
    ("e4m3fn", 4, 7, 0x7f, false),
    ("e5m2", 5, 15, 0x7c, false),
    ("e4m3fnuz", 4, 8, 0x80, true),
    ("e5m2fnuz", 5, 16, 0x80, true),
];

/// The number that a magnitude code would be if none were special.
fn magnitude(code: u64, exponent_bits: u32, bias: i32) -> f64 {
    let fraction_bits = 7 - exponent_bits;
    let (exponent, fraction) = (code >> fraction_bits, code % (1 << fraction_bits));
    let fraction = fraction as f64 / f64::from(1 << fraction_bits);
    if exponent == 0 {
        fraction * 2f64.powi(1 - bias)
    } else {
        (1.0 + fraction) * 2f64.powi(exponent as i32 - bias)
    }
}

#[test]
fn codes_have_the_values_of_the_standards() {
    for (kind, exponent_bits, bias, n_finite, unsigned_zero) in KINDS {
        let format = Format::parse(&format!("float8({kind})")).unwrap();
        let values = format.values().unwrap();
        assert_eq!(values.len(), 256, "{kind}");
        for (at, (code, value)) in values.into_iter().enumerate() {
            assert_eq!(code, at as u64, "{kind}");
            let (sign, rest) = (if code < 0x80 { 1.0 } else { -1.0 }, code & 0x7f);
            let want = match (rest, kind) {
                (0, _) if code > 0 && unsigned_zero => f64::NAN,
                (0x7c, "e5m2") => f64::INFINITY,
                _ if rest >= n_finite => f64::NAN,
                _ => magnitude(rest, exponent_bits, bias),
            };
            let want = (sign * want) as f32;
            assert!(
                value == want || value.is_nan() && want.is_nan(),
                "{kind} {code:x}: {value}, not {want}"
            );
        }
    }
}

/// What lies nearer to the number behind the largest one, or as near where the largest is odd, is too large.
#[test]
fn what_is_too_large_saturates_or_has_no_number() {
    for (kind, exponent_bits, bias, n_finite, unsigned_zero) in KINDS {
        let finite = |code: u64| magnitude(code, exponent_bits, bias);
        let (largest, behind) = (finite(n_finite - 1), finite(n_finite));
        let middle = f64::midpoint(largest, behind) as f32;
        let is_beyond = |x: f32| x > middle || (x == middle && n_finite % 2 == 0);
        let beyond = if kind == "e5m2" {
            f32::INFINITY
        } else {
            f32::NAN
        };
        let saturating = Format::parse(&format!("float8({kind})")).unwrap();
        let open = Format::parse(&format!("float8({kind}, saturate = false)")).unwrap();
        assert_eq!(saturating.range(), (-largest, largest), "{kind}");
        let end = if kind == "e5m2" {
            f64::INFINITY
        } else {
            largest
        };
        assert_eq!(open.range(), (-end, end), "{kind}");
        let largest = largest as f32;
        let near = [largest, middle].into_iter();
        let near = near.flat_map(|x| [x.next_down(), x, x.next_up()]);
        let all = short_floats().into_iter().chain(near);
        let x: Vec<f32> = all.flat_map(|x| [x, -x]).collect();
        let clipped = quantized(&saturating, &x, &[x.len()]);
        let codes = open.encode(&x, &[x.len()]);
        let decoded = open.decode(&codes, &[x.len()]);
        let rounded = quantized(&open, &x, &[x.len()]);
        for (at, (&x, &y)) in x.iter().zip(&rounded).enumerate() {
            let want = if is_beyond(x.abs()) {
                assert_eq!(clipped[at], largest.copysign(x), "{kind} of {x}");
                beyond.copysign(x)
            } else {
                clipped[at]
            };
            let same = |y: f32| y == want || y.is_nan() && want.is_nan();
            assert!(same(y) && same(decoded[at]), "{kind} of {x}: {y}");
            let is_negative_zero = y == 0.0 && y.is_sign_negative();
            assert!(!(unsigned_zero && is_negative_zero), "{kind} of {x}");
            assert!(
                unsigned_zero || y.is_nan() || y.is_sign_negative() == x.is_sign_negative(),
                "{kind} of {x}"
            );
        }
    }
}
