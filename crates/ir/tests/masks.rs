//! Pruning masks: where they may stand, what they are called, what they do to parameters and costs.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use format::Format;
use ir::{Graph, NodeId, RULES, Tensor, common, density, verify};
use serde_json::json;

const NET: &str = r#"graph "net" {
  i: i64[N, 3] = placeholder
  x: f32[N, 2, 4] = placeholder
  y: f32[5, N] = placeholder
  c = conv1d(x) { target = "c", in_channels = 2, out_channels = 3, kernel_size = 1 }
  b = batch_norm1d(c) { target = "b", num_features = 3 }
  r = relu(y)
  e = embedding(i) { target = "e", num_embeddings = 4, embedding_dim = 4 }
  t = transpose(e) { dim0 = 1, dim1 = 2 }
  m = bmm(b, t)
  return m, r
}"#;

fn net() -> Graph {
    let mut graph = Graph::parse(NET).unwrap_or_else(|errors| panic!("{errors}"));
    graph.initialize(1);
    graph
}

fn id(graph: &Graph, name: &str) -> NodeId {
    graph.find(name).unwrap()
}

/// A mask of this shape whose every third element is zero.
fn thirds(shape: &[usize]) -> Tensor {
    let n: usize = shape.iter().product();
    let values = (0..n).map(|i| if i % 3 == 0 { 0.0 } else { 1.0 });
    Tensor::new(shape.to_vec(), values.collect()).unwrap()
}

/// What the verifier says about a mask on a port.
fn report(node: &str, port: &str, mask: Tensor) -> String {
    let mut graph = net();
    let at = id(&graph, node);
    graph.node_mut(at).set_mask(port, mask);
    match verify(&graph) {
        Ok(_) => String::new(),
        Err(error) => {
            assert!(error.violations.iter().all(|v| v.rule == "mask"), "{error}");
            error.to_string()
        }
    }
}

#[test]
fn masks_stand_on_trained_parameters_and_float_inputs_with_their_shape() {
    assert!(RULES.iter().any(|(id, _)| *id == "mask"));
    for (node, port, shape, expected) in [
        ("c", "weight", &[3, 2, 1][..], ""),
        ("c", "bias", &[3], ""),
        ("c", "data_in_0", &[2, 4], ""),
        ("m", "data_in_1", &[4, 3], ""),
        ("output", "data_in_0", &[3, 3], ""),
        (
            "c",
            "weight",
            &[2, 3, 1],
            "c (conv1d): weight: expected a mask of shape [3, 2, 1], got [2, 3, 1]",
        ),
        (
            "c",
            "data_in_0",
            &[8, 2, 4],
            "c (conv1d): data_in_0: expected a mask of shape [2, 4], got [8, 2, 4]",
        ),
        (
            "c",
            "data_in_1",
            &[2, 4],
            "c (conv1d): data_in_1: has a mask, but there is no such input or parameter",
        ),
        (
            "c",
            "data_out_0",
            &[3, 4],
            "c (conv1d): data_out_0: has a mask, but there is no such input or parameter",
        ),
        (
            "b",
            "running_var",
            &[3],
            "b (batch_norm1d): running_var: has a mask, but is updated by the operator",
        ),
        (
            "e",
            "data_in_0",
            &[3],
            "e (embedding): data_in_0: has a mask, but holds i64 instead of f32",
        ),
        (
            "r",
            "data_in_0",
            &[1],
            "r (relu): data_in_0: has a mask, but one sample of f32[5, N] has no fixed shape",
        ),
    ] {
        assert_eq!(report(node, port, thirds(shape)), expected);
    }
}

#[test]
fn masks_are_zero_or_one_and_what_they_mask_is_zero() {
    let mut half = thirds(&[3, 2, 1]);
    half.values_mut()[3] = 0.5;
    assert_eq!(
        report("c", "weight", half),
        "c (conv1d): weight: the mask at [1, 1, 0] is 0.5, neither 0 nor 1"
    );
    let mut graph = net();
    let c = id(&graph, "c");
    graph.node_mut(c).set_mask("weight", thirds(&[3, 2, 1]));
    verify(&graph).unwrap();
    let weight = graph.node_mut(c).params.get_mut("weight").unwrap();
    assert_eq!(weight.values()[3].to_bits(), 0);
    weight.values_mut()[3] = 0.25;
    assert_eq!(
        verify(&graph).unwrap_err().to_string(),
        "c (conv1d): weight: the value at [1, 1, 0] is 0.25, but its mask is 0"
    );
}

#[test]
fn of_all_formats_only_bipolar_binary_cannot_be_masked() {
    for (spec, is_good) in [
        ("binary(bipolar = true)", false),
        ("binary(bipolar = false)", true),
        ("integer(8, 4)", true),
        ("integer(3, 9, signed = false)", true),
        ("scale_integer(8)", true),
        ("ternary", true),
        ("log(6)", true),
        ("minifloat_ieee(8, 4)", true),
        ("minifloat_denorm(8, 4)", true),
        ("block_fp(6, 4, block_size = [4])", true),
        ("block_minifloat(8, 4, 8, block_size = [4])", true),
        ("block_log(6, 8, block_size = [4])", true),
        ("mxint(8)", true),
        ("mxfp(4, 3)", true),
    ] {
        let mut graph = net();
        let c = graph.find("c").unwrap();
        let format = Format::parse(spec).unwrap_or_else(|error| panic!("{error}"));
        let shown = format.to_string();
        graph
            .node_mut(c)
            .formats
            .insert("weight".to_owned(), format);
        graph.node_mut(c).set_mask("weight", thirds(&[3, 2, 1]));
        match verify(&graph) {
            Ok(_) => assert!(is_good, "{spec}"),
            Err(error) => assert_eq!(
                (is_good, error.to_string()),
                (
                    false,
                    format!("c (conv1d): weight: has a mask, but its format {shown} has no zero")
                )
            ),
        }
    }
}

#[test]
fn masks_have_the_names_of_pytorch_and_are_not_text() {
    let mut graph = net();
    let text = graph.to_string();
    let (c, m) = (id(&graph, "c"), id(&graph, "m"));
    graph.node_mut(m).set_mask("data_in_1", thirds(&[4, 3]));
    graph.node_mut(c).set_mask("data_in_0", thirds(&[2, 4]));
    graph.node_mut(c).set_mask("weight", thirds(&[3, 2, 1]));
    let names: Vec<String> = graph.masks().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        ["c.weight_mask", "c.data_in_0_mask", "m.data_in_1_mask"]
    );
    assert_eq!(graph.to_string(), text);
    assert_eq!(graph.without_params(), Graph::parse(&text).unwrap());
}

#[test]
fn a_mask_may_not_take_the_name_of_a_parameter() {
    let text = r#"graph "g" {
      x: f32[N, 2] = placeholder
      l = linear(x) { target = "l", in_features = 2, out_features = 2 }
      k = constant { target = "l.weight_mask", shape = [2] }
      s = add(l, k)
      return s
    }"#;
    let mut graph = Graph::parse(text).unwrap();
    verify(&graph).unwrap();
    let l = id(&graph, "l");
    graph.node_mut(l).set_mask("weight", thirds(&[2, 2]));
    assert_eq!(
        verify(&graph).unwrap_err().to_string(),
        "k (constant): value: l already has the parameter l.weight_mask"
    );
}

#[test]
fn what_is_initialized_later_obeys_its_mask() {
    let mut graph = net().without_params();
    let c = id(&graph, "c");
    graph.node_mut(c).set_mask("weight", thirds(&[3, 2, 1]));
    graph.initialize(5);
    verify(&graph).unwrap();
    let weight = graph.node(c).params["weight"].values();
    assert_eq!(weight.iter().filter(|v| **v == 0.0).count(), 2);
}

#[test]
fn metadata_tells_the_sparsity_of_masked_ports_alone() {
    let mut graph = net();
    let c = id(&graph, "c");
    graph.node_mut(c).set_mask("weight", thirds(&[3, 2, 1]));
    graph
        .node_mut(c)
        .set_mask("data_in_0", Tensor::filled(vec![2, 4], 1.0));
    let meta = json!(common(&verify(&graph).unwrap(), c, 8));
    assert_eq!(meta["args"]["weight"]["sparsity"], json!(1.0 / 3.0));
    assert_eq!(meta["args"]["data_in_0"]["sparsity"], json!(0.0));
    assert_eq!(meta["args"]["bias"].get("sparsity"), None);
    assert_eq!(meta["results"]["data_out_0"].get("sparsity"), None);
}

#[test]
fn products_cost_what_their_masks_keep_and_dense_costs_stay() {
    let mut graph = net();
    let (c, m, b) = (id(&graph, "c"), id(&graph, "m"), id(&graph, "b"));
    let dense: Vec<u64> = [c, m, b]
        .map(|id| verify(&graph).unwrap().cost(id, 8).unwrap().flops)
        .to_vec();
    graph.node_mut(c).set_mask("weight", thirds(&[3, 2, 1]));
    graph.node_mut(c).set_mask(
        "data_in_0",
        Tensor::new(vec![2, 4], [1.0, 0.0].repeat(4)).unwrap(),
    );
    graph.node_mut(m).set_mask("data_in_1", thirds(&[4, 3]));
    graph.node_mut(b).set_mask("weight", thirds(&[3]));
    assert_eq!(density(graph.node(c), "data_in_0"), 0.5);
    assert_eq!(density(graph.node(c), "bias"), 1.0);
    let verified = verify(&graph).unwrap();
    for ((id, dense), kept) in [c, m, b]
        .into_iter()
        .zip(dense)
        .zip([1.0 / 3.0, 2.0 / 3.0, 1.0])
    {
        assert_eq!(verified.cost(id, 8).unwrap().flops, dense);
        let effective = verified.effective_flops(id, 8).unwrap();
        assert!(
            (effective - dense as f64 * kept).abs() < 1e-9,
            "{effective} of {dense}"
        );
    }
}
