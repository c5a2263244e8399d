//! A short training and its score, against the same sums taken row by row.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use data::{OpenOptions, Split};
use engine::{Input, Network, Optimizer, OptimizerKind};
use ir::Graph;
use random::Random;
use train::{StepTraining, accuracy, evaluate, train_steps, weights_hash};

const TRAINING: StepTraining = StepTraining {
    steps: 20,
    batch_size: 64,
    learning_rate: 0.01,
    seed: 7,
};

fn network() -> Graph {
    let mut graph = models::build("jsc-toy", &models::ModelInfo::default()).unwrap();
    graph.initialize(3);
    graph
}

fn rows() -> Split {
    let data = data::open("jsc-sim", &OpenOptions::default()).unwrap();
    data.train.head(3000)
}

/// The values and labels of rows, copied one after another.
fn copied(rows: &Split, positions: &[u32]) -> (Vec<f32>, Vec<u32>) {
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    rows.gather(positions, &mut values, &mut labels);
    (values, labels)
}

#[test]
fn updates_are_those_of_adam_on_rows_drawn_from_the_seed() {
    let rows = rows();
    let trained = train_steps(network(), &rows, TRAINING).unwrap();

    let mut expected = Network::new(network(), 1).unwrap();
    expected.seed(7);
    let adam = OptimizerKind::Adam { weight_decay: 0.0 };
    let mut optimizer = Optimizer::new(adam, 0.01, expected.state());
    for step in 0..20 {
        let stream = Random::new(7, "trial batches").at(step);
        let positions: Vec<u32> = (0..64).map(|k| (stream.bits(k) % 3000) as u32).collect();
        let (values, labels) = copied(&rows, &positions);
        let batch = [Input::F32(&values)];
        expected
            .train_step(&batch, &labels, 64, &mut optimizer)
            .unwrap();
    }
    assert_eq!(trained.to_graph(), expected.to_graph());
    assert_ne!(trained.to_graph(), network());
}

#[test]
fn other_seeds_give_other_weights_and_the_same_seed_the_same() {
    let rows = rows();
    let hash = |seed| {
        let training = StepTraining { seed, ..TRAINING };
        weights_hash(train_steps(network(), &rows, training).unwrap().state())
    };
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}

#[test]
fn a_batch_larger_than_the_split_has_as_many_rows_as_the_split() {
    let rows = rows().head(10);
    let of = |batch_size| {
        let training = StepTraining {
            batch_size,
            ..TRAINING
        };
        train_steps(network(), &rows, training).unwrap().to_graph()
    };
    assert_eq!(of(10), of(1000));
}

#[test]
fn a_score_is_the_mean_over_blocks_of_1024_rows() {
    let rows = rows();
    let mut network = Network::new(network(), 1).unwrap();
    let score = evaluate(&mut network, &rows).unwrap();
    let (mut loss, mut correct) = (0.0, 0);
    for start in [0_u32, 1024, 2048] {
        let positions: Vec<u32> = (start..(start + 1024).min(3000)).collect();
        let (values, labels) = copied(&rows, &positions);
        let part = network.evaluate(&[Input::F32(&values)], &labels, labels.len());
        let part = part.unwrap();
        loss += part.loss * labels.len() as f64;
        correct += part.correct;
    }
    assert_eq!(score.loss.to_bits(), (loss / 3000.0).to_bits());
    assert_eq!(score.correct, correct);
    let share = correct as f64 / 3000.0;
    assert_eq!(accuracy(&score).to_bits(), share.to_bits());
}
