//! The netlist as the page holds it: columns over all operations but registers, from which it draws the adders of a neuron.
//!
//! Thirty thousand adders are about a megabyte. A larger netlist is cut: its first operations are there, and a sentence
//! says which neurons have no drawing.

use crate::net::{Cell, Net, Operation};
use crate::print::{legal_nodes, names};
use serde_json::{Map, Value as Json, json};

/// Operations that a page holds.
pub(super) const MAX_OPERATIONS: usize = 60_000;

/// The columns of a netlist, at most `max` operations of it.
pub(super) fn columns(net: &Net, max: usize) -> Json {
    let mut columns = Columns::default();
    let mut total = 0;
    for (id, cell) in net.iter() {
        // The place of a register is that of the value that it passes on.
        if let Operation::Delay { a } = cell.operation {
            let place = columns.places[a.index()];
            columns.places.push(place);
            continue;
        }
        total += 1;
        let is_cut = columns.kinds.len() >= max;
        let place = (!is_cut).then_some(columns.kinds.len());
        columns.places.push(place);
        if place.is_some() {
            columns.push(id.index(), cell);
        }
    }
    let names = renamed(net, &columns);
    let limited = (total > max).then(|| {
        format!("The netlist has {total} operations; the page holds the first {max}, and neurons behind them have no drawing.")
    });
    json!({
        "kinds": columns.kinds, "a": columns.a, "b": columns.b, "shifts": columns.shifts,
        "low": columns.low, "high": columns.high, "selects": columns.selects, "origins": columns.origins(),
        "names": names, "prefixes": legal_nodes(&net.nodes), "nodes": net.nodes, "limited": limited,
    })
}

/// Columns that grow.
#[derive(Default)]
struct Columns {
    /// Per cell of the netlist, its place among the operations.
    places: Vec<Option<usize>>,
    /// Per operation, its cell.
    cells: Vec<usize>,
    /// A letter for each operation: those of names, and `+` and `-`.
    kinds: String,
    /// How far back the first operand is; 0 for none.
    a: Vec<usize>,
    /// The same of the second.
    b: Vec<usize>,
    /// Sums: bits that the second operand is shifted to the left, or the first if negative. Else the bits of a shift, or the
    /// number of an input.
    shifts: Vec<i64>,
    /// Smallest values.
    low: Vec<i64>,
    /// Largest values, less the smallest.
    high: Vec<u64>,
    /// The operand that selects, by place.
    selects: Map<String, Json>,
    /// Node and element, -1 for none.
    origin: Vec<[i64; 2]>,
}

impl Columns {
    fn push(&mut self, at: usize, cell: &Cell) {
        let place = self.kinds.len();
        let back = |columns: &Self, id: crate::net::CellId| {
            columns.places[id.index()].map_or(0, |operand| place - operand)
        };
        let (kind, a, b, shift) = match &cell.operation {
            Operation::Input { element } => ('i', None, None, i64::from(*element)),
            Operation::Const { .. } => ('k', None, None, 0),
            Operation::AddSub {
                a,
                sa,
                b,
                sb,
                subtract,
            } => {
                let kind = if *subtract { '-' } else { '+' };
                let shift = i64::from(*sb) - i64::from(*sa);
                (kind, Some(*a), Some(*b), shift)
            }
            Operation::Neg { a } => ('n', Some(*a), None, 0),
            Operation::Requant { a, shift, .. } => ('q', Some(*a), None, i64::from(*shift)),
            Operation::Clamp { a, .. } => ('c', Some(*a), None, 0),
            Operation::Less { a, b } => ('l', Some(*a), Some(*b), 0),
            Operation::Mux { select, zero, one } => {
                let select = back(self, *select);
                self.selects.insert(place.to_string(), json!(select));
                ('m', Some(*zero), Some(*one), 0)
            }
            Operation::Max { a, b } => ('g', Some(*a), Some(*b), 0),
            Operation::Mul { a, b } => ('p', Some(*a), Some(*b), 0),
            Operation::Shift { a, bits } => ('s', Some(*a), None, i64::from(*bits)),
            Operation::Table { a, .. } => ('t', Some(*a), None, 0),
            Operation::Delay { .. } => return,
        };
        let operand = |id: Option<_>| id.map_or(0, |id| back(self, id));
        let (a, b) = (operand(a), operand(b));
        self.a.push(a);
        self.b.push(b);
        self.cells.push(at);
        self.kinds.push(kind);
        self.shifts.push(shift);
        self.low.push(cell.interval.lo);
        self.high.push(cell.interval.hi.abs_diff(cell.interval.lo));
        let element = cell.origin.element.map_or(-1, i64::from);
        self.origin.push([i64::from(cell.origin.node), element]);
    }

    /// Runs of operations of the same origin: their number, the node, the element.
    fn origins(&self) -> Vec<i64> {
        let runs = self.origin.chunk_by(|a, b| a == b);
        runs.flat_map(|run| [run.len() as i64, run[0][0], run[0][1]])
            .collect()
    }
}

/// The words whose names do not follow from node, element, kind and number, because others would have the same.
fn renamed(net: &Net, columns: &Columns) -> Map<String, Json> {
    let names = names(net);
    let prefixes = legal_nodes(&net.nodes);
    let mut counts = std::collections::HashMap::new();
    let mut renamed = Map::new();
    for (place, &at) in columns.cells.iter().enumerate() {
        let origin = net.cells[at].origin;
        let letter = match &columns.kinds[place..=place] {
            "+" | "-" | "n" => "a",
            own => own,
        };
        let count = counts.entry((origin, letter)).or_insert(0_u32);
        let element = origin
            .element
            .map_or_else(String::new, |n| format!("_n{n}"));
        let simple = format!(
            "{}{element}_{letter}{count}",
            prefixes[origin.node as usize]
        );
        *count += 1;
        if names[at] != simple {
            renamed.insert(place.to_string(), json!(names[at]));
        }
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::random_network;

    fn numbers(columns: &Json, key: &str) -> Vec<i64> {
        let all = columns[key].as_array().unwrap().iter();
        all.map(|value| value.as_i64().unwrap()).collect()
    }

    /// The columns hold every operation with its operands, whatever the registers between them.
    #[test]
    fn the_netlist_can_be_read_back() {
        let (net, _) = random_network(3, 2);
        let all = columns(&net, MAX_OPERATIONS);
        let of = |id: usize| match net.cells[id].operation {
            Operation::Delay { a } => a.index(),
            _ => id,
        };
        let behind = |mut id: usize| {
            while of(id) != id {
                id = of(id);
            }
            id
        };
        let cells: Vec<usize> = (0..net.cells.len()).filter(|&id| of(id) == id).collect();
        let (a, b) = (numbers(&all, "a"), numbers(&all, "b"));
        let kinds = all["kinds"].as_str().unwrap();
        assert_eq!(kinds.len(), cells.len());
        assert!(all["limited"].is_null());
        for (place, &id) in cells.iter().enumerate() {
            let operands: Vec<usize> = net.cells[id]
                .operation
                .operands()
                .map(|a| behind(a.index()))
                .collect();
            let far = [a[place], b[place]].into_iter().filter(|back| *back > 0);
            let read: Vec<usize> = far.map(|back| cells[place - back as usize]).collect();
            assert_eq!(read, operands, "{place}");
        }
        let runs = numbers(&all, "origins");
        let length: i64 = runs.chunks(3).map(|run| run[0]).sum();
        assert_eq!(length as usize, cells.len());
        assert_eq!(all["names"], json!({}));
    }

    #[test]
    fn a_large_netlist_is_cut_with_a_sentence() {
        let (net, _) = random_network(3, 2);
        let cut = columns(&net, 10);
        assert_eq!(cut["kinds"].as_str().unwrap().len(), 10);
        let said = cut["limited"].as_str().unwrap();
        assert!(said.contains("the page holds the first 10,"), "{said}");
    }
}
