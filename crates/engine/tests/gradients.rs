//! A law over every operator of the table: gradients agree with finite differences.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[expect(dead_code, reason = "the law reads only the graphs of the samples")]
#[path = "../../ir/tests/samples/mod.rs"]
mod samples;
mod support;

use engine::{Gradients, Input, Mode, Plan, PlanOptions, Pool, State, compile};
use ir::{DType, Graph, Op, Verified, verify};
use random::Random;
use samples::SAMPLES;

const ROWS: usize = 3;
/// Half the distance of the two points of a difference.
const STEP: f32 = 1e-2;
/// Of the largest gradient: f32 noise divided by the step, and the third derivative times its square.
const TOLERANCE: f64 = 4e-3;
/// Derivatives jump at whole numbers and halves, and at the ends of the steep part of `hardsigmoid`.
const KINKS: [f32; 2] = [-1.5, 2.5];
/// Operators that are not numbers, or steep, at and below zero.
const POSITIVE: [&str; 5] = ["sqrt", "rsqrt", "reciprocal", "log", "pow"];

/// Distinct values around zero, spaced wider than a difference reaches and away from kinks, so that no maximum changes
/// hands.
fn values(len: usize, random: Random) -> Vec<f32> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by_key(|&k| random.bits(k as u64));
    let start = -0.0125 * len as f32 - 0.1;
    let clear = |v: &f32| {
        let halves = (2.0 * v - (2.0 * v).round()).abs() > 0.03;
        halves && KINKS.iter().all(|k| (v - k).abs() > 0.015)
    };
    let ladder: Vec<f32> = (0..)
        .map(|i| start + 0.025 * i as f32)
        .filter(clear)
        .take(len)
        .collect();
    order.iter().map(|&k| ladder[k]).collect()
}

struct Law<'a> {
    verified: Verified<'a>,
    plan: Plan,
    state: State,
    inputs: Vec<Vec<f32>>,
    weights: Vec<Vec<f32>>,
    pool: Pool,
}

impl<'a> Law<'a> {
    fn new(graph: &'a Graph, mode: Mode, gradients: Gradients) -> Self {
        let verified = verify(graph).unwrap();
        let state = State::new(&verified).unwrap();
        let options = PlanOptions {
            mode,
            gradients,
            ..PlanOptions::train(ROWS)
        };
        let plan = compile(&verified, &state, options).unwrap();
        let random = Random::new(7, "inputs");
        let y = graph.node(graph.find("y").unwrap());
        let is_positive = POSITIVE.contains(&y.op.name());
        let input = |(k, id): (usize, ir::NodeId)| {
            let ty = verified.ty(id.into());
            let len = ty.shape.bind(ROWS).unwrap().iter().product();
            match ty.dtype {
                DType::I64 | DType::Bool => {
                    let choices = if ty.dtype == DType::Bool { 2 } else { 3 };
                    (0..len)
                        .map(|i| (random.at(k as u64).bits(i as u64) % choices) as f32)
                        .collect()
                }
                // Right operands stay clear of zero: one of them divides.
                DType::F32 => values(len, random.at(k as u64))
                    .iter()
                    .map(|v| {
                        if k == 1 || is_positive {
                            1.5 + v.abs()
                        } else {
                            *v
                        }
                    })
                    .collect(),
            }
        };
        let inputs = verified
            .placeholders()
            .into_iter()
            .enumerate()
            .map(input)
            .collect();
        let random = Random::new(8, "weights");
        let outputs = verified.output_values().iter().enumerate();
        let weights = outputs
            .map(|(k, &value)| {
                let len: usize = verified
                    .ty(value)
                    .shape
                    .bind(ROWS)
                    .unwrap()
                    .iter()
                    .product();
                (0..len)
                    .map(|i| random.at(k as u64).uniform(i as u64) + 0.5)
                    .collect()
            })
            .collect();
        Self {
            verified,
            plan,
            state,
            inputs,
            weights,
            pool: Pool::new(1),
        }
    }

    /// A weighted sum of all results. The random numbers of dropout are the same each time.
    fn loss(&mut self) -> f64 {
        let mut state = self.state.clone();
        self.plan.set_noise(Random::new(5, "noise"));
        let integers: Vec<Option<Vec<i64>>> = self
            .verified
            .placeholders()
            .iter()
            .zip(&self.inputs)
            .map(|(&id, x)| {
                (self.verified.ty(id.into()).dtype == DType::I64)
                    .then(|| x.iter().map(|&v| v as i64).collect())
            })
            .collect();
        let feed: Vec<Input> = self
            .inputs
            .iter()
            .zip(&integers)
            .map(|(x, i)| i.as_ref().map_or(Input::F32(x), |i| Input::I64(i)))
            .collect();
        self.plan.forward(&mut state, &feed, &self.pool).unwrap();
        let weigh = |(k, w): (usize, &Vec<f32>)| -> f64 {
            self.plan
                .output(k)
                .iter()
                .zip(w)
                .map(|(&y, &w)| f64::from(y) * f64::from(w))
                .sum()
        };
        self.weights.iter().enumerate().map(weigh).sum()
    }

    /// Gradients of all inputs and of the parameters.
    fn gradients(&mut self) -> (Vec<Option<Vec<f32>>>, Vec<f32>) {
        self.loss();
        for (k, weight) in self.weights.clone().iter().enumerate() {
            self.plan.set_output_grad(k, weight).unwrap();
        }
        self.plan.backward(&self.state, &self.pool).unwrap();
        let inputs = (0..self.inputs.len())
            .map(|k| self.plan.input_grad(k))
            .collect();
        (inputs, self.plan.gradients().to_vec())
    }

    fn difference(&mut self, change: impl Fn(&mut Self, f32)) -> f64 {
        change(self, STEP);
        let above = self.loss();
        change(self, -2.0 * STEP);
        let below = self.loss();
        change(self, STEP);
        (above - below) / f64::from(2.0 * STEP)
    }

    fn check(&mut self, what: &str, wrong: &mut Vec<String>) {
        let (inputs, parameters) = self.gradients();
        for (k, gradient) in inputs
            .iter()
            .enumerate()
            .filter_map(|(k, g)| Some((k, g.as_ref()?)))
        {
            let differences: Vec<f32> = (0..gradient.len())
                .map(|i| self.difference(|law, by| law.inputs[k][i] += by) as f32)
                .collect();
            report(&format!("{what}: input {k}"), gradient, &differences, wrong);
        }
        let version = self.state.trained_len();
        let differences: Vec<f32> = (0..version)
            .map(|i| {
                self.difference(|law, by| law.state.change_trained(|trained| trained[i] += by))
                    as f32
            })
            .collect();
        report(
            &format!("{what}: parameters"),
            &parameters,
            &differences,
            wrong,
        );
    }
}

fn report(what: &str, gradient: &[f32], differences: &[f32], wrong: &mut Vec<String>) {
    let scale = differences.iter().fold(0.3_f32, |m, d| m.max(d.abs()));
    let worst = gradient
        .iter()
        .zip(differences)
        .map(|(g, d)| (g - d).abs())
        .fold(0.0_f32, f32::max);
    if worst.is_nan() || f64::from(worst / scale) > TOLERANCE {
        let at = gradient
            .iter()
            .zip(differences)
            .position(|(g, d)| (g - d).abs() == worst)
            .unwrap_or_default();
        wrong.push(format!(
            "{what}: at {at} gradient {} but difference {}",
            gradient[at], differences[at]
        ));
    }
}

/// True when the results are floats, and follow from floats or trained parameters.
fn has_gradients(graph: &Graph) -> bool {
    let verified = verify(graph).unwrap();
    let y = graph.find("y").unwrap();
    let mut results = verified.outputs(y).iter();
    let mut inputs = verified.input_types(y).into_iter();
    results.all(|ty| ty.dtype == DType::F32)
        && (inputs.any(|ty| ty.dtype == DType::F32) || graph.trained_parameter_count() > 0)
}

#[test]
fn gradients_agree_with_differences_for_every_operator() {
    let mut wrong = Vec::new();
    let mut checked = std::collections::BTreeSet::new();
    for sample in SAMPLES {
        let mut graph = sample.graph();
        graph.initialize(3);
        checked.insert(sample.op().name());
        if !has_gradients(&graph) {
            continue;
        }
        for mode in [Mode::Train, Mode::Eval] {
            let what = format!("{} {mode:?}", sample.call);
            Law::new(&graph, mode, Gradients::ALL).check(&what, &mut wrong);
        }
    }
    let table: Vec<&str> = Op::TABLE
        .iter()
        .map(|e| e.name)
        .filter(|n| !["placeholder", "output", "opaque"].contains(n))
        .collect();
    let missing: Vec<&&str> = table
        .iter()
        .filter(|name| !checked.contains(**name))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(missing.is_empty(), "no sample of {missing:?}");
}

/// The gradients of parameters, without those of inputs.
const PARAMETERS: Gradients = Gradients {
    parameters: true,
    inputs: false,
};

#[test]
fn parameters_have_their_gradients_where_inputs_want_none() {
    for sample in SAMPLES {
        let mut graph = sample.graph();
        graph.initialize(3);
        if !has_gradients(&graph) || graph.trained_parameter_count() == 0 {
            continue;
        }
        for mode in [Mode::Train, Mode::Eval] {
            let of = |gradients| Law::new(&graph, mode, gradients).gradients().1;
            assert_eq!(
                of(PARAMETERS),
                of(Gradients::ALL),
                "{} {mode:?}",
                sample.call
            );
        }
    }
}

/// A gradient that nobody wants takes no memory: not that of inputs, be they rounded or not.
#[test]
fn without_parameters_there_is_nothing_to_keep() {
    let text = "graph \"net\" { x: f32[N, 100] = placeholder
        a = relu(x: integer(8, 4))
        y = tanh(a: integer(8, 4))
        return y }";
    let graph = Graph::parse(text).unwrap();
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let memory = |gradients| {
        let options = PlanOptions {
            gradients,
            ..PlanOptions::train(ROWS)
        };
        compile(&verified, &state, options).unwrap().arena_len()
    };
    let [none, parameters, all] = [Gradients::default(), PARAMETERS, Gradients::ALL].map(memory);
    assert!(
        none == parameters && parameters < all,
        "{none} {parameters} {all}"
    );
}
