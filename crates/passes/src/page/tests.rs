//! The data of the page: what it says of a network, and of two.

use super::{Fact, MAX_DETAILED, Page, is_detailed};
use crate::compare::Compare;
use data::{Rows, Split};
use format::Format;
use ir::{Graph, Node, ops::placeholder::Output};
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

/// A format of its own for every port, so that no two can be mixed up.
fn quantized_by_port() -> Graph {
    let mut graph = graph(TEXT);
    for (at, node) in [1, 3].into_iter().enumerate() {
        for (k, port) in ["data_in_0", "weight", "bias"].into_iter().enumerate() {
            let format = format!("integer({}, 3)", 4 + 3 * at + k);
            let format = Format::parse(&format).unwrap_or_else(|e| panic!("{e}"));
            let node = graph.node_mut(ir::NodeId(node));
            node.formats.insert(port.to_owned(), format);
        }
    }
    graph
}

#[test]
fn a_port_is_shown_beside_what_it_was_rounded_to_before() {
    let (float, rounded, rows) = (graph(TEXT), quantized_by_port(), rows());
    let before = |after: &Graph, before: &Graph| -> Vec<Json> {
        let data = data(&page(after, Some(before), Some(&rows)));
        let ports = data["ports"].as_array().into_iter().flatten();
        ports.map(|port| port["before"]["format"].clone()).collect()
    };
    let formats = [4, 5, 6, 7, 8, 9].map(|width| json!(format!("integer({width}, 3)")));
    assert_eq!(before(&float, &rounded), formats);
    assert_eq!(before(&rounded, &rounded), formats);
    assert_eq!(before(&rounded, &float), [(); 6].map(|()| json!("float32")));
    assert_eq!(before(&float, &float), [(); 6].map(|()| Json::Null));
    let data = data(&page(&float, Some(&rounded), Some(&rows)));
    assert_eq!(data["ports"][0]["before"]["range"], json!([-1, 0.875]));
    assert_eq!(data["ports"][0]["before"]["step"], json!(0.125));
}

#[test]
fn accuracy_is_the_share_of_rows_whose_first_largest_output_is_their_class() {
    let graph = graph("graph \"g\" { x: f32[N, 3] = placeholder y = relu(x) return y }");
    let values = [
        [3.0, 1.0, 2.0],
        [0.0, 5.0, 5.0],
        [0.0, 5.0, 5.0],
        [-3.0, -2.0, -1.0],
        [0.0, 0.0, 1.0],
    ];
    let labels = vec![0, 1, 2, 0, 1];
    let rows = Rows {
        values: values.concat(),
        labels,
        width: 3,
    };
    let rows = Split::new(Arc::new(rows), (0..5).collect());
    let shown = |is_labelled: bool| {
        let page = Page {
            is_labelled,
            ..page(&graph, Some(&graph), Some(&rows))
        };
        let data = data(&page);
        let line = fact(&data, "accuracy");
        [line["before"].clone(), line["after"].clone()]
    };
    // Of the ties, the second row is right and the third is not; the fourth is all zeros behind the activation.
    assert_eq!(shown(true), [json!(0.6), json!(0.6)]);
    assert_eq!(shown(false), [Json::Null, Json::Null]);
}

#[test]
fn totals_are_those_of_both_networks() {
    let (before, after) = (graph(TEXT), quantized());
    let data = data(&page(&after, Some(&before), None));
    let bit_ops = |bits: u64| (32 + 24) * (bits * bits + bits);
    for (name, wanted) in [
        ("parameters", [40 + 27, 40 + 27]),
        ("bytes", [4 * (40 + 27), 25 + 17]),
        ("MACs", [32 + 24, 32 + 24]),
        // Products by their operands' bits and the wider of bias and input, and 8 values of 32 bits that are rectified.
        ("BitOPs", [bit_ops(32) + 8 * 32, bit_ops(5) + 8 * 32]),
    ] {
        let line = fact(&data, name);
        assert_eq!(
            [&line["before"], &line["after"]],
            [&json!(wanted[0]), &json!(wanted[1])],
            "{name}"
        );
    }
    assert_eq!(fact(&data, "unknown nodes"), &Json::Null);
    assert_eq!(fact(&data, "rows"), &Json::Null);
}

#[test]
fn details_are_left_out_of_a_network_of_more_nodes() {
    let mut graph = Graph::new("g");
    for k in 0..MAX_DETAILED {
        graph.push(Node::new(&format!("n{k}"), "", Output {}, &[]));
    }
    assert!(is_detailed(&graph));
    graph.push(Node::new("last", "", Output {}, &[]));
    assert!(!is_detailed(&graph));
    let data = data(&page(&self::graph(TEXT), None, None));
    assert!(data["graph"]["nodes"][1]["attributes"].is_array());
    assert!(data["ports"][0]["logarithmic"].is_object());
}

#[test]
fn a_node_that_is_gone_keeps_the_inputs_that_are_left() {
    let before = graph(TEXT);
    let after = graph(
        &TEXT
            .replace("r = relu(a)", "s = gelu(a)")
            .replace("linear(r)", "linear(s)"),
    );
    let data = data(&page(&after, Some(&before), None));
    let nodes = data["graph"]["nodes"].as_array().cloned();
    let shown = nodes.unwrap_or_default();
    let shown = shown.iter().map(|node| {
        let name = node["name"].as_str().unwrap_or_default().to_owned();
        (name, node["inputs"].clone())
    });
    let shown: Vec<(String, Json)> = shown.collect();
    let wanted = [
        ("x", Json::Null),
        ("a", json!([0])),
        ("s", json!([1])),
        ("b", json!([2])),
        ("output", json!([3])),
        ("r", json!([1])),
    ];
    assert_eq!(
        shown,
        wanted.map(|(name, inputs)| (name.to_owned(), inputs))
    );
}
