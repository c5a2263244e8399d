//! Opcodes and layers as the labs print them.

use crate::network::{model, run};

#[test]
fn opcodes_and_layers_of_jsc_tiny() {
    let reports = run(
        &mut model("jsc-tiny", 0),
        None,
        0,
        "[report_graph_analysis_pass]\n",
    );
    let text = reports[0].report.to_text();
    assert!(text.contains(
        "{'placeholder': 1, 'get_attr': 0, 'call_function': 0, 'call_method': 0, 'call_module': 4, 'output': 1}"
    ));
    assert!(text.contains(
        "[BatchNorm1d(16, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True), ReLU(inplace=True), \
         Linear(in_features=16, out_features=5, bias=True), ReLU(inplace=True)]"
    ));
}
