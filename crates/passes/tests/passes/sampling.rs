//! Nodes that a pass is told to work on.

use crate::network::{jets, model, quantize, try_run};

#[test]
fn names_that_a_pass_cannot_use_are_problems() {
    for pass in ["calibrate", "gptq", "correct_bias"] {
        let rules = quantize(&["linear"], 8);
        let passes = format!("{rules}[{pass}]\nnodes = [\"module_list_22\", \"module_list_1\"]\n");
        let error = try_run(&mut model("jsc-s", 5), &jets(), 0, &passes).unwrap_err();
        let text = format!("{error:?}");
        assert!(text.contains("has no node 'module_list_22'"), "{text}");
        assert!(text.contains("module_list_1 (relu) is not"), "{text}");
    }
}

#[test]
fn a_pass_works_on_the_nodes_that_it_is_told_to() {
    let before = model("jsc-s", 5);
    let mut graph = before.clone();
    let rules = quantize(&["linear"], 4);
    let layers: Vec<&str> = before
        .nodes()
        .iter()
        .filter(|node| node.op.name() == "linear")
        .map(|node| node.name.as_str())
        .collect();
    let passes = format!(
        "{rules}[gptq]\nnum_samples = 64\nnodes = [\"{0}\", \"{0}\"]\n",
        layers[1]
    );
    let reports = try_run(&mut graph, &jets(), 0, &passes).unwrap();
    let (_, table) = reports[1].report.tables().next().unwrap();
    assert_eq!(table.rows.len(), 1);
    for (old, new) in before.nodes().iter().zip(graph.nodes()) {
        assert_eq!(
            old.params != new.params,
            new.name == layers[1],
            "{}",
            new.name
        );
    }
}
