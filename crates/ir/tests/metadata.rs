//! Metadata in the layout that the labs print.

use format::StoredArray;
use ir::{Graph, Node, common, metadata, torch_repr, verify};
use serde_json::json;

const JSC_TINY: &str = include_str!("golden/jsc_tiny.mg");

fn jsc_tiny() -> Graph {
    let text = JSC_TINY
        .split_once("----")
        .map_or(JSC_TINY, |(text, _)| text);
    Graph::parse(text).expect("the golden file parses")
}

fn common_text(graph: &Graph, node: &str) -> String {
    let verified = verify(graph).expect("the graph is good");
    let id = graph.find(node).expect("the node is there");
    serde_json::to_string(&common(&verified, id, 8)).expect("metadata is JSON")
}

#[test]
fn common_metadata_has_the_layout_of_the_labs() {
    let mut graph = jsc_tiny();
    let linear = graph.find("seq_blocks_2").unwrap();
    graph.node_mut(linear).formats.clear();
    let float = r#""torch_dtype":"torch.float32","type":"float","precision":[32]"#;
    let expected = [
        r#"{"mase_type":"module_related_func","mase_op":"linear","args":{"data_in_0":{"shape":[8,16],"#,
        float,
        r#"},"weight":{"shape":[5,16],"#,
        float,
        r#"},"bias":{"shape":[5],"#,
        float,
        r#"}},"results":{"data_out_0":{"shape":[8,5],"#,
        float,
        "}}}",
    ];
    assert_eq!(common_text(&graph, "seq_blocks_2"), expected.concat());
}

#[test]
fn a_quantized_layer_shows_its_formats_and_its_exact_result() {
    let text = common_text(&jsc_tiny(), "seq_blocks_2");
    let integer = r#""type":"integer","precision":[8,4]"#;
    assert_eq!(text.matches(integer).count(), 3, "{text}");
    assert!(
        text.ends_with(r#""type":"integer","precision":[20,8]}}}"#),
        "{text}"
    );
    // the layer after it was not quantised
    let relu = common_text(&jsc_tiny(), "seq_blocks_3");
    assert_eq!(
        relu.matches(r#""type":"float","precision":[32]"#).count(),
        2,
        "{relu}"
    );
}

/// With stored fields the result is as wide as the widest place at the finest step; before they have values it is float.
#[test]
fn stored_fields_count_with_their_widest_place_and_finest_step() {
    let cases = [
        // 16·(128·128·2^2) = 2^20 needs 21 bits and a sign; an element of width 0 has no step.
        (
            "integer(stored, stored, axis = 0)",
            &[8.0, 8.0, 0.0][..],
            &[4.0, 6.0, 90.0][..],
            "[22,10]",
        ),
        (
            "integer(stored, 4, axis = 0)",
            &[2.0, 0.0, 1.0],
            &[],
            "[14,8]",
        ),
        (
            "integer(stored, stored, axis = 0)",
            &[0.0, 0.0, 0.0],
            &[4.0, 6.0, 9.0],
            "[1,8]",
        ),
        (
            "affine(8, stored, axis = 0)",
            &[],
            &[0.5, 0.25, 0.125],
            "[22,7]",
        ),
        (
            "affine(8, 0.5, stored, axis = 0)",
            &[],
            &[-128.0, 127.0, 0.0],
            "[20,5]",
        ),
    ];
    for (weight, widths, others, expected) in cases {
        let text = format!(
            "graph \"t\" {{
               x: f32[N, 16] = placeholder
               y = linear(x: integer(8, 4)) {{ in_features = 16, out_features = 3, bias = false, weight: {weight} }}
               return y
             }}"
        );
        let mut graph = Graph::parse(&text).unwrap();
        let float = r#""type":"float","precision":[32]}}}"#;
        assert!(common_text(&graph, "y").ends_with(float), "{weight}");
        let id = graph.find("y").unwrap();
        let format = graph.node_mut(id).formats.get_mut("weight").unwrap();
        for (field, _) in format.clone().stored_fields() {
            let values: &[f32] = if field == "width" { widths } else { others };
            let array = StoredArray {
                shape: vec![values.len()],
                values: values.to_vec(),
            };
            *format = format.with_stored(field, array).unwrap();
        }
        let shown = common_text(&graph, "y");
        let end = format!(r#""type":"integer","precision":{expected}}}}}}}"#);
        assert!(shown.ends_with(&end), "{weight}: {shown}");
    }
}

#[test]
fn the_edges_of_a_graph_have_only_one_side() {
    let graph = jsc_tiny();
    let verified = verify(&graph).unwrap();
    let software = |name| json!(metadata(&verified, graph.find(name).unwrap(), 8).software);
    assert_eq!(
        software("x"),
        json!({"results": {"data_out_0": {"stat": {}}}})
    );
    assert_eq!(
        software("output"),
        json!({"args": {"data_in_0": {"stat": {}}}})
    );
}

#[test]
fn statistics_stand_under_their_port() {
    let mut graph = jsc_tiny();
    let linear = graph.find("seq_blocks_2").unwrap();
    let stat = json!({"variance_precise": {"count": 80, "mean": 0.5}});
    let stored = stat.as_object().cloned().unwrap();
    graph
        .node_mut(linear)
        .statistics
        .insert("weight".to_owned(), stored);
    let meta = json!(metadata(&verify(&graph).unwrap(), linear, 8));
    assert_eq!(meta["software"]["args"]["weight"]["stat"], stat);
    assert_eq!(meta["software"]["args"]["bias"]["stat"], json!({}));
    assert_eq!(meta["hardware"], json!({}));
}

#[test]
fn indices_are_not_floats() {
    let text = "graph \"t\" { x: i64[N] = placeholder m: bool[N] = placeholder return x, m }";
    let graph = Graph::parse(text).unwrap();
    assert!(
        common_text(&graph, "x")
            .contains(r#""torch_dtype":"torch.int64","type":"int","precision":[64]"#)
    );
    assert!(
        common_text(&graph, "m")
            .contains(r#""torch_dtype":"torch.bool","type":"bool","precision":[1]"#)
    );
}

#[test]
fn type_names_are_those_of_the_tables() {
    let graph = jsc_tiny();
    let names = |name: fn(&Node) -> String| graph.nodes().iter().map(name).collect::<Vec<_>>();
    let plain = ["x", "BatchNorm1d", "ReLU", "Linear", "ReLU", "output"];
    assert_eq!(names(Node::type_name), plain);
    let quantized = [
        "x",
        "BatchNorm1d",
        "ReLU",
        "LinearInteger",
        "ReLU",
        "output",
    ];
    assert_eq!(names(Node::quantized_type_name), quantized);
}

#[test]
fn layers_print_as_in_pytorch() {
    let cases = [
        (
            "linear(x) { in_features = 16, out_features = 5 }",
            "Linear(in_features=16, out_features=5, bias=True)",
        ),
        (
            "batch_norm1d(x) { num_features = 16 }",
            "BatchNorm1d(16, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)",
        ),
        ("relu(x) { inplace = true }", "ReLU(inplace=True)"),
        ("relu(x)", "ReLU()"),
        (
            "conv2d(x) { in_channels = 3, out_channels = 8, kernel_size = 3, padding = 1, bias = false }",
            "Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)",
        ),
        (
            "conv1d(x) { in_channels = 3, out_channels = 8, kernel_size = 3 }",
            "Conv1d(3, 8, kernel_size=(3,), stride=(1,))",
        ),
        (
            "layer_norm(x) { normalized_shape = [12] }",
            "LayerNorm((12,), eps=1e-05, elementwise_affine=True)",
        ),
        ("gelu(x)", "GELU(approximate='none')"),
        ("softplus(x)", "Softplus(beta=1.0, threshold=20.0)"),
        ("dropout(x)", "Dropout(p=0.5, inplace=False)"),
        (
            "max_pool2d(x) { kernel_size = 2 }",
            "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)",
        ),
        (
            "avg_pool1d(x) { kernel_size = 2 }",
            "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))",
        ),
        (
            "adaptive_avg_pool2d(x) { output_size = 1 }",
            "AdaptiveAvgPool2d(output_size=(1, 1))",
        ),
        ("flatten(x)", "Flatten(start_dim=1, end_dim=-1)"),
        ("add(x) { scalar = 1 }", "add"),
    ];
    for (call, expected) in cases {
        let text = format!("graph \"t\" {{ x: f32[N, 16] = placeholder y = {call} return y }}");
        let graph = Graph::parse(&text).unwrap();
        assert_eq!(
            torch_repr(&graph.node(graph.find("y").unwrap()).op),
            expected
        );
    }
}
