//! Bit operations as the labs count them.

use crate::network::{INTEGER, fact, model, run};

#[test]
fn operations_of_jsc_tiny_before_and_after_quantising() {
    let passes = format!(
        "[count_bitops]\nbatch_size = 8\n[quantize.linear.config]\n{INTEGER}[count_bitops_2]\n"
    );
    let reports = run(&mut model("jsc-tiny", 0), None, 0, &passes);
    let total = |key: &str| fact(&reports, key, "total_bitops");
    assert_eq!(total("count_bitops"), 1_205_504.0);
    assert_eq!(total("count_bitops_2"), 575_744.0);
}
