//! Codes: there and back, the tables of all values, and the worked examples of the documentation.

use crate::specs::{all, mixed, quantized, short_floats};
use format::Format;

fn check_round_trip(format: &Format, x: &[f32], shape: &[usize]) {
    let codes = format.encode(x, shape);
    let decoded = format.decode(&codes, shape);
    assert_eq!(decoded, quantized(format, x, shape), "{format} {shape:?}");
}

#[test]
fn decode_undoes_encode() {
    for format in all() {
        for (seed, shape) in [&[210][..], &[6, 35], &[2, 3, 35], &[5, 3, 2, 7]]
            .iter()
            .enumerate()
        {
            check_round_trip(&format, &mixed(210, seed as u64), shape);
        }
        let x = short_floats();
        check_round_trip(&format, &x, &[x.len()]);
    }
}

#[test]
fn nan_is_encoded_as_itself_or_zero() {
    for format in all().filter(Format::has_zero) {
        let codes = format.encode(&[1.0, f32::NAN], &[2]);
        let decoded = format.decode(&codes, &[2])[1];
        let has_nan = format.name() == "float8";
        assert!(
            if has_nan {
                decoded.is_nan()
            } else {
                decoded == 0.0
            },
            "{format}"
        );
    }
}

#[test]
fn values_are_those_that_rounding_keeps() {
    for format in all().filter(Format::rounds_alone) {
        let Some(values) = format.values() else {
            continue;
        };
        // Rounding to 8-bit floats saturates and never gives their infinities and NaN.
        for (code, value) in values.into_iter().filter(|(_, value)| value.is_finite()) {
            assert_eq!(
                quantized(&format, &[value], &[1]),
                [value],
                "{format} {code:x}"
            );
        }
    }
}

#[test]
fn values_cover_what_rounding_gives() {
    let x = short_floats();
    for format in all().filter(Format::rounds_alone) {
        let Some(values) = format.values() else {
            continue;
        };
        let codes = format.encode(&x, &[x.len()]);
        let y = quantized(&format, &x, &[x.len()]);
        for (index, &y) in y.iter().enumerate() {
            let code = format.code_bits(&codes, index);
            assert!(values.contains(&(code, y)), "{format}: {code:x} {y}");
        }
    }
}

/// Each code once, and every code that an array is given, whatever the scale.
#[test]
fn values_list_every_code_in_use_once() {
    for format in all() {
        let Some(values) = format.values() else {
            continue;
        };
        let mut listed: Vec<u64> = values.into_iter().map(|(code, _)| code).collect();
        listed.sort_unstable();
        assert!(listed.is_sorted_by(|a, b| a < b), "{format}: {listed:?}");
        for (seed, exponent) in (0..40).zip(-20..) {
            let x: Vec<f32> = mixed(24, seed)
                .iter()
                .map(|x| x * 2f32.powi(exponent))
                .collect();
            let codes = format.encode(&x, &[4, 6]);
            for at in 0..24 {
                let code = codes.get(at);
                assert!(listed.binary_search(&code).is_ok(), "{format}: {code:x}");
            }
        }
    }
    // The code with the sign alone would be beyond the scale.
    let symmetric = Format::parse("scale_integer(3)").unwrap().values().unwrap();
    let codes = [0, 1, 2, 3, 5, 6, 7].into_iter();
    assert!(
        codes
            .zip([0.0, 1.0, 2.0, 3.0, -3.0, -2.0, -1.0])
            .eq(symmetric)
    );
}

#[test]
fn values_are_given_up_to_eight_bits() {
    for format in all() {
        let width = format.bits(&[0]);
        assert_eq!(format.values().is_some(), width <= 8.0, "{format}");
    }
    let e4m3 = Format::parse("mxfp(4, 3)").unwrap().values().unwrap();
    assert_eq!(e4m3.len(), 256);
    assert_eq!(e4m3[0x7e], (0x7e, 448.0));
    assert!(e4m3[0x7f].1.is_nan());
    let e5m2 = Format::parse("mxfp(5, 2)").unwrap().values().unwrap();
    assert_eq!(e5m2[0x7b], (0x7b, 57344.0));
    assert_eq!(e5m2[0xfc], (0xfc, f32::NEG_INFINITY));
}

/// Value, code and rounded value of the elements of one array.
const EXAMPLES: [(&str, &str); 17] = [
    (
        "integer(8, 4)",
        "1.97 0010_0000 2, 0.03125 0000_0000 0, 8 0111_1111 7.9375",
    ),
    (
        "scale_integer(8)",
        "0.5 0010_0000 0.5, -1.984375 1000_0001 -1.984375, 0.333 0001_0101 0.328125",
    ),
    (
        "affine(8, 0.1, 3)",
        "0.26 0000_0110 0.3, -0.25 0000_0001 -0.2, 20 0111_1111 12.400001",
    ),
    ("bipolar(0.5)", "0.3 1 0.5, -0.2 0 -0.5"),
    (
        "float8(e4m3fn)",
        "0.3 0_0101_010 0.3125, 1000 0_1111_110 448, -0.001 1_0000_001 -0.001953125",
    ),
    ("float4(e2m1)", "1.2 0_01_0 1, 2.5 0_10_0 2, -100 1_11_1 -6"),
    (
        "binary(8, bipolar = true)",
        "0.3 0000_0001 1, -0.3 0000_0000 -1",
    ),
    (
        "binary(8)",
        "0.5 0000_0001 0.25, -0.25 0000_0000 0, 0 0000_0000 0, 0.25 0000_0001 0.25",
    ),
    (
        "ternary(8, scaling_factor = true)",
        "1 0000_0001 0.75, -0.5 1111_1111 -0.75, 0.1 0000_0000 0, 0 0000_0000 0",
    ),
    ("log(8)", "1.97 0_1000000 2, -0.3 1_0111101 -0.25"),
    (
        "minifloat_ieee(8, 4)",
        "1.97 0_1000_000 2, 0.001 0_0000_001 0.001953125, -1000 1_1111_111 -480",
    ),
    (
        "minifloat_denorm(8, 4)",
        "1 0_1000_100 1, 1.97 0_1001_100 2, 0.3 0_0110_101 0.3125",
    ),
    (
        "block_fp(8, 8, block_size = 3)",
        "1.5 0_1100000 1.5, -0.3 1_0010011 -0.296875, 0.001 0_0000000 0",
    ),
    (
        "block_minifloat(8, 4, 8, 2)",
        "0.3 0_1111_010 0.3125, 0.001 0_0111_000 0.0009765625",
    ),
    (
        "block_log(8, 8, 2)",
        "0.3 0_1111111 0.25, -0.001 1_1110111 -0.0009765625",
    ),
    ("mxint(8, 2)", "1.5 0110_0000 1.5, -0.3 1110_1101 -0.296875"),
    (
        "mxfp(4, 3, 2)",
        "0.3 0_1111_010 0.3125, 0.001 0_0111_000 0.0009765625",
    ),
];

#[test]
fn worked_examples_of_the_documentation() {
    for (spec, example) in EXAMPLES {
        let format = Format::parse(spec).unwrap();
        let words: Vec<Vec<&str>> = example
            .split(", ")
            .map(|case| case.split(' ').collect())
            .collect();
        let x: Vec<f32> = words.iter().map(|case| case[0].parse().unwrap()).collect();
        let shape = [1, x.len()];
        let codes = format.encode(&x, &shape);
        let y = format.decode(&codes, &shape);
        for (index, case) in words.iter().enumerate() {
            let code = u64::from_str_radix(&case[1].replace('_', ""), 2).unwrap();
            assert_eq!(format.code_bits(&codes, index), code, "{spec}: {case:?}");
            assert_eq!(
                y[index],
                case[2].parse::<f32>().unwrap(),
                "{spec}: {case:?}"
            );
            assert!(format.entry().doc.contains(case[1]), "{spec}: {case:?}");
        }
    }
    let log = Format::parse("log(8)").unwrap();
    assert_eq!(log.encode(&[0.0], &[]).get(0), 0x100, "the flag of zero");
}
