//! The rules of the verifier that text cannot break: those about parameters, names and references.

#[path = "samples/rows.rs"]
mod rows;

use ir::ops::activation::Relu;
use ir::ops::linear::Linear;
use ir::ops::placeholder::{Output, Placeholder};
use ir::{
    DType, Dim, Graph, Node, NodeId, Operator as _, RULES, RowCoupling, Shape, Tensor, Value,
    verify,
};
use rows::push_rows;

fn linear_graph() -> Graph {
    let mut graph = Graph::new("rules");
    let x = push_rows(&mut graph, 8);
    let linear = Linear {
        in_features: 8,
        out_features: 4,
        bias: true,
    };
    let fc = graph.push(Node::new("fc", "net.fc", linear, &[x.into()]));
    graph.push(Node::new("output", "", Output {}, &[fc.into()]));
    graph
}

/// The rules that are broken, and the report.
fn broken(graph: &Graph) -> (Vec<&'static str>, String) {
    let error = verify(graph).expect_err("a rule is broken");
    (
        error
            .violations
            .iter()
            .map(|violation| violation.rule)
            .collect(),
        error.to_string(),
    )
}

#[test]
fn the_header_lists_every_rule() {
    let source = include_str!("../src/verify.rs");
    for (number, (id, text)) in RULES.iter().enumerate() {
        let line = format!("//! {:>2}. `{id}`: {text}.", number + 1);
        assert!(source.contains(&line), "{line}");
    }
}

#[test]
fn a_good_graph_knows_its_types() {
    let mut graph = linear_graph();
    graph.initialize(1);
    let verified = verify(&graph).unwrap();
    assert_eq!(verified.placeholders(), [NodeId(0)]);
    assert_eq!(verified.output_values(), [Value::from(NodeId(1))]);
    assert_eq!(verified.ty(NodeId(1).into()).to_string(), "f32[N, 4]");
    assert_eq!(verified.input_types(NodeId(1))[0].to_string(), "f32[N, 8]");
    assert!(verified.outputs(NodeId(2)).is_empty());
}

#[test]
fn parameters_have_the_shape_the_operator_asks_for() {
    let mut graph = linear_graph();
    let fc = graph.node_mut(NodeId(1));
    fc.params
        .insert("weight".to_owned(), Tensor::filled(vec![4, 16], 0.0));
    fc.params
        .insert("wieght".to_owned(), Tensor::filled(vec![4, 8], 0.0));
    let (rules, report) = broken(&graph);
    assert_eq!(rules, ["parameter", "parameter"]);
    let expected = "fc (linear): weight: expected shape [4, 8], got [4, 16]\nfc (linear): has no parameter 'wieght'";
    assert_eq!(report, expected);
}

#[test]
fn a_parameter_that_is_not_finite_is_named_with_its_place() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut graph = linear_graph();
        graph.initialize(1);
        let weight = graph.node_mut(NodeId(1)).params.get_mut("weight").unwrap();
        weight.values_mut()[8 * 2 + 3] = bad;
        let (rules, report) = broken(&graph);
        assert_eq!(rules, ["finite"]);
        assert_eq!(
            report,
            format!("fc (linear): weight: the value at [2, 3] is {bad}")
        );
    }
}

#[test]
fn a_stored_mask_may_be_infinite_and_a_trained_tensor_may_not() {
    for (constant, value, expected) in [
        (
            "constant { shape = [4], trained = false }",
            f32::NEG_INFINITY,
            true,
        ),
        ("constant { shape = [4], trained = false }", f32::NAN, false),
        ("constant { shape = [4] }", f32::NEG_INFINITY, false),
    ] {
        let text = format!(
            "graph \"mask\" {{ x: f32[N, 4] = placeholder m = {constant} y = add(x, m) return y }}"
        );
        let mut graph = Graph::parse(&text).unwrap();
        let mask = Tensor::filled(vec![4], value);
        graph
            .node_mut(NodeId(1))
            .params
            .insert("value".to_owned(), mask);
        assert_eq!(verify(&graph).is_ok(), expected, "{constant} {value}");
    }
}

#[test]
fn names_are_unique_identifiers() {
    let mut graph = linear_graph();
    graph.node_mut(NodeId(1)).name = "x".to_owned();
    assert_eq!(broken(&graph).1, "x (linear): node 0 already has this name");
    for name in ["", "1a", "a.b", "a b", "ä", "a-b"] {
        let mut graph = linear_graph();
        graph.node_mut(NodeId(1)).name = name.to_owned();
        assert_eq!(broken(&graph).0, ["name"], "{name}");
    }
}

#[test]
fn inputs_are_results_of_earlier_nodes() {
    let cases = [
        (
            Value {
                node: NodeId(0),
                output: 1,
            },
            "data_in_0: reads result 1 of x, which has 1",
        ),
        (
            Value {
                node: NodeId(1),
                output: 0,
            },
            "data_in_0: reads fc, which is not an earlier node",
        ),
        (
            Value {
                node: NodeId(2),
                output: 0,
            },
            "data_in_0: reads output, which is not an earlier node",
        ),
        (
            Value {
                node: NodeId(99),
                output: 0,
            },
            "data_in_0: reads node 99, which does not exist",
        ),
    ];
    for (input, message) in cases {
        let mut graph = linear_graph();
        graph.node_mut(NodeId(1)).inputs[0] = input;
        let (rules, report) = broken(&graph);
        assert_eq!(rules, ["input"]);
        assert_eq!(report, format!("fc (linear): {message}"));
        // a broken graph can still be looked at
        assert!(graph.to_string().contains("linear("));
    }
}

#[test]
fn a_result_of_the_output_cannot_be_read() {
    let mut graph = linear_graph();
    graph.push(Node::new("late", "", Relu::default(), &[NodeId(2).into()]));
    assert_eq!(broken(&graph).0, ["output", "input"]);
}

#[test]
fn every_output_but_the_last_node_is_blamed() {
    let mut graph = linear_graph();
    graph.push(Node::new("second", "", Output {}, &[NodeId(1).into()]));
    assert_eq!(
        broken(&graph).1,
        "output (output): must be the last node, but second follows"
    );
}

#[test]
fn a_symbol_is_an_identifier() {
    let mut graph = linear_graph();
    let shape = Shape(vec![Dim::symbol("two words"), 8.into()]);
    graph.node_mut(NodeId(0)).op = Placeholder {
        shape,
        dtype: DType::F32,
    }
    .into();
    assert_eq!(broken(&graph).0, ["symbol"]);
}

#[test]
fn an_empty_graph_breaks_two_rules() {
    assert_eq!(broken(&Graph::new("empty")).0, ["placeholder", "output"]);
}

/// A graph from text whose second node is `y`.
fn parsed(statements: &str) -> Graph {
    let text = format!("graph \"g\" {{ x: f32[N, 3, 4] = placeholder\n {statements}\n return y }}");
    Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn a_mean_couples_rows_only_when_it_is_taken_over_them() {
    let coupling = |dim: &str| {
        let graph = parsed(&format!("y = mean(x) {{ dim = {dim} }}"));
        let verified = verify(&graph).unwrap_or_else(|error| panic!("{error}"));
        let y = graph.find("y").unwrap_or_else(|| panic!("no y"));
        graph.node(y).op.row_coupling(&verified.input_types(y))
    };
    assert_eq!(coupling("[1]"), RowCoupling::Independent);
    assert_eq!(coupling("[1, 2]"), RowCoupling::Independent);
    assert_eq!(coupling("[0]"), RowCoupling::Coupled);
    assert_eq!(coupling("[0, 2]"), RowCoupling::Coupled);
}

#[test]
fn an_adapter_is_a_linear_layer_of_its_name() {
    let is_adapter = |statement: &str| {
        let graph = parsed(&format!("{statement}\n y = relu(x)"));
        graph.nodes()[1].is_adapter()
    };
    let linear = |name: &str| format!("{name} = linear(x) {{ in_features = 4, out_features = 2 }}");
    assert!(is_adapter(&linear("fc_lora_a")));
    assert!(is_adapter(&linear("fc_lora_b")));
    assert!(!is_adapter(&linear("fc")));
    assert!(!is_adapter("fc_lora_a = relu(x)"));
}

#[test]
fn a_wrong_node_with_a_long_body_is_one_error() {
    let text = "graph \"g\" {\n x: f32[N, 4] = placeholder\n y = linaer(x) {\n  in_features = 4,\n  out_features = 2,\n  bias = true\n }\n return y\n}";
    let errors = Graph::parse(text).map(|_| ()).unwrap_err().to_string();
    assert_eq!(errors.matches("unknown op").count(), 1, "{errors}");
    assert!(!errors.contains("in_features"), "{errors}");
}

/// The bound of every placeholder of a graph from text, by its name.
fn index_bounds(text: &str) -> Vec<(String, Option<usize>)> {
    let graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
    let verified = verify(&graph).unwrap_or_else(|error| panic!("{error}"));
    let inputs = verified.placeholders().into_iter();
    inputs
        .map(|id| (graph.node(id).name.clone(), verified.index_bound(id)))
        .collect()
}

#[test]
fn indices_are_bounded_by_the_smallest_embedding_that_they_reach() {
    let bounds = index_bounds(
        "graph \"g\" {
           many: i64[N, 4] = placeholder
           few: i64[N, 4] = placeholder
           unread: i64[N, 4] = placeholder
           scores: f32[N, 4] = placeholder
           large = embedding(many) { num_embeddings = 10, embedding_dim = 3 }
           turned = reshape(many) { shape = [N, 2, 2] }
           half = getitem(turned) { index = \":, 0\" }
           small = embedding(half) { num_embeddings = 7, embedding_dim = 3 }
           larger = embedding(turned) { num_embeddings = 9, embedding_dim = 3 }
           one = embedding(few) { num_embeddings = 12, embedding_dim = 3 }
           best = argmax(scores)
           chosen = embedding(best) { num_embeddings = 4, embedding_dim = 3 }
           return large, small, larger, one, chosen, unread
         }",
    );
    let expected = [
        ("many", Some(7)),
        ("few", Some(12)),
        ("unread", None),
        // Numbers that no embedding reads; the index made of them is always in range.
        ("scores", None),
    ];
    let expected = expected.map(|(name, bound)| (name.to_owned(), bound));
    assert_eq!(bounds, expected);
}

/// A gather bounds its indices by the axis that it picks from, and its values not at all.
#[test]
fn indices_are_bounded_by_the_axis_that_they_pick_from() {
    let bounds = index_bounds(
        "graph \"g\" {
           places: i64[N, 2] = placeholder
           numbers: i64[5, 3] = placeholder
           table = constant { shape = [9, 4] }
           columns = gather(table, places) { dim = -1 }
           rows = gather(table, places)
           other = gather(numbers, places) { dim = 0 }
           summed = add(places, places)
           small = embedding(summed) { num_embeddings = 3, embedding_dim = 2 }
           return columns, rows, other, small
         }",
    );
    // Sums are other numbers than the places that they are made of.
    let expected = [("places", Some(4)), ("numbers", None)];
    let expected = expected.map(|(name, bound)| (name.to_owned(), bound));
    assert_eq!(bounds, expected);
}

#[test]
fn a_row_is_as_wide_as_all_inputs_together() {
    let width = |text: &str| {
        let graph = Graph::parse(text).unwrap_or_else(|errors| panic!("{errors}"));
        let verified = verify(&graph).unwrap_or_else(|error| panic!("{error}"));
        verified.input_width()
    };
    assert_eq!(
        width("graph \"g\" { x: f32[N, 3, 4] = placeholder return x }"),
        12
    );
    let two =
        "graph \"g\" { x: f32[N, 3, 4] = placeholder y: i64[2*N, 5] = placeholder return x, y }";
    assert_eq!(width(two), 22);
}
