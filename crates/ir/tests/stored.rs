//! Stored fields of formats: where they may stand, and the shapes that they must have.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use format::StoredArray;
use ir::{Graph, verify};

/// The verifier's words on a convolution with a stored field of this shape; empty when all is well.
fn report(port: &str, spec: &str, shape: Option<&[usize]>) -> String {
    let ports = match port {
        "data_in_0" => format!("c = conv2d(x: {spec}) {{ ATTRIBUTES }}"),
        other => format!("c = conv2d(x) {{ ATTRIBUTES, {other}: {spec} }}"),
    };
    let attributes = "target = \"c\", in_channels = 2, out_channels = 3, kernel_size = [3, 3]";
    let node = ports.replace("ATTRIBUTES", attributes);
    let text = format!("graph \"g\" {{ x: f32[N, 2, 5, 5] = placeholder {node} return c }}");
    let mut graph = Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
    if let Some(shape) = shape {
        let id = graph.find("c").unwrap();
        let format = graph.node_mut(id).formats.get_mut(port).unwrap();
        let values = vec![1.0; shape.iter().product()];
        let array = StoredArray {
            shape: shape.to_vec(),
            values,
        };
        *format = format.with_stored("scale", array).unwrap();
    }
    match verify(&graph) {
        Ok(_) => String::new(),
        Err(error) => {
            assert!(
                error.violations.iter().all(|v| v.rule == "stored"),
                "{error}"
            );
            error.to_string()
        }
    }
}

#[test]
fn arrays_have_the_shape_that_the_format_asks_for() {
    for (port, spec, right, wrong) in [
        ("weight", "affine(8, stored, axis = 0)", &[3][..], &[2][..]),
        ("weight", "affine(8, stored, axis = 1)", &[2], &[3]),
        ("weight", "affine(8, stored)", &[3, 2, 3, 3], &[3]),
        (
            "weight",
            "affine(8, stored, axis = 3, block = 2)",
            &[3, 2, 3, 2],
            &[3, 2, 3, 3],
        ),
        ("bias", "affine(8, stored, axis = 0)", &[3], &[1]),
        ("data_in_0", "affine(8, stored, axis = 1)", &[2], &[5]),
        ("data_in_0", "affine(8, stored)", &[2, 5, 5], &[1, 2, 5, 5]),
        ("data_out_0", "affine(8, stored, axis = 1)", &[3], &[2]),
        ("data_out_0", "affine(8, stored)", &[3, 3, 3], &[3]),
    ] {
        assert_eq!(
            report(port, spec, None),
            "",
            "{spec}: its values may follow"
        );
        assert_eq!(report(port, spec, Some(right)), "", "{spec}");
        assert_eq!(
            report(port, spec, Some(wrong)),
            format!(
                "c (conv2d): {port}: expected a stored scale of shape {right:?}, got {wrong:?}"
            )
        );
    }
}

#[test]
fn rows_of_a_batch_share_their_values() {
    for spec in [
        "affine(8, stored, axis = 0)",
        "affine(8, stored, axis = 1, block = 1)",
    ] {
        for port in ["data_in_0", "data_out_0"] {
            let words = report(port, spec, None);
            assert!(
                words.contains("must lie element by element, or along an axis after the first"),
                "{words}"
            );
        }
    }
    let words = report("weight", "affine(8, stored, axis = 5)", None);
    assert!(
        words.contains("needs an axis that the shape [3, 2, 3, 3] has not"),
        "{words}"
    );
}

#[test]
fn arrays_are_listed_by_their_dotted_names() {
    let graph = Graph::parse(
        "graph \"g\" { x: f32[N, 2] = placeholder
         l = linear(x) { target = \"block.0\", in_features = 2, out_features = 2, weight: affine(8, stored, axis = 0) }
         return l }",
    );
    let mut graph = graph.unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(graph.stored_fields(), []);
    assert_eq!(
        graph.missing_stored_field().as_deref(),
        Some("block.0.weight_scale")
    );
    let id = graph.find("l").unwrap();
    let format = graph.node(id).formats["weight"].clone();
    let array = StoredArray {
        shape: vec![2],
        values: vec![0.5, 0.25],
    };
    let format = format.with_stored("scale", array).unwrap();
    graph
        .node_mut(id)
        .formats
        .insert("weight".to_owned(), format);
    let fields = graph.stored_fields();
    assert_eq!(fields.len(), 1);
    assert_eq!(fields[0].0, "block.0.weight_scale");
    assert_eq!(fields[0].1.values(), [0.5, 0.25]);
    assert_eq!(graph.missing_stored_field(), None);
}
