//! Indices that a network computes itself, which no input shows beforehand.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use engine::{EngineError, Gradients, Input, PlanOptions, Pool, State, compile};
use ir::{Graph, verify};

/// The results and the gradient of the parameters of a graph with one input of integers.
fn run(text: &str, ids: &[i64]) -> Result<(Vec<f32>, Vec<f32>), EngineError> {
    let mut graph = Graph::parse(text).unwrap();
    graph.initialize(1);
    let verified = verify(&graph).unwrap();
    let mut state = State::new(&verified).unwrap();
    let options = PlanOptions {
        gradients: Gradients::ALL,
        ..PlanOptions::train(ids.len())
    };
    let mut plan = compile(&verified, &state, options).unwrap();
    plan.forward(&mut state, &[Input::I64(ids)], &Pool::new(1))?;
    let y = plan.output(0).clone();
    plan.set_output_grad(0, &vec![1.0; y.len()]).unwrap();
    plan.backward(&state, &Pool::new(1)).unwrap();
    Ok((y, plan.gradients().to_vec()))
}

const SHIFTED: &str = "graph \"g\" { ids: i64[N] = placeholder moved = add(ids) { scalar = 2 } \
    y = embedding(moved) { target = \"y\", num_embeddings = 4, embedding_dim = 2 } return y }";

const PICKED: &str = "graph \"g\" { ids: i64[N] = placeholder moved = add(ids) { scalar = 2 } \
    table = constant { target = \"t\", shape = [4, 2], init_std = 1 } y = gather(table, moved) return y }";

#[test]
fn an_index_out_of_range_gives_nan_and_no_gradient() {
    for text in [SHIFTED, PICKED] {
        let (y, gradient) = run(text, &[0, 2, 1]).unwrap();
        let is_nan: Vec<bool> = y.iter().map(|y| y.is_nan()).collect();
        assert_eq!(is_nan, [false, false, true, true, false, false], "{text}");
        assert_eq!(gradient, [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0], "{text}");
    }
}

#[test]
fn integers_that_a_plan_cannot_hold_are_refused() {
    let text = "graph \"g\" { ids: i64[N] = placeholder same = eq(ids) { scalar = 3 } \
        y = to(same) { dtype = \"f32\" } w = constant { target = \"w\", shape = [1] } z = mul(y, w) return z }";
    assert!(run(text, &[3, 1 << 24, -(1 << 24)]).is_ok());
    let error = run(text, &[3, (1 << 24) + 1]).unwrap_err();
    let expected =
        "input ids: 16777217 is larger than 2^24, beyond which a plan does not hold every integer";
    assert_eq!(error.to_string(), expected);
}
