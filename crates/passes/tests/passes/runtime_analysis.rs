//! Scores against the engine's own, and the relations that hold between times whatever they are.

use crate::network::{fact, jets, model, problems, run, try_run};
use engine::{Input, Network};
use passes::{Context, Program, StepReport};
use serde_json::Value as Json;

const FIELDS: [&str; 8] = [
    "Average Accuracy",
    "Average Precision",
    "Average Recall",
    "Average F1 Score",
    "Average Loss",
    "Average Latency",
    "Average GPU Power Usage",
    "Inference Energy Consumption",
];

fn get(reports: &[StepReport], name: &str) -> f64 {
    fact(reports, "runtime_analysis", name)
}

#[test]
fn scores_are_those_of_the_rows_of_the_split_whatever_the_batches() {
    let data = jets();
    for (test, split) in [(true, &data.test), (false, &data.val)] {
        let count = 100;
        let mut graph = model("jsc-toy", 3);
        let mut network = Network::new(graph.clone(), 1).unwrap();
        let indices = &split.indices()[..count];
        let input = Input::Gather {
            values: split.rows(),
            indices,
        };
        let score = network.evaluate(&[input], &split.labels_of(indices), count);
        let score = score.unwrap();
        for (num_batches, batch_size) in [(1, 100), (4, 25), (100, 1)] {
            let passes = format!(
                "[runtime_analysis]\nnum_batches = {num_batches}\nbatch_size = {batch_size}\ntest = {test}\n"
            );
            let reports = run(&mut graph, &data, 0, &passes);
            let accuracy = score.correct as f64 / count as f64;
            assert!((get(&reports, "Average Accuracy") - accuracy).abs() < 1e-12);
            assert!((get(&reports, "Average Recall") - accuracy).abs() < 1e-12);
            assert!((get(&reports, "Average Loss") - score.loss).abs() < 1e-5);
        }
    }
}

#[test]
fn every_field_of_the_original_is_there_and_energy_is_not_made_up() {
    let reports = run(
        &mut model("jsc-toy", 3),
        &jets(),
        0,
        "[runtime_analysis]\nnum_batches = 5\n",
    );
    let report = &reports[0].report;
    for name in FIELDS {
        let value = report
            .facts
            .get(name)
            .unwrap_or_else(|| panic!("no {name}"));
        let is_energy = name.contains("GPU Power") || name.contains("Energy");
        assert_eq!(value.is_null(), is_energy, "{name}: {value}");
        if is_energy {
            let reason = format!("{name} ");
            assert!(report.to_text().contains(&reason), "{name}");
        }
    }
    assert!(
        report
            .to_text()
            .contains("are not measured: the network runs on the CPU")
    );
}

#[test]
fn quantiles_of_the_latency_are_in_order_and_throughput_follows_from_its_mean() {
    let passes = "[runtime_analysis]\nnum_batches = 50\nbatch_size = 16\n";
    let reports = run(&mut model("jsc-toy", 3), &jets(), 0, passes);
    let names = [
        "Median Latency",
        "P90 Latency",
        "P95 Latency",
        "P99 Latency",
    ];
    let quantiles = names.map(|name| get(&reports, name));
    assert!(quantiles.is_sorted(), "{quantiles:?}");
    let average = get(&reports, "Average Latency");
    assert!(average > 0.0 && quantiles[0] > 0.0);
    let per_second = get(&reports, "Throughput");
    assert!((per_second * average / 16e3 - 1.0).abs() < 1e-9);
}

#[test]
fn batches_are_those_of_the_run_unless_the_table_says_otherwise() {
    let graph = model("jsc-tiny", 3);
    for (keys, expected) in [("", 48), ("batch_size = 5\n", 5)] {
        let text = format!("[runtime_analysis]\nnum_batches = 1\n{keys}");
        let table = config::Table::parse(&text).unwrap();
        let program = Program::read(&table).unwrap_or_else(|problems| panic!("{problems:?}"));
        let mut context = Context::new(&graph, None);
        context.run_batch_size = 48;
        let reports = program.run(&mut graph.clone(), &mut context, |_, _, _| {});
        assert_eq!(get(&reports.unwrap(), "batch_size"), f64::from(expected));
    }
}

#[test]
fn memory_is_that_of_parameters_and_grows_with_the_batch() {
    let of = |batch_size: usize| {
        let passes = format!("[runtime_analysis]\nnum_batches = 2\nbatch_size = {batch_size}\n");
        let reports = run(&mut model("jsc-tiny", 3), None, 0, &passes);
        ["Parameter Memory", "Activation Memory"].map(|name| get(&reports, name))
    };
    let ([small, few], [large, many]) = (of(1), of(64));
    // A batch norm of 16 channels with its two statistics, and a layer of 16 inputs and 5 outputs.
    let elements = 4 * 16 + 16 * 5 + 5;
    assert_eq!([small, large], [f64::from(4 * elements); 2]);
    assert!(few < many, "{few} {many}");
}

#[test]
fn without_a_dataset_there_are_times_and_no_scores() {
    for name in ["jsc-toy", "bert-tiny"] {
        let passes = "[runtime_analysis]\nnum_batches = 2\nbatch_size = 1\n";
        let reports = run(&mut model(name, 3), None, 0, passes);
        let facts = &reports[0].report.facts;
        assert!(get(&reports, "P99 Latency") > 0.0, "{name}");
        assert!(!facts.contains_key("Average Accuracy"), "{name}");
        assert_eq!(facts["Inference Energy Consumption"], Json::Null);
        let text = reports[0].report.to_text();
        assert!(text.contains("no dataset: the rows were random"), "{text}");
    }
}

#[test]
fn a_key_without_effect_gets_one_note_and_a_misspelt_one_an_error() {
    let graph = model("jsc-tiny", 3);
    let notes = |keys: &str| {
        let text = format!("[runtime_analysis]\nnum_batches = 1\n{keys}");
        let table = config::Table::parse(&text).unwrap();
        let program = Program::read(&table).unwrap_or_else(|problems| panic!("{problems:?}"));
        let mut context = Context::new(&graph, None);
        let result = program.run(&mut graph.clone(), &mut context, |_, _, _| {});
        result.unwrap();
        context.notes
    };
    assert!(notes("accelerator = \"cpu\"\ntask = \"cls\"\nnum_warmup_batches = 0\n").is_empty());
    for (keys, note) in [
        (
            "accelerator = \"cuda\"\n",
            "accelerator has no effect: the network runs on the CPU",
        ),
        (
            "task = \"ctc\"\n",
            "task is not cls: times are measured, but there are no scores",
        ),
        (
            "model = \"jsc\"\n",
            "model has no effect: the network is the one that the passes run on",
        ),
        (
            "num_warmup_batches = 1\nnum_GPU_warmup_batches = 2\n",
            "num_GPU_warmup_batches has no effect: num_warmup_batches = 1 is given",
        ),
    ] {
        assert_eq!(notes(keys), [note]);
    }
    assert_eq!(
        problems("[runtime_analysis]\nnum_batch = 3\n"),
        ["num_batch: unknown key 'num_batch'; did you mean 'num_batches'?"]
    );
}

#[test]
fn a_table_under_a_name_of_its_own_runs_the_pass_of_its_type() {
    let keys = "type = \"runtime_analysis\"\nnum_batches = 1\n";
    for key in ["runtime_analysis_ori", "runtime_analysis", "before"] {
        let passes = format!("[{key}]\n{keys}");
        let reports = try_run(&mut model("jsc-tiny", 3), None, 0, &passes).unwrap();
        assert_eq!(
            (reports[0].key.as_str(), reports[0].name),
            (key, "runtime_analysis")
        );
    }
    for (passes, problem) in [
        (
            "[before]\ntype = \"runtime_analyses\"\n",
            "before: type: unknown pass 'runtime_analyses'; did you mean 'runtime_analysis'?",
        ),
        (
            "[verify]\ntype = \"runtime_analysis\"\n",
            "type: unknown key 'type'; there are no keys here",
        ),
    ] {
        assert_eq!(problems(passes), [problem]);
    }
}

#[test]
fn no_batch_takes_longer_than_the_run_and_a_process_has_memory() {
    let started = std::time::Instant::now();
    let reports = run(
        &mut model("jsc-toy", 3),
        &jets(),
        0,
        "[runtime_analysis]\nnum_batches = 5\n",
    );
    let all = started.elapsed().as_secs_f64() * 1e3;
    let average = get(&reports, "Average Latency");
    assert!(average > 0.0 && average <= all, "{average} of {all} ms");
}
