//! The exact format of a result, when all operands are fixed point.
//!
//! In integers a product keeps every bit: widths grow, nothing is rounded, until a format on a port says so. The rule
//! follows the largest and the smallest value that the operands allow through the operator, and takes the narrowest
//! fixed-point format that holds both. The metadata shows it and the integer executor computes in it.

use crate::{CodeRange, Op, Operator, Type};
use format::Integer;

/// The narrowest format that holds every result of `op` exactly, if it has one ([`Operator::exact_range`]). `operand`
/// gives what a port (`data_in_0`, `weight`, `bias`) can hold.
pub fn result_format(
    op: &Op,
    inputs: &[Type],
    operand: impl Fn(&str) -> Option<CodeRange>,
) -> Option<Integer> {
    op.exact_range(inputs, &OperandRanges(&operand))
        .map(CodeRange::format)
}

/// The code ranges of the operands of a node, by port; `None` where an operand is not fixed point.
pub struct OperandRanges<'a>(&'a dyn Fn(&str) -> Option<CodeRange>);

impl OperandRanges<'_> {
    /// The operand at a port.
    pub fn port(&self, name: &str) -> Option<CodeRange> {
        (self.0)(name)
    }

    /// The first data input.
    pub fn data(&self) -> Option<CodeRange> {
        self.port("data_in_0")
    }

    /// Sums of `n` products of data with weights, and the bias.
    pub fn dot(&self, n: usize, has_bias: bool) -> Option<CodeRange> {
        let sum = self.data()?.times(self.port("weight")?)?.summed(n)?;
        if has_bias {
            sum.plus(self.port("bias")?)
        } else {
            Some(sum)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Graph, verify};

    fn result(input: &str, op: &str) -> Option<String> {
        let text =
            format!("graph \"t\" {{ x: {input} = placeholder t = eq(x, x) y = {op} return y }}");
        let graph = Graph::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let verified = verify(&graph).unwrap_or_else(|error| panic!("{error}"));
        let id = graph.find("y")?;
        let node = graph.node(id);
        let operand = |port: &str| node.formats.get(port).and_then(CodeRange::of_format);
        let format = result_format(&node.op, &verified.input_types(id), operand)?;
        let sign = if format.signed { "s" } else { "u" };
        Some(format!("{sign}{}.{}", format.width, format.frac_width))
    }

    #[test]
    fn dot_products_keep_every_bit() {
        let linear = "in_features = 16, out_features = 5";
        let cases = [
            // 16·(−128·−128) + 127·16 = 264 176 needs 19 bits and a sign
            (
                "x: integer(8, 4)",
                "weight: integer(8, 4), bias: integer(8, 4)",
                Some("s20.8"),
            ),
            // 16·255·−128 = −522 240 needs 19 bits and a sign
            (
                "x: integer(8, 4, signed = false)",
                "bias = false, weight: integer(8, 4)",
                Some("s20.8"),
            ),
            // a bias with more digits than the product makes the result finer
            (
                "x: integer(2, 0)",
                "weight: integer(2, 0), bias: integer(2, 3)",
                Some("s11.3"),
            ),
            // one operand is float
            ("x: integer(8, 4)", "weight: integer(8, 4)", None),
            ("x", "bias = false, weight: integer(8, 4)", None),
        ];
        for (data, params, expected) in cases {
            let op = format!("linear({data}) {{ {linear}, {params} }}");
            assert_eq!(result("f32[N, 16]", &op).as_deref(), expected, "{op}");
        }
    }

    const ELEMENTWISE: &[(&str, Option<&str>)] = &[
        (
            "batch_norm1d(x: integer(8, 4)) { num_features = 16, weight: integer(8, 6), bias: integer(8, 4) }",
            Some("s16.10"),
        ),
        ("add(x: integer(8, 4), x: integer(8, 4))", Some("s9.4")),
        ("add(x: integer(8, 4), x: integer(8, 6))", Some("s11.6")),
        (
            "sub(x: integer(4, 0, signed = false), x: integer(4, 0, signed = false))",
            Some("s5.0"),
        ),
        ("mul(x: integer(8, 4), x: integer(8, 4))", Some("s16.8")),
        ("mul(x: integer(8, 4)) { scalar = 0.75 }", Some("s10.6")),
        ("mul(x: integer(8, 4)) { scalar = 0.1 }", None),
        ("div(x: integer(8, 4)) { scalar = 4 }", Some("s8.6")),
        ("div(x: integer(8, 4)) { scalar = 3 }", None),
        ("relu(x: integer(8, 4))", Some("u7.4")),
        ("relu6(x: integer(8, 4))", Some("u7.4")),
        ("relu6(x: integer(8, 0))", Some("u3.0")),
        ("hardtanh(x: integer(8, 4))", Some("s6.4")),
        ("mean(x: integer(8, 4)) { dim = 1 }", Some("s12.8")),
        (
            "transpose(x: integer(8, 4)) { dim0 = 0, dim1 = 1 }",
            Some("s8.4"),
        ),
        (
            "cat(x: integer(8, 4), x: integer(4, 4, signed = false)) { dim = 1 }",
            Some("s8.4"),
        ),
        ("gelu(x: integer(8, 4))", None),
        ("neg(x: integer(8, 4))", Some("s9.4")),
        ("abs(x: integer(8, 4))", Some("u8.4")),
        // 16·−128 = −2048 needs 11 bits and a sign
        ("sum(x: integer(8, 4)) { dim = 1 }", Some("s12.4")),
        ("sum(x: integer(8, 4))", None),
        ("amax(x: integer(8, 4)) { dim = 1 }", Some("s8.4")),
        ("prod(x: integer(8, 4)) { dim = 1 }", None),
        ("max(x: integer(8, 4)) { scalar = -0.5 }", Some("s8.4")),
        ("max(x: integer(8, 4)) { scalar = 0 }", Some("u7.4")),
        (
            "min(x: integer(8, 4, signed = false)) { scalar = 1 }",
            Some("u5.4"),
        ),
        ("max(x: integer(8, 4), x: integer(8, 4))", None),
        ("pow(x: integer(8, 4)) { scalar = 2 }", None),
        ("div(x: integer(8, 4), x: integer(8, 4))", None),
        ("argmax(x: integer(8, 4))", Some("u4.0")),
        ("argmax(x)", None),
        // of −128 to 127 sixteenths and −32 to 31 halves
        ("where(t, x: integer(8, 4), x: integer(6, 1))", Some("s9.4")),
        ("where(t, x, x: integer(6, 1))", None),
        // 16 is 256 sixteenths
        (
            "pad(x: integer(8, 4)) { pad = [1, 1], value = 16 }",
            Some("s10.4"),
        ),
        ("pad(x: integer(8, 4)) { pad = [1, 1], value = 0.1 }", None),
        (
            "pad(x: integer(8, 4)) { pad = [1, 1], value = 16, mode = \"edge\" }",
            Some("s8.4"),
        ),
        (
            "mul(x: integer(64, 0), x: integer(64, 60))",
            Some("s128.60"),
        ),
        ("add(x: integer(8, -64), x: integer(8, 100))", None),
    ];

    #[test]
    fn elements_keep_every_bit() {
        for (op, expected) in ELEMENTWISE {
            assert_eq!(result("f32[N, 16]", op).as_deref(), *expected, "{op}");
        }
    }

    /// 16·128·128 = 2¹⁸ and 4·128·128 = 2¹⁶ need one bit more than their exponent, and a sign.
    #[test]
    fn products_of_values_count_their_inner_axis() {
        let product = "(x: integer(8, 4), x: integer(8, 4))";
        for (input, op, expected) in [
            ("f32[16, 16]", "matmul", "s20.8"),
            ("f32[2, 4, 4]", "bmm", "s18.8"),
        ] {
            let found = result(input, &format!("{op}{product}"));
            assert_eq!(found.as_deref(), Some(expected), "{op}");
            assert_eq!(result(input, &format!("{op}(x: integer(8, 4), x)")), None);
        }
    }

    #[test]
    fn convolutions_and_pools_count_their_window() {
        let conv = "in_channels = 4, out_channels = 4, kernel_size = 3, groups = 2, bias = false";
        let cases = [
            // 4 channels in 2 groups: 2·9·(8·8) = 1152
            (
                format!("conv2d(x: integer(4, 0)) {{ {conv}, weight: integer(4, 0) }}"),
                Some("s12.0"),
            ),
            (
                "avg_pool2d(x: integer(4, 0)) { kernel_size = 2 }".to_owned(),
                Some("s6.2"),
            ),
            (
                "avg_pool2d(x: integer(4, 0)) { kernel_size = 3 }".to_owned(),
                None,
            ),
            (
                "avg_pool2d(x: integer(4, 0)) { kernel_size = 2, padding = 1 }".to_owned(),
                Some("s6.2"),
            ),
            (
                "avg_pool2d(x: integer(4, 0)) { kernel_size = 2, padding = 1, count_include_pad = false }".to_owned(),
                None,
            ),
            (
                "adaptive_avg_pool2d(x: integer(4, 0)) { output_size = 1 }".to_owned(),
                Some("s10.6"),
            ),
            (
                "adaptive_avg_pool2d(x: integer(4, 0)) { output_size = 3 }".to_owned(),
                None,
            ),
            (
                "max_pool2d(x: integer(4, 0)) { kernel_size = 3 }".to_owned(),
                Some("s4.0"),
            ),
            (
                "avg_pool2d(x: integer(4, 0)) { kernel_size = 2, ceil_mode = true }".to_owned(),
                None,
            ),
            (
                "adaptive_avg_pool2d(x: integer(4, 0)) { output_size = [4, 2] }".to_owned(),
                Some("s7.3"),
            ),
            (
                "upsample(x: integer(4, 0)) { output_size = 9 }".to_owned(),
                Some("s4.0"),
            ),
            (
                "upsample(x: integer(4, 0)) { output_size = 9, mode = \"bilinear\" }".to_owned(),
                None,
            ),
        ];
        for (op, expected) in cases {
            assert_eq!(result("f32[N, 4, 8, 8]", &op).as_deref(), expected, "{op}");
        }
    }
}
