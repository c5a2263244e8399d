//! Average bits, weighted by size.

use crate::network::{around_quantizing, fact};

#[test]
fn layers_count_by_their_size() {
    // Two thirds of jsc-tiny's parameters are those of its linear layer; the others are those of the batch norm.
    let reports = around_quantizing("[calculate_avg_bits]\n", "calculate_avg_bits_2");
    assert_eq!(fact(&reports, "calculate_avg_bits", "w_avg_bit"), 32.0);
    let expected = (85.0 * 8.0 + 32.0 * 32.0) / 117.0;
    let got = fact(&reports, "calculate_avg_bits_2", "w_avg_bit");
    assert!((got - expected).abs() < 1e-9, "{got}");
}

#[test]
fn layer_weights_are_counted_without_biases_and_norms() {
    let reports = around_quantizing("[calculate_avg_bits]\n", "calculate_avg_bits_2");
    let average = |name| fact(&reports, name, "average_bitwidth");
    assert_eq!(average("calculate_avg_bits"), 32.0);
    assert_eq!(average("calculate_avg_bits_2"), 8.0);
}
