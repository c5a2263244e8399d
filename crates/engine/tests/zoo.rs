//! Every model that takes an image, on small ones: rows do not see each other, and training reaches every weight.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use engine::{Input, PlanOptions, Pool, State, compile};
use ir::Graph;
use models::{Classes, MODELS, ModelEntry, ModelInfo};

const ROWS: usize = 3;

fn small(entry: &ModelEntry) -> (Graph, Vec<f32>) {
    let sample = vec![entry.input_shape[0], 32, 32];
    let size = ROWS * sample.iter().product::<usize>();
    let info = ModelInfo {
        input: Some(sample),
        classes: None,
    };
    let mut graph = models::build(entry.name, &info).unwrap();
    graph.initialize(5);
    let wave = |i: usize| ((i * 37 % 101) as f32 / 50.0 - 1.0) * (1.0 + (i / 3072) as f32);
    (graph, (0..size).map(wave).collect())
}

fn outputs(graph: &Graph, x: &[f32], rows: usize) -> Vec<f32> {
    let verified = ir::verify(graph).unwrap();
    let mut state = State::new(&verified).unwrap();
    let pool = Pool::new(1);
    let mut plan = compile(&verified, &state, PlanOptions::eval(rows)).unwrap();
    plan.forward(&mut state, &[Input::F32(x)], &pool).unwrap();
    plan.output(0)
}

fn image_models() -> impl Iterator<Item = &'static ModelEntry> {
    let images = MODELS.iter().filter(|entry| entry.input_shape.len() == 3);
    images.filter(|entry| matches!(entry.classes, Classes::Any(_)))
}

#[test]
fn a_row_alone_gives_what_it_gives_beside_others() {
    for entry in image_models() {
        let (graph, x) = small(entry);
        let together = outputs(&graph, &x, ROWS);
        let (size, classes) = (x.len() / ROWS, together.len() / ROWS);
        for (row, expected) in together.chunks(classes).enumerate() {
            let alone = outputs(&graph, &x[row * size..][..size], 1);
            let close = alone.iter().zip(expected);
            assert!(
                close.clone().all(|(a, b)| (a - b).abs() <= 1e-5),
                "{}: row {row}",
                entry.name
            );
            assert!(alone.iter().any(|y| *y != 0.0), "{}", entry.name);
        }
        assert_ne!(together[..classes], together[classes..2 * classes]);
    }
}

#[test]
fn a_step_of_training_reaches_every_weight() {
    for entry in image_models() {
        let (graph, x) = small(entry);
        let verified = ir::verify(&graph).unwrap();
        let mut state = State::new(&verified).unwrap();
        let pool = Pool::new(1);
        let mut plan = compile(&verified, &state, PlanOptions::train(ROWS)).unwrap();
        plan.forward(&mut state, &[Input::F32(&x)], &pool).unwrap();
        plan.cross_entropy(&[0, 1, 2], &pool).unwrap();
        plan.backward(&state, &pool).unwrap();
        for (path, gradient) in state.name_trained(plan.gradients()) {
            // A batch norm takes the bias before it out again.
            let is_bias = gradient.shape().len() == 1;
            let is_reached = is_bias || gradient.values().iter().any(|g| *g != 0.0);
            let is_finite = gradient.values().iter().all(|g| g.is_finite());
            assert!(is_reached && is_finite, "{}: {path}", entry.name);
        }
    }
}
