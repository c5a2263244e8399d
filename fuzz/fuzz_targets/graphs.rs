//! Any bytes as choices of a random valid graph: it verifies, compiles and runs, forward and backward, without a panic.
#![no_main]

#[path = "../../crates/engine/tests/support/random_graph.rs"]
mod random_graph;

use libfuzzer_sys::fuzz_target;
use random_graph::{Choices, graph, run};

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices::new(data);
    let graph = graph(&mut choices);
    run(&graph, &mut choices);
});
