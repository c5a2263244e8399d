//! The check values that users compare with: FLOPs, bit operations and parameters of jsc-tiny.

use ir::{Graph, NodeId, Verified, verify};

const JSC_TINY: &str = include_str!("golden/jsc_tiny.mg");
const BATCH: usize = 8;

fn jsc_tiny() -> Graph {
    let text = JSC_TINY
        .split_once("----")
        .map_or(JSC_TINY, |(text, _)| text);
    Graph::parse(text).expect("the golden file parses")
}

fn layers(verified: &Verified) -> Vec<NodeId> {
    let nodes = verified.graph().iter();
    nodes
        .filter(|(_, node)| !node.target.is_empty())
        .map(|(id, _)| id)
        .collect()
}

fn bit_operations(verified: &Verified) -> f64 {
    let layers = layers(verified).into_iter();
    let counted = layers.map(|id| {
        let node = verified.graph().node(id);
        let bits = |port: &str| {
            node.formats
                .get(port)
                .map_or(32.0, |format| format.bits(&[1]))
        };
        let cost = verified.cost(id, BATCH).expect("a small batch");
        cost.bit_operations(bits("data_in_0"), bits("weight"), bits("bias"))
    });
    counted.sum()
}

#[test]
fn jsc_tiny_has_the_flops_of_the_labs() {
    let graph = jsc_tiny();
    let verified = verify(&graph).unwrap();
    let flops: Vec<u64> = layers(&verified)
        .iter()
        .map(|&id| verified.cost(id, BATCH).unwrap().flops)
        .collect();
    assert_eq!(flops, [512, 128, 640, 40]);
}

#[test]
fn jsc_tiny_has_the_bit_operations_of_the_labs() {
    let mut graph = jsc_tiny();
    assert_eq!(bit_operations(&verify(&graph).unwrap()), 575_744.0);
    let linear = graph.find("seq_blocks.2").unwrap();
    graph.node_mut(linear).formats.clear();
    assert_eq!(bit_operations(&verify(&graph).unwrap()), 1_205_504.0);
}

#[test]
fn jsc_tiny_has_117_parameters() {
    let mut graph = jsc_tiny();
    assert_eq!(graph.trained_parameter_count(), 117);
    graph.initialize(0);
    let names: Vec<String> = graph.parameters().map(|(name, _)| name).collect();
    let expected = [
        "seq_blocks.0.weight",
        "seq_blocks.0.bias",
        "seq_blocks.0.running_mean",
        "seq_blocks.0.running_var",
        "seq_blocks.2.weight",
        "seq_blocks.2.bias",
    ];
    assert_eq!(names, expected);
}
