//! The worked example of the book: a pass of one's own, shown on the page, compiled and run here.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod my_flops;

use config::{Reader, Table};
use ir::Graph;
use my_flops::MyFlops;
use passes::{Context, Pass, PassEntry, PassError, Program};
use std::path::Path;

fn model(name: &str) -> Graph {
    let mut graph = models::build(name, &models::ModelInfo::default()).unwrap();
    graph.initialize(0);
    graph
}

fn my_flops(graph: &mut Graph) -> Result<u64, PassError> {
    let table = Table::parse("batch_size = 8").unwrap();
    let mut reader = Reader::new(&table, 0..0);
    let pass = MyFlops::read(&mut reader);
    assert!(reader.finish().is_empty());
    let report = pass.run(graph, &mut Context::new(&graph.clone(), None))?;
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
fn the_page_shows_this_file() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/own-pass.md");
    let page = std::fs::read_to_string(page).unwrap();
    let file = include_str!("my_flops.rs");
    let shown = format!("```rust\n{file}```");
    assert!(
        page.contains(&shown),
        "docs/own-pass.md shows another my_flops.rs"
    );
}
