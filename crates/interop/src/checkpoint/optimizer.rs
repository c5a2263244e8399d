//! PyTorch's layout of optimiser states: `{"state": {i: {…}}, "param_groups": […]}`, where `i` counts parameters.

use super::counters::is_buffer;
use super::{NamedTensor, OptimizerState};
use crate::error::Problem;
use crate::pickle::{Out, View};
use crate::torch::{Storages, Tensors};
use std::collections::BTreeMap;

/// Additions of our own files to PyTorch's layout, which has neither the kind of optimiser nor the names.
pub fn our_entry(state: &OptimizerState) -> Out {
    let names = state.first.iter().map(|tensor| Out::text(&tensor.name));
    Out::dict([
        ("name", Out::text(&state.name)),
        ("steps", Out::Int(i128::from(state.steps))),
        ("parameters", Out::List(names.collect())),
    ])
}

/// The state as PyTorch's optimiser of this name saves it.
pub fn encode(state: &OptimizerState, storages: &mut Storages) -> Out {
    let mut entries = Vec::new();
    for (index, first) in state.first.iter().enumerate() {
        let second = state.second.get(index);
        entries.push((
            Out::Int(index as i128),
            parameter_state(state, first, second, storages),
        ));
    }
    Out::dict([
        ("state", Out::Dict(entries)),
        ("param_groups", Out::List(vec![param_group(state)])),
    ])
}

/// Reads the first optimiser of a Lightning checkpoint. `None` when its parameters cannot be told by name: their
/// order is that of the state dict without buffers, and number and shapes must agree with it.
pub fn decode(
    root: View,
    ours: Option<View>,
    parameters: &[NamedTensor],
    tensors: &mut Tensors,
) -> Result<Option<OptimizerState>, Problem> {
    let saved = root
        .get("optimizer_states")
        .and_then(|states| states.element(0));
    let Some((states, indices, group)) = saved.and_then(layout) else {
        return Ok(None);
    };
    let names = names(ours, parameters);
    if names.len() != indices.len() {
        return Ok(None);
    }
    let number = |key: &str| group.get(key).and_then(View::float).unwrap_or(0.0);
    let mut state = OptimizerState {
        name: "sgd".to_owned(),
        steps: 0,
        learning_rate: number("lr"),
        weight_decay: number("weight_decay"),
        first: Vec::new(),
        second: Vec::new(),
    };
    for (name, index) in names.iter().zip(&indices) {
        if let Some(entry) = states.get(index) {
            state
                .first
                .extend(moment(*entry, "exp_avg", name, tensors)?);
            state
                .first
                .extend(moment(*entry, "momentum_buffer", name, tensors)?);
            state
                .second
                .extend(moment(*entry, "exp_avg_sq", name, tensors)?);
            state.steps = state.steps.max(steps(*entry, tensors)?);
        }
    }
    if !state.second.is_empty() {
        "adam".clone_into(&mut state.name);
    }
    name_ours(&mut state, ours);
    Ok(has_shapes_of(&state, parameters).then_some(state))
}

fn has_shapes_of(state: &OptimizerState, parameters: &[NamedTensor]) -> bool {
    let shapes = parameters
        .iter()
        .map(|tensor| (tensor.name.as_str(), &tensor.shape));
    let shapes: BTreeMap<&str, &Vec<usize>> = shapes.collect();
    let mut moments = state.first.iter().chain(&state.second);
    moments.all(|moment| {
        shapes
            .get(moment.name.as_str())
            .is_none_or(|shape| **shape == moment.shape)
    })
}

/// The states by index, the indices in order, and the first group.
/// Entries of the state of one parameter or of one group; no optimiser has more.
const MAX_ENTRIES: usize = 100;
/// Groups of parameters that are read.
const MAX_GROUPS: usize = 10_000;

type Layout<'a> = (BTreeMap<i128, View<'a>>, Vec<i128>, View<'a>);

fn layout(saved: View<'_>) -> Option<Layout<'_>> {
    let is_small = |dict: View| {
        dict.entries()
            .is_some_and(|entries| entries.count() <= MAX_ENTRIES)
    };
    let states = saved
        .get("state")?
        .entries()?
        .filter(|(_, value)| is_small(*value));
    let states = states
        .filter_map(|(key, value)| Some((key.int()?, value)))
        .collect();
    let groups = saved.get("param_groups")?;
    let mut indices = Vec::new();
    for group in groups.elements()?.take(MAX_GROUPS) {
        if !is_small(group) {
            return None;
        }
        let of_group: Option<Vec<i128>> = group.get("params")?.elements()?.map(View::int).collect();
        indices.extend(of_group?);
    }
    Some((states, indices, groups.element(0)?))
}

fn names<'a>(ours: Option<View<'a>>, parameters: &'a [NamedTensor]) -> Vec<&'a str> {
    let listed = ours.and_then(|ours| {
        ours.get("parameters")?
            .elements()?
            .map(View::text)
            .collect()
    });
    listed.unwrap_or_else(|| {
        let names = parameters.iter().map(|tensor| tensor.name.as_str());
        names.filter(|name| !is_buffer(name)).collect()
    })
}

fn name_ours(state: &mut OptimizerState, ours: Option<View>) {
    let Some(ours) = ours else { return };
    if let Some(name) = ours.get("name").and_then(View::text) {
        name.clone_into(&mut state.name);
    }
    if let Some(steps) = ours.get("steps").and_then(View::int) {
        state.steps = u64::try_from(steps).unwrap_or(0);
    }
}

fn moment(
    entry: View,
    key: &str,
    name: &str,
    tensors: &mut Tensors,
) -> Result<Option<NamedTensor>, Problem> {
    let Some(value) = entry.get(key) else {
        return Ok(None);
    };
    tensors.budget().take(name.len() as u64)?;
    let dense = tensors
        .read(value)
        .map_err(|problem| problem.of_tensor(name))?;
    Ok(dense.map(|dense| NamedTensor {
        name: name.to_owned(),
        shape: dense.shape,
        values: dense.values,
    }))
}

/// A number, or a tensor with one.
fn steps(entry: View, tensors: &mut Tensors) -> Result<u64, Problem> {
    let Some(value) = entry.get("step") else {
        return Ok(0);
    };
    if let Some(number) = value.float() {
        return Ok(number as u64);
    }
    let dense = tensors.read(value)?;
    Ok(dense
        .and_then(|dense| dense.values.first().copied())
        .unwrap_or(0.0) as u64)
}

fn parameter_state(
    state: &OptimizerState,
    first: &NamedTensor,
    second: Option<&NamedTensor>,
    storages: &mut Storages,
) -> Out {
    let Some(second) = second else {
        let momentum = storages.float(&first.shape, &first.values);
        return Out::dict([("momentum_buffer", momentum)]);
    };
    Out::dict([
        ("step", storages.float(&[], &[state.steps as f32])),
        ("exp_avg", storages.float(&first.shape, &first.values)),
        ("exp_avg_sq", storages.float(&second.shape, &second.values)),
    ])
}

fn param_group(state: &OptimizerState) -> Out {
    let parameters = (0..state.first.len())
        .map(|index| Out::Int(index as i128))
        .collect();
    let own = if state.name == "sgd" {
        vec![
            ("momentum", Out::Float(0.9)),
            ("dampening", Out::Int(0)),
            ("nesterov", Out::Bool(true)),
        ]
    } else {
        vec![
            (
                "betas",
                Out::Tuple(vec![Out::Float(0.9), Out::Float(0.999)]),
            ),
            ("eps", Out::Float(1e-8)),
            ("amsgrad", Out::Bool(false)),
            ("capturable", Out::Bool(false)),
            ("fused", Out::None),
        ]
    };
    let common = [
        ("lr", Out::Float(state.learning_rate)),
        ("weight_decay", Out::Float(state.weight_decay)),
        ("maximize", Out::Bool(false)),
        ("foreach", Out::None),
        ("differentiable", Out::Bool(false)),
        ("params", Out::List(parameters)),
    ];
    let entries = own.into_iter().chain(common);
    Out::Dict(
        entries
            .map(|(key, value)| (Out::text(key), value))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_the_shapes_of_their_parameters() {
        let tensor = |name: &str, shape: &[usize]| NamedTensor {
            name: name.to_owned(),
            shape: shape.to_vec(),
            values: vec![0.0; shape.iter().product()],
        };
        let state = |first: NamedTensor, second: NamedTensor| OptimizerState {
            name: "adam".to_owned(),
            steps: 1,
            learning_rate: 0.1,
            weight_decay: 0.0,
            first: vec![first],
            second: vec![second],
        };
        let parameters = [tensor("a", &[2, 3]), tensor("b", &[3])];
        let (a, turned) = (tensor("a", &[2, 3]), tensor("a", &[3, 2]));
        for (first, second, expected) in [
            (&a, &a, true),
            (&turned, &a, false),
            (&a, &turned, false),
            // A moment of no parameter is nobody's.
            (&a, &tensor("c", &[5]), true),
        ] {
            let state = state(first.clone(), second.clone());
            assert_eq!(has_shapes_of(&state, &parameters), expected);
        }
    }
}
