//! Nearest, ties to even: exhaustively against the oracle for every element format of up to 8 bits.

use crate::oracle::{self, Oracle};
use crate::specs::{quantized, short_floats};
use format::Format;

/// All short floats, and for a value set its values and the middles of its neighbours, each with the floats beside it.
fn inputs(oracle: &Oracle) -> Vec<f32> {
    let values = oracle.values.iter().map(|&(value, _)| value);
    let pairs = oracle.values.windows(2);
    let middles = pairs.map(|pair| f64::midpoint(pair[0].0, pair[1].0));
    let beside = values.chain(middles).flat_map(|value| {
        let float = value as f32;
        [float.next_down(), float, float.next_up()]
    });
    beside
        .filter(|x| x.is_finite())
        .chain(short_floats())
        .collect()
}

fn check(format: &Format) {
    let oracle = Oracle::of(format).up_to(f64::from(f32::MAX));
    let x = inputs(&oracle);
    let y = quantized(format, &x, &[x.len()]);
    for (&x, &y) in x.iter().zip(&y) {
        let want = oracle.round(f64::from(x)) as f32;
        assert_eq!(y, want, "{format} of {x:e}");
    }
}

fn parse(spec: &str) -> Format {
    Format::parse(spec).unwrap()
}

#[test]
fn integer() {
    for width in 1..=8 {
        for frac_width in [-7, -1, 0, 1, 3, 4, 8, 12] {
            check(&parse(&format!("integer({width}, {frac_width})")));
            check(&parse(&format!(
                "integer({width}, {frac_width}, signed = false)"
            )));
            check(&parse(&format!(
                "integer({width}, {frac_width}, floor = true)"
            )));
            for signed in [true, false] {
                for rounding in ["nearest_even", "nearest_up", "floor"] {
                    let fields = format!("signed = {signed}, rounding = {rounding}");
                    check(&parse(&format!("integer({width}, {frac_width}, {fields})")));
                    let wrapping = format!("{fields}, overflow = wrap");
                    check(&parse(&format!(
                        "integer({width}, {frac_width}, {wrapping})"
                    )));
                }
            }
        }
    }
    check(&parse("integer(8, 149)"));
    check(&parse("integer(8, 149, rounding = nearest_up)"));
    check(&parse("integer(8, -100, rounding = nearest_up)"));
    check(&parse("integer(8, 140, overflow = wrap)"));
    check(&parse("integer(8, -100, overflow = wrap)"));
    check(&parse("integer(8, 140, rounding = floor)"));
    check(&parse("integer(8, -100, rounding = floor)"));
}

#[test]
fn log() {
    for width in 2..=8 {
        check(&parse(&format!("log({width})")));
        for bias in [-20, 0, 5, 60] {
            check(&parse(&format!("log({width}, {bias})")));
        }
    }
    check(&parse("log(8, 140)"));
}

#[test]
fn minifloats() {
    for width in 2..=8 {
        for exponent_width in 1..width {
            let widths = format!("{width}, {exponent_width}");
            for rest in ["", ", 0", ", -20", ", 15", ", 60"] {
                check(&parse(&format!("minifloat_ieee({widths}{rest})")));
                if exponent_width + 1 < width {
                    check(&parse(&format!("minifloat_denorm({widths}{rest})")));
                }
            }
        }
    }
    // Exponents at the ends of f32's range.
    check(&parse("minifloat_ieee(8, 4, 138)"));
    check(&parse("minifloat_denorm(8, 4, 138)"));
    check(&parse("minifloat_ieee(8, 3, -118)"));
}

/// A block of two, of which the first sets the scale to 2^shift: the second is rounded as `element` says.
fn check_block(spec: &str, first: f32, shift: i32, element: &Oracle) {
    let format = parse(spec);
    let scale = 2f64.powi(shift);
    let tiny = (1..4096).map(f32::from_bits);
    for x in short_floats().into_iter().chain(tiny) {
        if x.abs() <= first {
            let y = quantized(&format, &[first, x], &[2]);
            let want = (element.round(f64::from(x) / scale) * scale) as f32;
            assert_eq!(y[1], want, "{spec} of {x:e} beside {first}");
        }
    }
}

#[test]
fn block_formats_round_as_their_elements() {
    for shift in [-120, -20, 0, 3, 100] {
        let first = |value: f64| (value * 2f64.powi(shift)) as f32;
        let symmetric = |width: u32, frac: u32| {
            let max = f64::from((1 << (width - 1)) - 1) / f64::from(1 << frac);
            Oracle::of(&parse(&format!("integer({width}, {frac})"))).up_to(max)
        };
        check_block("mxint(8, [2])", first(1.3), shift, &symmetric(8, 6));
        check_block("mxint(3, [2])", first(1.9), shift, &symmetric(3, 1));
        check_block(
            "block_fp(8, 8, block_size = [2])",
            first(0.9),
            shift,
            &symmetric(8, 7),
        );
        let minifloat = oracle::ieee(8, 4, 7);
        check_block(
            "block_minifloat(8, 4, 8, [2])",
            first(300.0),
            shift,
            &minifloat,
        );
        check_block(
            "block_log(4, 8, [2])",
            first(14.0),
            shift,
            &oracle::log(4, 3),
        );
        for (e, m, max) in [
            (5, 2, 57344.0),
            (4, 3, 448.0),
            (3, 2, 28.0),
            (2, 3, 7.5),
            (2, 1, 6.0),
        ] {
            let element = oracle::ieee(1 + e + m, e, (1 << (e - 1)) - 1).up_to(max);
            check_block(
                &format!("mxfp({e}, {m}, [2])"),
                first(max * 0.9),
                shift,
                &element,
            );
        }
    }
}

#[test]
fn shared_exponents_end_where_their_bits_do() {
    let power = |exponent: i32| 2f64.powi(exponent) as f32;
    let fixed = |spec: &str, max: f64| Oracle::of(&parse(spec)).up_to(max);
    let mxint = fixed("integer(4, 2)", 1.75);
    check_block("mxint(4, [2])", power(-128), -127, &mxint);
    let block_fp = fixed("integer(4, 3)", 0.875);
    check_block("block_fp(4, 3, block_size = [2])", power(-5), -3, &block_fp);
    check_block("block_fp(4, 3, block_size = [2])", power(9), 4, &block_fp);
    let minifloat = oracle::ieee(6, 3, 3);
    check_block("block_minifloat(6, 3, 2, [2])", power(-4), -2, &minifloat);
    check_block("block_minifloat(6, 3, 2, [2])", power(9), 1, &minifloat);
    let log = oracle::log(4, 3);
    check_block("block_log(4, 2, [2])", power(-4), -2, &log);
    check_block("block_log(4, 2, [2])", power(9), 1, &log);
    let e4m3 = oracle::ieee(8, 4, 7).up_to(448.0);
    check_block("mxfp(4, 3, [2])", power(-125), -127, &e4m3);
}

#[test]
fn check_values() {
    for (spec, x, y) in [
        ("minifloat_ieee(8, 4)", 1.97, 2.0),
        ("integer(8, 4)", 0.03125, 0.0),
        ("integer(8, 4)", 8.0, 7.9375),
        ("minifloat_denorm(8, 4)", 1.0, 1.0),
        ("integer(32, 16)", 1e9, 32768.0),
    ] {
        assert_eq!(quantized(&parse(spec), &[x], &[]), [y], "{spec} of {x}");
    }
    assert_eq!(
        quantized(&parse("mxfp(4, 3)"), &[511.0, 1.0], &[2])[0],
        448.0
    );
}
