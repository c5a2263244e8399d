//! The names under which a program knows the tensor that a call changes in place.

use super::table::{is_in_place, plain_name};
use interop::pt2::{Argument, Call, Program};
use std::collections::HashMap;

/// Operators whose results show elements of their operand, in other places.
const VIEWS: &[&str] = &[
    "aten.view",
    "aten.reshape",
    "aten.flatten",
    "aten.unflatten",
    "aten.unsqueeze",
    "aten.squeeze",
    "aten.permute",
    "aten.transpose",
    "aten.t",
    "aten.swapdims",
    "aten.swapaxes",
    "aten.movedim",
    "aten.mT",
    "aten.adjoint",
    "aten.expand",
    "aten.expand_as",
    "aten.view_as",
    "aten.reshape_as",
    "aten.narrow",
    "aten.select",
    "aten.slice",
    "aten.split",
    "aten.split_with_sizes",
    "aten.chunk",
    "aten.unbind",
];
/// Operators whose result is their operand.
const SAME: &[&str] = &[
    "aten.alias",
    "aten.detach",
    "aten.contiguous",
    "aten.dropout",
    "aten.feature_dropout",
    "aten.to",
];

/// The names of a tensor that changes.
pub struct Aliases<'p> {
    /// The names of the whole operand.
    pub same: Vec<&'p str>,
    /// The names of other parts of the tensor that the operand belongs to.
    others: Vec<&'p str>,
}

/// The first tensor that a call reads.
fn operand(call: &Call) -> Option<&str> {
    match call.arguments.first() {
        Some((_, Argument::Tensor(name))) => Some(name),
        _ => None,
    }
}

/// True when the results of a call are its operand, or parts of it.
fn shows_operand(call: &Call) -> bool {
    let name = plain_name(&call.target);
    is_in_place(&call.target) || SAME.contains(&name) || VIEWS.contains(&name)
}

/// The names of the operand of the call at this place.
pub fn of_operand(calls: &[Call], at: usize) -> Aliases<'_> {
    let earlier = &calls[..at];
    let name = operand(&calls[at]).unwrap_or_default();
    let makers: HashMap<&str, &Call> = earlier
        .iter()
        .flat_map(|call| {
            call.results
                .iter()
                .flatten()
                .map(move |name| (name.as_str(), call))
        })
        .collect();
    let mut root = name;
    // A damaged program may make a value from itself.
    for _ in earlier {
        let maker = makers.get(root).filter(|call| shows_operand(call));
        let Some(from) = maker.and_then(|call| operand(call)) else {
            break;
        };
        root = from;
    }
    // By name: the view that it is of the root, as a number.
    let mut views = HashMap::from([(root, 0)]);
    for (place, call) in earlier
        .iter()
        .enumerate()
        .filter(|(_, call)| shows_operand(call))
    {
        let Some(&view) = operand(call).and_then(|name| views.get(name)) else {
            continue;
        };
        let is_view = VIEWS.contains(&plain_name(&call.target));
        for (k, result) in call.results.iter().enumerate() {
            // Every result of a view is a part of its own.
            let own = if is_view {
                (place + 1) * 1024 + k
            } else {
                view
            };
            views.extend(result.as_deref().map(|name| (name, own)));
        }
    }
    let changed = views.get(name).copied();
    let (same, others) = views
        .into_iter()
        .partition::<Vec<_>, _>(|(_, view)| Some(*view) == changed);
    Aliases {
        same: names_of(same),
        others: names_of(others),
    }
}

fn names_of(views: Vec<(&str, usize)>) -> Vec<&str> {
    let mut names: Vec<&str> = views.into_iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    names
}

impl<'p> Aliases<'p> {
    /// The name of another part that is read after the change.
    pub fn seen_later(&self, program: &Program, at: usize) -> Option<&'p str> {
        let later = program.calls[at + 1..]
            .iter()
            .flat_map(|call| &call.arguments);
        let read = later.map(|(_, argument)| argument).chain(&program.outputs);
        let mut names = read.flat_map(Argument::names);
        let found = names.find(|name| self.others.binary_search(name).is_ok())?;
        self.others.iter().copied().find(|own| *own == found)
    }
}
