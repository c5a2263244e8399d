//! `scale_integer` against exact quotients.

use crate::specs::quantized;
use format::Format;

/// All values of the tests are multiples of 2^-UNIT.
const UNIT: i32 = 60;

/// A float as a whole number of units.
fn units(x: f32) -> i128 {
    let scaled = f64::from(x) * f64::from(UNIT).exp2();
    assert_eq!(scaled.fract(), 0.0, "{x}");
    scaled as i128
}

/// The whole number nearest to `n / d`, ties to even.
fn nearest(n: i128, d: i128) -> i128 {
    let (down, rest) = (n.div_euclid(d), n.rem_euclid(d));
    let up = 2 * rest > d || (2 * rest == d && down % 2 != 0);
    down + i128::from(up)
}

/// True when `y` is the float nearest to `n / d` units, ties to even.
fn is_nearest_float(y: f32, n: i128, d: i128) -> bool {
    let off = |y: f32| (units(y) * d - n).abs();
    [y.next_up(), y.next_down()]
        .into_iter()
        .all(|other| off(y) < off(other) || (off(y) == off(other) && y.to_bits().is_multiple_of(2)))
}

/// Rounds both values under the larger one and compares codes and values with exact ones.
fn check(width: u32, max: f32, x: f32) {
    let format = Format::parse(&format!("scale_integer({width})")).unwrap();
    let array = [max, x];
    let y = quantized(&format, &array, &[2]);
    assert_eq!(y[0].to_bits(), max.to_bits(), "{width} {max}");
    let largest = (1_i128 << (width - 1)) - 1;
    let code = nearest(units(x) * largest, units(max));
    let (n, d) = (code * units(max), largest);
    let is_right = if code == 0 {
        y[1] == 0.0
    } else {
        is_nearest_float(y[1], n, d)
    };
    assert!(
        is_right,
        "scale_integer({width}) of [{max}, {x}]: {} for code {code}",
        y[1]
    );
    let codes = format.encode(&array, &[2]);
    assert_eq!(
        format.decode(&codes, &[2]),
        y,
        "scale_integer({width}) of [{max}, {x}]"
    );
    // Beyond the bits of a float several codes have the same value.
    if width <= 24 {
        let unused = 64 - width;
        let got = ((codes.get(1) << unused) as i64) >> unused;
        assert_eq!(
            i128::from(got),
            code,
            "scale_integer({width}) of [{max}, {x}]"
        );
    }
}

#[test]
fn codes_and_values_are_those_of_exact_quotients() {
    let mut state = 1_u64;
    let mut next = |bits: u32| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> (64 - bits)) as f32
    };
    for width in 2..=32 {
        for _ in 0..4000 {
            let (a, b) = (next(24) + 1.0, next(24) + 1.0);
            let sign = if next(1) == 0.0 { 1.0 } else { -1.0 };
            let scale = (-next(3)).exp2();
            check(width, a.max(b) / 1024.0, sign * a.min(b) * scale / 1024.0);
        }
    }
}

#[test]
fn the_middle_of_two_codes_goes_to_the_even_one() {
    let y = quantized(
        &Format::parse("scale_integer(4)").unwrap(),
        &[9.0, 4.5],
        &[2],
    );
    assert_eq!(y, [9.0, 4.0 * 9.0 / 7.0]);
    for width in 2..=32 {
        let largest = ((1_u64 << (width - 1)) - 1) as f32;
        for max in [1.0, 3.0, 9.0, 1.7, 0.001_953_125, 8_388_607.0] {
            // The largest code is odd, so half of the largest magnitude lies between two codes.
            check(width, max, max / 2.0);
            check(width, max, -max / 2.0);
            check(width, max, (max / 2.0).next_up());
            check(width, max, (max / 2.0).next_down());
            // Codes tell more than floats where there are more of them.
            let format = Format::parse(&format!("scale_integer({width})")).unwrap();
            let half = format.encode(&[max, max / 2.0], &[2]).get(1);
            assert_eq!(
                half,
                if width == 2 { 0 } else { 1 << (width - 2) },
                "{format}"
            );
        }
        if width <= 23 {
            for k in 0..(1 << (width - 1).min(10)) - 1 {
                let (max, x) = (largest * 0.375, (k as f32 + 0.5) * 0.375);
                check(width, max, x);
                check(width, max, -x);
            }
        }
    }
}

/// The largest and the smallest floats, beyond what the exact test can hold.
#[test]
fn the_ends_of_the_floats_stay_exact() {
    for width in 2..=32 {
        let format = Format::parse(&format!("scale_integer({width})")).unwrap();
        for max in [f32::MAX, f32::MIN_POSITIVE, 1e-45, 3e-40, 1e38] {
            let y = quantized(&format, &[max, -max, 0.0, -0.0, max * 1e-20], &[5]);
            assert_eq!(y[..4], [max, -max, 0.0, -0.0], "{format}");
            assert_eq!(y[4], 0.0, "{format}");
        }
        let y = quantized(
            &format,
            &[f32::INFINITY, 1.0, f32::NEG_INFINITY, f32::NAN],
            &[4],
        );
        assert_eq!(y[..3], [f32::MAX, 0.0, f32::MIN], "{format}");
        assert!(y[3].is_nan(), "{format}");
    }
}
