//! The exact format of a result, when all operands are fixed point.
//!
//! In integers a product keeps every bit: widths grow, nothing is rounded, until a format on a port says so. The rule
//! follows the largest and the smallest value that the operands allow through the operator, and takes the narrowest
//! fixed-point format that holds both. The metadata shows it and the integer executor computes in it.

use crate::code_range::CodeRange;
use crate::ops::{Window, conv::Conv};
use crate::{MaseType, Op, Type};
use format::FixedPoint;

/// The narrowest format that holds every result of `op` exactly. `operand` gives the format of a port (`data_in_0`,
/// `weight`, `bias`). `None` when an operand is not fixed point, when the operator has no exact integer form (gelu,
/// softmax, a mean of three), or when 128 bits do not suffice.
pub fn result_format(
    op: &Op,
    inputs: &[Type],
    operand: impl Fn(&str) -> Option<FixedPoint>,
) -> Option<FixedPoint> {
    let range = |port: &str| operand(port).and_then(CodeRange::of);
    let result = layer(op, inputs, &range).or_else(|| elementwise(op, inputs, &range));
    result.map(CodeRange::format)
}

/// Sums of products, and means.
fn layer(op: &Op, inputs: &[Type], range: &dyn Fn(&str) -> Option<CodeRange>) -> Option<CodeRange> {
    let data = || range("data_in_0");
    let dot = |n: usize, has_bias: bool| {
        let sum = data()?.times(range("weight")?)?.summed(n)?;
        if has_bias {
            sum.plus(range("bias")?)
        } else {
            Some(sum)
        }
    };
    match op {
        Op::Linear(op) => dot(op.in_features, op.bias),
        Op::Conv1d(op) => dot(taps(op)?, op.bias),
        Op::Conv2d(op) => dot(taps(op)?, op.bias),
        // What a batch norm computes is x·scale + shift; its weight and bias formats are theirs.
        Op::BatchNorm1d(_) | Op::BatchNorm2d(_) => dot(1, true),
        Op::Matmul(_) | Op::Bmm(_) => data()?
            .times(range("data_in_1")?)?
            .summed(inner_size(inputs)?),
        Op::Mean(op) => data()?.mean_of(reduced_size(op, inputs)?),
        Op::AvgPool1d(op) => data()?.mean_of(full_window(op.window(), op.count_include_pad)?),
        Op::AvgPool2d(op) => data()?.mean_of(full_window(op.window(), op.count_include_pad)?),
        Op::AdaptiveAvgPool1d(op) => data()?.mean_of(adaptive_window(&op.output_size, inputs)?),
        Op::AdaptiveAvgPool2d(op) => data()?.mean_of(adaptive_window(&op.output_size, inputs)?),
        _ => None,
    }
}

/// What works on each element alone, or only moves it.
fn elementwise(
    op: &Op,
    inputs: &[Type],
    range: &dyn Fn(&str) -> Option<CodeRange>,
) -> Option<CodeRange> {
    let data = range("data_in_0")?;
    let right = |scalar: Option<f64>| match scalar {
        Some(number) => CodeRange::number(number),
        None => range("data_in_1"),
    };
    match op {
        Op::Add(op) => data.plus(right(op.scalar)?),
        Op::Sub(op) => data.plus(right(op.scalar)?.negated()?),
        Op::Mul(op) => data.times(right(op.scalar)?),
        Op::Div(op) if CodeRange::number(op.scalar?)?.is_power_of_two() => {
            data.times(CodeRange::number(op.scalar?.recip())?)
        }
        Op::Relu(_) => data.at_least(0.0),
        Op::Relu6(_) => data.at_least(0.0)?.at_most(6.0),
        Op::Hardtanh(op) => data.at_least(op.min_val)?.at_most(op.max_val),
        Op::Cat(_) => {
            (1..inputs.len()).try_fold(data, |all, k| all.joined(range(&format!("data_in_{k}"))?))
        }
        op if moves_elements(op) => Some(data),
        _ => None,
    }
}

/// Operators whose results are elements of their input.
fn moves_elements(op: &Op) -> bool {
    let is_max_pool = matches!(
        op,
        Op::MaxPool1d(_) | Op::MaxPool2d(_) | Op::AdaptiveMaxPool1d(_) | Op::AdaptiveMaxPool2d(_)
    );
    let is_same = matches!(op, Op::Identity(_) | Op::Dropout(_));
    is_max_pool || is_same || op.entry().mase_type == MaseType::ImplicitFunc
}

fn taps<const K: usize>(op: &Conv<K>) -> Option<usize> {
    op.group_channels()
        .checked_mul(usize::try_from(op.window().numel()).ok()?)
}

fn inner_size(inputs: &[Type]) -> Option<usize> {
    inputs.first()?.shape.0.last()?.fixed()
}

fn reduced_size(op: &crate::ops::mean::Mean, inputs: &[Type]) -> Option<usize> {
    let shape = &inputs.first()?.shape;
    let reduced = op.reduced(shape).ok()?;
    let mut sizes = shape.0.iter().zip(reduced).filter(|(_, reduced)| *reduced);
    sizes.try_fold(1_usize, |n, (dim, _)| n.checked_mul(dim.fixed()?))
}

/// The number of elements that every window of an average pool divides by.
fn full_window<const K: usize>(window: Window<K>, count_include_pad: bool) -> Option<usize> {
    let is_same_everywhere = window.padding == [0; K] || count_include_pad;
    usize::try_from(window.numel())
        .ok()
        .filter(|_| is_same_everywhere)
}

/// The number of elements of an adaptive pool's windows, when all have the same.
fn adaptive_window(output_size: &[usize], inputs: &[Type]) -> Option<usize> {
    let space = inputs
        .first()?
        .shape
        .0
        .iter()
        .rev()
        .zip(output_size.iter().rev());
    let mut sizes = space.map(|(dim, &n)| (dim.fixed(), n));
    sizes.try_fold(1_usize, |all, (size, n)| {
        let size = size?;
        let window = size.is_multiple_of(n).then(|| size / n.max(1))?;
        all.checked_mul(window)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Graph, verify};
    use format::Format;

    fn result(input: &str, op: &str) -> Option<String> {
        let text = format!("graph \"t\" {{ x: {input} = placeholder y = {op} return y }}");
        let graph = Graph::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let verified = verify(&graph).unwrap_or_else(|error| panic!("{error}"));
        let id = graph.find("y")?;
        let node = graph.node(id);
        let operand = |port: &str| node.formats.get(port).and_then(Format::fixed_point);
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
        ];
        for (op, expected) in cases {
            assert_eq!(result("f32[N, 4, 8, 8]", &op).as_deref(), expected, "{op}");
        }
    }
}
