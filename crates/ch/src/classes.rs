//! The outputs of a network against the classes of a dataset.

use crate::output::Console;
use anyhow::{Result, bail};
use data::Info;
use ir::{Graph, Op, Verified};

/// Classes named in a message before the rest is counted.
const MAX_NAMED: usize = 12;

/// Checks the number of values as [`check_count`] does, and notes a softmax before the loss, which has its own.
pub fn check(name: &str, graph: &Graph, info: &Info, console: &mut Console) -> Result<()> {
    check_count(name, graph, info, console)?;
    let verified = ir::verify(graph)?;
    if let Some((_, last)) = returned(&verified)
        && matches!(graph.node(last).op, Op::Softmax(_))
    {
        let node = &graph.node(last).name;
        console.note(&format!(
            "{name} ends in a softmax, {node}, and the loss, cross-entropy, applies another: leave {node} out of the network"
        ));
    }
    Ok(())
}

/// Refuses a network, called `name`, that returns fewer values than there are classes, and notes values that no class has.
pub fn check_count(name: &str, graph: &Graph, info: &Info, console: &mut Console) -> Result<()> {
    let verified = ir::verify(graph)?;
    let Some((outputs, _)) = returned(&verified) else {
        return Ok(());
    };
    let classes = info.classes.len();
    let dataset = &info.name;
    if outputs < classes {
        bail!(
            "{name} returns {outputs} values but {dataset} has {classes} classes ({}): {}",
            names(info),
            remedy(graph, classes)
        );
    }
    if outputs > classes {
        let more = outputs - classes;
        console.note(&format!(
            "{name} returns {outputs} values but {dataset} has {classes} classes ({}): the last {more} belong to none",
            names(info)
        ));
    }
    Ok(())
}

/// The number of values of one row, and the node that makes them; nothing for a network that returns something other than one
/// row of values for each sample.
fn returned(verified: &Verified) -> Option<(usize, ir::NodeId)> {
    let [value] = verified.output_values() else {
        return None;
    };
    let sample = verified.ty(*value).shape.sample()?;
    let [outputs] = sample[..] else { return None };
    Some((outputs, value.node))
}

fn names(info: &Info) -> String {
    let mut names: Vec<&str> = info.classes.iter().map(String::as_str).collect();
    if names.len() > MAX_NAMED {
        names.truncate(MAX_NAMED);
        names.push("…");
    }
    names.join(" ")
}

/// The attribute of the last layer that says how many values it makes.
fn remedy(graph: &Graph, classes: usize) -> String {
    let of_layer = |node: &ir::Node| match node.op {
        Op::Linear(_) => Some("out_features"),
        Op::Conv1d(_) | Op::Conv2d(_) => Some("out_channels"),
        _ => None,
    };
    let attribute = graph.nodes().iter().rev().find_map(of_layer);
    attribute.map_or_else(
        || format!("make it return {classes}"),
        |attribute| format!("set {attribute} = {classes} in the last layer"),
    )
}
