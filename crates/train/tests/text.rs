//! Text networks on named arrays: masks, training and scores.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use data::{Arrays, InputArray, Split, Values};
use engine::{Input, Network, PlanOptions};
use ir::Graph;
use models::ModelInfo;
use random::Random;
use std::sync::Arc;
use train::{StepTraining, accuracy, evaluate, predict, train_steps};

fn model(name: &str, length: usize, classes: Option<usize>) -> Graph {
    let info = ModelInfo {
        input: Some(vec![length]),
        classes,
    };
    let mut graph = models::build(name, &info).unwrap();
    graph.initialize(5);
    graph
}

/// The hidden states of BERT for one row of words, some of which are padding.
fn hidden(words: &[i64], mask: &[f32]) -> Vec<f32> {
    let mut network = Network::new(model("bert-tiny", words.len(), None), 1).unwrap();
    let types = vec![0; words.len()];
    let inputs = [Input::I64(words), Input::I64(&types), Input::F32(mask)];
    network
        .run(PlanOptions::eval(1), &inputs)
        .unwrap()
        .output(0)
}

/// Padding behind a mask changes nothing of what stands before it, whatever the padding is.
#[test]
fn masked_words_are_not_attended_to() {
    let words = [101, 2023, 2003, 30_521, 102];
    let bare = hidden(&words, &[1.0; 5]);
    for padding in [[0, 0, 0], [7, 30_000, 1]] {
        let padded = [&words[..], &padding].concat();
        let masked = hidden(&padded, &[1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
        let distance = |other: &[f32]| {
            let pairs = bare.iter().zip(other);
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
        };
        assert!(distance(&masked) < 1e-5, "{}", distance(&masked));
        assert!(distance(&hidden(&padded, &[1.0; 8])) > 1e-2);
    }
}

/// Rows of words, half of which hold word 7 in some place: the class of a row.
fn occurrences(count: usize, length: usize) -> Split {
    let random = Random::new(1, "words");
    let mut words: Vec<i64> = (0..count * length)
        .map(|k| 8 + (random.bits(k as u64) % 50) as i64)
        .collect();
    for (row, words) in words
        .chunks_exact_mut(length)
        .enumerate()
        .skip(1)
        .step_by(2)
    {
        words[(random.at(1).bits(row as u64) % length as u64) as usize] = 7;
    }
    let arrays = Arrays {
        inputs: vec![InputArray {
            name: "tokens".to_owned(),
            shape: vec![length],
            values: Values::I64(words),
        }],
        labels: (0..count as u32).map(|row| row % 2).collect(),
    };
    Split::of_arrays(Arc::new(arrays), (0..count as u32).collect())
}

#[test]
fn a_transformer_learns_whether_a_word_occurs() {
    let rows = occurrences(700, 6);
    let training = StepTraining {
        steps: 150,
        batch_size: 32,
        learning_rate: 2e-3,
        ..StepTraining::default()
    };
    let graph = model("transformer", 6, Some(2));
    let mut network = train_steps(graph, &rows.head(500), training).unwrap();
    let held_out = rows.tail(500);
    let score = evaluate(&mut network, &held_out).unwrap();
    assert_eq!(score.count, 200);
    assert!(accuracy(&score) > 0.9, "{}", accuracy(&score));
    let logits = predict(&mut network, &held_out).unwrap();
    let labels = held_out.labels_of(held_out.indices());
    let right = logits.chunks(2).zip(labels);
    let right = right.filter(|(row, label)| u32::from(row[1] > row[0]) == *label);
    assert_eq!(right.count(), score.correct);
}
