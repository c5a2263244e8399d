//! Stored fields of formats: arrays beside the parameters of a node, named as PyTorch's observers name theirs.
//!
//! The fields of a parameter's format have the shape that the format asks for of the parameter's; those of a data input or
//! a result belong to one sample, so that what a row becomes never depends on the other rows.

use crate::{Graph, Node, Tensor, Type};
use format::{Format, StoredArray};

impl Node {
    /// The dotted name of a stored field: `seq_blocks.2.weight_scale`, `seq_blocks.2.data_in_0_frac_width`.
    pub fn stored_path(&self, port: &str, field: &str) -> String {
        format!("{}_{field}", self.param_path(port))
    }
}

impl Graph {
    /// Every stored field that is there, by its dotted name, in execution order.
    pub fn stored_fields(&self) -> Vec<(String, Tensor)> {
        let mut fields = Vec::new();
        for node in self.nodes() {
            for (port, format) in &node.formats {
                for (field, array) in format.stored_fields() {
                    let tensor = array.and_then(|a| Tensor::new(a.shape.clone(), a.values.clone()));
                    fields.extend(tensor.map(|tensor| (node.stored_path(port, field), tensor)));
                }
            }
        }
        fields
    }

    /// The dotted name of the first stored field without values.
    pub fn missing_stored_field(&self) -> Option<String> {
        self.nodes().iter().find_map(|node| {
            node.formats.iter().find_map(|(port, format)| {
                let fields = format.stored_fields();
                let (field, _) = fields.into_iter().find(|(_, array)| array.is_none())?;
                Some(node.stored_path(port, field))
            })
        })
    }
}

/// A port whose format stores fields, and the shape of their arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPort {
    /// The port.
    pub port: String,
    /// The shape of each array.
    pub shape: Vec<usize>,
    /// The fields.
    pub fields: Vec<&'static str>,
}

/// The ports of a node, whose inputs and results have these types, with stored fields; the reason where a port cannot
/// have them.
pub fn stored_ports(
    node: &Node,
    inputs: &[Type],
    results: &[Type],
) -> Vec<Result<StoredPort, String>> {
    let stored = node.formats.iter().filter_map(|(port, format)| {
        let fields = format.stored_fields();
        (!fields.is_empty()).then_some((port, format, fields))
    });
    stored
        .map(|(port, format, fields)| {
            let shape = array_shape(node, port, format, inputs, results)
                .map_err(|why| format!("{port}: {why}"))?;
            Ok(StoredPort {
                port: port.clone(),
                shape,
                fields: fields.into_iter().map(|(field, _)| field).collect(),
            })
        })
        .collect()
}

fn array_shape(
    node: &Node,
    port: &str,
    format: &Format,
    inputs: &[Type],
    results: &[Type],
) -> Result<Vec<usize>, String> {
    if let Some((_, shape, ..)) = node.param_specs().into_iter().find(|spec| spec.0 == port) {
        let no_axis = || format!("{format} needs an axis that the shape {shape:?} has not");
        return format.stored_shape(&shape).ok_or_else(no_axis);
    }
    let of = |prefix: &str, types: &[Type]| -> Option<Type> {
        let index: usize = port.strip_prefix(prefix)?.parse().ok()?;
        types.get(index).cloned()
    };
    let ty = of("data_in_", inputs).or_else(|| of("data_out_", results));
    let ty = ty.ok_or_else(|| "there is no such port".to_owned())?;
    let sample = ty.shape.sample();
    let sample = sample.ok_or_else(|| format!("one sample of {ty} has no fixed shape"))?;
    // A batch of one: nothing but the first axis may depend on its size.
    let batch = [&[1], sample.as_slice()].concat();
    let refused = || {
        format!(
            "{format} does not fit {ty}: its values must lie element by element, or along an axis after the first"
        )
    };
    if !format.keeps_rows_apart(&batch) {
        return Err(refused());
    }
    let shape = format.stored_shape(&batch).ok_or_else(refused)?;
    // Element by element the array belongs to a sample.
    Ok(if shape == batch { sample } else { shape })
}

/// Everything wrong with the stored fields of a node.
pub(crate) fn problems(node: &Node, inputs: &[Type], results: &[Type]) -> Vec<String> {
    let of_port = |port: Result<StoredPort, String>| {
        let port = match port {
            Ok(port) => port,
            Err(why) => return Some(why),
        };
        let format = &node.formats[&port.port];
        let arrays = format.stored_fields().into_iter();
        let mut given = arrays.filter_map(|(field, array)| Some((field, array?)));
        let wrong = |(field, array): (&str, &StoredArray)| {
            let (name, got) = (&port.port, &array.shape);
            (*got != port.shape).then(|| {
                let expected = &port.shape;
                format!("{name}: expected a stored {field} of shape {expected:?}, got {got:?}")
            })
        };
        given.find_map(wrong)
    };
    let ports = stored_ports(node, inputs, results);
    ports.into_iter().filter_map(of_port).collect()
}
