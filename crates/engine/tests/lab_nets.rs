//! The labs' networks on real data: logits and numbers of right answers as the original has them, with Linear quantised
//! in several ways, and the same networks wholly in integers.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use engine::{Input, IntegerPlan, Network, PlanOptions, Pool, State, compile};
use format::Format;
use ir::{Graph, Tensor, verify};
use serde_json::Value as Json;
use std::fmt::Write;
use support::{Array, arrays, shared};

const ROWS: usize = 1000;

/// BatchNorm and ReLU on the features, then Linear, BatchNorm if asked for and ReLU for each width.
fn network(widths: &[usize], with_norms: bool) -> Graph {
    let mut text = String::from("graph \"net\" {\n x: f32[N, 16] = placeholder\n");
    let (mut at, mut last, mut width) = (0, "x".to_owned(), 16);
    let mut push = |op: &str, attributes: &str| {
        let target = format!("target = \"seq_blocks.{at}\"");
        writeln!(text, " s{at} = {op}({last}) {{ {target}{attributes} }}").unwrap();
        last = format!("s{at}");
        at += 1;
    };
    push("batch_norm1d", ", num_features = 16");
    push("relu", "");
    for &next in widths {
        push(
            "linear",
            &format!(", in_features = {width}, out_features = {next}"),
        );
        if with_norms {
            push("batch_norm1d", &format!(", num_features = {next}"));
        }
        push("relu", "");
        width = next;
    }
    writeln!(text, " return {last}\n}}").unwrap();
    Graph::parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// A network with the original's weights, if they are at hand.
fn trained(model: &str) -> Option<Graph> {
    let mut graph = match model {
        "jsc-tiny" => network(&[5], false),
        _ => network(&[8, 8, 5], true),
    };
    let weights = arrays(&shared(&format!("lab_nets/{model}.safetensors"))?);
    let ids: Vec<_> = graph.iter().map(|(id, _)| id).collect();
    for id in ids {
        let node = graph.node_mut(id);
        for (port, shape, ..) in node.param_specs() {
            let values = weights[&node.param_path(port)].values.clone();
            node.params
                .insert(port.to_owned(), Tensor::new(shape, values).unwrap());
        }
    }
    Some(graph)
}

fn real_rows() -> Option<(Vec<f32>, Vec<usize>)> {
    let mut file = arrays(&shared("lab_nets/real1000.safetensors")?);
    let labels = file.remove("y_real1000")?.integers?;
    let labels = labels.into_iter().map(|label| label as usize).collect();
    Some((file.remove("x_real1000_std")?.values, labels))
}

fn set_formats(graph: &mut Graph, op: &str, ports: &[&str], format: &Format) {
    let ids: Vec<_> = graph
        .iter()
        .filter(|(_, node)| node.op.name() == op)
        .map(|(id, _)| id)
        .collect();
    for id in ids {
        for port in ports {
            graph
                .node_mut(id)
                .formats
                .insert((*port).to_owned(), format.clone());
        }
    }
}

fn integer_format(linear: &Json) -> Format {
    let field = |name: &str| linear[name].as_u64().unwrap();
    Format::parse(&format!(
        "integer({}, {})",
        field("data_in_width"),
        field("data_in_frac_width")
    ))
    .unwrap()
}

fn correct(logits: &[f32], labels: &[usize]) -> usize {
    let best = |row: &[f32]| {
        let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        row.iter().position(|&logit| logit == largest).unwrap()
    };
    logits
        .chunks(5)
        .zip(labels)
        .filter(|(row, label)| best(row) == **label)
        .count()
}

#[test]
fn logits_and_counts_are_the_originals() {
    let (Some((x, labels)), Some(lines)) = (real_rows(), shared("lab_nets/accuracy.jsonl")) else {
        return;
    };
    let lines = String::from_utf8(lines).unwrap();
    let mut n_compared = 0;
    for line in lines.lines() {
        let line: Json = serde_json::from_str(line).unwrap();
        let (model, config) = (
            line["model"].as_str().unwrap(),
            line["config"].as_str().unwrap(),
        );
        if config != "float" && !config.starts_with("int_") {
            continue;
        }
        let mut graph = trained(model).unwrap();
        if config != "float" {
            let format = integer_format(&line["linear"]);
            set_formats(
                &mut graph,
                "linear",
                &["data_in_0", "weight", "bias"],
                &format,
            );
        }
        let expected =
            &arrays(&shared(&format!("lab_nets/{model}_logits_real1000.safetensors")).unwrap())
                [config];
        let mut network = Network::new(graph, 1).unwrap();
        let logits = network
            .run(PlanOptions::eval(ROWS), &[Input::F32(&x)])
            .unwrap()
            .output(0);
        compare(model, config, &logits, expected);
        let count = line["real1000_correct"].as_u64().unwrap() as usize;
        assert_eq!(correct(&logits, &labels), count, "{model} {config}");
        n_compared += 1;
    }
    assert_eq!(
        n_compared, 10,
        "two networks, floats and four integer formats each"
    );
}

fn compare(model: &str, config: &str, logits: &[f32], expected: &Array) {
    for (at, (&got, &want)) in logits.iter().zip(&expected.values).enumerate() {
        assert!(
            (got - want).abs() <= 1e-5 * want.abs().max(1.0),
            "{model} {config}: {got} is not {want} at {at}"
        );
    }
}

/// Every port of the networks in fixed point: integers and floats agree bit for bit, since 24 bits hold all sums.
#[test]
fn networks_wholly_in_integers_equal_the_float_engine() {
    let Some((x, _)) = real_rows() else { return };
    for (model, spec) in [
        ("jsc-tiny", "integer(8, 4)"),
        ("jsc-toy", "integer(8, 4)"),
        ("jsc-toy", "integer(6, 3)"),
    ] {
        let mut graph = trained(model).unwrap();
        let format = Format::parse(spec).unwrap();
        for op in ["linear", "batch_norm1d"] {
            set_formats(&mut graph, op, &["data_in_0", "weight", "bias"], &format);
        }
        let verified = verify(&graph).unwrap();
        let mut state = State::new(&verified).unwrap();
        let mut integer = IntegerPlan::compile(&verified, &state, ROWS).unwrap();
        integer.run(&[Input::F32(&x)]).unwrap();
        assert!(
            integer
                .describe()
                .iter()
                .all(|report| report.format.width <= 24),
            "{model}"
        );
        let options = PlanOptions {
            fuse: false,
            ..PlanOptions::eval(ROWS)
        };
        let mut float = compile(&verified, &state, options).unwrap();
        float
            .forward(&mut state, &[Input::F32(&x)], &Pool::new(1))
            .unwrap();
        assert_eq!(integer.output(0), float.output(0), "{model} {spec}");
        assert!(
            integer.output(0).iter().any(|&logit| logit != 0.0),
            "{model} {spec} says nothing"
        );
    }
}
