//! The straight-through gradient: it ends where rounding, without bounds, would leave the range.

use crate::specs::{all, mixed, quantized, short_floats};
use format::Format;

/// Where the gradient comes through.
pub fn passes(format: &Format, x: &[f32], shape: &[usize]) -> Vec<bool> {
    let mut grad = vec![3.0; x.len()];
    format.straight_through(x, shape, &mut grad);
    assert!(grad.iter().all(|&g| g == 3.0 || g == 0.0), "{format}");
    grad.iter().map(|&g| g == 3.0).collect()
}

/// A format with the same grid and a range so much larger that it does not saturate where `narrow` just does.
#[test]
fn ends_where_a_wider_format_goes_on() {
    for (narrow, wide) in [
        ("integer(8, 4)", "integer(20, 4)"),
        ("integer(1, 0)", "integer(20, 0)"),
        ("integer(5, -3)", "integer(20, -3)"),
        ("integer(6, 9)", "integer(20, 9)"),
        (
            "integer(8, 4, rounding = floor)",
            "integer(20, 4, rounding = floor)",
        ),
        ("integer(8, 4, signed = false)", "integer(20, 4)"),
        (
            "integer(8, 4, rounding = nearest_up)",
            "integer(20, 4, rounding = nearest_up)",
        ),
        (
            "integer(6, -2, rounding = nearest_up, signed = false, overflow = wrap)",
            "integer(20, -2, rounding = nearest_up)",
        ),
        ("integer(5, 3, overflow = wrap)", "integer(20, 3)"),
        ("integer(28, 4)", "integer(50, 4)"),
        (
            "affine(8, 0.25, 0.5, offset = before)",
            "affine(20, 0.25, 0.5, offset = before)",
        ),
        (
            "affine(8, 0.25, -7, offset = before)",
            "affine(20, 0.25, -7, offset = before)",
        ),
        (
            "affine(5, 0.125, 3, rounding = ceil)",
            "affine(20, 0.125, 3, rounding = ceil)",
        ),
        (
            "affine(5, 0.5, rounding = half_down)",
            "affine(20, 0.5, rounding = half_down)",
        ),
        (
            "affine(5, 2, -4, rounding = up)",
            "affine(20, 2, -4, rounding = up)",
        ),
        ("float8(e4m3fn)", "minifloat_ieee(9, 5, 7)"),
        ("float8(e5m2)", "minifloat_ieee(9, 6, 15)"),
        ("float8(e4m3fnuz)", "minifloat_ieee(9, 5, 8)"),
        ("float8(e5m2fnuz)", "minifloat_ieee(9, 6, 16)"),
        ("float4(e2m1)", "minifloat_ieee(5, 3, 1)"),
        ("log(4)", "log(6, 3)"),
        ("log(8)", "log(9, 63)"),
        ("minifloat_ieee(8, 4)", "minifloat_ieee(9, 5, 7)"),
        ("minifloat_ieee(5, 4)", "minifloat_ieee(6, 5, 7)"),
        ("minifloat_ieee(4, 2, 5)", "minifloat_ieee(5, 3, 5)"),
        ("minifloat_denorm(8, 4)", "minifloat_denorm(9, 5, 7)"),
        ("minifloat_denorm(3, 1)", "minifloat_denorm(4, 2, 0)"),
    ] {
        let (narrow, wide) = (Format::parse(narrow).unwrap(), Format::parse(wide).unwrap());
        let (lo, hi) = narrow.range();
        let near = [lo as f32, hi as f32].into_iter().flat_map(|end| {
            let steps = (-40..=40).map(move |k| end * (1.0 + k as f32 / 64.0));
            steps.flat_map(|x| [x.next_down(), x, x.next_up()])
        });
        let x: Vec<f32> = short_floats().into_iter().chain(near).collect();
        let mut y = vec![0.0; x.len()];
        wide.quantize(&x, &[x.len()], &mut y);
        for ((&x, &y), pass) in x.iter().zip(&y).zip(passes(&narrow, &x, &[x.len()])) {
            let inside = lo <= f64::from(y) && f64::from(y) <= hi;
            assert_eq!(pass, inside, "{narrow} of {x:e}, which is {y:e} in {wide}");
        }
    }
}

#[test]
fn ends_in_blocks_at_half_a_step_beyond_the_largest_code() {
    let log_end = 16.0 * std::f32::consts::SQRT_2;
    for (spec, first, last) in [
        ("mxint(8, [2])", 1.0, (127.5f32 / 64.0).next_down()),
        (
            "block_fp(8, 8, block_size = [2])",
            1.0,
            (127.5f32 / 64.0).next_down(),
        ),
        ("block_minifloat(8, 4, 8, [2])", 256.0, 496f32.next_down()),
        ("block_log(4, 1, [2])", 16.0, log_end),
        ("mxfp(5, 2, [2])", 32768.0, 61440f32.next_down()),
        ("mxfp(4, 3, [2])", 256.0, 464.0),
        ("mxfp(3, 2, [2])", 16.0, 30f32.next_down()),
        ("mxfp(2, 3, [2])", 4.0, 7.75f32.next_down()),
        ("mxfp(2, 1, [2])", 4.0, 7f32.next_down()),
    ] {
        let format = Format::parse(spec).unwrap();
        for sign in [1.0, -1.0] {
            // Alone, and with other blocks beside it.
            for n_blocks in [1, 2, 5] {
                let at = |x: f32| {
                    let x = [first, x * sign].repeat(n_blocks);
                    passes(&format, &x, &[2 * n_blocks])
                };
                let (inside, beyond) = ([true, true], [true, false]);
                assert_eq!(at(last), inside.repeat(n_blocks), "{spec} at {last}");
                let after = at(last.next_up());
                assert_eq!(after, beyond.repeat(n_blocks), "{spec} after {last}");
            }
        }
    }
}

#[test]
fn never_ends_for_formats_that_fit_their_scale() {
    for format in all() {
        if ["scale_integer", "binary", "ternary"].contains(&format.name()) {
            assert!(
                passes(&format, &mixed(60, 1), &[4, 15])
                    .iter()
                    .all(|&pass| pass)
            );
        }
    }
}

#[test]
fn passes_at_nan() {
    for format in all() {
        assert_eq!(
            passes(&format, &[f32::NAN; 6], &[2, 3]),
            [true; 6],
            "{format}"
        );
    }
}

/// The step by its logarithm: a value that does not saturate moves by its rounding error, one that does by itself.
#[test]
fn the_gradient_of_the_step_is_that_of_its_logarithm() {
    let fixed = Format::parse("integer(4, 1)").unwrap();
    let mut grad = [1.0, 2.0, 3.0, 4.0];
    // Rounded to 1, 3.5, -4 and 1: 1 (1 - 0.75) + 2 · 3.5 + 3 · -4 + 4 (1 - 1.25).
    let sum = fixed.scale_gradient(&[0.75, 5.0, -9.0, 1.25], &mut grad);
    assert_eq!((sum, grad), (Some(-5.75), [1.0, 0.0, 0.0, 4.0]));
    // The last floats that do not saturate: a tie beside the even -8 does not, one beside the odd 7 does.
    let (first, last) = (-4.25f32, 3.75f32.next_down());
    let mut grad = [1.0; 4];
    let sum = fixed.scale_gradient(&[first, last, first.next_down(), last.next_up()], &mut grad);
    assert_eq!(grad, [1.0, 1.0, 0.0, 0.0]);
    assert_eq!(sum, Some(0.25 + (3.5 - last) - 4.0 + 3.5));
    for spec in [
        "integer(4, 1)",
        "integer(30, 20)",
        "integer(6, 2, rounding = floor)",
        "integer(6, 2, signed = false, overflow = wrap)",
        "affine(4, 0.3, 2)",
        "affine(4, 0.3, rounding = ceil)",
    ] {
        let format = Format::parse(spec).unwrap();
        for len in [0, 1, 15, 16, 17, 40] {
            let x: Vec<f32> = mixed(len, 7).iter().map(|x| x % 9.0).collect();
            let before: Vec<f32> = (0..len).map(|k| 0.5 * k as f32 - 3.0).collect();
            let (y, pass) = (quantized(&format, &x, &[len]), passes(&format, &x, &[len]));
            let mut after = before.clone();
            let got = format.scale_gradient(&x, &mut after).unwrap();
            let mut want = 0.0;
            for at in 0..len {
                let (g, x) = (f64::from(before[at]), if pass[at] { x[at] } else { 0.0 });
                want += g * f64::from(y[at] - x);
                assert_eq!(after[at], if pass[at] { before[at] } else { 0.0 }, "{spec}");
            }
            let off = (f64::from(got) - want).abs();
            assert!(
                off <= 1e-5 * (1.0 + want.abs()),
                "{spec}: {got}, not {want}"
            );
        }
    }
}

#[test]
fn a_format_without_one_step_has_no_gradient_of_it() {
    for format in all().filter(|format| !["integer", "affine"].contains(&format.name())) {
        let mut grad = [2.0; 3];
        assert_eq!(
            format.scale_gradient(&[1e9; 3], &mut grad),
            None,
            "{format}"
        );
        assert_eq!(grad, [2.0; 3], "{format}");
    }
}
