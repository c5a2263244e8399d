//! Registers: a netlist cut into stages of a pipeline that takes a row every cycle.
//!
//! A cell's stage follows from the levels of adders before it. A value that a later stage reads goes through a register for every
//! stage between, and results through one at the end.

use crate::net::{Cell, CellId, Mark, Net, Operation, Term};
use crate::synth::{Delays, TARGETS, Target};
use thiserror::Error;

/// The default levels of adders between registers.
pub const DEFAULT_LEVELS: f32 = 2.2;

/// Levels of adders between registers below which a cut makes nothing faster: one adder is one level.
const MIN_LEVELS: f32 = 1.0;

/// A clock that a pipeline cannot be cut for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ClockError {
    /// Nobody has measured the target's delays.
    #[error(
        "the delays of {0} are not known; give --levels, or a target that can be placed here: {1}"
    )]
    Unknown(&'static str, String),
    /// A register behind every adder is not enough.
    #[error(
        "a clock of {wanted} MHz cannot be met on {target}: a register behind every adder reaches about {reachable} MHz"
    )]
    TooFast {
        /// The target.
        target: &'static str,
        /// The clock asked for.
        wanted: u32,
        /// The fastest.
        reachable: u32,
    },
}

/// The levels of adders that fit one period of a clock, by the delays of a target.
pub fn levels_for(target: &'static Target, megahertz: f32) -> Result<f32, ClockError> {
    let Some(Delays { fixed, level }) = target.delays else {
        let known = TARGETS.iter().filter(|target| target.delays.is_some());
        let known: Vec<&str> = known.map(|target| target.name).collect();
        return Err(ClockError::Unknown(target.name, known.join(", ")));
    };
    let levels = (1e3 / megahertz - fixed) / level;
    if levels < MIN_LEVELS {
        return Err(ClockError::TooFast {
            target: target.name,
            wanted: megahertz.round() as u32,
            reachable: (1e3 / (fixed + MIN_LEVELS * level)) as u32,
        });
    }
    Ok(levels)
}

impl Net {
    /// The netlist with registers, cut evenly into as few stages of at most `levels` levels as there are.
    #[must_use]
    pub fn pipelined(&self, levels: f32) -> Self {
        let depths = self.depths();
        let total = self
            .outputs
            .iter()
            .map(|output| depths[output.cell.index()]);
        let total = total.fold(0.0, f32::max);
        let stages = (total / levels).ceil().max(1.0);
        let per_stage = total / stages + 1e-4;
        let stage = |at: usize| {
            let stage = ((depths[at] - 1e-4).max(0.0) / per_stage).floor();
            stage.min(stages - 1.0) as usize
        };
        let mut pipeline = Pipeline {
            source: self,
            cells: Vec::new(),
            places: Vec::new(),
        };
        for (id, cell) in self.iter() {
            pipeline.push(id, cell, stage(id.index()));
        }
        // Results leave through a last register.
        let outputs = self.outputs.iter();
        let outputs: Vec<Term> = outputs
            .map(|output| Term {
                cell: pipeline.at(output.cell, stages as usize),
                ..*output
            })
            .collect();
        let place = |id: CellId| pipeline.places[id.index()].1[0];
        let marks = self.marks.iter().map(|mark| Mark {
            source: place(mark.source),
            result: Term {
                cell: place(mark.result.cell),
                ..mark.result
            },
            ..*mark
        });
        Self {
            nodes: self.nodes.clone(),
            marks: marks.collect(),
            cells: pipeline.cells,
            outputs,
            latency: stages as u32,
        }
    }
}

/// A pipeline that grows.
struct Pipeline<'a> {
    source: &'a Net,
    cells: Vec<Cell>,
    /// Per cell of the source, its stage and its places from that stage on.
    places: Vec<(usize, Vec<CellId>)>,
}

impl Pipeline<'_> {
    fn push(&mut self, id: CellId, cell: &Cell, stage: usize) {
        debug_assert_eq!(self.places.len(), id.index());
        let operation = cell.operation.clone();
        let operation = operation.with_operands(|a| self.at(a, stage));
        let place = self.append(Cell {
            operation,
            ..cell.clone()
        });
        self.places.push((stage, vec![place]));
    }

    /// The cell that holds a value in a stage. Constants need no registers.
    fn at(&mut self, id: CellId, stage: usize) -> CellId {
        let is_constant = self.source.constant(id).is_some();
        let (first, last) = (
            self.places[id.index()].0,
            self.places[id.index()].1.len() - 1,
        );
        if is_constant {
            return self.places[id.index()].1[0];
        }
        for _ in first + last..stage {
            let a = self.places[id.index()].1.last().copied().unwrap_or(id);
            let cell = Cell {
                operation: Operation::Delay { a },
                ..self.source.cell(id).clone()
            };
            let register = self.append(cell);
            self.places[id.index()].1.push(register);
        }
        let (first, places) = &self.places[id.index()];
        places[stage - first]
    }

    fn append(&mut self, cell: Cell) -> CellId {
        self.cells.push(cell);
        CellId(self.cells.len() as u32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_met_by_fewer_levels_or_refused_with_the_fastest() {
        let ecp5 = Target::find("ecp5").expect("it is in the table");
        let [slow, fast] = [50.0, 150.0].map(|megahertz| levels_for(ecp5, megahertz));
        assert!(slow.expect("it is slow") > fast.expect("it is met"));
        let error = levels_for(ecp5, 1000.0)
            .expect_err("nothing is that fast")
            .to_string();
        assert_eq!(
            error,
            "a clock of 1000 MHz cannot be met on ecp5: a register behind every adder reaches about 253 MHz"
        );
        let xcup = Target::find("xcup").expect("it is in the table");
        let error = levels_for(xcup, 100.0)
            .expect_err("nobody measured it")
            .to_string();
        assert_eq!(
            error,
            "the delays of xcup are not known; give --levels, or a target that can be placed here: ecp5, ice40"
        );
    }

    #[test]
    fn the_levels_of_a_clock_are_what_its_period_leaves() {
        let levels = |name: &str, megahertz: f32| {
            let target = Target::find(name).expect("it is in the table");
            levels_for(target, megahertz).ok()
        };
        // (10 - 2.2) / 1.75 and (20 - 5.2) / 2.35.
        let near = |got: Option<f32>, wanted: f32| got.is_some_and(|x| (x - wanted).abs() < 1e-3);
        assert!(near(levels("ecp5", 100.0), 4.4571));
        assert!(near(levels("ice40", 50.0), 6.2979));
        // One level takes 3.95 ns, which is 253.16 MHz.
        assert!(levels("ecp5", 253.0).is_some() && levels("ecp5", 253.5).is_none());
    }
}
