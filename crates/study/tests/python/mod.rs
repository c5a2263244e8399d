//! What real Optuna says of a study of [`super::toy`].

use super::toy;
use serde_json::{Value as Json, json};
use study::storage::Attributes;
use study::{State, Trial};

/// The answer of `optuna/study.py`, as JSON; nothing where there is no Python with Optuna.
pub fn optuna(arguments: &[&str]) -> Option<Json> {
    let Some(python) = std::env::var_os("BENCH_PYTHON") else {
        eprintln!("skipped: BENCH_PYTHON names no Python with Optuna");
        return None;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/optuna/study.py");
    let output = std::process::Command::new(python)
        .arg(script)
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")))
}

/// Compares what Optuna shows of a study with what was written.
pub fn assert_shown(shown: &Json, trials: &[(Trial, Attributes)]) {
    assert_eq!(shown["directions"], json!(["MINIMIZE", "MAXIMIZE"]));
    assert_eq!(shown["metric_names"], json!(["loss", "gain"]));
    assert_eq!(shown["facts"], Json::Object(toy::info().facts));
    let rows = shown["trials"].as_array().unwrap();
    assert_eq!(rows.len(), trials.len());
    for (row, (trial, attributes)) in rows.iter().zip(trials) {
        assert_eq!(row["number"], trial.number);
        assert_eq!(row["state"], trial.outcome.state.name());
        let mut attributes = attributes.clone();
        attributes.extend(
            trial
                .note
                .clone()
                .map(|note| ("note".to_owned(), note.into())),
        );
        assert_eq!(row["user_attrs"], Json::Object(attributes));
        let parameters = toy::space().named(&trial.point);
        let text = |value: &f64| {
            json!(if value.is_finite() {
                value.to_string()
            } else {
                "inf".to_owned()
            })
        };
        let parsed =
            |value: &Json| json!(value.as_str().unwrap().parse::<f64>().unwrap().to_string());
        let values: Vec<Json> = row["values"]
            .as_array()
            .unwrap()
            .iter()
            .map(parsed)
            .collect();
        // A bound that a trial was given up for is no value of it.
        let measured: &[f64] = match trial.outcome.state {
            State::Pruned => &[],
            _ => &trial.outcome.values,
        };
        assert_eq!(values, measured.iter().map(text).collect::<Vec<_>>());
        let constraints: Vec<f64> = trial.outcome.violation.into_iter().collect();
        assert_eq!(row["constraints"], json!(constraints));
        let params = row["params"].as_object().unwrap();
        assert_eq!(params.len(), parameters.len());
        for (name, value) in &parameters {
            // Optuna's choices are single values.
            let single = if value.is_array() {
                json!(value.to_string())
            } else {
                value.clone()
            };
            assert_eq!(params[name], single, "{name}");
        }
    }
}
