//! Stored fields of formats travel with the weights.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use format::StoredArray;
use ir::Graph;
use models::weights::{load_into, tensors_of};

const NET: &str = r#"graph "net" {
  x: f32[N, 4] = placeholder
  fc = linear(x: integer(stored, stored)) {
    target = "fc", in_features = 4, out_features = 3, weight: affine(4, stored, axis = 0), bias: integer(8, 4)
  }
  return fc
}"#;

fn net() -> Graph {
    let mut graph = Graph::parse(NET).unwrap();
    graph.initialize(1);
    graph
}

fn with(graph: &mut Graph, port: &str, field: &str, shape: &[usize], value: f32) {
    let id = graph.find("fc").unwrap();
    let format = graph.node_mut(id).formats.get_mut(port).unwrap();
    let values = (0..shape.iter().product()).map(|k: usize| value + k as f32);
    let array = StoredArray {
        shape: shape.to_vec(),
        values: values.collect(),
    };
    *format = format.with_stored(field, array).unwrap();
}

fn full() -> Graph {
    let mut graph = net();
    with(&mut graph, "weight", "scale", &[3], 0.5);
    with(&mut graph, "data_in_0", "width", &[4], 3.0);
    with(&mut graph, "data_in_0", "frac_width", &[4], -1.0);
    graph
}

#[test]
fn they_are_among_the_tensors_and_come_back() {
    let graph = full();
    ir::verify(&graph).unwrap();
    let tensors = tensors_of(&graph);
    let names: Vec<&str> = tensors.iter().map(|t| t.name.as_str()).collect();
    for name in [
        "fc.weight_scale",
        "fc.data_in_0_width",
        "fc.data_in_0_frac_width",
    ] {
        assert!(names.contains(&name), "{names:?}");
    }
    let mut loaded = graph.without_params();
    assert_eq!(loaded, Graph::parse(NET).unwrap());
    load_into(&mut loaded, &tensors).unwrap();
    assert_eq!(loaded, graph);
}

#[test]
fn what_is_missing_or_does_not_fit_is_told_and_nothing_is_changed() {
    let tensors = tensors_of(&full());
    let refused = |change: &dyn Fn(&mut Vec<interop::checkpoint::NamedTensor>)| {
        let mut tensors = tensors.clone();
        change(&mut tensors);
        let mut graph = net();
        let error = load_into(&mut graph, &tensors).unwrap_err();
        assert_eq!(graph, net());
        error.to_string()
    };
    let of = |name: &'static str| move |t: &&mut interop::checkpoint::NamedTensor| t.name == name;
    let missing = refused(&|tensors| tensors.retain(|t| t.name != "fc.weight_scale"));
    assert!(missing.contains("missing fc.weight_scale"), "{missing}");
    let shape = refused(&|tensors| {
        let scale = tensors.iter_mut().find(of("fc.weight_scale")).unwrap();
        (scale.shape, scale.values) = (vec![4], vec![1.0; 4]);
    });
    assert!(shape.contains("fc.weight_scale"), "{shape}");
    assert!(shape.contains("[3]") && shape.contains("[4]"), "{shape}");
    let value = refused(&|tensors| {
        let scale = tensors.iter_mut().find(of("fc.weight_scale")).unwrap();
        scale.values[1] = -1.0;
    });
    assert!(
        value.contains("fc.weight_scale: scale at 1 is -1, which is not a positive"),
        "{value}"
    );
}

#[test]
fn the_first_that_is_missing_has_a_name() {
    assert_eq!(net().missing_stored_field().unwrap(), "fc.data_in_0_width");
    assert_eq!(full().missing_stored_field(), None);
}
