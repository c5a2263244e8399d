//! Bits that each choice of a node adds, for samplers that go from wide formats to narrow ones.
//!
//! A choice is compared with the first of its key while all other keys have their first choice. Formats whose bits are a
//! sum over their fields, which is nearly all, get exact differences this way.

use super::{SearchedKey, active_entries};
use format::FieldValue;
use passes::transform::quantize::{Entry, NodeRule, Operand, Slot};
use std::collections::BTreeSet;

/// Bits of a value that is left as it is.
const FLOAT_BITS: f64 = 32.0;
/// A shape of whole blocks, over which shared exponents are spread.
const SHAPE: [usize; 2] = [64, 64];

/// For every key of a node, the bits of its choices.
pub(super) fn costs(keys: &[SearchedKey]) -> Vec<Vec<f64>> {
    let operand = |key: &SearchedKey| match key.slot {
        Slot::Field(operand, _) => Some(operand),
        _ => None,
    };
    let operands: BTreeSet<Operand> = keys.iter().filter_map(operand).collect();
    let of_key = |(at, key): (usize, &SearchedKey)| {
        let start = first_under_its_name(keys, key);
        let bits = |choice: usize| {
            let mut choices = start.clone();
            choices[at] = choice;
            node_bits(&active_entries(keys, |at| Some(choices[at])), &operands)
        };
        let first = if key.slot.is_name() { 0.0 } else { bits(0) };
        let choices = 0..key.choices.len();
        choices.map(|choice| bits(choice) - first).collect()
    };
    keys.iter().enumerate().map(of_key).collect()
}

/// The first choice of every key, but for the name that decides over `key`: one under which the key is active.
fn first_under_its_name(keys: &[SearchedKey], key: &SearchedKey) -> Vec<usize> {
    let mut start = vec![0; keys.len()];
    let decider = keys.iter().position(|own| own.slot == key.decider);
    if let (Some(at), Some(name)) = (decider, key.names.first()) {
        let choice = keys[at].choices.iter().position(|choice| choice == name);
        start[at] = choice.unwrap_or(0);
    }
    start
}

/// The sum over the operands that the keys of a node speak of.
fn node_bits(entries: &[Entry], operands: &BTreeSet<Operand>) -> f64 {
    match NodeRule::of(entries) {
        Ok(NodeRule::LeaveAlone | NodeRule::Bypass) => FLOAT_BITS * operands.len() as f64,
        Ok(NodeRule::Formats(formats)) => {
            let bits = |operand| {
                formats
                    .get(operand)
                    .map_or(FLOAT_BITS, |f| f.stored().bits(&SHAPE))
            };
            operands.iter().map(bits).sum()
        }
        // Not every combination makes a format; its widths tell enough.
        Err(_) => entries.iter().filter_map(width).sum(),
    }
}

fn width((slot, value): &Entry) -> Option<f64> {
    match (slot, value) {
        (Slot::Field(_, field), FieldValue::Int(width)) if field == "width" => Some(*width as f64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Choices, FormatSpace};
    use config::{Reader, Table};
    use ir::Graph;
    use passes::Rules;

    /// The costs of a linear layer's parameters, by the last part of their names.
    fn costs_of(config: &str) -> Vec<(String, Vec<f64>)> {
        let text = format!("[linear.config]\n{config}");
        let table = Table::parse(&text).expect("the text is TOML");
        let mut reader = Reader::new(&table, 0..0);
        let rules = Rules::read_by(passes::By::Type, &mut reader, Choices::read);
        assert_eq!(reader.finish(), []);
        let graph = Graph::parse(
            "graph \"g\" { x: f32[N, 4] = placeholder\n fc = linear(x) { in_features = 4, out_features = 2 }\n return fc }",
        );
        let space = FormatSpace::new(&graph.expect("the graph is text"), &rules);
        let parameters = space.expect("the rules fit").space.parameters().to_vec();
        let shown = |parameter: study::Parameter| {
            assert_eq!(parameter.group, "fc");
            let name = parameter.name.trim_start_matches("fc/config/").to_owned();
            (name, parameter.cost.expect("formats have bits"))
        };
        parameters.into_iter().map(shown).collect()
    }

    #[test]
    fn a_width_costs_its_bits() {
        let costs = costs_of(
            "name = \"integer\"
weight_width = [4, 8]\nweight_frac_width = [1, 2]\n",
        );
        assert_eq!(costs[0], ("weight_width".to_owned(), vec![0.0, 4.0]));
        assert_eq!(costs[1], ("weight_frac_width".to_owned(), vec![0.0, 0.0]));
    }

    #[test]
    fn a_name_costs_what_its_format_does() {
        let costs = costs_of(
            "name = [\"NA\", \"integer\", \"minifloat_ieee\"]\nweight_width = [6, 8]\n\
             weight_exponent_width = 3\ndata_in_width = 6\ndata_in_exponent_width = 3\n",
        );
        assert_eq!(costs[0], ("name".to_owned(), vec![64.0, 12.0, 12.0]));
        assert_eq!(costs[1], ("weight_width".to_owned(), vec![0.0, 2.0]));
    }

    #[test]
    fn fields_that_make_up_the_bits_count() {
        let costs = costs_of(
            "name = \"mxfp\"\nweight_exponent_width = [2, 4]\nweight_frac_width = 3\nweight_block_size = [[32]]\n",
        );
        assert_eq!(
            costs,
            [("weight_exponent_width".to_owned(), vec![0.0, 2.0])]
        );
    }

    #[test]
    fn fields_that_make_no_format_cost_their_width() {
        // Three bits cannot hold a sign and an exponent of four.
        let costs = costs_of(
            "name = \"minifloat_ieee\"\nweight_width = [3, 8]\nweight_exponent_width = [4, 1]\n",
        );
        assert_eq!(costs[0], ("weight_width".to_owned(), vec![0.0, 5.0]));
        assert_eq!(
            costs[1],
            ("weight_exponent_width".to_owned(), vec![0.0, 0.0])
        );
    }

    #[test]
    fn what_is_bypassed_is_float() {
        let costs = costs_of("name = \"integer\"\nbypass = [false, true]\nweight_width = [4, 8]\n");
        let bypass = costs.iter().find(|(name, _)| name == "bypass");
        assert_eq!(
            bypass.map(|(_, cost)| cost.as_slice()),
            Some(&[0.0, 28.0][..])
        );
    }
}
