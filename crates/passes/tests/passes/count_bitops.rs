//! Bit operations as the labs count them.

use crate::network::{around_quantizing, fact};
use ir::{Graph, verify};
use passes::cost::{NodeCost, node_cost};

#[test]
fn operations_of_jsc_tiny_before_and_after_quantising() {
    let reports = around_quantizing("[count_bitops]\nbatch_size = 8\n", "count_bitops_2");
    let total = |key: &str| fact(&reports, key, "total_bitops");
    assert_eq!(total("count_bitops"), 1_205_504.0);
    assert_eq!(total("count_bitops_2"), 575_744.0);
}

/// Attention as one operator and as those that it stands for, on float and on quantised ports.
#[test]
fn fused_attention_costs_what_its_parts_do() {
    let inputs = "q: f32[N, 2, 5, 8] = placeholder
        k: f32[N, 2, 7, 8] = placeholder
        v: f32[N, 2, 7, 3] = placeholder";
    for format in ["", ": integer(8, 4)"] {
        let fused = format!(
            "graph \"fused\" {{ {inputs}
            y = scaled_dot_product_attention(q{format}, k{format}, v{format})
            return y }}"
        );
        let parts = format!(
            "graph \"parts\" {{ {inputs}
            t = transpose(k) {{ dim0 = -2, dim1 = -1 }}
            scores = matmul(q{format}, t{format})
            scaled = mul(scores{format}) {{ scalar = 0.25 }}
            p = softmax(scaled{format}) {{ dim = -1 }}
            y = matmul(p{format}, v{format})
            return y }}"
        );
        let [fused, parts] = [fused, parts].map(|text| {
            let graph = Graph::parse(&text).unwrap();
            let verified = verify(&graph).unwrap();
            let mut sum = NodeCost::default();
            for (id, _) in graph.iter() {
                sum += node_cost(&verified, id, 4).unwrap();
            }
            (sum.flops, sum.macs, sum.bit_ops)
        });
        assert_eq!(fused, parts, "ports{format}");
        assert!(fused.2 > 0);
    }
}
