//! Floating-point operations as the labs count them.

use crate::network::{around_quantizing, fact};

#[test]
fn operations_of_jsc_tiny_before_and_after_quantising() {
    let reports = around_quantizing("[count_flops]\nbatch_size = 8\n", "count_flops_2");
    assert_eq!(fact(&reports, "count_flops", "total_flops"), 1320.0);
    assert_eq!(fact(&reports, "count_flops_2", "total_flops"), 680.0);
}
