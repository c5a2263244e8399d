//! The worked example of the book: a pass of one's own, shown on the page, compiled and run here.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod my_flops;
mod open_outputs;

use config::{Reader, Table};
use ir::Graph;
use my_flops::MyFlops;
use open_outputs::OpenOutputs;
use passes::{Context, Pass, PassEntry, PassError, PassReport, Program};
use std::path::Path;

fn model(name: &str) -> Graph {
    let mut graph = models::build(name, &models::ModelInfo::default()).unwrap();
    graph.initialize(0);
    graph
}

/// The report of a pass with a config.
fn report_of<P: Pass>(graph: &mut Graph, config: &str) -> Result<PassReport, PassError> {
    let table = Table::parse(config).unwrap();
    let mut reader = Reader::new(&table, 0..0);
    let pass = P::read(&mut reader);
    assert!(reader.finish().is_empty());
    pass.run(graph, &mut Context::new(&graph.clone(), None))
}

fn my_flops(graph: &mut Graph) -> Result<u64, PassError> {
    let report = report_of::<MyFlops>(graph, "batch_size = 8")?;
    Ok(report.facts["total_flops"].as_u64().unwrap())
}

/// Runs passes of the table and gives a number of the last report.
fn run(graph: &mut Graph, config: &str, fact: &str) -> Option<u64> {
    let program = Program::read(&Table::parse(config).unwrap()).unwrap_or_else(|p| panic!("{p:?}"));
    let mut context = Context::new(graph, None);
    let reports = program.run(graph, &mut context, |_, _, _| {}).unwrap();
    reports.last().unwrap().report.facts.get(fact)?.as_u64()
}

#[test]
fn it_counts_what_lab_2_counts() {
    let mut graph = model("jsc-tiny");
    assert_eq!(my_flops(&mut graph).unwrap(), 1320);
    let rule =
        "[quantize.linear.config]\nname = \"integer\"\ndata_in_width = 8\nweight_width = 8\n";
    run(&mut graph, rule, "");
    assert_eq!(my_flops(&mut graph).unwrap(), 680);
}

#[test]
fn it_agrees_with_the_pass_of_the_table() {
    for name in ["jsc-tiny", "jsc-toy", "jsc-s", "jsc-lab1", "jsc-lab1-large"] {
        let mut graph = model(name);
        let counted = run(&mut graph, "[count_flops]\nbatch_size = 8\n", "total_flops");
        assert_eq!(my_flops(&mut graph).unwrap(), counted.unwrap(), "{name}");
    }
}

#[test]
fn what_it_does_not_know_it_refuses_by_name() {
    let error = my_flops(&mut model("jsc-trt")).unwrap_err().to_string();
    assert_eq!(error, "seq_blocks_8 (dropout): has no formula here");
}

#[test]
fn its_line_in_the_table_is_one() {
    let entry = PassEntry::analysis::<MyFlops>();
    assert_eq!((entry.name, entry.kind.name()), ("my_flops", "analysis"));
}

#[test]
fn the_last_relu_is_removed_and_no_other() {
    let mut graph = model("jsc-toy");
    let is_relu = |node: &&ir::Node| node.op.name() == "relu";
    let relus = |graph: &Graph| graph.nodes().iter().filter(is_relu).count();
    let before = relus(&graph);
    report_of::<OpenOutputs>(&mut graph, "").unwrap();
    ir::verify(&graph).unwrap();
    assert_eq!(relus(&graph), before - 1);
    let output = graph.nodes().last().unwrap();
    let last = graph.node(output.inputs[0].node);
    assert_eq!(last.op.name(), "batch_norm1d");
    // Nothing is left to remove.
    let opened = graph.clone();
    report_of::<OpenOutputs>(&mut graph, "").unwrap();
    assert_eq!(graph, opened);
}

#[test]
fn the_page_shows_these_files_and_what_they_report() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/own-pass.md");
    let page = std::fs::read_to_string(page).unwrap();
    for file in [include_str!("my_flops.rs"), include_str!("open_outputs.rs")] {
        let shown = format!("```rust\n{file}```");
        assert!(
            page.contains(&shown),
            "docs/own-pass.md shows another\n{file}"
        );
    }
    let counted = report_of::<MyFlops>(&mut model("jsc-tiny"), "").unwrap();
    let opened = report_of::<OpenOutputs>(&mut model("jsc-tiny"), "").unwrap();
    for report in [counted, opened] {
        let text = report.to_text();
        assert!(
            page.contains(text.trim_end()),
            "docs/own-pass.md shows another\n{text}"
        );
    }
}
