//! The text of a graph beside its nodes, by which a file of our own is read back as it was.

use super::norms::{NORM_PORTS, rounds_scale};
use super::{ExportOptions, Style, export};
use format::StoredArray;
use interop::Budget;
use interop::onnx::proto::{GraphProto, ModelProto};
use interop::onnx::{self, Values};
use ir::{Graph, Tensor};
use std::collections::{HashMap, HashSet};

/// The beginning of the key of a tensor that the nodes of a file do not hold as it was.
const TENSOR_KEY: &str = "mase.tensor.";
/// The keys of a file's metadata.
const METADATA: [&str; 3] = ["mase.graph", "mase.graph_hash", "mase.export"];

/// The metadata of a file.
pub fn metadata(graph: &Graph, options: &ExportOptions) -> Vec<(String, String)> {
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
    let mut entries = vec![(hash_key.to_owned(), format!("{:016x}", hash(&text)))];
    entries.push((export_key.to_owned(), words.join(" ")));
    if options.with_source {
        entries.push((graph_key.to_owned(), text));
        entries.extend(originals(graph));
    }
    entries
}

/// The parameters of batch norms whose scale is rounded: nodes hold what they come to. Each float is eight hexadecimal digits.
fn originals(graph: &Graph) -> Vec<(String, String)> {
    let norms = graph.nodes().iter().filter(|node| rounds_scale(node));
    let params = norms.flat_map(|node| {
        NORM_PORTS.into_iter().filter_map(move |port| {
            let values = node.params.get(port)?.values();
            let digits = values
                .iter()
                .map(|value| format!("{:08x}", value.to_bits()));
            let key = format!("{TENSOR_KEY}{}", node.param_path(port));
            Some((key, digits.collect()))
        })
    });
    params.collect()
}

/// The tensors that stand in the metadata of a file, as lists.
fn stated_tensors(model: &ModelProto) -> Option<Tensors> {
    let entries = model.metadata_props.iter().filter_map(|entry| {
        let name = entry.key().strip_prefix(TENSOR_KEY)?;
        Some((name, entry.value()))
    });
    let tensor = |(name, digits): (&str, &str)| {
        let float = |digits: &[u8]| {
            let digits = std::str::from_utf8(digits).ok()?;
            let bits = u32::from_str_radix(digits, 16).ok()?;
            (digits.len() == 8).then(|| f32::from_bits(bits))
        };
        let values: Vec<f32> = digits
            .as_bytes()
            .chunks(8)
            .map(float)
            .collect::<Option<_>>()?;
        let tensor = onnx::Tensor {
            name: name.to_owned(),
            shape: vec![values.len()],
            element: onnx::Element::F32,
            values: Values::Floats(values),
        };
        Some((name.to_owned(), tensor))
    };
    entries.map(tensor).collect()
}

/// FNV-1a of 64 bits.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The graph that a file was written of, when its nodes and the tensors that follow from formats and attributes are still those
/// that the text makes; `None` for files of others and files that were changed since.
pub fn read(model: &ModelProto) -> Option<Graph> {
    let entry = |key: &str| {
        let found = model.metadata_props.iter().find(|entry| entry.key() == key);
        found.map(|entry| entry.value().to_owned())
    };
    let text = entry(METADATA[0])?;
    let options = options(&entry(METADATA[2])?)?;
    let mut graph = Graph::parse(&text).ok()?;
    let file = model.graph.as_ref()?;
    let (tensors, stated) = (tensors(file)?, stated_tensors(model)?);
    restore(&mut graph, &tensors, &stated)?;
    let again = export(&graph, &options).ok()?.graph?;
    let same = again.node == file.node && again.input == file.input && again.output == file.output;
    (same && has_same_helpers(&graph, &again, &tensors, &stated)).then_some(graph)
}

/// The tensors of a file by name.
type Tensors = HashMap<String, onnx::Tensor>;

fn tensors(file: &GraphProto) -> Option<Tensors> {
    let sizes = file
        .initializer
        .iter()
        .map(|tensor| tensor.raw_data().len());
    let budget = Budget::of_size(sizes.sum::<usize>() as u64);
    let tensors = file.initializer.iter().map(|proto| {
        let tensor = onnx::Tensor::read(proto, &budget).ok()?;
        Some((tensor.name.clone(), tensor))
    });
    tensors.collect()
}

/// True when tensors that the graph does not hold, such as scales of formats, bounds and shapes, are those of the file.
fn has_same_helpers(
    graph: &Graph,
    again: &GraphProto,
    tensors: &Tensors,
    stated: &Tensors,
) -> bool {
    let mut own = HashSet::new();
    for node in graph.nodes() {
        let specs = node.param_specs().into_iter();
        own.extend(specs.map(|(port, ..)| node.param_path(port)));
        own.extend(node.data_ports().iter().map(|port| node.mask_path(port)));
        for (port, format) in &node.formats {
            let stored = format.stored_fields().into_iter();
            let fields = stored.map(|(field, _)| {
                if field == "frac_width" {
                    "scale"
                } else {
                    field
                }
            });
            own.extend(fields.map(|field| node.stored_path(port, field)));
            // Its scales follow from the values, as nearly as floats allow.
            if format.name() == "scale_integer" {
                own.insert(node.stored_path(port, "scale"));
            }
        }
    }
    let sizes = again
        .initializer
        .iter()
        .map(|tensor| tensor.raw_data().len());
    let budget = Budget::of_size(sizes.sum::<usize>() as u64);
    let helpers = again.initializer.iter();
    let is_own = |name: &str| own.contains(name) && !stated.contains_key(name);
    let mut helpers = helpers.filter(|proto| !is_own(proto.name()));
    helpers.all(|proto| {
        let helper = onnx::Tensor::read(proto, &budget).ok();
        helper.is_some() && tensors.get(proto.name()) == helper.as_ref()
    })
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
fn restore(graph: &mut Graph, tensors: &Tensors, stated: &Tensors) -> Option<()> {
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
        for port in node.data_ports() {
            if let Some(mask) = tensors.get(&node.mask_path(&port)) {
                let mask = Tensor::new(mask.shape.clone(), floats(mask))?;
                node.masks.insert(port, mask);
            }
        }
        for (port, shape, ..) in node.param_specs() {
            let path = node.param_path(port);
            let tensor = stated.get(&path).or_else(|| tensors.get(&path))?;
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
