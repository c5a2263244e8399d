//! Random valid graphs run without a panic: a bounded number here, any number with `fuzz/run`.

#[path = "support/random_graph.rs"]
mod random_graph;

use random::Random;
use random_graph::{Choices, graph, run};

fn try_bytes(bytes: &[u8]) -> usize {
    let mut choices = Choices::new(bytes);
    let graph = graph(&mut choices);
    run(&graph, &mut choices);
    graph.nodes().len()
}

#[test]
fn random_graphs_run_without_a_panic() {
    let mut largest = 0;
    for seed in 0..600 {
        let random = Random::new(seed, "graph");
        let bytes: Vec<u8> = (0..400).map(|k| random.bits(k) as u8).collect();
        largest = largest.max(try_bytes(&bytes));
    }
    assert!(
        largest > 10,
        "the generator made only small graphs: {largest} nodes"
    );
}

/// What fuzzing has found stays found.
#[test]
fn earlier_findings_run_without_a_panic() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/findings/graphs");
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if let Ok(bytes) = std::fs::read(file.path()) {
            try_bytes(&bytes);
        }
    }
}
