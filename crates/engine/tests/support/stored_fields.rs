//! Values for the stored fields of a graph.

use format::{Format, StoredArray};
use ir::{Graph, stored_ports, verify};

/// Gives every stored field what `value` says of the format, the field and the index in its array.
pub fn store(graph: &mut Graph, mut value: impl FnMut(&Format, &str, usize) -> f32) {
    let verified = verify(graph).unwrap();
    let mut ports = Vec::new();
    for (id, node) in graph.iter() {
        let stored = stored_ports(node, &verified.input_types(id), verified.outputs(id));
        ports.extend(stored.into_iter().map(|port| (id, port.unwrap())));
    }
    for (id, port) in ports {
        for field in port.fields {
            let formats = &mut graph.node_mut(id).formats;
            let format = formats.get_mut(&port.port).unwrap();
            let len = port.shape.iter().product();
            let array = StoredArray {
                shape: port.shape.clone(),
                values: (0..len).map(|at| value(format, field, at)).collect(),
            };
            *format = format.with_stored(field, array).unwrap();
        }
    }
}
