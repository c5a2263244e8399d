//! Rounding to formats, element by element, as their definitions say.

use super::{Exact, index, positions};
use format::{FieldValue, Format, StoredArray};
use std::cmp::Ordering;

/// `clamp(round(x·2^frac), lo, hi)` of one element.
#[derive(Clone, Copy)]
struct Rule {
    frac: i32,
    lo: i128,
    hi: i128,
    rounding: Rounding,
    wraps: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Rounding {
    Even,
    Up,
    Down,
}

/// The rules of all elements of an array.
fn rules(format: &Format, shape: &[usize]) -> Vec<Rule> {
    let positions = positions(shape);
    positions.iter().map(|p| rule(format, p)).collect()
}

fn rule(format: &Format, position: &[usize]) -> Rule {
    let number = |name: &str| number(format, name, position);
    let flag = |name: &str| text(format, name) == "true";
    let width = number("width") as i32;
    let (lo, hi) = match width {
        0 => (0, 0),
        _ if flag("signed") => (-(1_i128 << (width - 1)), (1_i128 << (width - 1)) - 1),
        _ => (0, (1_i128 << width) - 1),
    };
    if format.name() == "integer" {
        return Rule {
            frac: number("frac_width") as i32,
            lo,
            hi,
            rounding: match text(format, "rounding").as_str() {
                "nearest_even" => Rounding::Even,
                "nearest_up" => Rounding::Up,
                _ => Rounding::Down,
            },
            wraps: text(format, "overflow") == "wrap",
        };
    }
    // The shortest decimal that reads back as the float.
    let frac = -f64::from(number("scale") as f32).log2();
    assert!(frac.fract() == 0.0, "{format}");
    let zero = number("zero_point") as i128;
    let narrow = i128::from(flag("narrow"));
    let (lo, hi) = if flag("signed") {
        (lo + narrow, hi)
    } else {
        (lo, hi - narrow)
    };
    Rule {
        frac: frac as i32,
        lo: lo - zero,
        hi: hi - zero,
        rounding: Rounding::Even,
        wraps: false,
    }
}

fn value(format: &Format, name: &str) -> FieldValue {
    let mut fields = format.fields().into_iter();
    fields.find(|(field, _)| *field == name).unwrap().1
}

fn text(format: &Format, name: &str) -> String {
    value(format, name).to_string()
}

fn number(format: &Format, name: &str, position: &[usize]) -> f64 {
    let mut stored = format.stored_fields().into_iter();
    if let Some((_, array)) = stored.find(|(field, _)| *field == name) {
        return f64::from(at(format, array.unwrap(), position));
    }
    match value(format, name) {
        FieldValue::Int(number) => number as f64,
        FieldValue::Float(number) => number,
        other => panic!("{name} = {other}"),
    }
}

/// The stored value of an element.
fn at(format: &Format, array: &StoredArray, position: &[usize]) -> f32 {
    let block = match format.name() {
        "affine" => number(format, "block", position) as usize,
        _ => 0,
    };
    let place = match (value(format, "axis"), block) {
        (FieldValue::Int(axis), 0) => position[axis as usize],
        (FieldValue::Int(axis), block) => {
            let mut position = position.to_vec();
            position[axis as usize] /= block;
            index(&array.shape, &position)
        }
        _ => index(
            &array.shape,
            &position[position.len() - array.shape.len()..],
        ),
    };
    array.values[place]
}

/// The code of num/2^frac by a rule.
fn round_one(num: i128, frac: i32, rule: Rule) -> i128 {
    let shift = frac - rule.frac;
    let code = if shift <= 0 && rule.wraps {
        // Nothing is left of what moves beyond the widest format.
        let bits = shift.unsigned_abs();
        if bits < 64 { num << bits } else { 0 }
    } else if shift <= 0 {
        let factor = 1_i128
            .checked_shl(shift.unsigned_abs())
            .filter(|f| *f > 0)
            .unwrap_or(i128::MAX);
        num.saturating_mul(factor)
    } else if shift > 126 {
        // Less than a half is left of any number here.
        let is_below = rule.rounding == Rounding::Down && num < 0;
        -i128::from(is_below)
    } else {
        let unit = 1_i128 << shift;
        let (below, rest) = (num.div_euclid(unit), num.rem_euclid(unit));
        let up = match rest.cmp(&(unit - rest)) {
            _ if rule.rounding == Rounding::Down => false,
            Ordering::Less => false,
            Ordering::Equal => rule.rounding == Rounding::Up || below % 2 != 0,
            Ordering::Greater => true,
        };
        below + i128::from(up)
    };
    if rule.wraps {
        (code - rule.lo).rem_euclid(rule.hi - rule.lo + 1) + rule.lo
    } else {
        code.clamp(rule.lo, rule.hi)
    }
}

/// Numbers num/2^frac of an array, rounded to a format.
fn round_all(shape: &[usize], numbers: &[(i128, i32)], format: &Format) -> Exact {
    let rules = rules(format, shape);
    let can_be_more = rules.iter().filter(|rule| (rule.lo, rule.hi) != (0, 0));
    let finest = can_be_more.map(|rule| rule.frac).max();
    let finest = finest.unwrap_or_else(|| rules.first().map_or(0, |rule| rule.frac));
    let code = |(&(num, frac), &rule): (&(i128, i32), &Rule)| {
        let one = Exact {
            shape: Vec::new(),
            codes: vec![round_one(num, frac, rule)],
            frac: rule.frac,
        };
        one.finer(finest).codes[0]
    };
    Exact {
        shape: shape.to_vec(),
        codes: numbers.iter().zip(&rules).map(code).collect(),
        frac: finest,
    }
}

/// Codes rounded to a format.
pub fn round(x: &Exact, format: &Format) -> Exact {
    let numbers: Vec<(i128, i32)> = x.codes.iter().map(|&code| (code, x.frac)).collect();
    round_all(&x.shape, &numbers, format)
}

/// Floats, each a 24-bit number times a power of two, rounded to a format.
pub fn encode(shape: &[usize], values: &[f32], format: &Format) -> Exact {
    let one = |&x: &f32| {
        let (bits, sign) = (x.to_bits() & 0x7fff_ffff, if x < 0.0 { -1 } else { 1 });
        let (exponent, mantissa) = ((bits >> 23) as i32, i128::from(bits & 0x007f_ffff));
        let (mantissa, exponent) = if exponent == 0 {
            (mantissa, -149)
        } else {
            (mantissa + 0x0080_0000, exponent - 150)
        };
        (sign * mantissa, -exponent)
    };
    let numbers: Vec<(i128, i32)> = values.iter().map(one).collect();
    round_all(shape, &numbers, format)
}
