//! The summary speaks of all passes since the start.

use crate::network::{INTEGER, fact, model, run};

#[test]
fn nodes_that_two_passes_changed_are_counted_once() {
    let passes = format!(
        "[quantize.linear.config]\n{INTEGER}[quantize_2.linear.config]\nname = \"integer\"\nweight_width = 4\n\
         [quantize_2.relu.config]\nname = \"integer\"\ndata_in_width = 4\n[summarize_quantization]\n"
    );
    let reports = run(&mut model("jsc-tiny", 0), None, 0, &passes);
    assert_eq!(fact(&reports, "quantize", "changed"), 1.0);
    assert_eq!(fact(&reports, "summarize_quantization", "changed"), 3.0);
}
