//! The words of a module computed cell by cell, for every input. It shares nothing with the prover but the list of cells.

use hw::rtl::{Bit, Kind, Rtl, RtlCell};

/// The results of every input in the last cycle of a pipeline that always gets the same input; none where a wire is not driven.
pub fn simulate(rtl: &Rtl, inputs: &[u64]) -> Option<Vec<u64>> {
    inputs.iter().map(|&x| row(rtl, x)).collect()
}

/// The bits of wires, by their numbers.
struct Wires(Vec<Option<bool>>);

impl Wires {
    fn set(&mut self, wire: u32, bit: bool) {
        let at = wire as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(bit);
    }

    fn get(&self, wire: u32) -> Option<bool> {
        self.0.get(wire as usize).copied().flatten()
    }
}

fn row(rtl: &Rtl, x: u64) -> Option<u64> {
    let mut wires = Wires(vec![None; 4096]);
    for (place, bit) in rtl.x.iter().enumerate() {
        if let Bit::Wire(wire) = bit {
            wires.set(*wire, x >> place & 1 == 1);
        }
    }
    for cell in &rtl.cells {
        let result = compute(cell, &wires)?;
        for (place, wire) in cell.y.iter().enumerate() {
            wires.set(*wire, result >> place.min(127) & 1 == 1);
        }
    }
    Some(word(&rtl.y, &wires)? as u64)
}

fn word(bits: &[Bit], wires: &Wires) -> Option<u128> {
    let mut value = 0;
    for (place, bit) in bits.iter().enumerate() {
        let is_on = match bit {
            Bit::Const(value) => *value,
            Bit::Wire(wire) => wires.get(*wire)?,
        };
        value |= u128::from(is_on) << place;
    }
    Some(value)
}

fn compute(cell: &RtlCell, wires: &Wires) -> Option<u128> {
    let signed = |bits: &[Bit]| {
        let value = word(bits, wires)? as i128;
        let unused = 128 - bits.len().max(1);
        Some(if cell.signed {
            value << unused >> unused
        } else {
            value
        })
    };
    let (a, b, s) = (
        word(&cell.a, wires)?,
        word(&cell.b, wires)?,
        word(&cell.s, wires)?,
    );
    let width = cell.y.len();
    Some(match cell.kind {
        Kind::Add => (signed(&cell.a)? + signed(&cell.b)?) as u128,
        Kind::Sub => (signed(&cell.a)? - signed(&cell.b)?) as u128,
        Kind::Neg => -signed(&cell.a)? as u128,
        Kind::Mul => (signed(&cell.a)? * signed(&cell.b)?) as u128,
        Kind::Mux => {
            if s == 1 {
                b
            } else {
                a
            }
        }
        Kind::Pmux => match s.count_ones() {
            0 => a,
            _ => word(
                &cell.b[s.trailing_zeros() as usize * width..][..width],
                wires,
            )?,
        },
        Kind::And => a & b,
        Kind::Or => a | b,
        Kind::Not => !a,
        Kind::ReduceOr => u128::from(a != 0),
        Kind::ReduceAnd => u128::from(a.count_ones() as usize == cell.a.len()),
        Kind::LogicNot => u128::from(a == 0),
        Kind::Eq => u128::from(a == b),
        Kind::Lt => u128::from(signed(&cell.a)? < signed(&cell.b)?),
        Kind::Gt => u128::from(signed(&cell.a)? > signed(&cell.b)?),
        Kind::Register => a,
    })
}
