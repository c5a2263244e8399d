//! Five training runs of five steps each against PyTorch: losses, first gradients, end weights, running statistics and
//! evaluation outputs.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use engine::{Input, Network, Optimizer, OptimizerKind, PlanOptions, Pool, State, compile};
use ir::{Graph, Tensor};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use support::{Array, arrays, relative_error, shared};

const TOLERANCE: f64 = 1e-5;

/// The zoo's name of the network a run trains.
fn model(run: &str) -> &str {
    match run {
        "jsc-toy-wd" | "jsc-toy-sgd" => "jsc-toy",
        "lab1-1407" => "jsc-lab1",
        name => name,
    }
}

struct Run<'a> {
    name: &'a str,
    json: &'a Json,
    arrays: &'a BTreeMap<String, Array>,
}

impl Run<'_> {
    fn array(&self, suffix: &str) -> Option<&Array> {
        self.arrays.get(&format!("{}.{suffix}", self.name))
    }

    /// The network with the weights of this moment: `start` or `end`.
    fn graph(&self, moment: &str) -> Graph {
        let mut graph = match self.json["graph"].as_str() {
            Some(text) => Graph::parse(text).unwrap(),
            None => models::build(model(self.name), &models::ModelInfo::default()).unwrap(),
        };
        let ids: Vec<ir::NodeId> = graph.iter().map(|(id, _)| id).collect();
        for id in ids {
            let specs = graph.node(id).param_specs();
            for (port, ..) in specs {
                let path = graph.node(id).param_path(port);
                let array = self.array(&format!("{moment}.{path}")).unwrap();
                let tensor = Tensor::new(array.shape.clone(), array.values.clone()).unwrap();
                graph.node_mut(id).params.insert(port.to_owned(), tensor);
            }
        }
        graph
    }

    fn optimizer(&self, state: &State) -> Optimizer {
        let number = |key: &str| self.json["args"][key].as_f64().unwrap_or(0.0);
        let weight_decay = number("weight_decay") as f32;
        let kind = match self.json["optimizer"].as_str().unwrap() {
            "adam" => OptimizerKind::Adam { weight_decay },
            "adamw" => OptimizerKind::AdamW { weight_decay },
            _ => OptimizerKind::Sgd {
                momentum: number("momentum") as f32,
                nesterov: self.json["args"]["nesterov"] == true,
                weight_decay,
            },
        };
        Optimizer::new(kind, number("lr"), state)
    }

    fn batch(&self, k: usize) -> (&Array, Vec<u32>) {
        let labels = self
            .array(&format!("y{k}"))
            .unwrap()
            .integers
            .as_ref()
            .unwrap();
        (
            self.array(&format!("x{k}")).unwrap(),
            labels.iter().map(|&y| y as u32).collect(),
        )
    }

    /// Gradients of the first batch.
    fn check_gradients(&self, wrong: &mut Vec<String>) {
        let graph = self.graph("start");
        let verified = ir::verify(&graph).unwrap();
        let mut state = State::new(&verified).unwrap();
        let (x, labels) = self.batch(0);
        let pool = Pool::new(1);
        let mut plan = compile(&verified, &state, PlanOptions::train(labels.len())).unwrap();
        plan.forward(&mut state, &[Input::F32(&x.values)], &pool)
            .unwrap();
        plan.cross_entropy(&labels, &pool).unwrap();
        plan.backward(&state, &pool).unwrap();
        for (path, gradient) in state.name_trained(plan.gradients()) {
            let expected = &self.array(&format!("grad0.{path}")).unwrap().values;
            // A bias under a batch norm has no gradient: PyTorch's is rounding noise, far below the others.
            let noise = expected.iter().all(|g| g.abs() < 1e-7);
            let error = if noise {
                gradient
                    .values()
                    .iter()
                    .fold(0.0, |m: f64, g| m.max(f64::from(g.abs())))
            } else {
                relative_error(gradient.values(), expected)
            };
            if error > TOLERANCE {
                wrong.push(format!("{} gradient of {path}: {error:.2e}", self.name));
            }
        }
    }

    fn check_training(&self, wrong: &mut Vec<String>) {
        let mut network = Network::new(self.graph("start"), 1).unwrap();
        let mut optimizer = self.optimizer(network.state());
        for (k, expected) in self.json["losses"].as_array().unwrap().iter().enumerate() {
            let (x, labels) = self.batch(k);
            let score = network
                .train_step(
                    &[Input::F32(&x.values)],
                    &labels,
                    labels.len(),
                    &mut optimizer,
                )
                .unwrap();
            let expected = expected.as_f64().unwrap();
            if (score.loss - expected).abs() > TOLERANCE * expected {
                wrong.push(format!(
                    "{} loss {k}: {} instead of {expected}",
                    self.name, score.loss
                ));
            }
        }
        self.check_end(&network, wrong);
    }

    /// End weights and running statistics.
    ///
    /// A batch norm takes the bias before it out again, so the true gradient of that bias is zero. PyTorch's is rounding
    /// noise of about 1e-9, which Adam scales up to whole steps: such a bias walks at random, by at most the learning rate
    /// a step, and the running mean of the norm walks with it. Ours stays where it is. Both are held to that bound, and
    /// everything else to the tolerance.
    fn check_end(&self, network: &Network, wrong: &mut Vec<String>) {
        let graph = network.to_graph();
        let bound = 5.0 * self.json["args"]["lr"].as_f64().unwrap();
        for (path, values) in network.state().iter() {
            let expected = &self.array(&format!("end.{path}")).unwrap().values;
            let error = relative_error(values, expected);
            let walk = values
                .iter()
                .zip(expected)
                .fold(0.0, |m: f64, (a, b)| m.max(f64::from((a - b).abs())));
            let may_walk = walks_with_noise(&graph, path) && walk < bound;
            if error > TOLERANCE && !may_walk {
                wrong.push(format!("{} end of {path}: {error:.2e}", self.name));
            }
        }
    }

    /// Evaluation with PyTorch's own end weights and statistics.
    fn check_evaluation(&self, wrong: &mut Vec<String>) {
        let x = self.array("eval_x").unwrap();
        let mut network = Network::new(self.graph("end"), 1).unwrap();
        let plan = network
            .run(PlanOptions::eval(x.shape[0]), &[Input::F32(&x.values)])
            .unwrap();
        let error = relative_error(&plan.output(0), &self.array("eval_out").unwrap().values);
        if error > TOLERANCE {
            wrong.push(format!("{} evaluation: {error:.2e}", self.name));
        }
    }
}

/// Whether a parameter is a bias before a batch norm, or the running mean of a norm after one.
fn walks_with_noise(graph: &Graph, path: &str) -> bool {
    let (target, port) = path.rsplit_once('.').unwrap();
    let id = graph.find(target).unwrap();
    let is_norm = |id: ir::NodeId| matches!(graph.node(id).op, ir::Op::BatchNorm1d(_));
    match port {
        "bias" => !is_norm(id) && graph.users(id.into()).into_iter().all(is_norm),
        "running_mean" => matches!(
            graph.node(graph.node(id).inputs[0].node).op,
            ir::Op::Linear(_)
        ),
        _ => false,
    }
}

/// Checks every run of a file and returns how many there were.
fn check(json: &[u8], arrays: &BTreeMap<String, Array>) -> usize {
    let runs: Vec<Json> = serde_json::from_slice(json).unwrap();
    let mut wrong = Vec::new();
    for json in &runs {
        let run = Run {
            name: json["model"].as_str().unwrap(),
            json,
            arrays,
        };
        run.check_gradients(&mut wrong);
        run.check_training(&mut wrong);
        run.check_evaluation(&mut wrong);
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    runs.len()
}

/// Made by `fixtures/make.py`: a convolutional network with every kind of norm.
#[test]
fn our_own_runs_hold() {
    let arrays = arrays(include_bytes!("fixtures/steps.safetensors"));
    assert_eq!(check(include_bytes!("fixtures/steps.json"), &arrays), 3);
}

#[test]
fn every_reference_run_holds() {
    let (Some(json), Some(bytes)) = (shared("steps.json"), shared("steps.safetensors")) else {
        return;
    };
    assert_eq!(check(&json, &arrays(&bytes)), 5);
}
