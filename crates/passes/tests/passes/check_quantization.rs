//! Saturation that the proof counts.

use crate::network::{jets, model, run};

#[test]
fn what_saturates_at_results_and_inputs_is_seen() {
    let data = jets();
    let mut graph = model("jsc-tiny", 0);
    let passes = "[quantize]\n[quantize.linear.config]\nname = \"integer\"\ndata_in_width = 8\nweight_width = 8\n\
                  data_out_width = 3\ndata_out_frac_width = 2\n[quantize.relu.config]\nname = \"integer\"\ndata_in_width = 8\n\
                  data_in_frac_width = 4\n[check_quantization]\n";
    let reports = run(&mut graph, &data, 0, passes);
    let report = &reports[1].report;
    assert!(report.is_good, "{}", report.to_text());
    let (_, table) = report.tables().next().unwrap();
    let cell = |node: &str, port: &str, column: usize| {
        let row = table
            .rows
            .iter()
            .find(|row| row[0] == node && row[1] == port)
            .unwrap();
        row[column].trim_end_matches('%').parse::<f64>().unwrap()
    };
    // Three bits reach from -1 to 0.75, and the layer's results do not.
    assert!(
        cell("seq_blocks_2", "data_out_0", 6) > 1.0 && cell("seq_blocks_2", "data_out_0", 7) > 0.25
    );
    // Half of what relu reads is negative, and dropped; what is left fits.
    assert!(
        cell("seq_blocks_1", "data_in_0", 6) < 5.0,
        "{}",
        table.to_text()
    );
}
