//! What holds for rounding in every format.

use crate::specs::{all, mixed, quantized, short_floats};
use format::{Format, Overflow};

/// Shapes on which formats with shared scales are tried, with as many elements as `mixed` is asked for.
const SHAPES: [&[usize]; 4] = [&[210], &[6, 35], &[2, 3, 35], &[5, 3, 2, 7]];

fn rounded_arrays(format: &Format) -> Vec<(Vec<f32>, Vec<f32>, &'static [usize])> {
    let arrays = SHAPES.iter().enumerate().map(|(seed, &shape)| {
        let x = mixed(210, seed as u64);
        let y = quantized(format, &x, shape);
        (x, y, shape)
    });
    arrays.collect()
}

#[test]
fn idempotent() {
    // These depend on statistics of what they round, or on thresholds that their own values do not pass.
    let moves = |format: &Format| {
        matches!(format, Format::Binary(binary) if !binary.bipolar)
            || matches!(format, Format::Ternary(ternary) if ternary.max.is_some())
    };
    for format in all().filter(|format| !moves(format)) {
        for (_, y, shape) in rounded_arrays(&format) {
            assert_eq!(quantized(&format, &y, shape), y, "{format} {shape:?}");
        }
        if format.rounds_alone() {
            let y = quantized(&format, &short_floats(), &[short_floats().len()]);
            assert_eq!(quantized(&format, &y, &[y.len()]), y, "{format}");
        }
    }
}

#[test]
fn monotone() {
    let x = short_floats();
    let wraps =
        |format: &Format| matches!(format, Format::Integer(f) if f.overflow == Overflow::Wrap);
    let alone = all().filter(|format| format.rounds_alone() && !wraps(format));
    for format in alone {
        let y = quantized(&format, &x, &[x.len()]);
        for index in 1..x.len() {
            assert!(y[index - 1] <= y[index], "{format} at {:e}", x[index]);
        }
    }
}

#[test]
fn in_range() {
    for format in all() {
        let (lo, hi) = format.range();
        let (lo, hi) = (lo as f32, hi as f32);
        let inside = |y: f32| y.is_finite() && lo <= y && y <= hi;
        let x = short_floats();
        for y in quantized(&format, &x, &[x.len()]) {
            assert!(inside(y), "{format}: {y}");
        }
        for (_, y, _) in rounded_arrays(&format) {
            assert!(y.into_iter().all(inside), "{format}");
        }
    }
}

/// Where floats go as far, the ends of the range are what the largest and the smallest float become.
#[test]
fn the_ends_of_the_range_are_values() {
    let wraps =
        |format: &Format| matches!(format, Format::Integer(f) if f.overflow == Overflow::Wrap);
    for format in all().filter(|format| !wraps(format)) {
        let (lo, hi) = format.range();
        for (end, x) in [(lo, f32::MIN), (hi, f32::MAX)] {
            if end.abs() < f64::from(f32::MAX) {
                let y = quantized(&format, &[x], &[1])[0];
                assert_eq!(f64::from(y), f64::from(end as f32), "{format} of {x:e}");
            }
        }
    }
}

#[test]
fn signs_are_symmetric() {
    let asymmetric = ["integer", "binary", "affine", "bipolar"];
    for format in all().filter(|format| !asymmetric.contains(&format.name())) {
        for (x, y, shape) in rounded_arrays(&format) {
            let negated: Vec<f32> = x.iter().map(|x| -x).collect();
            let want: Vec<f32> = y.iter().map(|y| -y).collect();
            assert_eq!(
                quantized(&format, &negated, shape),
                want,
                "{format} {shape:?}"
            );
        }
    }
}

#[test]
fn zeros_stay_zero_where_the_format_says_so() {
    for format in all() {
        let stay = quantized(&format, &[0.0; 30], &[5, 6]) == [0.0; 30];
        assert_eq!(format.has_zero(), stay, "{format}");
    }
}

#[test]
fn nan_stays_and_leaves_the_others_alone() {
    for format in all() {
        let mut x = mixed(24, 9);
        // A zero in the same place: NaN counts as one where elements share a scale.
        x[7] = 0.0;
        let want = quantized(&format, &x, &[4, 6]);
        x[7] = f32::NAN;
        let y = quantized(&format, &x, &[4, 6]);
        assert!(y[7].is_nan(), "{format}");
        for index in (0..24).filter(|&index| index != 7) {
            assert_eq!(y[index], want[index], "{format} at {index}");
        }
    }
}

#[test]
fn infinity_saturates() {
    for format in all() {
        let mut x = mixed(24, 3);
        (x[5], x[16]) = (f32::MAX, f32::MIN);
        let want = quantized(&format, &x, &[4, 6]);
        (x[5], x[16]) = (f32::INFINITY, f32::NEG_INFINITY);
        assert_eq!(quantized(&format, &x, &[4, 6]), want, "{format}");
    }
}
