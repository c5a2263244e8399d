//! What is pruned stays pruned: through every optimiser, under formats, over shards, and in integers.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/random_masks.rs"]
mod random_masks;

use engine::{Input, IntegerPlan, Network, Optimizer, OptimizerKind, PlanOptions, State, compile};
use ir::{Graph, NodeId, Tensor, verify};
use random::Random;

const PICTURES: &str = r#"graph "pictures" {
  x: f32[N, 3, 16, 16] = placeholder
  c1 = conv2d(x) { target = "c1", in_channels = 3, out_channels = 8, kernel_size = 3, padding = 1 }
  b1 = batch_norm2d(c1) { target = "b1", num_features = 8 }
  r1 = relu(b1)
  c2 = conv2d(r1) { target = "c2", in_channels = 8, out_channels = 8, kernel_size = 3, padding = 1 }
  s = add(c2, r1)
  p = max_pool2d(s) { kernel_size = 2 }
  f = flatten(p) { start_dim = 1 }
  l1 = linear(f) { target = "l1", in_features = 512, out_features = 32 }
  r3 = relu(l1)
  l2 = linear(r3) { target = "l2", in_features = 32, out_features = 10 }
  return l2
}"#;

const KINDS: [OptimizerKind; 3] = [
    OptimizerKind::Adam { weight_decay: 0.01 },
    OptimizerKind::AdamW { weight_decay: 0.01 },
    OptimizerKind::Sgd {
        momentum: 0.9,
        nesterov: true,
        weight_decay: 0.01,
    },
];

/// Masks on inputs and parameters, with formats on the convolutions or without.
fn pruned(with_formats: bool) -> Graph {
    let mut text = PICTURES.to_owned();
    if with_formats {
        text = text
            .replace("conv2d(x)", "conv2d(x: integer(8, 4))")
            .replace("(r1) { target = \"c2\"", "(r1: mxint(8)) { target = \"c2\"")
            .replace(
                "padding = 1",
                "padding = 1, weight: integer(6, 5), bias: log(6)",
            );
    }
    let mut graph = Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
    graph.initialize(1);
    random_masks::masked(&graph, Random::new(5, "masks"))
}

fn normals(len: usize) -> Vec<f32> {
    let random = Random::new(2, "x");
    (0..len).map(|k| random.normal(k as u64)).collect()
}

/// A network and its optimiser after four steps.
fn train(graph: Graph, kind: OptimizerKind, threads: usize) -> (Network, Optimizer) {
    let rows = 61;
    let mut network = Network::new(graph, threads).unwrap();
    let mut optimizer = Optimizer::new(kind, 1e-2, network.state());
    let labels: Vec<u32> = (0..rows).map(|row| row % 10).collect();
    let x = normals(rows as usize * 768);
    for _ in 0..4 {
        let step = network.train_step(&[Input::F32(&x)], &labels, rows as usize, &mut optimizer);
        assert!(step.unwrap().loss.is_finite());
    }
    (network, optimizer)
}

/// All values of parameters under a mask, and how many of the others changed.
fn under_masks(before: &Graph, after: &Graph) -> (Vec<f32>, usize) {
    let (mut pruned, mut changed) = (Vec::new(), 0);
    for (old, new) in before.nodes().iter().zip(after.nodes()) {
        for (port, tensor) in &new.params {
            for (i, &value) in tensor.values().iter().enumerate() {
                match new.masks.get(port) {
                    Some(mask) if mask.values()[i] == 0.0 => pruned.push(value),
                    _ => changed += usize::from(value != old.params[port].values()[i]),
                }
            }
        }
    }
    (pruned, changed)
}

#[test]
fn masked_weights_are_exactly_zero_after_every_optimizer() {
    for with_formats in [false, true] {
        for kind in KINDS {
            let before = pruned(with_formats);
            let (network, optimizer) = train(before.clone(), kind, 1);
            let after = network.to_graph();
            verify(&after).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
            let (zeros, changed) = under_masks(&before, &after);
            assert!(
                zeros.len() > 1000 && zeros.iter().all(|v| v.to_bits() == 0),
                "{kind:?}"
            );
            assert!(changed > 1000, "{kind:?}: {changed} weights have learned");
            assert!(after.masks().eq(before.masks()));

            let (first, second) = optimizer.moments();
            for moments in [first, second].into_iter().filter(|m| !m.is_empty()) {
                let mut remembered = before.clone();
                for (name, tensor) in network.state().name_trained(moments) {
                    let (target, port) = name.rsplit_once('.').unwrap();
                    let id = remembered.find(target).unwrap();
                    remembered
                        .node_mut(id)
                        .params
                        .insert(port.to_owned(), tensor);
                }
                verify(&remembered).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
            }
        }
    }
}

#[test]
fn the_bits_of_a_masked_network_do_not_depend_on_threads() {
    let graph = pruned(true);
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let plan = compile(&verified, &state, PlanOptions::train(61)).unwrap();
    assert!(plan.shard_count() > 1, "the test needs several shards");
    let bits = |threads: usize| {
        let (network, _) = train(graph.clone(), KINDS[1], threads);
        let values = network.state().iter().flat_map(|(_, values)| values);
        values.map(|v| v.to_bits()).collect::<Vec<u32>>()
    };
    assert_eq!(bits(1), bits(3));
}

#[test]
fn values_from_elsewhere_are_masked_too() {
    let graph = pruned(false);
    let mut state = State::new(&verify(&graph).unwrap()).unwrap();
    state.change_trained(|trained| trained.fill(f32::NAN));
    let ones: Vec<f32> = vec![1.0; 512 * 32];
    let sizes: Vec<(String, usize)> = state
        .iter()
        .map(|(name, values)| (name.to_owned(), values.len()))
        .collect();
    let find = |name: &str| {
        sizes
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, n)| &ones[..*n])
    };
    state.load_named(find).unwrap();
    let mut after = graph.clone();
    state.write_to(&mut after);
    let (zeros, _) = under_masks(&graph, &after);
    assert!(zeros.iter().all(|v| *v == 0.0));
    verify(&after).unwrap();
}

#[test]
fn a_network_goes_on_with_other_masks() {
    let graph = pruned(false);
    let mut network = Network::new(random_masks::explicit(&graph), 1).unwrap();
    let x = normals(2 * 768);
    let run = |network: &mut Network| {
        let plan = network.run(PlanOptions::eval(2), &[Input::F32(&x)]);
        plan.unwrap().output(0)
    };
    let explicit = run(&mut network);
    let mut dense = graph.clone();
    for at in 0..graph.nodes().len() {
        dense.node_mut(NodeId(at as u32)).masks.clear();
    }
    network.replace(dense).unwrap();
    let without = run(&mut network);
    network.replace(graph).unwrap();
    assert_eq!(run(&mut network), explicit);
    assert_ne!(without, explicit);

    let mut broken = network.to_graph();
    let mask = Tensor::filled(vec![1], 1.0);
    let id = broken.find("l2").unwrap();
    broken.node_mut(id).masks.insert("weight".to_owned(), mask);
    assert!(network.replace(broken).is_err());
    assert_eq!(run(&mut network), explicit);
}

#[test]
fn integers_refuse_a_mask_on_floats_by_name() {
    let text = r#"graph "t" {
      x: f32[N, 4] = placeholder
      f = flatten(x)
      y = relu(f: integer(8, 4))
      return y
    }"#;
    let mut graph = Graph::parse(text).unwrap();
    let compiled = |graph: &Graph| {
        let verified = verify(graph).unwrap();
        let state = State::new(&verified).unwrap();
        IntegerPlan::compile(&verified, &state, 2)
            .err()
            .map(|error| error.to_string())
    };
    let mask = Tensor::new(vec![4], vec![1.0, 0.0, 1.0, 1.0]).unwrap();
    let relu = graph.find("y").unwrap();
    graph.node_mut(relu).set_mask("data_in_0", mask.clone());
    assert_eq!(compiled(&graph), None);
    let flatten = graph.find("f").unwrap();
    graph.node_mut(flatten).set_mask("data_in_0", mask);
    assert_eq!(
        compiled(&graph).unwrap(),
        "f (flatten): data_in_0 has no fixed-point format; give it one, for example data_in_0: integer(8, 4)"
    );
}
