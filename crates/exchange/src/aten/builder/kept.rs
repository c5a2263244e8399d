//! Calls that are kept as they are.

use super::Builder;
use crate::aten::source::Source;
use crate::aten::table;
use interop::pt2::{self, Argument, Extent};
use ir::ops::opaque::Opaque;
use ir::{Node, Shape, Type, Value};

/// The set that the operators of PyTorch belong to, and its version: the major one of the description.
const SET: (&str, i64) = ("torch", 8);

impl Builder<'_> {
    /// A call as a node of its own: what it reads, its other arguments as text, and the types that the program states for its
    /// results. None where the program does not say them, or where the call changes its operand.
    pub(super) fn keep(&mut self, call: &pt2::Call) -> Option<Vec<Source>> {
        if table::is_in_place(&call.target) {
            return None;
        }
        let types: Option<Vec<Type>> = call
            .results
            .iter()
            .map(|result| match result {
                Some(name) => self.stated(name).ok(),
                None => Some(Type::f32(Shape(Vec::new()))),
            })
            .collect();
        let types = types.filter(|types| !types.is_empty())?;
        let mut operands = Vec::new();
        let mut attributes = Vec::new();
        for (name, argument) in &call.arguments {
            match argument {
                Argument::Tensor(value) => operands.push(self.operand(value)?),
                Argument::Tensors(values) => {
                    for value in values.iter().flatten() {
                        operands.push(self.operand(value)?);
                    }
                }
                Argument::None | Argument::Placement => {}
                other => attributes.push(format!("{name} = {}", shown(other)?)),
            }
        }
        let op = Opaque {
            operator: call.target.clone(),
            domain: SET.0.to_owned(),
            version: SET.1,
            results: types.iter().map(ToString::to_string).collect(),
            attributes,
            source: String::new(),
        };
        let base = call.results.iter().flatten().next();
        let node = self.draft.names.fresh(base.unwrap_or(&call.target));
        let first = self
            .draft
            .append(Node::new(&node, "", op, &operands), types);
        let results = 0..call.results.len() as u16;
        Some(
            results
                .map(|output| Source::Live(Value { output, ..first }))
                .collect(),
        )
    }

    fn operand(&mut self, name: &str) -> Option<Value> {
        let source = self.find(name)?.clone();
        self.value_of(&source).ok()
    }
}

/// An argument as people write it; none for one that depends on the inputs.
fn shown(argument: &Argument) -> Option<String> {
    let number = |extent: &Extent| match extent {
        Extent::Number(number) => Some(number.to_string()),
        Extent::Name(_) => None,
    };
    Some(match argument {
        Argument::Int(extent) => number(extent)?,
        Argument::Ints(extents) => {
            let numbers: Option<Vec<String>> = extents.iter().map(number).collect();
            format!("[{}]", numbers?.join(", "))
        }
        Argument::Float(number) => number.to_string(),
        Argument::Floats(numbers) => format!("{numbers:?}"),
        Argument::Bool(truth) => truth.to_string(),
        Argument::Bools(truths) => format!("{truths:?}"),
        Argument::Text(text) => format!("{text:?}"),
        Argument::ScalarType(number) => pt2::ScalarType::of_number(*number)?.name().to_owned(),
        Argument::Other(kind) => kind.clone(),
        Argument::None | Argument::Placement | Argument::Tensor(_) | Argument::Tensors(_) => {
            return None;
        }
    })
}
