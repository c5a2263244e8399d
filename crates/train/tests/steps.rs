//! A short training and its score, against the same sums taken row by row.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use data::{OpenOptions, Split};
use engine::{Input, Network, Optimizer, OptimizerKind, PlanOptions};
use ir::Graph;
use random::Random;
use train::{
    Curve, RowOrder, StepSchedule, StepTraining, accuracy, evaluate, evaluate_outputs, predict,
    train_steps, weights_hash,
};

fn training() -> StepTraining {
    StepTraining {
        steps: 20,
        batch_size: 64,
        learning_rate: 0.01,
        seed: 7,
        ..StepTraining::default()
    }
}

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
    let trained = train_steps(network(), &rows, training()).unwrap();

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

/// The updates of a training by hand: batches drawn from the seed, a rate for each, the mean over so many batches.
#[test]
fn optimisers_rates_and_accumulation_are_those_of_the_same_updates_by_hand() {
    let rows = rows();
    let sgd = OptimizerKind::Sgd {
        momentum: 0.0,
        nesterov: false,
        weight_decay: 0.1,
    };
    let adamw = OptimizerKind::AdamW { weight_decay: 0.1 };
    for (kind, curve, count) in [
        (adamw, Curve::Linear, 1),
        (sgd, Curve::Cosine, 3),
        (adamw, Curve::ConstantWithWarmup, 2),
    ] {
        let schedule = StepSchedule {
            curve,
            warmup_steps: 5,
            total_steps: 20,
        };
        let training = StepTraining {
            optimizer: kind,
            schedule,
            gradient_accumulation_steps: count,
            ..training()
        };
        let trained = train_steps(network(), &rows, training).unwrap();

        let mut expected = Network::new(network(), 1).unwrap();
        expected.seed(7);
        let mut optimizer = Optimizer::new(kind, 0.01, expected.state());
        for step in 0..20 {
            for batch in 0..count as u64 {
                let stream = Random::new(7, "trial batches").at(step * count as u64 + batch);
                let positions: Vec<u32> = (0..64).map(|k| (stream.bits(k) % 3000) as u32).collect();
                let (values, labels) = copied(&rows, &positions);
                let input = [Input::F32(&values)];
                expected.accumulate(&input, &labels, 64).unwrap();
            }
            optimizer.learning_rate = 0.01 * schedule.factor(step);
            expected.update(&mut optimizer, count);
        }
        assert_eq!(trained.to_graph(), expected.to_graph(), "{curve:?}");
    }
}

/// A rate of 0 changes no weight: what is learned comes from the updates that the schedule leaves.
#[test]
fn updates_behind_the_end_of_a_schedule_change_nothing() {
    let rows = rows();
    let of = |steps, order| {
        let schedule = StepSchedule {
            curve: Curve::Linear,
            warmup_steps: 0,
            total_steps: 8,
        };
        let training = StepTraining {
            steps,
            schedule,
            order,
            ..training()
        };
        let network = train_steps(network(), &rows, training).unwrap();
        let is_trained = |name: &str| !name.contains("running") && !name.contains("tracked");
        let trained = network.state().iter().filter(|(name, _)| is_trained(name));
        trained
            .map(|(name, values)| (name.to_owned(), values.to_vec()))
            .collect::<Vec<_>>()
    };
    for order in [RowOrder::Drawn, RowOrder::Epochs] {
        assert_ne!(of(7, order), of(8, order));
        assert_eq!(of(8, order), of(30, order));
    }
}

#[test]
fn epochs_show_every_row_once_in_an_order_of_the_seed() {
    let rows = rows().head(130);
    let of = |seed, batch_size, steps| {
        let training = StepTraining {
            seed,
            batch_size,
            steps,
            order: RowOrder::Epochs,
            optimizer: OptimizerKind::Sgd {
                momentum: 0.0,
                nesterov: false,
                weight_decay: 0.0,
            },
            ..training()
        };
        weights_hash(train_steps(network(), &rows, training).unwrap().state())
    };
    assert_eq!(of(1, 64, 7), of(1, 64, 7));
    assert_ne!(of(1, 64, 7), of(2, 64, 7));

    // 130 rows in batches of 64: 64, 64 and 2, then the next epoch.
    let mut expected = Network::new(network(), 1).unwrap();
    let sgd = OptimizerKind::Sgd {
        momentum: 0.0,
        nesterov: false,
        weight_decay: 0.0,
    };
    let mut optimizer = Optimizer::new(sgd, 0.01, expected.state());
    expected.seed(1);
    for epoch in 0..2 {
        let mut order: Vec<u32> = (0..130).collect();
        let random = Random::new(1, "shuffle").at(epoch);
        for last in (1..order.len()).rev() {
            let wide = u128::from(random.bits(last as u64)) * (last as u128 + 1);
            order.swap(last, (wide >> 64) as usize);
        }
        for positions in order.chunks(64) {
            let (values, labels) = copied(&rows, positions);
            let input = [Input::F32(&values)];
            let step = expected.train_step(&input, &labels, labels.len(), &mut optimizer);
            step.unwrap();
        }
    }
    assert_eq!(of(1, 64, 6), weights_hash(expected.state()));
}

#[test]
fn other_seeds_give_other_weights_and_the_same_seed_the_same() {
    let rows = rows();
    let hash = |seed| {
        let training = StepTraining { seed, ..training() };
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
            ..training()
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

#[test]
fn outputs_are_those_of_every_row_alone() {
    let rows = rows().head(1030);
    let mut network = Network::new(network(), 1).unwrap();
    let outputs = predict(&mut network, &rows).unwrap();
    assert_eq!(outputs.len(), 1030 * 5);
    for row in [0, 1, 1023, 1024, 1029] {
        let (values, _) = copied(&rows, &[row]);
        let plan = network.run(PlanOptions::eval(1), &[Input::F32(&values)]);
        let alone = plan.unwrap().output(0);
        let place = 5 * row as usize;
        assert_eq!(outputs[place..place + 5], alone, "row {row}");
    }
    let score = evaluate(&mut network, &rows).unwrap();
    let both = evaluate_outputs(&mut network, &rows).unwrap();
    assert_eq!(both, (score, outputs));
}
