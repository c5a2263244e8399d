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

/// The network after quantising to so many bits, 8 for what flows in, and calibrating on some threads.
fn calibrated(
    mut graph: ir::Graph,
    bits: u32,
    method: &str,
    threads: usize,
) -> (ir::Graph, Vec<passes::StepReport>) {
    let data = jets();
    let rules = quantize(&["linear", "batch_norm1d"], bits);
    let keys = format!("method = \"{method}\"\nunsigned = true\nnum_samples = 512\n");
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
        let calibrated = |bits, method, threads| calibrated(trained.clone(), bits, method, threads);
        let (graph, reports) = calibrated(bits, "loss", 1);
        let [before, after] =
            ["loss_mse", "loss_calibrated"].map(|key| fact(&reports, "calibrate", key));
        assert!(after < before, "{bits} bits: {after}, {before} by mse");
        let (by_mse, _) = calibrated(bits, "mse", 1);
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

#[test]
fn formats_by_loss_are_the_same_on_any_number_of_threads() {
    let on_threads = |threads| calibrated(trained(), 3, "loss", threads).0;
    assert_eq!(on_threads(1), on_threads(3));
}

#[test]
fn two_bits_do_not_end_in_the_same_answer_for_every_row() {
    let (graph, _) = calibrated(trained(), 2, "loss", 1);
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
