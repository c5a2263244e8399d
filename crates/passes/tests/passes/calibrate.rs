//! Calibration chooses formats that lose least.

use crate::network::{dataset, fact, jets, model, quantize, run};
use engine::gather;
use format::Format;

#[test]
fn calibration_by_mse_beats_min_max_and_the_formats_before() {
    let data = jets();
    for bits in [8, 4, 3] {
        let error = |method: &str| {
            let mut graph = model("jsc-s", 5);
            let passes = format!(
                "{}[calibrate]\nmethod = \"{method}\"\nobserve = \"float\"\n",
                quantize(&["linear", "batch_norm1d"], bits)
            );
            let reports = run(&mut graph, &data, 0, &passes);
            let (_, table) = reports[1].report.tables().next().unwrap();
            let column = |row: &Vec<String>, at: usize| row[at].parse::<f64>();
            let sqnr: Vec<[f64; 2]> = table
                .rows
                .iter()
                .map(|row| [5, 6].map(|at| column(row, at).unwrap_or(f64::INFINITY)))
                .collect();
            assert!(sqnr.len() >= 20, "{}", table.to_text());
            sqnr
        };
        let (mse, min_max) = (error("mse"), error("min_max"));
        for (by_mse, by_range) in mse.iter().zip(&min_max) {
            assert!(by_mse[1] >= by_mse[0], "worse than before: {by_mse:?}");
            assert!(by_mse[1] >= by_range[1], "{by_mse:?}, {by_range:?}");
        }
    }
}

#[test]
fn only_inputs_without_a_sign_lose_it_and_only_when_asked() {
    let data = jets();
    let signed = |unsigned: bool| {
        let mut graph = model("jsc-s", 5);
        let passes = format!(
            "{}[calibrate]\nunsigned = {unsigned}\n",
            quantize(&["linear", "batch_norm1d"], 8)
        );
        run(&mut graph, &data, 0, &passes);
        let of = |node: &ir::Node| {
            let format = node.formats.get("data_in_0")?;
            let Format::Integer(format) = format else {
                panic!()
            };
            Some((node.op.name(), format.signed))
        };
        graph.nodes().iter().filter_map(of).collect::<Vec<_>>()
    };
    assert!(signed(false).iter().all(|(_, signed)| *signed));
    for (op, signed) in signed(true) {
        // Every linear of jsc-s follows a relu; batch norms see results of linears.
        assert_eq!(signed, op != "linear", "{op}");
    }
}

/// `jsc-s` after some steps of training, so that its answers differ.
fn trained() -> ir::Graph {
    let rows = jets().train;
    let mut network = engine::Network::new(model("jsc-s", 5), 2).unwrap();
    let kind = engine::OptimizerKind::Adam { weight_decay: 0.0 };
    let mut optimizer = engine::Optimizer::new(kind, 3e-3, network.state());
    for batch in rows.indices().chunks_exact(128).take(200) {
        let (inputs, labels) = (gather(rows.elements(), batch), rows.labels_of(batch));
        let step = network.train_step(&inputs, &labels, batch.len(), &mut optimizer);
        step.unwrap();
    }
    network.to_graph()
}

const LOSS: &str = "method = \"loss\"";
const MSE: &str = "method = \"mse\"";

/// The network after quantising to so many bits, 8 for what flows in, and calibrating on some threads.
fn calibrated(
    mut graph: ir::Graph,
    bits: u32,
    keys: &str,
    threads: usize,
) -> (ir::Graph, Vec<passes::StepReport>) {
    let data = jets();
    let rules = quantize(&["linear", "batch_norm1d"], bits);
    let keys = format!("{keys}\nunsigned = true\nnum_samples = 512\n");
    let rules = rules.replace("[quantize]\n", "[quantize]\ninput_width = 8\n");
    let passes = format!("{rules}[calibrate]\n{keys}");
    let table = config::Table::parse(&passes).unwrap();
    let program = passes::Program::read(&table).unwrap_or_else(|problems| panic!("{problems:?}"));
    let mut context = passes::Context::new(&graph, Some(&data));
    context.threads = threads;
    let reports = program.run(&mut graph, &mut context, |_, _, _| {});
    let reports = reports.unwrap_or_else(|error| panic!("{error}"));
    (graph, reports)
}

#[test]
fn the_loss_falls_below_that_of_mse_where_bits_are_few() {
    let trained = trained();
    for bits in [6, 4, 3, 2] {
        let calibrated = |bits, keys, threads| calibrated(trained.clone(), bits, keys, threads);
        let (graph, reports) = calibrated(bits, LOSS, 1);
        let [before, after] =
            ["loss_mse", "loss_calibrated"].map(|key| fact(&reports, "calibrate", key));
        assert!(after < before, "{bits} bits: {after}, {before} by mse");
        let (by_mse, _) = calibrated(bits, MSE, 1);
        assert_ne!(graph, by_mse, "{bits} bits");
        for (own, other) in graph.nodes().iter().zip(by_mse.nodes()) {
            assert_eq!(own.params, other.params, "weights are not touched");
            for (port, format) in &own.formats {
                let bits = [format, &other.formats[port]].map(|format| format.bits(&[64]));
                assert_eq!(bits[0], bits[1], "{}", own.name);
            }
        }
    }
}

/// The scores of five classes of the first 512 training rows.
fn scores(graph: &ir::Graph) -> Vec<Vec<f64>> {
    let rows = jets().train.head(512);
    let mut network = engine::Network::new(graph.clone(), 1).unwrap();
    let inputs = gather(rows.elements(), rows.indices());
    let plan = network.run(engine::PlanOptions::eval(512), &inputs);
    let scores = plan.unwrap().output(0);
    let rows = scores.chunks_exact(5);
    rows.map(|row| row.iter().map(|&x| x.into()).collect())
        .collect()
}

fn log_softmax(scores: &[f64]) -> Vec<f64> {
    let sum: f64 = scores.iter().map(|x| x.exp()).sum();
    scores.iter().map(|x| x - sum.ln()).collect()
}

/// By distance, what it says of a network's answers.
fn distances(exact: &[Vec<f64>], got: &[Vec<f64>], labels: &[u32]) -> [(&'static str, f64); 3] {
    let (mut divergence, mut cross_entropy, mut error, mut squares) = (0.0, 0.0, 0.0, 0.0);
    for ((exact, got), &label) in exact.iter().zip(got).zip(labels) {
        let (ln_p, ln_q) = (log_softmax(exact), log_softmax(got));
        let terms = ln_p.iter().zip(&ln_q);
        divergence += terms.map(|(p, q)| p.exp() * (p - q)).sum::<f64>() / 512.0;
        cross_entropy -= ln_q[label as usize] / 512.0;
        error += exact
            .iter()
            .zip(got)
            .map(|(x, y)| (x - y).powi(2))
            .sum::<f64>();
        squares += exact.iter().map(|x| x.powi(2)).sum::<f64>();
    }
    [
        ("divergence", divergence),
        ("labels", cross_entropy),
        ("squared", error / squares),
    ]
}

#[test]
fn every_distance_is_measured_and_lowered() {
    let trained = trained();
    let rows = jets().train.head(512);
    let (by_mse, _) = calibrated(trained.clone(), 3, MSE, 1);
    let labels = rows.labels_of(rows.indices());
    let expected = distances(&scores(&trained), &scores(&by_mse), &labels);
    let losses = |distance: &str| {
        let keys = format!("distance = \"{distance}\"");
        let (_, reports) = calibrated(trained.clone(), 3, &keys, 1);
        ["loss_mse", "loss_calibrated"].map(|key| fact(&reports, "calibrate", key))
    };
    for (distance, expected) in expected {
        let [before, after] = losses(distance);
        let is_near = (before - expected).abs() < 1e-3 * expected;
        assert!(is_near, "{distance}: {before}, by hand {expected}");
        assert!(after < before, "{distance}: {after}, {before} by mse");
    }
    // The temperature that suits best may be 1.
    let [tempered, _] = losses("tempered");
    assert!(tempered < 1.001 * expected[0].1, "{tempered} {expected:?}");
}

#[test]
fn formats_by_loss_are_the_same_on_any_number_of_threads() {
    let on_threads = |threads| calibrated(trained(), 3, LOSS, threads).0;
    assert_eq!(on_threads(1), on_threads(3));
}

#[test]
fn two_bits_do_not_end_in_the_same_answer_for_every_row() {
    let (graph, _) = calibrated(trained(), 2, LOSS, 1);
    let rows = jets().train.head(64);
    let mut network = engine::Network::new(graph, 1).unwrap();
    let inputs = gather(rows.elements(), rows.indices());
    let run = network.run(engine::PlanOptions::eval(64), &inputs).unwrap();
    let answers = run.output(0);
    let rows = answers.chunks_exact(5);
    let other = rows.filter(|row| *row != &answers[..5]).count();
    assert!(other > 16, "{other} of 64 answers differ from the first");
}

#[test]
fn rows_without_classes_are_calibrated_by_the_results() {
    let values: Vec<f32> = (0..64 * 16)
        .map(|k| ((k * 37 % 101) as f32 - 50.0) / 20.0)
        .collect();
    let data = dataset(vec![16], values);
    let mut graph = model("jsc-s", 5);
    let passes = format!(
        "{}[calibrate]\nmethod = \"loss\"\nnum_samples = 64\n",
        quantize(&["linear", "batch_norm1d"], 4)
    );
    let reports = run(&mut graph, &data, 0, &passes);
    let [before, after] =
        ["loss_mse", "loss_calibrated"].map(|key| fact(&reports, "calibrate", key));
    assert!(after <= before && after > 0.0, "{after}, {before} by mse");
}

/// A relu drops what is negative, but a signed format of its input has a place for it.
#[test]
fn a_signed_input_of_a_relu_is_calibrated_to_all_values() {
    let text = "graph \"g\" { x: f32[N, 2] = placeholder
        r = relu(x: integer(4, 3))
        return r }";
    let mut graph = ir::Graph::parse(text).unwrap();
    let data = dataset(vec![2], vec![-6.0, 1.0, 0.5, -2.0]);
    run(&mut graph, &data, 0, "[calibrate]\nmethod = \"min_max\"\n");
    let format = graph.nodes()[1].formats["data_in_0"].to_string();
    assert_eq!(format, "integer(4, 0)");
}
