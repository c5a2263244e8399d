//! Forward and all gradients of every reference case, against PyTorch in float64, on every instruction set.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use engine::{Gradients, Input, Mode, Plan, PlanOptions, Pool, State, compile};
use ir::{DType, Op, Tensor};
use kernels::Isa;
use serde_json::Value as Json;
use support::{Array, arrays, relative_error, shared, single};

const TOLERANCE: f64 = 1e-5;

struct Case<'a> {
    json: &'a Json,
    arrays: &'a std::collections::BTreeMap<String, Array>,
}

impl Case<'_> {
    fn text(&self, key: &str) -> &str {
        self.json[key].as_str().unwrap_or_default()
    }

    fn array(&self, name: &Json) -> &Array {
        &self.arrays[name.as_str().unwrap()]
    }

    fn check(&self, fuse: bool) -> Vec<String> {
        let mut attributes = self.json["attrs"].as_object().unwrap().clone();
        let mode = attributes.get("mode").and_then(Json::as_str);
        let (is_eval, is_train) = (mode == Some("eval"), mode == Some("train"));
        if is_eval || is_train {
            attributes.remove("mode");
        }
        let op = Op::from_attributes(self.text("op"), attributes)
            .unwrap()
            .unwrap();
        let inputs: Vec<&Array> = self.json["inputs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| self.array(name))
            .collect();
        let types: Vec<(Vec<usize>, DType)> = inputs
            .iter()
            .map(|a| {
                (
                    a.shape.clone(),
                    match (a.is_bool, &a.integers) {
                        (true, _) => DType::Bool,
                        (false, Some(_)) => DType::I64,
                        (false, None) => DType::F32,
                    },
                )
            })
            .collect();
        let graph = single(op, &types, &self.params());
        let verified = ir::verify(&graph).unwrap();
        let mut state = State::new(&verified).unwrap();
        let options = PlanOptions {
            rows: 1,
            mode: if is_eval { Mode::Eval } else { Mode::Train },
            gradients: Gradients::ALL,
            observe: Vec::new(),
            fuse,
        };
        let pool = Pool::new(1);
        let mut plan = compile(&verified, &state, options).unwrap();
        let feed: Vec<Input> = inputs
            .iter()
            .map(|a| {
                a.integers
                    .as_ref()
                    .map_or(Input::F32(&a.values), |i| Input::I64(i))
            })
            .collect();
        plan.forward(&mut state, &feed, &pool).unwrap();
        let mut errors = vec![(
            "out".to_owned(),
            relative_error(&plan.output(0), &self.array(&self.json["output"]).values),
        )];
        if self.json["grad_output"].is_null() {
            return wrong(self.text("name"), errors);
        }
        plan.set_output_grad(0, &self.array(&self.json["grad_output"]).values)
            .unwrap();
        plan.backward(&state, &pool).unwrap();
        errors.extend(self.gradient_errors(&state, &plan));
        wrong(self.text("name"), errors)
    }

    /// The relative error of every gradient that the case has.
    fn gradient_errors(&self, state: &State, plan: &Plan) -> Vec<(String, f64)> {
        let grads: std::collections::BTreeMap<String, Vec<f32>> = state
            .name_trained(plan.gradients())
            .map(|(path, tensor)| (path.to_owned(), tensor.values().to_vec()))
            .collect();
        let names: Vec<&str> = self.json["inputs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| n.as_str().unwrap())
            .collect();
        let gradients = self.json["grads"].as_object().unwrap().iter();
        gradients
            .map(|(name, grad)| {
                let expected = &self.array(grad).values;
                let got = match names.iter().position(|n| n == name) {
                    Some(k) => plan.input_grad(k).unwrap(),
                    None => grads[&format!("op.{}", name.rsplit('.').next().unwrap())].clone(),
                };
                (name.clone(), relative_error(&got, expected))
            })
            .collect()
    }

    fn params(&self) -> Vec<(&str, Tensor)> {
        let tensor = |a: &Array| Tensor::new(a.shape.clone(), a.values.clone()).unwrap();
        let mut params: Vec<(&str, Tensor)> = self.json["params"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(port, name)| (port.as_str(), tensor(self.array(name))))
            .collect();
        for buffer in ["running_mean", "running_var"] {
            if let Some(array) = self.arrays.get(&format!("{}.{buffer}", self.text("name"))) {
                params.push((buffer, tensor(array)));
            }
        }
        params
    }
}

/// A line for each relative error that is too large.
fn wrong(name: &str, errors: Vec<(String, f64)>) -> Vec<String> {
    let errors = errors.into_iter();
    errors
        .filter(|(_, error)| *error > TOLERANCE)
        .map(|(what, error)| format!("{name} {what}: relative error {error:.2e}"))
        .collect()
}

/// Compares every case on every instruction set.
fn check_all(json: &[u8], tensors: &[u8]) -> Vec<Json> {
    let cases: Vec<Json> = serde_json::from_slice(json).unwrap();
    let arrays = arrays(tensors);
    let mut wrong = Vec::new();
    for (json, isa) in cases
        .iter()
        .flat_map(|json| Isa::ALL.map(|isa| (json, isa)))
    {
        kernels::force(Some(isa));
        for fuse in [false, true] {
            wrong.extend(
                Case {
                    json,
                    arrays: &arrays,
                }
                .check(fuse),
            );
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    cases
}

#[test]
fn every_reference_case_holds() {
    let (Some(json), Some(bytes)) = (shared("ops.json"), shared("ops.safetensors")) else {
        return;
    };
    let cases = check_all(&json, &bytes);
    assert!(cases.len() > 50, "only {} cases", cases.len());
}

/// The operators that files of others bring, on small arrays that are kept beside the tests.
#[test]
fn every_case_of_imported_operators_holds() {
    let cases = check_all(
        include_bytes!("fixtures/ops.json"),
        include_bytes!("fixtures/ops.safetensors"),
    );
    assert!(cases.len() >= 40, "only {} cases", cases.len());
}
