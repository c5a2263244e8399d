//! How many bits an option says it takes, from the keys and words of format configs.

use crate::{Coordinate, Parameter};
use format::{FieldValue, Format};
use passes::transform::quantize::{Operand, is_na};
use serde_json::Value;

/// Bits of a value that is left as it is.
const FLOAT_BITS: f64 = 32.0;
/// A shape of whole blocks, over which shared exponents are spread.
const SHAPE: [usize; 2] = [64, 64];

/// The sum over the operands that the parameters speak of, or of all numbers where they speak of none.
pub(super) fn bits(parameters: &[Parameter], option: &[Option<Coordinate>]) -> f64 {
    let chosen: Vec<(&str, FieldValue)> = parameters
        .iter()
        .zip(option)
        .filter_map(|(parameter, coordinate)| {
            Some((key(parameter), value(parameter, (*coordinate)?)?))
        })
        .collect();
    let name = find(&chosen, "name");
    let words: Vec<&str> = Operand::WORDS
        .iter()
        .map(|(word, _)| *word)
        .filter(|word| parameters.iter().any(|p| field(key(p), word).is_some()))
        .collect();
    if find(&chosen, "bypass") == Some(&FieldValue::Bool(true)) {
        return FLOAT_BITS * words.len().max(1) as f64;
    }
    if !words.is_empty() {
        return words
            .iter()
            .map(|word| operand_bits(&chosen, word, name))
            .sum();
    }
    match name {
        Some(name) if is_na(name) => FLOAT_BITS,
        Some(_) => 0.0,
        None => chosen.iter().filter_map(|(_, value)| number(value)).sum(),
    }
}

/// Whether more of a number means more bits: a width, or a number that is no field of an operand's format.
pub(super) fn is_width(parameter: &Parameter) -> bool {
    let mut words = Operand::WORDS.iter();
    let own = words.find_map(|(word, _)| field(key(parameter), word));
    own.is_none_or(|field| field == "width")
}

fn operand_bits(
    chosen: &[(&str, FieldValue)],
    word: &str,
    common_name: Option<&FieldValue>,
) -> f64 {
    let own: Vec<(&str, &FieldValue)> = chosen
        .iter()
        .filter_map(|(key, value)| Some((field(key, word)?, value)))
        .collect();
    let own_name = own.iter().find(|(field, _)| *field == "name");
    let name = own_name.map(|(_, value)| *value).or(common_name);
    let fields: Vec<(String, FieldValue)> = own
        .iter()
        .filter(|(field, _)| *field != "name")
        .map(|(field, value)| ((*field).to_owned(), (*value).clone()))
        .collect();
    let is_left_alone = !fields.is_empty() && fields.iter().all(|(_, value)| is_na(value));
    if is_left_alone || name.is_some_and(is_na) {
        return FLOAT_BITS;
    }
    let width = fields.iter().find(|(field, _)| field == "width");
    let width = width.and_then(|(_, value)| number(value));
    let format = match name {
        Some(FieldValue::Text(name)) => Format::from_fields(name, &fields).ok(),
        _ => None,
    };
    format.map_or(width.unwrap_or(0.0), |format| format.bits(&SHAPE))
}

/// The last part of a parameter's name.
fn key(parameter: &Parameter) -> &str {
    let name = &parameter.name;
    name.rsplit('/').next().unwrap_or(name)
}

fn field<'a>(key: &'a str, word: &str) -> Option<&'a str> {
    key.strip_prefix(word)?.strip_prefix('_')
}

fn find<'a>(chosen: &'a [(&str, FieldValue)], wanted: &str) -> Option<&'a FieldValue> {
    let found = chosen.iter().find(|(key, _)| *key == wanted);
    found.map(|(_, value)| value)
}

fn value(parameter: &Parameter, coordinate: Coordinate) -> Option<FieldValue> {
    let index = match coordinate {
        Coordinate::Int(value) => return Some(FieldValue::Int(value)),
        Coordinate::Float(value) => return Some(FieldValue::Float(value)),
        Coordinate::Choice(index) => index,
    };
    let crate::Distribution::Categorical { choices } = &parameter.distribution else {
        return None;
    };
    match &choices[index] {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Some(FieldValue::Int(whole)),
            None => number.as_f64().map(FieldValue::Float),
        },
        Value::String(text) => Some(FieldValue::Text(text.clone())),
        Value::Bool(flag) => Some(FieldValue::Bool(*flag)),
        Value::Array(items) => {
            let whole: Option<Vec<i64>> = items.iter().map(Value::as_i64).collect();
            whole.map(FieldValue::List)
        }
        _ => None,
    }
}

fn number(value: &FieldValue) -> Option<f64> {
    match value {
        FieldValue::Int(value) => Some(*value as f64),
        FieldValue::Float(value) => Some(*value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;
    use serde_json::json;

    fn parameters(keys: &[(&str, Value)]) -> Vec<Parameter> {
        let parameter = |(key, choices): &(&str, Value)| Parameter {
            name: format!("node/config/{key}"),
            distribution: Distribution::Categorical {
                choices: choices.as_array().unwrap().clone(),
            },
            condition: None,
        };
        keys.iter().map(parameter).collect()
    }

    #[test]
    fn bits_are_those_of_the_formats() {
        let names = json!(["NA", "integer", "binary", "minifloat_ieee"]);
        let parameters = parameters(&[
            ("name", names),
            ("weight_width", json!([4, 8])),
            ("weight_exponent_width", json!([3])),
            ("data_in_width", json!([6, "NA"])),
        ]);
        let of = |choices: [Option<usize>; 4]| {
            bits(
                &parameters,
                &choices.map(|index| index.map(Coordinate::Choice)),
            )
        };
        assert_eq!(of([Some(0), None, None, None]), 64.0);
        assert_eq!(of([Some(1), Some(1), None, Some(0)]), 14.0);
        assert_eq!(of([Some(1), Some(0), None, Some(1)]), 36.0);
        let binary = Format::from_fields("binary", &[]).unwrap().bits(&SHAPE);
        assert_eq!(of([Some(2), None, None, None]), 2.0 * binary);
        assert_eq!(of([Some(3), Some(1), Some(0), Some(0)]), 14.0);
    }

    #[test]
    fn what_is_passed_by_is_float() {
        let parameters = parameters(&[
            ("bypass", json!([false, true])),
            ("weight_width", json!([4, 8])),
        ]);
        let of = |choices: [usize; 2]| {
            bits(
                &parameters,
                &choices.map(|index| Some(Coordinate::Choice(index))),
            )
        };
        assert_eq!([of([0, 1]), of([1, 0])], [8.0, 32.0]);
    }

    #[test]
    fn without_formats_numbers_count() {
        let mut parameters = parameters(&[("a", json!([1, 5])), ("b", json!(["x", "y"]))]);
        let option = [Some(Coordinate::Choice(1)), Some(Coordinate::Choice(0))];
        assert_eq!(bits(&parameters, &option), 5.0);
        assert!(is_width(&parameters[0]));
        parameters[0].name = "node/config/weight_frac_width".to_owned();
        assert!(!is_width(&parameters[0]));
    }
}
