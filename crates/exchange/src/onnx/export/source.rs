//! The text of a graph beside its nodes, by which a file of our own is read back as it was.

use super::{ExportOptions, Style, export};
use format::StoredArray;
use interop::Budget;
use interop::onnx::proto::{GraphProto, ModelProto};
use interop::onnx::{self, Values};
use ir::{Graph, Tensor};
use std::collections::HashMap;

/// The keys of a file's metadata.
const METADATA: [&str; 3] = ["mase.graph", "mase.graph_hash", "mase.export"];

/// The metadata of a file.
pub fn metadata(graph: &Graph, options: &ExportOptions) -> Vec<(&'static str, String)> {
    let text = graph.to_string();
    let [graph_key, hash_key, export_key] = METADATA;
    let batch = options
        .batch
        .map_or_else(|| "free".to_owned(), |rows| rows.to_string());
    let mut words = vec![
        options.style.word().to_owned(),
        options.opset.to_string(),
        batch,
    ];
    if options.float_weights {
        words.push("float_weights".to_owned());
    }
    if options.drop_formats {
        words.push("drop_formats".to_owned());
    }
    let mut entries = vec![(hash_key, format!("{:016x}", hash(&text)))];
    entries.push((export_key, words.join(" ")));
    if options.with_source {
        entries.push((graph_key, text));
    }
    entries
}

/// FNV-1a of 64 bits.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The graph that a file was written of, when its nodes are still those that the text makes; `None` for files of others and
/// files that were changed since.
pub fn read(model: &ModelProto) -> Option<Graph> {
    let entry = |key: &str| {
        let found = model.metadata_props.iter().find(|entry| entry.key() == key);
        found.map(|entry| entry.value().to_owned())
    };
    let text = entry(METADATA[0])?;
    let options = options(&entry(METADATA[2])?)?;
    let mut graph = Graph::parse(&text).ok()?;
    let file = model.graph.as_ref()?;
    restore(&mut graph, file)?;
    let again = export(&graph, &options).ok()?.graph?;
    let same = again.node == file.node && again.input == file.input && again.output == file.output;
    same.then_some(graph)
}

fn options(words: &str) -> Option<ExportOptions> {
    let mut words = words.split(' ');
    let style = words.next()?;
    let (_, style) = Style::WORDS.into_iter().find(|(word, _)| *word == style)?;
    let opset = words.next()?.parse().ok()?;
    let batch = match words.next()? {
        "free" => None,
        rows => Some(rows.parse().ok()?),
    };
    let flags: Vec<&str> = words.collect();
    Some(ExportOptions {
        style,
        opset,
        batch,
        float_weights: flags.contains(&"float_weights"),
        drop_formats: flags.contains(&"drop_formats"),
        with_source: true,
    })
}

/// Gives the graph its parameters and stored fields from the tensors of the file.
fn restore(graph: &mut Graph, file: &GraphProto) -> Option<()> {
    let size = file
        .initializer
        .iter()
        .map(|tensor| tensor.raw_data().len())
        .sum::<usize>();
    let budget = Budget::of_size(size as u64);
    let tensors = file.initializer.iter().map(|proto| {
        let tensor = onnx::Tensor::read(proto, &budget).ok()?;
        Some((tensor.name.clone(), tensor))
    });
    let tensors: HashMap<String, onnx::Tensor> = tensors.collect::<Option<_>>()?;
    let ids: Vec<ir::NodeId> = graph.iter().map(|(id, _)| id).collect();
    for id in ids {
        let node = graph.node_mut(id);
        let ports: Vec<String> = node.formats.keys().cloned().collect();
        for port in ports {
            let mut format = node.formats[&port].clone();
            let fields: Vec<&'static str> = format
                .stored_fields()
                .into_iter()
                .map(|(field, _)| field)
                .collect();
            for field in fields {
                // Fixed point is written by its scales.
                let is_exponent = field == "frac_width";
                let written = if is_exponent { "scale" } else { field };
                let tensor = tensors.get(&node.stored_path(&port, written))?;
                let mut values = floats(tensor);
                if is_exponent {
                    for scale in &mut values {
                        *scale = -scale.log2();
                    }
                }
                // QONNX's scales have an axis of size 1 for every other axis.
                let kept: Vec<usize> = tensor
                    .shape
                    .iter()
                    .copied()
                    .filter(|&size| size != 1)
                    .collect();
                let shape = if kept.is_empty() {
                    vec![values.len()]
                } else {
                    kept
                };
                let is_blocked = format
                    .fields()
                    .iter()
                    .any(|(name, value)| *name == "block" && *value != format::FieldValue::Int(0));
                let shape = if is_blocked {
                    tensor.shape.clone()
                } else {
                    shape
                };
                format = format
                    .with_stored(field, StoredArray { shape, values })
                    .ok()?;
            }
            node.formats.insert(port, format);
        }
        for (port, shape, ..) in node.param_specs() {
            let path = node.param_path(port);
            let tensor = tensors.get(&path)?;
            let values = decoded(
                tensor,
                tensors.get(&node.stored_path(port, "scale")),
                tensors.get(&node.stored_path(port, "zero_point")),
                node.formats.get(port),
            )?;
            node.params
                .insert(port.to_owned(), Tensor::new(shape, values)?);
        }
    }
    Some(())
}

fn floats(tensor: &onnx::Tensor) -> Vec<f32> {
    match &tensor.values {
        Values::Floats(values) => values.clone(),
        Values::Ints(values) => values.iter().map(|&value| value as f32).collect(),
    }
}

/// The values of a parameter: as they are, or decoded from codes.
fn decoded(
    tensor: &onnx::Tensor,
    scale: Option<&onnx::Tensor>,
    zero: Option<&onnx::Tensor>,
    format: Option<&format::Format>,
) -> Option<Vec<f32>> {
    let values = floats(tensor);
    let (Values::Ints(_), Some(scale), Some(zero)) = (&tensor.values, scale, zero) else {
        return Some(values);
    };
    let (scales, zeros) = (floats(scale), floats(zero));
    let places = format?.stored_places(&tensor.shape);
    // Scales that follow the values are those of neighbours.
    let len = (values.len() / scales.len().max(1)).max(1);
    let place = |at: usize| places.as_ref().map_or(at / len, |places| places[at]);
    let value =
        |(at, code): (usize, f32)| Some((code - zeros.get(place(at))?) * scales.get(place(at))?);
    values.into_iter().enumerate().map(value).collect()
}
