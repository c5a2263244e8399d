//! How many bits an option says it takes, from the keys and words of format configs.

use crate::{Coordinate, Parameter, Space};
use format::{FieldValue, Format, FormatEntry};
use passes::transform::quantize::{Operand, is_na};
use serde_json::Value;

/// Bits of a value that is left as it is.
const FLOAT_BITS: f64 = 32.0;
/// A shape of whole blocks, over which shared exponents are spread.
const SHAPE: [usize; 2] = [64, 64];

/// The sum over the operands that the keys of a node speak of, or of all numbers where they speak of none.
pub(super) fn bits(space: &Space, option: &[Option<Coordinate>]) -> f64 {
    let parameters = space.parameters();
    let mut chosen: Vec<(&str, FieldValue)> = parameters
        .iter()
        .zip(option)
        .filter_map(|(parameter, coordinate)| {
            Some((key(&parameter.name), value(parameter, (*coordinate)?)?))
        })
        .collect();
    add_fixed(&mut chosen, space.fixed());
    let name = find(&chosen, "name");
    let keys = parameters.iter().map(|parameter| &parameter.name);
    let keys = keys.chain(space.fixed().iter().map(|(name, _)| name));
    let keys: Vec<&str> = keys.map(|name| key(name)).collect();
    let words: Vec<&str> = Operand::WORDS
        .iter()
        .map(|(word, _)| *word)
        .filter(|word| keys.iter().any(|key| field(key, word).is_some()))
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

/// Adds the keys with one choice that hold: those of the chosen format before general ones, and names before both.
fn add_fixed<'a>(chosen: &mut Vec<(&'a str, FieldValue)>, fixed: &'a [(String, Value)]) {
    let is_name = |key: &str| key == "name" || key.ends_with("_name");
    let rank = |name: &str| (!is_name(key(name)), format_of(name).is_none());
    let mut fixed: Vec<&(String, Value)> = fixed.iter().collect();
    fixed.sort_by_key(|(name, _)| rank(name));
    for (name, value) in fixed {
        let key = key(name);
        let holds = format_of(name).is_none_or(|format| named(chosen, key) == Some(format));
        let is_known = chosen.iter().any(|(known, _)| *known == key);
        if let (true, false, Some(value)) = (holds, is_known, field_value(value)) {
            chosen.push((key, value));
        }
    }
}

/// The format that a name holds for alone: `node/config/FORMAT/key`.
fn format_of(name: &str) -> Option<&str> {
    let parts: Vec<&str> = name.split('/').collect();
    match parts[..] {
        [.., "config", format, _] => Some(format),
        _ => None,
    }
}

/// What the operand of a key is called: by its own name, or by that of all.
fn named<'a>(chosen: &'a [(&str, FieldValue)], key: &str) -> Option<&'a str> {
    let mut words = Operand::WORDS.iter();
    let word = words.find(|(word, _)| field(key, word).is_some());
    let own = word.and_then(|(word, _)| find(chosen, &format!("{word}_name")));
    match own.or_else(|| find(chosen, "name"))? {
        FieldValue::Text(name) => Some(name),
        _ => None,
    }
}

/// Whether more of a number means more bits: a width, or a number that is no field of an operand's format.
pub(super) fn is_width(parameter: &Parameter) -> bool {
    let mut words = Operand::WORDS.iter();
    let own = words.find_map(|(word, _)| field(key(&parameter.name), word));
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
    // A general key may be a field of other formats only.
    let entry = name.and_then(|name| Format::TABLE.iter().find(|entry| is_called(entry, name)));
    let is_field = |field: &str| {
        entry.is_none_or(|entry| entry.fields.iter().any(|known| known.name == field))
    };
    let fields: Vec<(String, FieldValue)> = own
        .iter()
        .filter(|(field, _)| *field != "name" && is_field(field))
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

fn is_called(entry: &FormatEntry, name: &FieldValue) -> bool {
    matches!(name, FieldValue::Text(name) if entry.name == name || entry.aliases.contains(&name.as_str()))
}

/// The last part of a parameter's name.
fn key(name: &str) -> &str {
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
    field_value(&choices[index])
}

fn field_value(value: &Value) -> Option<FieldValue> {
    match value {
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
        let space = Space::new(parameters).unwrap();
        let of = |choices: [Option<usize>; 4]| {
            bits(&space, &choices.map(|index| index.map(Coordinate::Choice)))
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
        let space = Space::new(parameters).unwrap();
        let of = |choices: [usize; 2]| {
            bits(
                &space,
                &choices.map(|index| Some(Coordinate::Choice(index))),
            )
        };
        assert_eq!([of([0, 1]), of([1, 0])], [8.0, 32.0]);
    }

    #[test]
    fn what_has_one_choice_counts_too() {
        let fixed = [
            ("data_in_width", json!(6)),
            ("weight_width", json!(4)),
            ("weight_exponent_width", json!(3)),
            ("minifloat_ieee/weight_width", json!(8)),
        ];
        let fixed = fixed.map(|(key, value)| (format!("node/config/{key}"), value));
        let names = parameters(&[("name", json!(["integer", "minifloat_ieee", "NA"]))]);
        let space = Space::new(names).unwrap().with_fixed(fixed.to_vec());
        let of = |name: usize| bits(&space, &[Some(Coordinate::Choice(name))]);
        assert_eq!([of(0), of(1), of(2)], [10.0, 14.0, 64.0]);
    }

    #[test]
    fn without_formats_numbers_count() {
        let mut parameters = parameters(&[("a", json!([1, 5])), ("b", json!(["x", "y"]))]);
        let option = [Some(Coordinate::Choice(1)), Some(Coordinate::Choice(0))];
        let space = Space::new(parameters.clone()).unwrap();
        assert_eq!(bits(&space, &option), 5.0);
        assert!(is_width(&parameters[0]));
        parameters[0].name = "node/config/weight_frac_width".to_owned();
        assert!(!is_width(&parameters[0]));
    }
}
