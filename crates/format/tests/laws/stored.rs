//! Formats with stored fields, against the same format rounding every element by itself.

use crate::gradient::passes;
use crate::specs::{mixed, quantized};
use format::{Format, StoredArray};

/// A format, the shape of what it rounds, and for each place of its arrays the format with the values of that place.
struct Case {
    format: Format,
    shape: &'static [usize],
    places: Vec<Format>,
    /// The place of each element.
    place: fn(&[usize], usize) -> usize,
}

/// The name of a stored field and its value at each place.
type Field = (&'static str, fn(usize) -> f32);

fn array(shape: &[usize], values: impl Fn(usize) -> f32) -> StoredArray {
    StoredArray {
        shape: shape.to_vec(),
        values: (0..shape.iter().product()).map(values).collect(),
    }
}

fn case(
    spec: &str,
    shape: &'static [usize],
    place: fn(&[usize], usize) -> usize,
    fields: &[Field],
    scalar: fn(usize) -> String,
) -> Case {
    let bare = Format::parse(spec).unwrap();
    let of_sample = spec.contains("axis") || shape.len() < 3;
    let own = if of_sample { shape } else { &shape[1..] };
    let stored = bare.stored_shape(own).unwrap();
    let with = |format: Format, (name, value): &Field| {
        format.with_stored(name, array(&stored, value)).unwrap()
    };
    let n_places = stored.iter().product();
    Case {
        format: fields.iter().fold(bare, with),
        shape,
        places: (0..n_places)
            .map(|place| Format::parse(&scalar(place)).unwrap())
            .collect(),
        place,
    }
}

fn frac(place: usize) -> f32 {
    (place * 7 % 9) as f32 - 3.0
}

fn width(place: usize) -> f32 {
    (place % 6 + 1) as f32
}

fn scale(place: usize) -> f32 {
    0.01 + 0.037 * place as f32
}

fn zero(place: usize) -> f32 {
    (place * 5 % 11) as f32 - 4.0
}

fn cases() -> Vec<Case> {
    fn integer(place: usize) -> String {
        format!("integer({}, {})", width(place), frac(place))
    }
    fn affine(place: usize) -> String {
        format!("affine(6, {}, {})", scale(place), zero(place))
    }
    fn directed(place: usize) -> String {
        format!("affine(6, {}, rounding = floor)", scale(place))
    }
    vec![
        case(
            "integer(stored, stored, axis = 0)",
            &[6, 35],
            |shape, at| at / shape[1],
            &[("width", width), ("frac_width", frac)],
            integer,
        ),
        case(
            "integer(stored, stored, axis = 1)",
            &[6, 35],
            |shape, at| at % shape[1],
            &[("width", width), ("frac_width", frac)],
            integer,
        ),
        case(
            "integer(5, stored, axis = 1)",
            &[5, 3, 2, 7],
            |shape, at| at / (shape[2] * shape[3]) % shape[1],
            &[("frac_width", frac)],
            |place| format!("integer(5, {})", frac(place)),
        ),
        case(
            "integer(stored, stored)",
            &[6, 35],
            |_, at| at,
            &[("width", width), ("frac_width", frac)],
            integer,
        ),
        case(
            "integer(stored, stored)",
            &[4, 5, 11],
            |shape, at| at % (shape[1] * shape[2]),
            &[("width", width), ("frac_width", frac)],
            integer,
        ),
        case(
            "affine(6, stored, stored, axis = 0)",
            &[6, 35],
            |shape, at| at / shape[1],
            &[("scale", scale), ("zero_point", zero)],
            affine,
        ),
        case(
            "affine(6, stored, stored, axis = 1, block = 8)",
            &[6, 35],
            |shape, at| at / shape[1] * 5 + at % shape[1] / 8,
            &[("scale", scale), ("zero_point", zero)],
            affine,
        ),
        case(
            "affine(6, stored, axis = 0, block = 4, rounding = floor)",
            &[6, 35],
            |shape, at| at / shape[1] / 4 * shape[1] + at % shape[1],
            &[("scale", scale)],
            directed,
        ),
        case(
            "bipolar(stored, axis = 0)",
            &[6, 35],
            |shape, at| at / shape[1],
            &[("scale", scale)],
            |place| format!("bipolar({})", scale(place)),
        ),
    ]
}

#[test]
fn every_element_is_rounded_as_its_place_says() {
    for case in cases() {
        let Case {
            format,
            shape,
            places,
            place,
        } = case;
        let len = shape.iter().product();
        let mut x = mixed(len, 11);
        (x[3], x[7], x[20]) = (f32::NAN, f32::INFINITY, 0.0);
        let alone = |at: usize| &places[place(shape, at)];
        let y = quantized(&format, &x, shape);
        let codes = format.encode(&x, shape);
        let decoded = format.decode(&codes, shape);
        let pass = passes(&format, &x, shape);
        for at in 0..len {
            let want = quantized(alone(at), &[x[at]], &[1])[0];
            assert_eq!(y[at].to_bits(), want.to_bits(), "{format} at {at}");
            assert_eq!(
                pass[at],
                passes(alone(at), &[x[at]], &[1])[0],
                "{format} at {at}"
            );
            if !want.is_nan() {
                assert_eq!(decoded[at], want, "{format} at {at}");
                let code = alone(at).encode(&[x[at]], &[1]).get(0);
                assert_eq!(codes.get(at), code, "{format} at {at}");
            }
        }
        let bits = places.iter().map(|place| place.bits(&[1])).sum::<f64>() / places.len() as f64;
        let scales = format
            .stored_fields()
            .iter()
            .filter(|(name, _)| *name == "scale")
            .count();
        let shared = 32.0 * (scales * places.len()) as f64 / len as f64;
        assert!(
            (format.bits(shape) - bits - shared).abs() < 1e-9,
            "{format}"
        );
    }
}

#[test]
fn the_text_says_what_is_stored_and_not_the_values() {
    for case in cases() {
        let text = case.format.to_string();
        let read = Format::parse(&text).unwrap();
        assert_eq!(read.to_string(), text);
        let given = case.format.stored_fields();
        let with = given.iter().fold(read, |format, (name, array)| {
            assert_eq!(format.stored_fields().len(), given.len());
            format.with_stored(name, array.unwrap().clone()).unwrap()
        });
        assert_eq!(with, case.format, "{text}");
    }
}

#[test]
fn an_element_without_bits_is_zero() {
    let format = Format::parse("integer(stored, 2)").unwrap();
    let widths = array(&[4], |place| if place % 2 == 0 { 0.0 } else { 4.0 });
    let format = format.with_stored("width", widths).unwrap();
    let x = [1.0, 1.0, -3.0, -3.0];
    assert_eq!(quantized(&format, &x, &[4]), [0.0, 1.0, 0.0, -2.0]);
    assert_eq!(format.bits(&[4]), 2.0);
    let codes = format.encode(&x, &[4]);
    assert_eq!(format.decode(&codes, &[4]), [0.0, 1.0, 0.0, -2.0]);
}

#[test]
fn values_that_a_field_cannot_have_are_told_with_their_place() {
    let bad = |spec: &str, field: &str, value: f32| {
        let format = Format::parse(spec).unwrap();
        let values = array(&[3], |place| if place == 1 { value } else { 1.0 });
        format.with_stored(field, values).unwrap_err()
    };
    for (got, want) in [
        (
            bad("integer(8, stored, axis = 0)", "frac_width", 0.5),
            "frac_width at 1 is 0.5, which is no whole number from -104 to 149",
        ),
        (
            bad("integer(stored, 4)", "width", 65.0),
            "width at 1 is 65, which is no whole number from 0 to 64",
        ),
        (
            bad("affine(8, stored)", "scale", 0.0),
            "scale at 1 is 0, which is not a positive, normal 32-bit float",
        ),
        (
            bad("affine(8, stored)", "scale", f32::NAN),
            "scale at 1 is NaN, which is not a positive, normal 32-bit float",
        ),
        (
            bad("affine(8, 1.0, stored)", "zero_point", 200.0),
            "zero_point at 1 is 200, which is outside -128 to 127",
        ),
        (
            bad("affine(8, stored)", "zero_point", 0.0),
            "the format does not store zero_point",
        ),
    ] {
        assert_eq!(got, want);
    }
}

/// A scale that is a power of two makes an affine format a fixed point.
#[test]
fn affine_with_a_power_of_two_is_fixed_point() {
    let x: Vec<f32> = mixed(2000, 3)
        .into_iter()
        .chain((-600..600).map(|k: i16| f32::from(k) / 64.0))
        .chain([f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -0.0])
        .collect();
    for width in 1..=16 {
        for frac in [-6, -1, 0, 1, 3, 5, 9] {
            for signed in [true, false] {
                let fixed = Format::parse(&format!("integer({width}, {frac}, signed = {signed})"));
                let scale = 0.5f32.powi(frac);
                let affine = Format::parse(&format!("affine({width}, {scale}, signed = {signed})"));
                let (fixed, affine) = (fixed.unwrap(), affine.unwrap());
                let (a, b) = (
                    quantized(&fixed, &x, &[x.len()]),
                    quantized(&affine, &x, &[x.len()]),
                );
                let same = a
                    .iter()
                    .zip(&b)
                    .all(|(a, b)| a == b || (a.is_nan() && b.is_nan()));
                assert!(same, "{fixed} {affine}");
                assert_eq!(
                    passes(&fixed, &x, &[x.len()]),
                    passes(&affine, &x, &[x.len()]),
                    "{fixed}"
                );
                assert_eq!(fixed.range(), affine.range(), "{fixed}");
                assert_eq!(
                    fixed.encode(&x, &[x.len()]),
                    affine.encode(&x, &[x.len()]),
                    "{fixed}"
                );
            }
        }
    }
}
