//! Comparisons tell apart what differs, and give programs plain numbers.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use data::OpenOptions;
use ir::Graph;
use passes::PassReport;
use passes::compare::Compare;
use serde_json::Value as Json;

fn model(name: &str) -> Graph {
    let mut graph = models::build(name, &models::ModelInfo::default()).unwrap();
    graph.initialize(3);
    graph
}

fn compare(a: &Graph, b: &Graph, rows: usize) -> PassReport {
    let data = data::open("jsc-sim", &OpenOptions::default()).unwrap();
    let compare = Compare {
        a: ("a", a),
        b: ("b", b),
        rows: &data.train.head(rows),
        threads: 1,
    };
    compare.report().unwrap()
}

/// The rows of the table of nodes that only one network has, if it is shown.
fn changes(report: &PassReport) -> Option<usize> {
    let mut tables = report.tables();
    let (_, table) = tables.find(|(name, _)| *name == "changes")?;
    Some(table.rows.len())
}

#[test]
fn nodes_of_other_shapes_are_not_equal() {
    let report = compare(&model("jsc-tiny"), &model("jsc-toy"), 50);
    assert!(changes(&report).is_some_and(|rows| rows > 0));
    let text = report.to_text();
    assert!(!text.contains("equal to the bit"), "{text}");
    let nodes = report.facts["node_errors"].as_array().unwrap();
    let apart = nodes.iter().find(|node| node["exact"] == false).unwrap();
    assert_eq!(report.facts["first_difference"], apart["node"]);
    assert!(nodes.iter().any(|node| node["largest_error"].is_null()));
    let (_, table) = report.tables().next().unwrap();
    assert!(table.rows.iter().any(|row| row[5] == "-"), "{text}");
}

#[test]
fn a_network_equals_itself_over_more_than_a_batch() {
    let graph = model("jsc-toy");
    let report = compare(&graph, &graph, 2500);
    assert_eq!(changes(&report), None);
    assert!(report.to_text().contains("equal to the bit"));
    assert_eq!(report.facts["rows"], 2500);
    assert_eq!(report.facts["exact"], true);
    assert_eq!(report.facts["sqnr_db"], Json::Null);
    assert_eq!(report.facts["agreement"], 1.0);
    assert_eq!(report.facts["first_difference"], Json::Null);
}

#[test]
fn what_is_not_finite_is_not_equal() {
    let (a, mut b) = (model("jsc-toy"), model("jsc-toy"));
    let is_linear = |(_, node): &(ir::NodeId, &ir::Node)| node.op.name() == "linear";
    let id = b.iter().rfind(is_linear).unwrap().0;
    let weight = b.node_mut(id).params.get_mut("weight").unwrap();
    weight.values_mut().fill(f32::MAX);
    let report = compare(&a, &b, 50);
    assert_eq!(report.facts["first_difference"], b.node(id).name.as_str());
    assert_eq!(report.facts["exact"], false);
    assert_eq!(report.facts["largest_difference"], Json::Null);
}

#[test]
fn programs_get_plain_numbers() {
    let (a, mut b) = (model("jsc-toy"), model("jsc-toy"));
    let id = b.find("seq_blocks_2").unwrap();
    let format = format::Format::parse("integer(8, 4)").unwrap();
    b.node_mut(id)
        .formats
        .insert("data_in_0".to_owned(), format);
    let report = compare(&a, &b, 50);
    assert!(report.facts["sqnr_db"].as_f64().unwrap() > 0.0);
    for node in report.facts["node_errors"].as_array().unwrap() {
        let is_number = |key: &str| node[key].is_number() || node[key].is_null();
        for key in ["sqnr_db", "cosine", "largest_error", "saturated"] {
            assert!(is_number(key), "{node}");
        }
        assert_eq!(node["sqnr_db"].is_null(), node["exact"] == true, "{node}");
        assert_eq!(
            node["saturated"].is_number(),
            node["node"] == "seq_blocks_2"
        );
    }
    let (_, table) = report.tables().next().unwrap();
    let shares = table.rows.iter().map(|row| (&row[0], &row[8]));
    for (node, share) in shares.filter(|(node, _)| *node != "seq_blocks_2") {
        assert_eq!(share, "0.00%", "{node}");
    }
}

#[test]
fn the_share_that_saturates_is_that_of_the_values_out_of_range() {
    let text = "graph \"g\" { x: f32[N, 16] = placeholder y = relu(x) return y }";
    let a = Graph::parse(text).unwrap();
    let b = Graph::parse(&text.replace("relu(x)", "relu(x: integer(4, 3))")).unwrap();
    let rows = 1500;
    let report = compare(&a, &b, rows);
    let data = data::open("jsc-sim", &OpenOptions::default()).unwrap();
    let head = data.train.head(rows);
    // Half of a step beyond the ends -1 and 0.875 still rounds to them.
    let mut outside = 0;
    for &row in head.indices() {
        let values = &head.rows()[row as usize * 16..][..16];
        outside += values
            .iter()
            .filter(|x| !(-1.0625..=0.9375).contains(*x))
            .count();
    }
    let share = outside as f64 / (rows * 16) as f64;
    let found = report.facts["node_errors"][1]["saturated"]
        .as_f64()
        .unwrap();
    assert!(
        share > 0.1 && (found - share).abs() < 0.01,
        "{found}, {share}"
    );
}
