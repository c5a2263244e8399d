//! A netlist as text to read: a line for each operation, with its interval and width.

use super::{Bounds, CellId, Net, Operation};
use crate::print::names;
use std::fmt::Write;

impl Net {
    /// The text: a head, the operations in order, the results.
    pub fn to_text(&self) -> String {
        let (adders, bits) = self.adders();
        let mut text = format!(
            "{} operations, {adders} adders of {bits} bits, {} flip-flops, {} cycles\n\n",
            self.cells.len(),
            self.register_bits(),
            self.latency
        );
        let names = names(self);
        let widest = names.iter().map(String::len).max().unwrap_or(0);
        let name = |id: CellId| names[id.index()].as_str();
        for (id, cell) in self.iter() {
            let width = self.width(id);
            let sign = if width.signed { "s" } else { "u" };
            let _ = writeln!(
                text,
                "{:widest$} = {}    {} … {}, {sign}{}",
                name(id),
                described(&cell.operation, &name),
                cell.interval.lo,
                cell.interval.hi,
                width.bits
            );
        }
        for (at, output) in self.outputs.iter().enumerate() {
            let _ = writeln!(
                text,
                "{:widest$} = {}",
                format!("y[{at}]"),
                shifted(name(output.cell), output.shift)
            );
        }
        text
    }
}

fn shifted(name: &str, bits: u32) -> String {
    match bits {
        0 => name.to_owned(),
        _ => format!("{name} << {bits}"),
    }
}

fn described<'a>(operation: &Operation, name: &impl Fn(CellId) -> &'a str) -> String {
    match operation {
        Operation::Input { element } => format!("x[{element}]"),
        Operation::Const { value } => value.to_string(),
        Operation::AddSub {
            a,
            sa,
            b,
            sb,
            subtract,
        } => {
            let sign = if *subtract { '-' } else { '+' };
            let side = |id: CellId, shift: u32| match shift {
                0 => name(id).to_owned(),
                _ => format!("({})", shifted(name(id), shift)),
            };
            format!("{} {sign} {}", side(*a, *sa), side(*b, *sb))
        }
        Operation::Neg { a } => format!("-{}", name(*a)),
        Operation::Requant {
            a,
            shift,
            tie_to_even,
            bounds,
        } => {
            let even = if *tie_to_even { ", ties to even" } else { "" };
            let bounds = match bounds {
                Bounds::Saturate { lo, hi } => format!("{lo} to {hi}"),
                Bounds::Wrap { bits, signed } => {
                    let sign = if *signed { "signed" } else { "unsigned" };
                    format!("the low {bits} bits, {sign}")
                }
            };
            format!("round({} >> {shift}{even}; {bounds})", name(*a))
        }
        Operation::Clamp { a, lo, hi } => format!("clamp({}, {lo}, {hi})", name(*a)),
        Operation::Less { a, b } => format!("{} < {}", name(*a), name(*b)),
        Operation::Mux { select, zero, one } => {
            format!("{} ? {} : {}", name(*select), name(*one), name(*zero))
        }
        Operation::Max { a, b } => format!("max({}, {})", name(*a), name(*b)),
        Operation::Mul { a, b } => format!("{} * {}", name(*a), name(*b)),
        Operation::Shift { a, bits } => shifted(name(*a), *bits),
        Operation::Table { a, values } => format!("table of {} [{}]", values.len(), name(*a)),
        Operation::Delay { a } => format!("register({})", name(*a)),
    }
}

#[cfg(test)]
mod tests {
    use crate::net::{Builder, Interval, Net, Origin};

    #[test]
    fn operations_are_lines() {
        let mut net = Builder::default();
        let node = net.node("fc");
        let origin = |element| Origin { node, element };
        let inputs = [0, 1].map(|i| net.input(i, Interval { lo: -4, hi: 3 }, origin(Some(i))));
        let twice = crate::net::Term {
            shift: 1,
            ..inputs[0]
        };
        let sum = net.add(twice, inputs[1], true, None, origin(Some(0)));
        let net = net.finish(vec![sum]);
        assert_eq!(
            net.to_text(),
            "3 operations, 1 adders of 5 bits, 0 flip-flops, 0 cycles\n\n\
             fc_n0_i0 = x[0]    -4 … 3, s3\n\
             fc_n1_i0 = x[1]    -4 … 3, s3\n\
             fc_n0_a0 = (fc_n0_i0 << 1) - fc_n1_i0    -11 … 10, s5\n\
             y[0]     = fc_n0_a0\n"
        );
        let json = net.to_json();
        assert_eq!(Net::from_json(&json, Some(2)), Ok(net.clone()));
        assert_eq!(Net::from_json(&json, None), Ok(net));
        let refused = |text: &str| Net::from_json(text, Some(2)).unwrap_err().problem;
        assert_eq!(
            refused(&json.replace("\"input\":1", "\"input\":2")),
            "there is no input 2"
        );
        assert_eq!(
            refused(&json.replace("\"version\": 1", "\"version\": 2")),
            "the version is 2, not 1"
        );
        assert!(!refused(&json[..json.len() / 2]).is_empty());
    }

    /// The second placeholder's first element is another input than its number in the node.
    #[test]
    fn inputs_of_two_placeholders_are_told_apart() {
        let mut net = Builder::default();
        let inputs = [("a", 0), ("b", 1)].map(|(name, place)| {
            let node = net.node(name);
            let origin = Origin {
                node,
                element: Some(0),
            };
            net.input(place, Interval { lo: 0, hi: 3 }, origin)
        });
        let net = net.finish(inputs.to_vec());
        assert_eq!(Net::from_json(&net.to_json(), Some(2)), Ok(net));
    }
}
