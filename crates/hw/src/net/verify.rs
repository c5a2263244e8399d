//! The rules of a netlist, checked when it comes from a file, and cells that nobody reads.

use super::builder::wrapped;
use super::{Bounds, Cell, CellId, Interval, Net, Operation};
use thiserror::Error;

/// The widest word of a cell.
const MAX_BITS: u32 = 62;

/// The first rule that a netlist breaks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{problem}", cell.map_or_else(String::new, |cell| format!("cell {cell}: ")))]
pub struct NetError {
    /// The number of the cell, or of that of an output; none where the whole file is no netlist.
    pub cell: Option<usize>,
    /// The broken rule with its values.
    pub problem: String,
}

impl Net {
    /// Checks that cells read earlier ones, that every interval holds what the operation can give, and that words, shifts and
    /// tables have sizes that hardware is made of.
    pub fn verify(&self, n_inputs: usize) -> Result<(), NetError> {
        for (id, cell) in self.iter() {
            let error = |problem: String| NetError {
                cell: Some(id.index()),
                problem,
            };
            if let Some(later) = cell.operation.operands().find(|operand| *operand >= id) {
                return Err(error(format!(
                    "reads cell {}, which is not earlier",
                    later.0
                )));
            }
            if cell.origin.node as usize >= self.nodes.len() {
                return Err(error(format!("has no node {}", cell.origin.node)));
            }
            if cell.interval.lo > cell.interval.hi {
                return Err(error("has an empty interval".to_owned()));
            }
            self.verify_operation(cell, n_inputs).map_err(error)?;
            if cell.interval.width().bits > MAX_BITS {
                let bits = cell.interval.width().bits;
                return Err(error(format!("has {bits} bits, more than {MAX_BITS}")));
            }
        }
        for (at, output) in self.outputs.iter().enumerate() {
            let exists = output.cell.index() < self.cells.len();
            if !exists
                || output.shift > MAX_BITS
                || self.output_interval(*output).width().bits > MAX_BITS
            {
                let problem = format!("output {at} is no word of a cell");
                return Err(NetError {
                    cell: Some(output.cell.index()),
                    problem,
                });
            }
        }
        let exists = |id: CellId| id.index() < self.cells.len();
        if let Some(mark) = self.marks.iter().find(|mark| {
            !exists(mark.source) || !exists(mark.result.cell) || mark.result.shift > MAX_BITS
        }) {
            let problem = format!("element {} of step {} is no cell", mark.element, mark.step);
            return Err(NetError {
                cell: Some(mark.result.cell.index()),
                problem,
            });
        }
        Ok(())
    }

    fn verify_operation(&self, cell: &Cell, n_inputs: usize) -> Result<(), String> {
        let of = |id: CellId| self.cell(id).interval;
        let possible = match &cell.operation {
            Operation::Input { element } if *element as usize >= n_inputs => {
                return Err(format!("there is no input {element}"));
            }
            Operation::Input { .. } => cell.interval,
            Operation::Const { value } => Interval::point(*value),
            Operation::AddSub { sa, sb, .. } if (*sa).min(*sb) > 0 || (*sa).max(*sb) > MAX_BITS => {
                return Err(format!("shifts by {sa} and {sb}"));
            }
            // An interval may be narrower than its operands tell where they have inputs in common.
            Operation::AddSub {
                a,
                sa,
                b,
                sb,
                subtract,
            } => {
                let right = of(*b).shifted(*sb);
                let right = if *subtract { right.negated() } else { right };
                cell.interval.intersect(of(*a).shifted(*sa).plus(right))
            }
            Operation::Neg { a } => of(*a).negated(),
            Operation::Requant { shift, .. } if shift.unsigned_abs() > MAX_BITS => {
                return Err(format!("shifts by {shift}"));
            }
            Operation::Requant {
                bounds: Bounds::Saturate { lo, hi },
                ..
            }
            | Operation::Clamp { lo, hi, .. }
                if lo > hi =>
            {
                return Err(format!("has the bounds {lo} and {hi}"));
            }
            Operation::Requant {
                bounds: Bounds::Wrap { bits, .. },
                ..
            } if *bits > MAX_BITS => {
                return Err(format!("wraps to {bits} bits"));
            }
            Operation::Requant {
                a,
                shift,
                tie_to_even,
                bounds,
            } => {
                let free = of(*a).requantized(*shift, *tie_to_even);
                match bounds {
                    Bounds::Saturate { lo, hi } => free.map(|x| x.clamp(*lo, *hi)),
                    Bounds::Wrap { bits, signed } if wrapped(*bits, *signed).holds(free) => free,
                    Bounds::Wrap { bits, signed } => wrapped(*bits, *signed),
                }
            }
            Operation::Clamp { a, lo, hi } => of(*a).map(|x| x.clamp(*lo, *hi)),
            Operation::Less { .. } => Interval { lo: 0, hi: 1 },
            Operation::Mux { select, .. } if !(Interval { lo: 0, hi: 1 }).holds(of(*select)) => {
                return Err("selects by a word of more than one bit".to_owned());
            }
            Operation::Mux { zero, one, .. } => of(*zero).hull(of(*one)),
            Operation::Max { a, b } => {
                let (a, b) = (of(*a), of(*b));
                Interval {
                    lo: a.lo.max(b.lo),
                    hi: a.hi.max(b.hi),
                }
            }
            Operation::Mul { a, b } => of(*a).times(of(*b)),
            Operation::Shift { bits, .. } if *bits > MAX_BITS => {
                return Err(format!("shifts by {bits}"));
            }
            Operation::Shift { a, bits } => of(*a).shifted(*bits),
            Operation::Table { a, values } => {
                let Interval { lo, hi } = of(*a);
                if i128::from(hi) - i128::from(lo) + 1 != values.len() as i128 {
                    return Err(format!("has {} values for {lo} … {hi}", values.len()));
                }
                let (min, max) = (values.iter().min(), values.iter().max());
                Interval {
                    lo: *min.unwrap_or(&0),
                    hi: *max.unwrap_or(&0),
                }
            }
            Operation::Delay { a } => of(*a),
        };
        if cell.interval.holds(possible) {
            return Ok(());
        }
        let (own, all) = (cell.interval, possible);
        Err(format!(
            "says {} … {} and gives {} … {}",
            own.lo, own.hi, all.lo, all.hi
        ))
    }

    /// The netlist without cells that no output depends on.
    #[must_use]
    pub fn without_dead(self) -> Self {
        let mut live = vec![false; self.cells.len()];
        for output in &self.outputs {
            live[output.cell.index()] = true;
        }
        for (id, cell) in self.iter().rev() {
            if live[id.index()] {
                for operand in cell.operation.operands() {
                    live[operand.index()] = true;
                }
            }
        }
        let mut places = vec![CellId(0); self.cells.len()];
        let mut cells: Vec<Cell> = Vec::new();
        for (at, cell) in self.cells.into_iter().enumerate() {
            if live[at] {
                places[at] = CellId(cells.len() as u32);
                let operation = cell.operation.with_operands(|a| places[a.index()]);
                cells.push(Cell { operation, ..cell });
            }
        }
        let mut outputs = self.outputs;
        for output in &mut outputs {
            output.cell = places[output.cell.index()];
        }
        let mut marks = self.marks;
        marks.retain(|mark| live[mark.result.cell.index()]);
        for mark in &mut marks {
            mark.source = places[mark.source.index()];
            mark.result.cell = places[mark.result.cell.index()];
        }
        Self {
            cells,
            outputs,
            marks,
            ..self
        }
    }
}
