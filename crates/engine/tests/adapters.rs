//! Training of low-rank adapters alone: the weights beside them keep every bit.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use engine::{Input, Network, Optimizer, OptimizerKind};
use ir::Graph;
use random::Random;
use std::collections::BTreeMap;

const TEXT: &str = "graph \"adapted\" {
  x: f32[N, 6] = placeholder
  fc = linear(x) { in_features = 6, out_features = 5 }
  fc_lora_a = linear(x) { target = \"fc.lora_A\", in_features = 6, out_features = 2, bias = false }
  fc_lora_b = linear(fc_lora_a) { target = \"fc.lora_B\", in_features = 2, out_features = 5, bias = false }
  fc_lora_add = add(fc, fc_lora_b)
  norm = batch_norm1d(fc_lora_add) { num_features = 5 }
  head = linear(norm) { in_features = 5, out_features = 3 }
  return head
}";

const KINDS: [OptimizerKind; 3] = [
    OptimizerKind::Adam { weight_decay: 0.1 },
    OptimizerKind::AdamW { weight_decay: 0.1 },
    OptimizerKind::Sgd {
        momentum: 0.9,
        nesterov: true,
        weight_decay: 0.1,
    },
];

fn network(is_frozen: bool) -> Network {
    let mut graph = Graph::parse(TEXT).unwrap();
    graph.initialize(1);
    let mut network = Network::new(graph.clone(), 1).unwrap();
    if is_frozen {
        network.state_mut().freeze_base(&graph);
    }
    network
}

fn trained(network: &Network) -> BTreeMap<String, Vec<u32>> {
    let is_trained = |name: &str| !name.contains("running");
    let all = network.state().iter().filter(|(name, _)| is_trained(name));
    all.map(|(name, values)| {
        let bits = values.iter().map(|v| v.to_bits()).collect();
        (name.to_owned(), bits)
    })
    .collect()
}

/// The parameters that some steps of training change.
fn changed(network: &mut Network, kind: OptimizerKind) -> Vec<String> {
    let random = Random::new(2, "rows");
    let x: Vec<f32> = (0..48).map(|k| random.normal(k)).collect();
    let labels = [0, 1, 2, 0, 1, 2, 0, 1];
    let mut optimizer = Optimizer::new(kind, 0.05, network.state());
    let before = trained(network);
    for _ in 0..3 {
        let inputs = [Input::F32(&x)];
        network
            .train_step(&inputs, &labels, 8, &mut optimizer)
            .unwrap();
    }
    let after = trained(network);
    let is_changed = |(name, values): &(String, Vec<u32>)| before[name] != *values;
    let changed = after.into_iter().filter(is_changed);
    changed.map(|(name, _)| name).collect()
}

#[test]
fn a_frozen_base_keeps_every_bit() {
    for kind in KINDS {
        let adapters = ["fc.lora_A.weight", "fc.lora_B.weight"];
        let mut frozen = network(true);
        assert_eq!(changed(&mut frozen, kind), adapters, "{kind:?}");
        assert_eq!(frozen.state().trainable_len(), 22);
        // With other weights in it, the network trains what it did before.
        frozen.replace(frozen.to_graph()).unwrap();
        assert_eq!(changed(&mut frozen, kind), adapters, "{kind:?}");
        let mut whole = network(false);
        let n_parameters = trained(&whole).len();
        assert_eq!(changed(&mut whole, kind).len(), n_parameters, "{kind:?}");
        assert_eq!(whole.state().trainable_len(), whole.state().trained_len());
    }
}
