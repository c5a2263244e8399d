//! A saved graph is the graph.

use crate::network::{jets, model, run};
use passes::interface::{graph_file, graph_hash, read_graph_file};
use std::path::Path;

#[test]
fn formats_masks_and_statistics_come_back() {
    let mut graph = model("jsc-toy", 3);
    let passes = "[prune.weight]\nsparsity = 0.5\n[quantize.linear.config]\nname = \"integer\"\nweight_width = 8\n\
                  [add_natural_sparsity]\n";
    run(&mut graph, &jets(), 0, passes);
    let bytes = graph_file(&graph, &data::Preparation::default()).unwrap();
    let (read, _) = read_graph_file(Path::new("graph.mz"), &bytes).unwrap();
    assert_eq!(read, graph);
    assert_eq!(graph_hash(&read), graph_hash(&graph));
}
