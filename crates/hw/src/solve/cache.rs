//! A cache of solved products: a search solves a layer again only where its formats, its weights or its operands have changed.
//!
//! A product is solved in a netlist of its own, whose inputs have the intervals and depths of the operands, and then copied into
//! the network's. What is found therefore follows from the key alone, and a netlist is the same with and without a cache.

use super::{Effort, Product, solved};
use crate::net::{Builder, Cell, CellId, Interval, Origin, Term};
use std::collections::HashMap;

/// Bytes of solutions that are cached; beyond them the cache begins anew.
const MAX_BYTES: usize = 64 << 20;

/// Solutions of products that may come again.
#[derive(Debug, Default)]
pub struct Cache {
    solutions: HashMap<Key, Solution>,
    bytes: usize,
    solved: usize,
}

/// The product and the operands that a solution follows from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// The interval of every operand's cell, and its depth in bits of a float.
    operands: Vec<(Interval, u32)>,
    /// The operand and the shift of every input.
    inputs: Vec<(u32, u32)>,
    weights: Vec<i64>,
    bias: Vec<i64>,
    effort: Effort,
}

/// Cells behind those of the operands, and a term for every result. Elements are numbers of results.
#[derive(Clone, Debug)]
struct Solution {
    cells: Vec<Cell>,
    results: Vec<Term>,
}

impl Cache {
    /// Products that were solved, and not found.
    pub fn solved(&self) -> usize {
        self.solved
    }

    /// The results of a product, one term each.
    pub fn solve(&mut self, net: &mut Builder, product: &Product, effort: Effort) -> Vec<Term> {
        let (key, operands) = Key::of(net, product, effort);
        if let Some(known) = self.solutions.get(&key) {
            return known.copy(net, operands, product);
        }
        let solution = key.solution();
        self.solved += 1;
        let results = solution.copy(net, operands, product);
        let bytes = key.bytes() + size_of_val(&solution.cells[..]) + size_of_val(&results[..]);
        if self.bytes + bytes > MAX_BYTES {
            self.solutions.clear();
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.solutions.insert(key, solution);
        results
    }
}

/// The results of a product that does not come again.
pub fn solve(net: &mut Builder, product: &Product, effort: Effort) -> Vec<Term> {
    let (key, operands) = Key::of(net, product, effort);
    key.solution().copy(net, operands, product)
}

impl Key {
    /// The key, and the cells of its operands.
    fn of(net: &Builder, product: &Product, effort: Effort) -> (Self, Vec<CellId>) {
        let (mut places, mut cells) = (HashMap::new(), Vec::new());
        let input = |term: &Term| {
            let operand = *places.entry(term.cell).or_insert_with(|| {
                cells.push(term.cell);
                cells.len() as u32 - 1
            });
            (operand, term.shift)
        };
        let inputs = product.inputs.iter().map(input).collect();
        let operand = |cell: &CellId| (net.net().cell(*cell).interval, net.depth(*cell).to_bits());
        let key = Self {
            operands: cells.iter().map(operand).collect(),
            inputs,
            weights: product.weights.to_vec(),
            bias: product.bias.to_vec(),
            effort,
        };
        (key, cells)
    }

    fn bytes(&self) -> usize {
        let words = self.weights.len() + self.bias.len() + self.inputs.len();
        size_of::<i64>() * (words + 3 * self.operands.len())
    }

    fn solution(&self) -> Solution {
        let mut net = Builder::default();
        for (number, &(interval, depth)) in self.operands.iter().enumerate() {
            net.operand(number as u32, interval, f32::from_bits(depth));
        }
        let term = |&(operand, shift): &(u32, u32)| Term {
            cell: CellId(operand),
            shift,
        };
        let inputs: Vec<Term> = self.inputs.iter().map(term).collect();
        let elements: Vec<u32> = (0..self.bias.len() as u32).collect();
        let product = Product {
            inputs: &inputs,
            weights: &self.weights,
            bias: &self.bias,
            elements: &elements,
            node: 0,
        };
        let results = solved(&mut net, &product, self.effort);
        let cells = net.net().cells[self.operands.len()..].to_vec();
        Solution { cells, results }
    }
}

impl Solution {
    /// Copies the cells behind operands of another netlist.
    fn copy(&self, net: &mut Builder, operands: Vec<CellId>, product: &Product) -> Vec<Term> {
        let mut places = operands;
        for cell in &self.cells {
            let operation = cell.operation.clone();
            let operation = operation.with_operands(|a| places[a.index()]);
            let element = |result: u32| product.elements[result as usize];
            let origin = Origin {
                node: product.node,
                element: cell.origin.element.map(element),
            };
            places.push(net.push(operation, cell.interval, origin).cell);
        }
        let results = self.results.iter().map(|term| Term {
            cell: places[term.cell.index()],
            ..*term
        });
        results.collect()
    }
}
