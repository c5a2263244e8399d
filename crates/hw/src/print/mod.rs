//! A netlist as SystemVerilog 2012, one explicit-width operation a line.
//!
//! Words are plain vectors of bits; whoever reads one extends it by its own sign. Nothing is left to the language's rules of width
//! and sign, so that simulators and synthesis agree on every bit. The same netlist gives the same bytes.

mod names;
mod words;

pub use names::{legal_nodes, names};

use crate::net::{Bounds, Cell, CellId, Interval, Net, Operation, Term};
use crate::ports::Ports;
use std::fmt::Write;

/// The text of the module `net`, whose ports lie as `ports` says.
pub fn verilog(net: &Net, ports: &Ports) -> String {
    let printer = Printer {
        net,
        ports,
        names: names(net),
    };
    printer.module()
}

struct Printer<'a> {
    net: &'a Net,
    ports: &'a Ports,
    /// The name of every cell that has a word.
    names: Vec<String>,
}

impl Printer<'_> {
    fn module(&self) -> String {
        let mut text = String::new();
        let top = |bits: u32| bits.max(1) - 1;
        let (x, y) = (top(self.ports.input_bits()), top(self.ports.output_bits()));
        text.push_str(
            "// Bits that a rounding drops are computed for their carries and not read.\n",
        );
        text.push_str("/* verilator lint_off UNUSEDSIGNAL */\n");
        text.push_str("module net (\n");
        let _ = writeln!(
            text,
            "  input logic clk,\n  input logic [{x}:0] x,\n  output logic [{y}:0] y\n);"
        );
        for (id, cell) in self.net.iter() {
            self.declare(&mut text, id, cell);
        }
        for (id, cell) in self.net.iter() {
            self.define(&mut text, id, cell);
        }
        self.registers(&mut text);
        self.results(&mut text);
        text.push_str("endmodule\n");
        text
    }

    fn declare(&self, text: &mut String, id: CellId, cell: &Cell) {
        if !matches!(cell.operation, Operation::Const { .. }) {
            let top = self.net.width(id).bits - 1;
            let _ = writeln!(text, "  logic [{top}:0] {};", self.names[id.index()]);
        }
        if let Some(free) = self.free_interval(cell) {
            let top = free.width().bits - 1;
            let _ = writeln!(text, "  logic [{top}:0] {}_f;", self.names[id.index()]);
        }
    }

    fn define(&self, text: &mut String, id: CellId, cell: &Cell) {
        let (name, bits) = (&self.names[id.index()], self.net.width(id).bits);
        let value = match &cell.operation {
            Operation::Const { .. } | Operation::Delay { .. } => return,
            Operation::Input { element } => {
                let port = &self.ports.inputs[*element as usize];
                format!("x[{}:{}]", port.offset + port.width - 1, port.offset)
            }
            Operation::AddSub {
                a,
                sa,
                b,
                sb,
                subtract,
            } => self.sum(
                bits,
                Term {
                    cell: *a,
                    shift: *sa,
                },
                Term {
                    cell: *b,
                    shift: *sb,
                },
                *subtract,
            ),
            Operation::Neg { a } => {
                format!("{} - {}", words::constant(0, bits), self.word(*a, 0, bits))
            }
            Operation::Requant {
                a,
                shift,
                tie_to_even,
                bounds,
            } => self.requant(text, cell, name, *a, *shift, *tie_to_even, *bounds),
            Operation::Clamp { a, lo, hi } => {
                let from = self.net.cell(*a).interval;
                words::saturated(
                    &self.names[a.index()],
                    from,
                    Interval { lo: *lo, hi: *hi },
                    bits,
                )
            }
            Operation::Less { a, b } => self.less(*a, *b),
            Operation::Mux { select, zero, one } => {
                let select = &self.names[select.index()];
                format!(
                    "{select} ? {} : {}",
                    self.word(*one, 0, bits),
                    self.word(*zero, 0, bits)
                )
            }
            Operation::Max { a, b } => {
                let is_less = self.less(*a, *b);
                format!(
                    "({is_less}) ? {} : {}",
                    self.word(*b, 0, bits),
                    self.word(*a, 0, bits)
                )
            }
            Operation::Mul { a, b } => {
                format!("{} * {}", self.word(*a, 0, bits), self.word(*b, 0, bits))
            }
            Operation::Shift { a, bits: by } => self.term(
                Term {
                    cell: *a,
                    shift: *by,
                },
                0,
                bits,
            ),
            Operation::Table { a, values } => {
                self.table(text, name, *a, values, bits);
                return;
            }
        };
        let _ = writeln!(text, "  assign {name} = {value};");
    }

    /// A sum whose low bits, where only one operand has any, pass through.
    fn sum(&self, bits: u32, a: Term, b: Term, subtract: bool) -> String {
        let sign = if subtract { '-' } else { '+' };
        let passed = match (a.shift, b.shift) {
            (0, 0) => 0,
            (0, shift) => shift.min(bits - 1),
            (shift, _) if !subtract => shift.min(bits - 1),
            _ => 0,
        };
        let high = |term| self.term(term, passed, bits - passed);
        let sum = format!("{} {sign} {}", high(a), high(b));
        if passed == 0 {
            return sum;
        }
        let low = if a.shift == 0 { a } else { b };
        format!("{{{sum}, {}}}", self.term(low, 0, passed))
    }

    fn requant(
        &self,
        text: &mut String,
        cell: &Cell,
        name: &str,
        a: CellId,
        shift: i32,
        tie_to_even: bool,
        bounds: Bounds,
    ) -> String {
        let bits = cell.interval.width().bits;
        let free = |bits: u32| {
            let steps = shift.unsigned_abs();
            match shift {
                ..0 => self.term(
                    Term {
                        cell: a,
                        shift: steps,
                    },
                    0,
                    bits,
                ),
                _ if tie_to_even => {
                    let (from, top) = (&self.names[a.index()], steps - 1);
                    let lowest = format!("{from}[{steps}] & |{from}[{top}:0]");
                    match bits {
                        1 => lowest,
                        _ => format!("{{{}, {lowest}}}", self.word(a, steps + 1, bits - 1)),
                    }
                }
                _ => self.word(a, steps, bits),
            }
        };
        match (self.free_interval(cell), bounds) {
            (Some(interval), Bounds::Saturate { lo, hi }) => {
                let own = format!("{name}_f");
                let _ = writeln!(text, "  assign {own} = {};", free(interval.width().bits));
                words::saturated(&own, interval, Interval { lo, hi }, bits)
            }
            _ => free(bits),
        }
    }

    /// The interval before saturation, of a cell that saturates.
    fn free_interval(&self, cell: &Cell) -> Option<Interval> {
        let Operation::Requant {
            a,
            shift,
            tie_to_even,
            bounds: Bounds::Saturate { lo, hi },
        } = cell.operation
        else {
            return None;
        };
        let free = self.net.cell(a).interval.requantized(shift, tie_to_even);
        (!Interval { lo, hi }.holds(free)).then_some(free)
    }

    fn less(&self, a: CellId, b: CellId) -> String {
        let [left, right] = [a, b].map(|id| self.net.width(id));
        let signed_bits = |width: crate::width::Width| width.bits + u32::from(!width.signed);
        let bits = signed_bits(left).max(signed_bits(right));
        format!(
            "$signed({}) < $signed({})",
            self.word(a, 0, bits),
            self.word(b, 0, bits)
        )
    }

    fn table(&self, text: &mut String, name: &str, a: CellId, values: &[i64], bits: u32) {
        let from = &self.names[a.index()];
        let (lo, width) = (self.net.cell(a).interval.lo, self.net.width(a).bits);
        let _ = writeln!(text, "  always_comb case ({from})");
        for (at, &value) in values.iter().enumerate().skip(1) {
            let index = words::constant(lo + at as i64, width);
            let _ = writeln!(
                text,
                "    {index}: {name} = {};",
                words::constant(value, bits)
            );
        }
        let first = values.first().copied().unwrap_or(0);
        let _ = writeln!(
            text,
            "    default: {name} = {};",
            words::constant(first, bits)
        );
        text.push_str("  endcase\n");
    }

    fn registers(&self, text: &mut String) {
        let delays = self
            .net
            .iter()
            .filter_map(|(id, cell)| match cell.operation {
                Operation::Delay { a } => Some((id, a)),
                _ => None,
            });
        let mut delays = delays.peekable();
        if delays.peek().is_none() {
            return;
        }
        text.push_str("  always_ff @(posedge clk) begin\n");
        for (id, a) in delays {
            let _ = writeln!(
                text,
                "    {} <= {};",
                self.names[id.index()],
                self.names[a.index()]
            );
        }
        text.push_str("  end\n");
    }

    fn results(&self, text: &mut String) {
        for (output, port) in self.net.outputs.iter().zip(&self.ports.outputs) {
            if port.width > 0 {
                let (lo, hi) = (port.offset, port.offset + port.width - 1);
                let _ = writeln!(
                    text,
                    "  assign y[{hi}:{lo}] = {};",
                    self.term(*output, 0, port.width)
                );
            }
        }
        if self.ports.output_bits() == 0 {
            text.push_str("  assign y = 1'd0;\n");
        }
    }

    /// Bits `from..from + bits` of a shifted value.
    fn term(&self, term: Term, from: u32, bits: u32) -> String {
        if let Some(value) = self.net.constant(term.cell) {
            return words::constant(value.unbounded_shl(term.shift) >> from.min(63), bits);
        }
        if from >= term.shift {
            return self.word(term.cell, from - term.shift, bits);
        }
        let zeros = (term.shift - from).min(bits);
        let padding = words::constant(0, zeros);
        if zeros == bits {
            return padding;
        }
        format!("{{{}, {padding}}}", self.word(term.cell, 0, bits - zeros))
    }

    /// Bits `from..from + bits` of a value.
    fn word(&self, id: CellId, from: u32, bits: u32) -> String {
        match self.net.constant(id) {
            Some(value) => words::constant(value >> from.min(63), bits),
            None => words::slice(&self.names[id.index()], self.net.width(id), from, bits),
        }
    }
}
