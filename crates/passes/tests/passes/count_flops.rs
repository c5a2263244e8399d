//! Floating-point operations as the labs count them.

use crate::network::{INTEGER, fact, model, run};

#[test]
fn operations_of_jsc_tiny_before_and_after_quantising() {
    let passes = format!(
        "[count_flops]\nbatch_size = 8\n[quantize.linear.config]\n{INTEGER}[count_flops_2]\n"
    );
    let reports = run(&mut model("jsc-tiny", 0), None, 0, &passes);
    assert_eq!(fact(&reports, "count_flops", "total_flops"), 1320.0);
    assert_eq!(fact(&reports, "count_flops_2", "total_flops"), 680.0);
}
