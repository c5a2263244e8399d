//! Scores of classes as scikit-learn gives them. Needs a Python that has it, named by `$BENCH_PYTHON`.

use random::Random;
use serde_json::{Value as Json, json};
use std::io::Write as _;
use std::process::{Command, Stdio};
use train::Classification;

const SCRIPT: &str = r#"
import json, sys
import numpy as np
from sklearn.metrics import confusion_matrix, precision_score, recall_score, roc_auc_score, roc_curve, top_k_accuracy_score

def case(outputs, labels, n):
    x, y = np.array(outputs, dtype=np.float64).reshape(-1, n), np.array(labels)
    p = np.exp(x - x.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    taken = x.argmax(axis=1)
    classes = np.arange(n)
    rejection = []
    for c in classes:
        others, own, _ = roc_curve(y == c, p[:, c], drop_intermediate=False)
        k = np.searchsorted(own, 0.5)
        rejection.append(others[k - 1] + (others[k] - others[k - 1]) * (0.5 - own[k - 1]) / (own[k] - own[k - 1]))
    return {
        "confusion": confusion_matrix(y, taken, labels=classes).tolist(),
        "precision": precision_score(y, taken, labels=classes, average=None).tolist(),
        "recall": recall_score(y, taken, labels=classes, average=None).tolist(),
        "auc": [roc_auc_score(y == c, p[:, c]) for c in classes],
        "accepted": rejection,
        "top5": top_k_accuracy_score(y, x, k=5, labels=classes) if n > 5 else None,
    }

print(json.dumps([case(**c) for c in json.load(sys.stdin)]))
"#;

/// Outputs that follow the label with noise; `step` rounds them, so that many are equal.
fn case(seed: u64, rows: usize, n_classes: usize, step: f32) -> (Vec<f32>, Vec<u32>) {
    let random = Random::new(seed, "classification");
    let labels: Vec<u32> = (0..rows).map(|row| (row % n_classes) as u32).collect();
    let outputs = (0..rows * n_classes).map(|k| {
        let is_own = labels[k / n_classes] as usize == k % n_classes;
        let output = random.normal(k as u64) + if is_own { 1.0 } else { 0.0 };
        (output / step).round() * step
    });
    (outputs.collect(), labels)
}

#[test]
fn scores_of_classes_are_those_of_scikit_learn() {
    let Some(python) = std::env::var_os("BENCH_PYTHON") else {
        eprintln!("skipped: set BENCH_PYTHON to a Python that has scikit-learn");
        return;
    };
    let found = Command::new(&python)
        .args(["-c", "import sklearn"])
        .output();
    if !found.unwrap().status.success() {
        eprintln!("skipped: the Python of BENCH_PYTHON has no scikit-learn");
        return;
    }
    // With ten classes of equal outputs, which five are the best is a matter of taste: those are not rounded.
    let cases = [
        (0, 1000, 2, 1e-6),
        (1, 999, 5, 0.25),
        (2, 2000, 5, 1e-6),
        (3, 1500, 10, 1e-6),
    ];
    let cases = cases.map(|(seed, rows, n, step)| (case(seed, rows, n, step), n));
    let input: Json = cases
        .iter()
        .map(|((outputs, labels), n)| json!({ "outputs": outputs, "labels": labels, "n": n }))
        .collect();
    let mut child = Command::new(python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.to_string().as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let expected: Vec<Json> = serde_json::from_slice(&output.stdout).unwrap();
    for (((outputs, labels), n), expected) in cases.iter().zip(&expected) {
        let found = Classification::of(outputs, labels, *n);
        assert_eq!(json!(found.confusion), expected["confusion"]);
        for (class, scores) in found.classes.iter().enumerate() {
            for (name, value) in [
                ("precision", scores.precision),
                ("recall", scores.recall),
                ("auc", scores.auc),
                ("accepted", scores.rejection.map(f64::recip)),
            ] {
                let expected = expected[name][class].as_f64().unwrap();
                let value = value.unwrap();
                assert!(
                    (value - expected).abs() < 1e-6,
                    "{name} of class {class}: {value}, {expected}"
                );
            }
        }
        assert_eq!(found.top5.is_some(), *n > 5);
        if let Some(top5) = found.top5 {
            assert!((top5 - expected["top5"].as_f64().unwrap()).abs() < 1e-6);
        }
    }
}
