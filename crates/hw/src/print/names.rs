//! The names of words: the graph's node, the element of its result, the kind of operation and a number.

use crate::net::{Net, Operation, Origin};
use std::collections::{HashMap, HashSet};

/// The name of every cell: `fc1_n12_a3` is the fourth adder of element 12 of node `fc1`.
pub fn names(net: &Net) -> Vec<String> {
    let nodes = legal_nodes(&net.nodes);
    let mut counts: HashMap<(Origin, char), u32> = HashMap::new();
    let mut taken: HashSet<String> = HashSet::new();
    let cells = net.cells.iter().map(|cell| {
        let kind = kind(&cell.operation);
        let count = counts.entry((cell.origin, kind)).or_insert(0);
        let number = *count;
        *count += 1;
        let node = &nodes[cell.origin.node as usize];
        let name = match cell.origin.element {
            Some(element) => format!("{node}_n{element}_{kind}{number}"),
            None => format!("{node}_{kind}{number}"),
        };
        told_apart(&name, &mut taken)
    });
    cells.collect()
}

fn kind(operation: &Operation) -> char {
    match operation {
        Operation::Input { .. } => 'i',
        Operation::Const { .. } => 'k',
        Operation::AddSub { .. } | Operation::Neg { .. } => 'a',
        Operation::Requant { .. } => 'q',
        Operation::Clamp { .. } => 'c',
        Operation::Less { .. } => 'l',
        Operation::Mux { .. } => 'm',
        Operation::Max { .. } => 'g',
        Operation::Mul { .. } => 'p',
        Operation::Shift { .. } => 's',
        Operation::Table { .. } => 't',
        Operation::Delay { .. } => 'r',
    }
}

/// Names as identifiers, each another: what is no letter or digit becomes `_`.
pub fn legal_nodes(nodes: &[String]) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let legal = |name: &String| {
        let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut legal: String = name.chars().map(letter).collect();
        if !legal.starts_with(|c: char| c.is_ascii_alphabetic()) {
            legal.insert_str(0, "node_");
        }
        told_apart(&legal, &mut taken)
    };
    nodes.iter().map(legal).collect()
}

/// The name, with a number behind it if it is taken.
fn told_apart(name: &str, taken: &mut HashSet<String>) -> String {
    let mut own = name.to_owned();
    let mut number = 2;
    while !taken.insert(own.clone()) {
        own = format!("{name}_{number}");
        number += 1;
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_look_alike_are_told_apart() {
        let nodes = ["a.b", "a_b", "1", "größe", "a_b_2"].map(str::to_owned);
        let expected = ["a_b", "a_b_2", "node_1", "gr__e", "a_b_2_2"];
        assert_eq!(legal_nodes(&nodes), expected);
    }
}
