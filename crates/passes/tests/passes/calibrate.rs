//! Calibration chooses formats that lose least.

use crate::network::{jets, model, quantize, run};
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
