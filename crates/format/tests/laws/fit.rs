//! Steps that suit given values: never worse than any other step that was to be tried.

use crate::specs::{mixed, quantized};
use format::{Format, StoredArray};

fn parse(spec: &str) -> Format {
    Format::parse(spec).unwrap()
}

fn error(format: &Format, x: &[f32]) -> f64 {
    let pairs = x.iter().zip(quantized(format, x, &[x.len()]));
    pairs.map(|(x, y)| f64::from(x - y).powi(2)).sum()
}

/// Many values about zero and one that is some times as large: small steps pay, although the large value saturates.
fn with_outlier(outlier: f32) -> Vec<f32> {
    let about_zero = (-40..=40).map(|k| k as f32 * 0.017 + 0.003);
    about_zero.chain([outlier]).collect()
}

#[test]
fn known_values_have_known_steps() {
    for (spec, values, fitted) in [
        // Halves need one bit behind the point and 3 fits with five; the coarsest of equally good ones comes first.
        ("integer(8, 4)", &[1.0, 2.0, -3.0][..], "integer(8, 5)"),
        ("integer(8, -3)", &[1.0, 2.0, -3.0], "integer(8, 5)"),
        // 100 needs no bit behind the point, 1000 may lose three.
        ("integer(8, 4)", &[100.0], "integer(8, 0)"),
        ("integer(8, 4)", &[-1000.0], "integer(8, -3)"),
        (
            "integer(4, 0, signed = false)",
            &[0.25, 3.75],
            "integer(4, 2, signed = false)",
        ),
        // The largest code, 127, is the largest value.
        ("affine(8, 1.0)", &[12.7, 1.2, -3.3], "affine(8, 0.1)"),
        ("affine(8, 0.25)", &[254.0, 2.0, -30.0], "affine(8, 2.0)"),
        ("bipolar(7.0)", &[1.0, -2.0, 3.0, -6.0], "bipolar(3.0)"),
        // Nothing to go by, and nothing to move.
        ("integer(8, 4)", &[0.0, -0.0], "integer(8, 4)"),
        ("affine(8, 0.3)", &[], "affine(8, 0.3)"),
        ("minifloat_ieee(8, 4)", &[1.0, 2.0], "minifloat_ieee(8, 4)"),
    ] {
        let got = parse(spec).fitted(values);
        assert_eq!(
            got.to_string(),
            parse(fitted).to_string(),
            "{spec} {values:?}"
        );
    }
}

#[test]
fn no_other_step_has_less_error() {
    for outlier in [0.7, 2.0, 3.1, 9.0] {
        let x = with_outlier(outlier);
        for width in [2, 3, 4, 6] {
            let fitted = parse(&format!("integer({width}, 0)")).fitted(&x);
            for frac in -8..20 {
                let other = parse(&format!("integer({width}, {frac})"));
                assert!(error(&fitted, &x) <= error(&other, &x), "{fitted} {other}");
            }
            let affine = Format::from(format::Affine::new(width, 1.0, true));
            let (_, largest) = affine.range();
            let fitted = affine.fitted(&x);
            let best = (0..24).map(|eighths: i32| {
                let scale = f64::from(outlier) / largest * 2f64.powf(f64::from(-eighths) / 8.0);
                error(&format::Affine::new(width, scale as f32, true).into(), &x)
            });
            let best = best.fold(f64::INFINITY, f64::min);
            assert_eq!(error(&fitted, &x), best, "{fitted}");
        }
    }
}

/// The fields of a layout, the place of an element, the shape of the places.
type LayoutCase = (&'static str, fn(usize) -> usize, &'static [usize]);

/// The format for a place alone is what is stored for it.
#[test]
fn places_are_fitted_one_by_one() {
    let shape = [3, 8];
    let mut x = mixed(24, 8);
    x[8..16].fill(0.0);
    let column = |at: usize| at % 8;
    let layouts: [LayoutCase; 4] = [
        ("axis = 0", |at| at / 8, &[3]),
        ("axis = 1", column, &[8]),
        ("axis = 1, block = 3", |at| at / 8 * 3 + at % 8 / 3, &[3, 3]),
        ("", |at| at, &[3, 8]),
    ];
    for (layout, place, own) in layouts {
        for (spec, alone) in [
            ("integer(5, stored)", "integer(5, 0)"),
            ("affine(4, stored)", "affine(4, 1.0)"),
            ("affine(4, stored, 3)", "affine(4, 1.0, 3)"),
            ("bipolar(stored)", "bipolar(1.0)"),
        ] {
            if layout.contains("block") && !spec.starts_with("affine") {
                continue;
            }
            let spec = spec.replace(')', &format!(", {layout})"));
            let fitted = parse(&spec).fitted_to_places(&x, &shape).unwrap();
            assert_eq!(fitted.without_stored(), parse(&spec), "{spec}");
            let groups = (0..own.iter().product()).map(|group| {
                let at = (0..24).filter(|&at| place(at) == group);
                at.map(|at| x[at]).collect::<Vec<f32>>()
            });
            let want: Vec<f32> = groups
                .map(|group| match parse(alone).fitted(&group) {
                    Format::Integer(integer) => integer.frac_width as f32,
                    Format::Affine(affine) => affine.scale,
                    Format::Bipolar(bipolar) => bipolar.scale,
                    other => panic!("{other}"),
                })
                .collect();
            let array = fitted.stored_fields()[0].1.unwrap().clone();
            let shape = own.to_vec();
            assert_eq!(
                array,
                StoredArray {
                    shape,
                    values: want
                },
                "{spec}"
            );
        }
    }
}

#[test]
fn rows_get_a_step_each() {
    let x = [0.5, -0.25, 100.0, 3.0];
    for (spec, fitted, values) in [
        ("integer(8, 4)", "integer(8, stored, axis = 0)", [7.0, 0.0]),
        (
            "affine(2, 9.0, signed = false)",
            "affine(2, stored, signed = false, axis = 0)",
            [0.5 / 3.0, 100.0 / 3.0],
        ),
        ("bipolar(9.0)", "bipolar(stored, axis = 0)", [0.375, 51.5]),
    ] {
        let format = parse(spec).fitted_to_rows(&x, &[2, 2]).unwrap();
        assert_eq!(format.to_string(), parse(fitted).to_string());
        let (_, array) = format.stored_fields()[0];
        assert_eq!(array.unwrap().values, values, "{spec}");
    }
    for (spec, shape) in [("log(4)", &[2, 2][..]), ("integer(8, 4)", &[])] {
        assert_eq!(parse(spec).fitted_to_rows(&x, shape), None, "{spec}");
    }
}

#[test]
fn two_stored_fields_or_a_width_are_not_fitted() {
    for spec in [
        "integer(8, 4)",
        "integer(stored, stored)",
        "integer(stored, 4)",
        "affine(8, stored, stored)",
        "affine(8, 0.5, stored)",
    ] {
        assert_eq!(parse(spec).fitted_to_places(&[1.0], &[1]), None, "{spec}");
    }
}
