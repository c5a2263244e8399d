//! Random masks on any graph, and the same graph with a multiplication in place of every mask on an input.

use ir::{DType, Graph, Node, NodeId, Op, Tensor, Value, verify};
use random::Random;
use serde_json::json;

/// Masks on about half of the inputs and trained parameters that can have one.
pub fn masked(graph: &Graph, random: Random) -> Graph {
    let mut masked = graph.clone();
    for (at, (id, port, shape)) in maskable(graph).into_iter().enumerate() {
        let random = random.at(at as u64);
        if random.bits(0).is_multiple_of(2) {
            let n: usize = shape.iter().product();
            let values = (1..=n as u64).map(|i| (random.bits(i) % 2) as f32);
            let mask = Tensor::new(shape, values.collect()).expect("a value for each element");
            masked.node_mut(id).set_mask(&port, mask);
        }
    }
    masked
}

/// Ports that can have a mask, with its shape.
fn maskable(graph: &Graph) -> Vec<(NodeId, String, Vec<usize>)> {
    let verified = verify(graph).expect("a valid graph");
    let mut ports = Vec::new();
    for (id, node) in graph.iter() {
        for (port, value) in node.data_ports().into_iter().zip(&node.inputs) {
            let ty = verified.ty(*value);
            let sample = ty.shape.sample().filter(|sample| !sample.is_empty());
            let sample = sample.filter(|_| ty.dtype == DType::F32);
            ports.extend(sample.map(|shape| (id, port, shape)));
        }
        for (port, shape, _, role) in node.param_specs() {
            if role == ir::ParamRole::Trained {
                ports.push((id, port.to_owned(), shape));
            }
        }
    }
    ports
}

/// The names of the constants that [`explicit`] adds start with this.
pub const MADE: &str = "mask_of_";

/// The graph without masks: a masked input is multiplied by a constant, a masked parameter only has its zeros.
pub fn explicit(masked: &Graph) -> Graph {
    let mut graph = Graph::new(&masked.name);
    let mut places: Vec<NodeId> = Vec::new();
    for node in masked.nodes() {
        let mut node = node.clone();
        for (port, value) in node.data_ports().into_iter().zip(&mut node.inputs) {
            value.node = places[value.node.index()];
            if let Some(mask) = node.masks.get(&port) {
                *value = multiplied(&mut graph, *value, mask, &format!("{}_{port}", node.name));
            }
        }
        node.masks.clear();
        places.push(graph.push(node));
    }
    graph
}

fn multiplied(graph: &mut Graph, value: Value, mask: &Tensor, name: &str) -> Value {
    let attributes = json!({ "shape": mask.shape() }).as_object().cloned();
    let op = |name, attributes| match Op::from_attributes(name, attributes) {
        Some(Ok(op)) => op,
        _ => panic!("{name} has other attributes"),
    };
    let name = format!("{MADE}{name}");
    let op_constant: Op = op("constant", attributes.unwrap_or_default());
    let mut constant = Node::new(&name, &name, op_constant, &[]);
    constant.params.insert("value".to_owned(), mask.clone());
    let constant = graph.push(constant);
    let product: Op = op("mul", serde_json::Map::new());
    let product = Node::new(
        &format!("{name}_product"),
        "",
        product,
        &[value, constant.into()],
    );
    graph.push(product).into()
}
