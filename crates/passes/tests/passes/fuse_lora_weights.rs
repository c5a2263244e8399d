//! Fused adapters give what they gave beside the layer.

use crate::network::{assert_near, jets, model, outputs, run};

#[test]
fn outputs_of_trained_adapters_stay_as_they_were() {
    let data = jets();
    let mut graph = model("jsc-s", 3);
    let plain = graph.without_params();
    run(&mut graph, None, 0, "[insert_lora_adapter]\nrank = 2\n");
    for index in 0..graph.nodes().len() {
        let node = graph.node_mut(ir::NodeId(index as u32));
        if node.name.ends_with("_lora_b") {
            let weight = node.params.get_mut("weight").unwrap();
            weight.values_mut().fill(0.25);
        }
    }
    let before = outputs(&graph, &data);
    run(&mut graph, None, 0, "[fuse_lora_weights]\n");
    assert_eq!(graph.without_params(), plain);
    assert_near(&outputs(&graph, &data), &before);
}
