//! What is saved of the metadata can be loaded.

use crate::network::{INTEGER, jets, model, run};

#[test]
fn formats_and_statistics_come_back() {
    let mut graph = model("jsc-toy", 3);
    let quantize = format!("[quantize.linear.config]\n{INTEGER}[add_natural_sparsity]\n");
    run(&mut graph, &jets(), 0, &quantize);
    let before = graph.clone();
    let passes = "[save_node_meta_param]\nsave_path = \"meta.toml\"\n[quantize.linear.config]\nname = \"integer\"\n\
                  weight_width = 2\n[load_node_meta_param]\nload_path = \"meta.toml\"\n";
    run(&mut graph, None, 0, passes);
    assert_eq!(graph, before);
}
