//! The size of a network's netlist before it is solved, so that one that is far too large is refused in time.

use crate::elements::{Expression, Map, expression, maps};
use crate::solve::digits;
use crate::width::Width;
use engine::integer::{CodeRange, Program};

/// LUTs of a solved netlist for each bit of the additions that its digits ask for one by one: less than any network that was
/// measured, of which dense layers share most.
const SHARED: f64 = 0.2;

/// LUTs that a program's netlist has at the very least, roughly. Counting ends at `most`.
pub fn rough_luts(program: &Program, most: u64) -> u64 {
    let end = most as f64 / SHARED;
    let mut bits = 0.0;
    for (at, step) in program.steps.iter().enumerate() {
        let operand = |k: usize| width(program.steps[step.inputs[k]].range());
        let sum = width(step.ranges[0]);
        for i in 0..step.len() {
            bits += match expression(program, at, i) {
                Expression::Input => 0.0,
                Expression::Linear { terms, .. } => {
                    let digits = terms.iter().map(|term| digits::canonical(term.1).count());
                    digits.sum::<usize>().saturating_sub(1) as f64 * sum
                }
                Expression::Max(elements) | Expression::Argmax(elements) => {
                    elements.len().saturating_sub(1) as f64 * 3.0 * operand(0)
                }
                Expression::Products(pairs) => pairs.len() as f64 * operand(0) * operand(1),
            };
            let tables = maps(program, at, i).into_iter().map(|map| match map {
                Map::Table { values, .. } => values.len() as f64 / 8.0,
                Map::Round(_) | Map::Affine { .. } | Map::Clamp { .. } => 0.0,
            });
            bits += tables.sum::<f64>();
            if bits >= end {
                return most;
            }
        }
    }
    (bits * SHARED) as u64
}

fn width(range: CodeRange) -> f64 {
    let ends = [range.min, range.max].map(|end| i64::try_from(end).unwrap_or(i64::MAX));
    Width::of(ends[0], ends[1]).bits.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::State;
    use ir::{Graph, Tensor, verify};

    /// The rough size of a layer of five results, each 3·x + 5·y of two inputs of four bits.
    fn luts(most: u64) -> u64 {
        let text = "graph \"g\" { x: f32[N, 2] = placeholder
            l = linear(x: integer(4, 0)) { in_features = 2, out_features = 5, bias = false, weight: integer(4, 0) }
            return l }";
        let mut graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
        let weight = Tensor::new(vec![5, 2], [3.0, 5.0].repeat(5)).expect("ten weights");
        let layer = graph.node_mut(ir::NodeId(1));
        layer.params.insert("weight".to_owned(), weight);
        let verified = verify(&graph).unwrap_or_else(|error| panic!("{error}"));
        let state = State::new(&verified).unwrap_or_else(|error| panic!("{error}"));
        let program = Program::of(&verified, &state, 1).unwrap_or_else(|error| panic!("{error}"));
        rough_luts(&program, most)
    }

    /// Each weight has two digits, so that a sum has three additions, of seven bits for -64 to 56: 105 bits, a fifth of that.
    #[test]
    fn a_layer_is_as_large_as_the_additions_of_its_digits() {
        assert_eq!(luts(1000), 21);
        assert_eq!(luts(22), 21);
        assert_eq!(luts(10), 10);
    }
}
