//! The straight-through gradient: it ends where rounding, without bounds, would leave the range.

use crate::specs::{all, mixed, short_floats};
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
            let at = |x: f32| passes(&format, &[first, x * sign], &[2]);
            assert_eq!(at(last), [true, true], "{spec} at {last}");
            assert_eq!(at(last.next_up()), [true, false], "{spec} after {last}");
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
