//! Checkpoints that students wrote with the original, on rows nobody trained on: accuracies that others measured with
//! PyTorch come out to the row.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use data::{Rows, Split};
use engine::Network;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use train::{load_weights, predict};

/// jsc-tiny without its last relu, which makes the logits of a badly trained network all zero: the accuracies were
/// measured before it.
const NET: &str = r#"graph "jsc-tiny" {
  x: f32[N, 16] = placeholder
  seq_blocks_0 = batch_norm1d(x) { target = "seq_blocks.0", num_features = 16 }
  seq_blocks_1 = relu(seq_blocks_0) { target = "seq_blocks.1" }
  seq_blocks_2 = linear(seq_blocks_1) { target = "seq_blocks.2", in_features = 16, out_features = 5 }
  return seq_blocks_2
}"#;

fn shared() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared")
}

/// 1 000 real jets, standardised, and their classes in the order g q t w z.
fn jets() -> Option<(Vec<f32>, Vec<u32>)> {
    let path = shared().join("data/jsc/jsc_openml_test1000_labelled.npz");
    let (table, _) = path
        .exists()
        .then(|| interop::npz::read(&path, "y").unwrap())?;
    Some((table.values, table.labels))
}

#[test]
fn accuracies_of_the_labs_checkpoints_are_those_of_pytorch() {
    let Some((values, labels)) = jets() else {
        eprintln!("skipped: no shared reference files");
        return;
    };
    let all = Rows {
        values,
        labels: labels.clone(),
        width: 16,
    };
    let rows = Split::new(Arc::new(all), (0..labels.len() as u32).collect());
    let expected = [
        (
            "liubingqi7_jsc-tiny_classification_jsc_2024-01-26__best",
            0.472,
        ),
        (
            "liubingqi7_jsc-tiny_classification_jsc_2024-01-26__best-v1",
            0.545,
        ),
        (
            "liubingqi7_jsc-tiny_classification_jsc_2024-01-26__best-v5",
            0.697,
        ),
        (
            "liubingqi7_jsc-tiny_classification_jsc_2024-01-26__best-v10",
            0.265,
        ),
        (
            "liubingqi7_jsc-tiny_classification_jsc_2024-01-26__best-v12",
            0.731,
        ),
        (
            "liubingqi7_jsc-tiny_classification_jsc_2024-01-26__best-v13",
            0.639,
        ),
        (
            "soarink_jsc-tiny_classification_jsc_2024-01-29__best",
            0.279,
        ),
        (
            "soarink_jsc-tiny_classification_jsc_2024-01-29__best-v1",
            0.518,
        ),
    ];
    for (name, accuracy) in expected {
        let path = shared().join(format!("data/ckpts/{name}.ckpt"));
        let checkpoint = interop::checkpoint::read(&path, None).unwrap();
        let mut graph = ir::Graph::parse(NET).unwrap();
        graph.initialize(0);
        let mut network = Network::new(graph, 1).unwrap();
        load_weights(&mut network, &checkpoint.tensors).unwrap();
        let logits = predict(&mut network, &rows).unwrap();
        // The labs' classes are g q w z t.
        let order = [0, 1, 3, 4, 2];
        let right = logits.chunks(5).zip(&labels).filter(|(row, label)| {
            let best = (0..5)
                .rev()
                .max_by(|&a, &b| row[a].total_cmp(&row[b]))
                .unwrap();
            order[best] == **label
        });
        assert_eq!(right.count() as f64 / 1000.0, accuracy, "{name}");
    }
}
