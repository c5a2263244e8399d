//! Checkpoints for tests: a small network with everything that a file can hold.

use interop::checkpoint::{Checkpoint, Kind, NamedTensor, OptimizerState, Training};
use serde_json::{Map, Value as Json, json};

/// A tensor whose values tell where they are.
pub fn tensor(name: &str, shape: &[usize]) -> NamedTensor {
    let numel: usize = shape.iter().product();
    let seed = name.bytes().map(f32::from).sum::<f32>();
    NamedTensor {
        name: name.to_owned(),
        shape: shape.to_vec(),
        values: (0..numel).map(|i| (seed + i as f32) / 7.0).collect(),
    }
}

/// A batch norm and a linear layer in training.
pub fn checkpoint(kind: Kind, optimizer: &str) -> Checkpoint {
    let trained = [
        tensor("bn.weight", &[3]),
        tensor("bn.bias", &[3]),
        tensor("fc.weight", &[2, 3]),
        tensor("fc.bias", &[2]),
    ];
    let mut tensors = trained.to_vec();
    let counter = NamedTensor {
        values: vec![12.0],
        ..tensor("bn.num_batches_tracked", &[])
    };
    tensors.splice(
        2..2,
        [
            tensor("bn.running_mean", &[3]),
            tensor("bn.running_var", &[3]),
            counter,
        ],
    );
    Checkpoint {
        kind,
        tensors,
        training: Some(Training {
            epoch: 4,
            global_step: 12,
            optimizer: Some(state(optimizer, &trained)),
            hyper_parameters: hyper_parameters(),
            resume: json!({"seed": u64::MAX, "best_loss": 0.1, "passes": 3, "list": [1, null, true, "é"]}),
        }),
        graph: (kind == Kind::Mz).then(|| "graph \"tiny\" {\n}\n".to_owned()),
        metadata: json!({"program": "tests", "nested": {"a": []}}),
    }
}

fn state(name: &str, trained: &[NamedTensor]) -> OptimizerState {
    let scaled = |scale: f32| -> Vec<NamedTensor> {
        let tensors = trained.iter().cloned();
        tensors
            .map(|mut tensor| {
                tensor.values.iter_mut().for_each(|value| *value *= scale);
                tensor
            })
            .collect()
    };
    OptimizerState {
        name: name.to_owned(),
        steps: 12,
        // Not every reader of decimals gives this number back.
        learning_rate: 0.1 + 0.2,
        weight_decay: 1e-4,
        first: scaled(0.5),
        second: if name == "sgd" {
            Vec::new()
        } else {
            scaled(0.25)
        },
    }
}

fn hyper_parameters() -> Map<String, Json> {
    let Json::Object(map) = json!({"learning_rate": 1e-3, "batch_size": 256, "name": "jsc-tiny"})
    else {
        unreachable!("an object")
    };
    map
}
