//! Bit operations as the labs count them.

use crate::network::{around_quantizing, fact};

#[test]
fn operations_of_jsc_tiny_before_and_after_quantising() {
    let reports = around_quantizing("[count_bitops]\nbatch_size = 8\n", "count_bitops_2");
    let total = |key: &str| fact(&reports, key, "total_bitops");
    assert_eq!(total("count_bitops"), 1_205_504.0);
    assert_eq!(total("count_bitops_2"), 575_744.0);
}
