//! Long short-term memory, and elements in order.
#![expect(
    clippy::unnecessary_wraps,
    reason = "every writer has the signature of the table"
)]

use super::site::{Site, int, ints, text};
use super::writers::Written;
use crate::constant::Refusal;
use interop::onnx::{Element, Values};
use ir::Op;

/// The parts of a graph's weights, input, forget, cell and output, in the order of ONNX: input, output, forget, cell.
const PARTS: [usize; 4] = [0, 3, 1, 2];

/// A parameter with its gates in the order of ONNX.
fn gates(site: &mut Site, port: &str) -> Result<String, Refusal> {
    let own = site.own_param(port)?;
    let n = site.int("hidden_size", 1);
    let sizes = site.store_ints("gates", vec![n; 4]);
    let parts = site.emit_in("", "Split", &[&own, &sizes], vec![int("axis", 0)], 4);
    let parts = PARTS.map(|part| parts[part].as_str());
    Ok(site.emit("Concat", &parts, vec![int("axis", 0)]))
}

/// A value with an axis of size 1.
fn with_axis(site: &mut Site, name: &str, axis: i64) -> String {
    let axis = site.store_ints("axis", vec![axis]);
    site.emit("Unsqueeze", &[name, &axis], Vec::new())
}

/// A value without an axis of size 1.
fn without_axis(site: &mut Site, name: &str, axis: i64) -> String {
    let axis = site.store_ints("axis", vec![axis]);
    site.emit("Squeeze", &[name, &axis], Vec::new())
}

pub fn lstm(site: &mut Site) -> Written {
    let Op::Lstm(op) = &site.node.op else {
        return Err(Refusal::new("is no long short-term memory"));
    };
    let [ih, hh, bias_ih, bias_hh] = op.names();
    let order = || ints("perm", vec![1, 0, 2]);
    let x = site.x();
    let x = site.emit("Transpose", &[&x], vec![order()]);
    let mut inputs = vec![x];
    for port in [ih, hh] {
        let weight = gates(site, port)?;
        inputs.push(with_axis(site, &weight, 0));
    }
    inputs.push(if op.bias {
        let biases = [gates(site, bias_ih)?, gates(site, bias_hh)?];
        let biases = biases.each_ref().map(String::as_str);
        let both = site.emit("Concat", &biases, vec![int("axis", 0)]);
        with_axis(site, &both, 0)
    } else {
        String::new()
    });
    if let [_, h, c] = &site.inputs.clone()[..] {
        inputs.push(String::new());
        inputs.push(with_axis(site, h, 0));
        inputs.push(with_axis(site, c, 0));
    }
    let direction = if op.reverse { "reverse" } else { "forward" };
    let attributes = vec![
        int("hidden_size", op.hidden_size as i64),
        text("direction", direction),
    ];
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let results = site.emit_in("", "LSTM", &inputs, attributes, 3);
    let y = without_axis(site, &results[0], 1);
    let y = site.emit("Transpose", &[&y], vec![order()]);
    let h = without_axis(site, &results[1], 0);
    let c = without_axis(site, &results[2], 0);
    Ok(vec![y, h, c])
}

pub fn topk(site: &mut Site) -> Written {
    let (x, k, axis) = (site.x(), site.int("k", 1), site.int("dim", -1));
    let largest = i64::from(site.flag("largest", true));
    let stem = format!("{}/k", site.node.name);
    let values = Values::Ints(vec![k]);
    let k = site.exporter.store(&stem, vec![1], Element::I64, values);
    let attributes = vec![int("axis", axis), int("largest", largest)];
    Ok(site.emit_in("", "TopK", &[&x, &k], attributes, 2))
}
