//! The data of the page: what it says of a network, and of two.

use super::{Fact, Page};
use crate::compare::Compare;
use data::{Rows, Split};
use format::Format;
use ir::Graph;
use random::Random;
use serde_json::{Map, Value as Json, json};
use std::sync::Arc;

const TEXT: &str = "graph \"g\" { x: f32[N, 4] = placeholder
 a = linear(x) { target = \"block.0.fc\", in_features = 4, out_features = 8 }
 r = relu(a) { target = \"block.0.act\" }
 b = linear(r) { target = \"block.1.fc\", in_features = 8, out_features = 3 }
 return b }";

fn graph(text: &str) -> Graph {
    let mut graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
    graph.initialize(3);
    graph
}

fn quantized() -> Graph {
    let mut graph = graph(TEXT);
    for name in ["a", "b"] {
        let id = graph.find(name).unwrap_or_else(|| panic!("no {name}"));
        for port in ["data_in_0", "weight", "bias"] {
            let format = Format::parse("integer(5, 3)").unwrap_or_else(|e| panic!("{e}"));
            graph.node_mut(id).formats.insert(port.to_owned(), format);
        }
    }
    graph
}

fn rows() -> Split {
    let random = Random::new(1, "rows");
    let rows = Rows {
        values: (0..400).map(|k| random.normal(k)).collect(),
        labels: (0..100).map(|k| k % 3).collect(),
        width: 4,
    };
    Split::new(Arc::new(rows), (0..100).collect())
}

fn page<'a>(graph: &'a Graph, against: Option<&'a Graph>, rows: Option<&'a Split>) -> Page<'a> {
    Page {
        title: "t",
        network: ("g", graph),
        against: against.map(|graph| ("before", graph)),
        rows,
        is_labelled: true,
        facts: vec![Fact {
            name: "model".to_owned(),
            before: Json::Null,
            after: json!("g"),
            about: "the network".to_owned(),
        }],
        terms: Map::new(),
        training: None,
        search: None,
        is_timed: false,
        with_weights: false,
        threads: 1,
    }
}

fn data(page: &Page) -> Json {
    page.data().unwrap_or_else(|error| panic!("{error}"))
}

fn fact<'a>(data: &'a Json, name: &str) -> &'a Json {
    let facts = data["facts"].as_array().into_iter().flatten();
    facts
        .into_iter()
        .find(|fact| fact["name"] == name)
        .unwrap_or(&Json::Null)
}

#[test]
fn a_network_is_drawn_counted_and_profiled() {
    let (graph, rows) = (graph(TEXT), rows());
    let data = data(&page(&graph, None, Some(&rows)));
    assert_eq!(data["version"], 1);
    let nodes = data["graph"]["nodes"].as_array().map_or(0, Vec::len);
    assert_eq!(nodes, 5);
    assert_eq!(data["graph"]["nodes"][1]["inputs"], json!([0]));
    assert_eq!(data["graph"]["nodes"][1]["kind"], "product");
    assert_eq!(data["graph"]["nodes"][1]["macs"], 32);
    let text = data["graph"]["nodes"][1]["text"].as_str().unwrap_or("");
    assert!(text.starts_with("a = linear(x)"), "{text}");
    // Open, with the two inner blocks closed, and with the block closed. The second has one node.
    let views = data["graph"]["views"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let boxes = |view: &Json| view["boxes"].as_array().map_or(0, Vec::len);
    assert_eq!(views.iter().map(boxes).collect::<Vec<_>>(), [5, 4, 3]);
    assert_eq!(fact(&data, "model")["after"], "g");
    assert_eq!(fact(&data, "MACs")["after"], 32 + 24);
    assert_eq!(fact(&data, "rows")["after"], 100);
    assert!(fact(&data, "accuracy")["after"].is_number());
    let ports = data["ports"].as_array().cloned().unwrap_or_default();
    let names: Vec<&str> = ports
        .iter()
        .filter_map(|port| port["port"].as_str())
        .collect();
    assert_eq!(
        names,
        ["data_in_0", "weight", "bias", "data_in_0", "weight", "bias"]
    );
    assert_eq!(ports[0]["count"], 400);
    assert_eq!(data["sentences"], json!([]));
}

#[test]
fn errors_are_those_of_compare() {
    let (before, after, rows) = (graph(TEXT), quantized(), rows());
    let data = data(&page(&after, Some(&before), Some(&rows)));
    let compare = Compare {
        a: ("before", &before),
        b: ("g", &after),
        rows: &rows,
        threads: 1,
    };
    let report = compare.report().unwrap_or_else(|error| panic!("{error}"));
    let errors = report.facts["node_errors"].as_array().cloned();
    let mut checked = 0;
    for error in errors.unwrap_or_default() {
        let nodes = data["graph"]["nodes"].as_array().into_iter().flatten();
        let node = nodes.into_iter().find(|node| node["name"] == error["node"]);
        let (Some(sqnr), Some(node)) = (error["sqnr_db"].as_f64(), node) else {
            continue;
        };
        let shown = node["sqnr"].as_f64().unwrap_or(f64::NAN);
        assert!((shown - sqnr).abs() < 1e-3 * sqnr.abs(), "{node}: {sqnr}");
        checked += 1;
    }
    assert!(checked >= 2, "{checked} nodes were checked");
    let node = &data["graph"]["nodes"][1];
    assert_eq!(node["state"], "changed");
    assert_eq!(node["formats"][0]["before"], "float32");
    assert!(node["before"]["bitops"].as_f64() > node["bitops"].as_f64());
    assert_eq!(data["graph"]["nodes"][2]["state"], "same");
    assert_eq!(data["sentences"].as_array().map_or(0, Vec::len), 3);
}

#[test]
fn nodes_of_one_network_alone_are_added_or_removed() {
    let before = graph(TEXT);
    let after = graph(
        &TEXT
            .replace("r = relu(a)", "s = gelu(a)")
            .replace("linear(r)", "linear(s)"),
    );
    let data = data(&page(&after, Some(&before), None));
    let states = |name: &str| {
        let nodes = data["graph"]["nodes"].as_array().into_iter().flatten();
        let node = nodes.into_iter().find(|node| node["name"] == name);
        node.map(|node| node["state"].clone())
    };
    assert_eq!(states("s"), Some(json!("added")));
    assert_eq!(states("r"), Some(json!("removed")));
    let view = &data["graph"]["views"][0];
    assert_eq!(view["boxes"].as_array().map_or(0, Vec::len), 6);
    assert_eq!(
        view["edges"].as_array().map_or(0, Vec::len),
        6,
        "two past the one that is gone"
    );
}

#[test]
fn the_same_networks_give_the_same_bytes() {
    let (graph, rows) = (quantized(), rows());
    let text = || data(&page(&graph, Some(&graph), Some(&rows))).to_string();
    assert_eq!(text(), text());
}

#[test]
fn times_and_weights_are_there_when_asked_for() {
    let (graph, rows) = (graph(TEXT), rows());
    let asked = Page {
        is_timed: true,
        with_weights: true,
        ..page(&graph, None, Some(&rows))
    };
    let data = data(&asked);
    let nodes = data["graph"]["nodes"].as_array().cloned();
    let times = nodes.unwrap_or_default();
    let times = times.iter().filter_map(|node| node["time"].as_f64());
    let sum: f64 = times.sum();
    assert!((sum - 1.0).abs() < 1e-2, "{sum}");
    let ports = data["ports"].as_array().cloned().unwrap_or_default();
    let counts = ports.iter().filter_map(|port| port["values"].as_array());
    assert_eq!(counts.map(Vec::len).collect::<Vec<_>>(), [32, 8, 24, 3]);
}
