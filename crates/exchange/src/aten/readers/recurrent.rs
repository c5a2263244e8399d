//! Long short-term memory of several layers and directions.

use crate::aten::call::{Call, Read};
use crate::aten::source::{Known, Source};
use crate::constant::{Array, Refusal, Size, Values};
use crate::draft::Param;
use interop::pt2::Argument;
use ir::Value;
use serde_json::json;

/// The parameters of a direction, and those of one that goes from the last time to the first.
const PORTS: [[&str; 4]; 2] = [
    ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"],
    [
        "weight_ih_l0_reverse",
        "weight_hh_l0_reverse",
        "bias_ih_l0_reverse",
        "bias_hh_l0_reverse",
    ],
];

/// All h, the last h and the last c of every layer and direction.
pub fn lstm(call: &mut Call) -> Read {
    if call.flag("train", false) && call.number("dropout").is_some_and(|p| p != 0.0) {
        let why = "it drops elements; export the network after .eval()";
        return Err(Refusal::new(why));
    }
    call.argument("dropout");
    let is_batch_first = call.flag("batch_first", false);
    let n_directions = 1 + usize::from(call.flag("bidirectional", false));
    let has_biases = call.flag("has_biases", true);
    let n_params = if has_biases { 4 } else { 2 };
    let names = call.list("params")?.len();
    let n_runs = usize::try_from(call.int("num_layers", None)?)
        .unwrap_or(0)
        .saturating_mul(n_directions);
    if n_runs == 0 || names != n_runs.saturating_mul(n_params) {
        return Err(Refusal(format!(
            "{names} parameters are not {n_params} for each of {n_runs} runs"
        )));
    }
    let states = states(call)?;
    let mut x = call.value("input")?;
    if call.sizes_of(x).len() != 3 {
        return Err(Refusal::new("its input is not of three axes"));
    }
    if !is_batch_first {
        x = call.permute(x, &[1, 0, 2])?;
    }
    let mut last = [Vec::new(), Vec::new()];
    for layer in 0..n_runs / n_directions {
        let mut all = Vec::new();
        for direction in 0..n_directions {
            let run = layer * n_directions + direction;
            let results = self::direction(call, x, (run, direction), n_params, &states)?;
            all.push(results[0]);
            last[0].push(results[1]);
            last[1].push(results[2]);
        }
        x = match all[..] {
            [only] => only,
            _ => call.push("cat", json!({ "dim": 2 }), &all)?,
        };
    }
    if !is_batch_first {
        x = call.permute(x, &[1, 0, 2])?;
    }
    let mut results = vec![Source::Live(x)];
    for (at, values) in last.into_iter().enumerate() {
        let name = call.node.results.get(at + 1).and_then(Option::as_ref);
        let is_read = name.is_some_and(|name| call.builder.is_read(name));
        results.push(if is_read {
            Source::Live(stacked(call, &values)?)
        } else {
            Source::Missing
        });
    }
    Ok(results)
}

/// The first h and c of all runs; nothing when they are zero.
fn states(call: &mut Call) -> Result<Vec<Value>, Refusal> {
    let given = call.list("hx")?;
    let is_zero = |source: &Option<Source>| match source {
        Some(Source::Known(Known { array, trained, .. })) => {
            !trained && matches!(&array.values, Values::F32(v) if v.iter().all(|&v| v == 0.0))
        }
        _ => false,
    };
    if given.iter().all(is_zero) {
        return Ok(Vec::new());
    }
    let missing = || Refusal::new("a first state is missing");
    let values = given.into_iter().map(|source| {
        let source = source.ok_or_else(missing)?;
        call.builder.value_of(&source)
    });
    values.collect()
}

/// All h, the last h and the last c of one run.
fn direction(
    call: &mut Call,
    x: Value,
    (run, direction): (usize, usize),
    n_params: usize,
    states: &[Value],
) -> Result<[Value; 3], Refusal> {
    let mut params = Vec::new();
    for (k, port) in PORTS[direction][..n_params].iter().enumerate() {
        params.push(param(call, port, run * n_params + k)?);
    }
    let [gates, input_size] = params[0].array.shape[..] else {
        return Err(Refusal::new("its weight is not a matrix"));
    };
    let attributes = json!({
        "input_size": input_size, "hidden_size": gates / 4, "bias": n_params == 4, "reverse": direction == 1,
    });
    let mut inputs = vec![x];
    for &state in states {
        let index = run.to_string();
        inputs.push(call.push("getitem", json!({ "index": index }), &[state])?);
    }
    let first = call.layer("lstm", attributes, &inputs, params)?;
    Ok([0, 1, 2].map(|output| Value { output, ..first }))
}

/// A stored parameter of the list. Those of the first layer keep their names.
fn param(call: &Call, port: &'static str, at: usize) -> Result<Param, Refusal> {
    let name = match call.argument("params") {
        Some(Argument::Tensors(names)) => names.get(at).and_then(Option::as_deref),
        _ => None,
    };
    let source = name.and_then(|name| call.builder.find(name));
    let Some(Source::Known(Known { array, path, .. })) = source else {
        return Err(Refusal::new("a parameter is computed, not stored"));
    };
    let is_own = name.is_some_and(|name| call.builder.is_read_once(name));
    let path = if is_own { path.clone() } else { String::new() };
    let array = Array {
        shape: array.shape.clone(),
        values: array.values.clone(),
    };
    Ok(Param {
        grid: None,
        port,
        array,
        path,
    })
}

/// States of all runs along a first axis of their own.
fn stacked(call: &mut Call, states: &[Value]) -> Result<Value, Refusal> {
    let mut parts = Vec::new();
    for &state in states {
        let mut sizes: Vec<Size> = call.sizes_of(state);
        sizes.insert(0, 1.into());
        parts.push(call.reshape(state, &sizes)?);
    }
    match parts[..] {
        [only] => Ok(only),
        _ => call.push("cat", json!({ "dim": 0 }), &parts),
    }
}
