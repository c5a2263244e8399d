//! The word-level netlist that yosys reads out of the text: cells in the order of their values.

use serde::Deserialize;
use std::collections::{BTreeMap, HashMap, VecDeque};
use thiserror::Error;

/// A netlist of yosys that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RtlError {
    /// It cannot be read.
    #[error("the netlist of the module: {0}")]
    Json(String),
    /// A cell that no printed text has.
    #[error("cell {name} is a {kind}, which is not understood")]
    UnknownCell {
        /// Its name.
        name: String,
        /// Its type.
        kind: String,
    },
}

/// One bit of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bit {
    /// A constant.
    Const(bool),
    /// A wire, by its number.
    Wire(u32),
}

/// The cells that hardware of ours is printed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Negation.
    Neg,
    /// Product.
    Mul,
    /// Choice between two words.
    Mux,
    /// Choice between many words.
    Pmux,
    /// Bitwise conjunction.
    And,
    /// Bitwise disjunction.
    Or,
    /// Bitwise negation.
    Not,
    /// True where any bit is.
    ReduceOr,
    /// True where every bit is.
    ReduceAnd,
    /// True where no bit is.
    LogicNot,
    /// Equality.
    Eq,
    /// The left is less.
    Lt,
    /// The left is greater.
    Gt,
    /// A register.
    Register,
}

/// A cell.
#[derive(Clone, Debug)]
pub struct RtlCell {
    /// The name that yosys gave it.
    pub name: String,
    /// The function.
    pub kind: Kind,
    /// The first operand.
    pub a: Vec<Bit>,
    /// The second operand.
    pub b: Vec<Bit>,
    /// The bits that select.
    pub s: Vec<Bit>,
    /// The wires of the result.
    pub y: Vec<u32>,
    /// True when operands are two's complement.
    pub signed: bool,
}

/// A module.
#[derive(Clone, Debug)]
pub struct Rtl {
    /// The bits of the port `x`.
    pub x: Vec<Bit>,
    /// The bits of the port `y`.
    pub y: Vec<Bit>,
    /// Cells, each behind those that it reads.
    pub cells: Vec<RtlCell>,
    /// The bits of every named wire. Names are not trusted: they only say which bits may be worth reading as one word.
    pub names: Vec<Vec<Bit>>,
    /// Those names.
    pub labels: Vec<String>,
}

#[derive(Deserialize)]
struct Design {
    modules: BTreeMap<String, Module>,
}

#[derive(Deserialize)]
struct Module {
    ports: BTreeMap<String, Port>,
    #[serde(default)]
    cells: BTreeMap<String, Cell>,
    #[serde(default)]
    netnames: BTreeMap<String, Port>,
}

#[derive(Deserialize)]
struct Port {
    bits: Vec<JsonBit>,
}

#[derive(Deserialize)]
struct Cell {
    r#type: String,
    #[serde(default)]
    parameters: BTreeMap<String, Parameter>,
    connections: BTreeMap<String, Vec<JsonBit>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum JsonBit {
    Wire(u32),
    Const(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Parameter {
    Number(i64),
    Bits(String),
}

impl Parameter {
    fn is_true(&self) -> bool {
        match self {
            Self::Number(number) => *number != 0,
            Self::Bits(bits) => bits.contains('1'),
        }
    }
}

impl Rtl {
    /// Reads the JSON of yosys.
    pub fn read(json: &[u8]) -> Result<Self, RtlError> {
        let design: Design =
            serde_json::from_slice(json).map_err(|error| RtlError::Json(error.to_string()))?;
        let module = design
            .modules
            .get("net")
            .ok_or_else(|| RtlError::Json("there is no module 'net'".to_owned()))?;
        let port = |name: &str| {
            let port = module
                .ports
                .get(name)
                .ok_or_else(|| RtlError::Json(format!("there is no port '{name}'")))?;
            bits(&port.bits)
        };
        let (clk, x, y) = (port("clk")?, port("x")?, port("y")?);
        let cells = module
            .cells
            .iter()
            .map(|(name, cell)| RtlCell::read(name, cell, &clk));
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        // Names of bits that are not driven are left out.
        let names = module.netnames.iter();
        let names = names.filter_map(|(name, own)| Some((name.clone(), bits(&own.bits).ok()?)));
        let (labels, names) = names.unzip();
        let cells = ordered(cells, &x)?;
        Ok(Self {
            x,
            y,
            cells,
            names,
            labels,
        })
    }
}

impl RtlCell {
    fn read(name: &str, cell: &Cell, clk: &[Bit]) -> Result<Self, RtlError> {
        let unknown = || RtlError::UnknownCell {
            name: name.to_owned(),
            kind: cell.r#type.clone(),
        };
        let kind = match cell.r#type.as_str() {
            "$add" => Kind::Add,
            "$sub" => Kind::Sub,
            "$neg" => Kind::Neg,
            "$mul" => Kind::Mul,
            "$mux" => Kind::Mux,
            "$pmux" => Kind::Pmux,
            "$and" | "$logic_and" => Kind::And,
            "$or" | "$logic_or" => Kind::Or,
            "$not" => Kind::Not,
            "$reduce_or" | "$reduce_bool" => Kind::ReduceOr,
            "$reduce_and" => Kind::ReduceAnd,
            "$logic_not" => Kind::LogicNot,
            "$eq" => Kind::Eq,
            "$lt" => Kind::Lt,
            "$gt" => Kind::Gt,
            "$dff" => Kind::Register,
            _ => return Err(unknown()),
        };
        let connection = |name: &str| {
            cell.connections
                .get(name)
                .map_or(Ok(Vec::new()), |own| bits(own))
        };
        let (a, y) = if kind == Kind::Register {
            ("D", "Q")
        } else {
            ("A", "Y")
        };
        let is_true = |name: &str| cell.parameters.get(name).is_some_and(Parameter::is_true);
        if kind == Kind::Register && (!is_true("CLK_POLARITY") || connection("CLK")? != clk) {
            return Err(unknown());
        }
        let wire = |bit: Bit| match bit {
            Bit::Wire(wire) => Ok(wire),
            Bit::Const(_) => Err(unknown()),
        };
        let own = Self {
            name: name.to_owned(),
            kind,
            a: connection(a)?,
            b: connection("B")?,
            s: connection("S")?,
            y: connection(y)?
                .into_iter()
                .map(wire)
                .collect::<Result<_, _>>()?,
            signed: is_true("A_SIGNED") && (is_true("B_SIGNED") || kind == Kind::Neg),
        };
        // Logic of whole words is not printed; of single bits it is bitwise.
        let is_logic = matches!(cell.r#type.as_str(), "$logic_and" | "$logic_or");
        let is_sound = match kind {
            Kind::Mux => {
                own.a.len() == own.y.len() && own.b.len() == own.y.len() && own.s.len() == 1
            }
            Kind::Pmux => own.a.len() == own.y.len() && own.b.len() == own.y.len() * own.s.len(),
            Kind::Register | Kind::Not => own.a.len() == own.y.len(),
            Kind::And | Kind::Or => {
                own.a.len() == own.b.len()
                    && own.a.len() == own.y.len()
                    && (!is_logic || own.y.len() == 1)
            }
            Kind::ReduceOr | Kind::ReduceAnd | Kind::LogicNot | Kind::Eq | Kind::Lt | Kind::Gt => {
                own.y.len() == 1
            }
            Kind::Add | Kind::Sub | Kind::Neg | Kind::Mul => {
                own.a.len() <= own.y.len() && own.b.len() <= own.y.len()
            }
        };
        if is_sound && !own.y.is_empty() && own.y.len() <= 64 * 64 {
            Ok(own)
        } else {
            Err(unknown())
        }
    }

    /// All bits that it reads.
    pub fn operands(&self) -> impl Iterator<Item = Bit> {
        self.a.iter().chain(&self.b).chain(&self.s).copied()
    }
}

fn bits(bits: &[JsonBit]) -> Result<Vec<Bit>, RtlError> {
    let bit = |bit: &JsonBit| match bit {
        JsonBit::Wire(wire) => Ok(Bit::Wire(*wire)),
        JsonBit::Const(value) if value == "0" => Ok(Bit::Const(false)),
        JsonBit::Const(value) if value == "1" => Ok(Bit::Const(true)),
        JsonBit::Const(value) => Err(RtlError::Json(format!("a bit is '{value}'"))),
    };
    bits.iter().map(bit).collect()
}

/// The cells, each behind those that it reads.
fn ordered(cells: Vec<RtlCell>, x: &[Bit]) -> Result<Vec<RtlCell>, RtlError> {
    let mut drivers: HashMap<u32, usize> = HashMap::new();
    for (at, cell) in cells.iter().enumerate() {
        for wire in &cell.y {
            if drivers.insert(*wire, at).is_some() || x.contains(&Bit::Wire(*wire)) {
                return Err(RtlError::Json(format!("wire {wire} is driven twice")));
            }
        }
    }
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); cells.len()];
    let mut waiting = vec![0_usize; cells.len()];
    for (at, cell) in cells.iter().enumerate() {
        let wires = cell.operands().filter_map(|bit| match bit {
            Bit::Wire(wire) => drivers.get(&wire).copied(),
            Bit::Const(_) => None,
        });
        let mut sources: Vec<usize> = wires.collect();
        sources.sort_unstable();
        sources.dedup();
        waiting[at] = sources.len();
        for source in sources {
            readers[source].push(at);
        }
    }
    let mut ready: VecDeque<usize> = (0..cells.len()).filter(|&at| waiting[at] == 0).collect();
    let mut order = Vec::with_capacity(cells.len());
    while let Some(at) = ready.pop_front() {
        order.push(at);
        for &reader in &readers[at] {
            waiting[reader] -= 1;
            if waiting[reader] == 0 {
                ready.push_back(reader);
            }
        }
    }
    if order.len() < cells.len() {
        return Err(RtlError::Json(
            "cells read each other in a circle".to_owned(),
        ));
    }
    let mut cells: Vec<Option<RtlCell>> = cells.into_iter().map(Some).collect();
    Ok(order
        .into_iter()
        .filter_map(|at| cells[at].take())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_a_wire_or_known() {
        let constant = |value: &str| JsonBit::Const(value.to_owned());
        let known = bits(&[constant("0"), constant("1"), JsonBit::Wire(7)]).unwrap();
        assert!(known == [Bit::Const(false), Bit::Const(true), Bit::Wire(7)]);
        for value in ["x", "z", "2", ""] {
            let error = bits(&[constant(value)]).err().unwrap().to_string();
            assert!(error.contains(&format!("a bit is '{value}'")), "{error}");
        }
    }
}
