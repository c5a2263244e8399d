//! Nodes of other programs, written as they were.

use super::OPSETS;
use super::site::Site;
use super::writers::Written;
use crate::constant::Refusal;
use ir::Op;
use ir::ops::opaque::Opaque;

/// The versions of ONNX's own set in which an operator got other attributes, operands or results than before, or was withdrawn.
#[rustfmt::skip]
const CHANGES: &[(&str, &[i64])] = &[
    ("Abs", &[6]),
    ("Add", &[6, 7]),
    ("And", &[7]),
    ("ArgMax", &[12]),
    ("ArgMin", &[12]),
    ("Attention", &[24]),
    ("AveragePool", &[7, 10, 19]),
    ("BatchNormalization", &[6, 7, 9, 14]),
    ("Cast", &[6, 19, 24]),
    ("CastLike", &[19, 24]),
    ("Ceil", &[6]),
    ("Clip", &[6, 11]),
    ("Concat", &[4]),
    ("Constant", &[11, 12]),
    ("DFT", &[20]),
    ("DepthToSpace", &[11]),
    ("DequantizeLinear", &[13, 21, 23]),
    ("Div", &[6, 7]),
    ("Dropout", &[6, 7, 12]),
    ("Elu", &[6]),
    ("Equal", &[7]),
    ("Exp", &[6]),
    ("Floor", &[6]),
    ("GRU", &[3, 7, 14]),
    ("GatherND", &[12]),
    ("Gemm", &[7, 11]),
    ("GlobalLpPool", &[2]),
    ("Greater", &[7]),
    ("GridSample", &[20]),
    ("GroupNormalization", &[21]),
    ("HardSigmoid", &[6]),
    ("Hardmax", &[13]),
    ("InstanceNormalization", &[6]),
    ("LSTM", &[7, 14]),
    ("LeakyRelu", &[6]),
    ("Less", &[7]),
    ("Log", &[6]),
    ("LogSoftmax", &[13]),
    ("LpPool", &[2, 18]),
    ("Max", &[6]),
    ("MaxPool", &[8, 10]),
    ("Mean", &[6]),
    ("Min", &[6]),
    ("Mul", &[6, 7]),
    ("Neg", &[6]),
    ("OptionalHasElement", &[18]),
    ("Or", &[7]),
    ("PRelu", &[6]),
    ("Pad", &[2, 11, 18]),
    ("Pow", &[7]),
    ("QuantizeLinear", &[13, 19, 21, 23]),
    ("RNN", &[7, 14]),
    ("Range", &[27]),
    ("Reciprocal", &[6]),
    ("ReduceL1", &[18]),
    ("ReduceL2", &[18]),
    ("ReduceLogSum", &[18]),
    ("ReduceLogSumExp", &[18]),
    ("ReduceMax", &[18]),
    ("ReduceMean", &[18]),
    ("ReduceMin", &[18]),
    ("ReduceProd", &[18]),
    ("ReduceSum", &[13]),
    ("ReduceSumSquare", &[18]),
    ("Relu", &[6]),
    ("Reshape", &[5, 14]),
    ("Resize", &[11, 13, 18]),
    ("RoiAlign", &[16]),
    ("Scan", &[9]),
    ("Scatter", &[11]),
    ("ScatterElements", &[16]),
    ("ScatterND", &[16]),
    ("Selu", &[6]),
    ("Shape", &[15]),
    ("Sigmoid", &[6]),
    ("Slice", &[10]),
    ("Softmax", &[13]),
    ("Split", &[2, 13, 18]),
    ("Sqrt", &[6]),
    ("Squeeze", &[13]),
    ("Sub", &[6, 7]),
    ("Sum", &[6]),
    ("Tanh", &[6]),
    ("Tile", &[6]),
    ("TopK", &[10, 11]),
    ("Unsqueeze", &[13]),
    ("Upsample", &[7, 9, 10]),
    ("Xor", &[7]),
];

/// True when an operator is the same in two versions of its set, as far as is known.
fn is_same(operator: &str, one: i64, other: i64) -> bool {
    let (first, last) = (one.min(other), one.max(other));
    let changes = CHANGES.iter().find(|(name, _)| *name == operator);
    changes.is_none_or(|(_, versions)| versions.iter().all(|&v| v <= first || last < v))
}

/// Refuses an operator of ONNX's own set whose meaning is another in the set that is written.
fn check_version(op: &Opaque, opset: i64) -> Result<(), Refusal> {
    let (name, version) = (&op.operator, op.version);
    if !op.domain.is_empty() || is_same(name, version, opset) {
        return Ok(());
    }
    let mut others = OPSETS.filter(|&other| is_same(name, version, other));
    let way_out = match others.next() {
        Some(other) => format!("choose --opset {other}"),
        None => "no set that is written has it as it was".to_owned(),
    };
    Err(Refusal::new(format!(
        "it is {name} of opset {version}, which is another operator in opset {opset}; {way_out}"
    )))
}

/// The node of another program as it was, with the tensors it brought along.
pub fn opaque(site: &mut Site) -> Written {
    let Op::Opaque(op) = &site.node.op else {
        return Err(Refusal::new("is no operator of another program"));
    };
    if op.source.is_empty() {
        let (name, set) = (&op.operator, &op.domain);
        return Err(Refusal(format!(
            "it is {name} of {set}, and no operator of ONNX is known for it"
        )));
    }
    check_version(op, site.exporter.options.opset)?;
    let broken = || Refusal::new("its source is not the message of a node");
    let bytes = bytes(&op.source).ok_or_else(broken)?;
    let source = interop::onnx::decode_graph(bytes).map_err(|_| broken())?;
    let [node] = source.node.as_slice() else {
        return Err(broken());
    };
    let mut names: Vec<(String, String)> = Vec::new();
    for (info, given) in source.input.iter().zip(&site.inputs) {
        names.push((info.name().to_owned(), given.clone()));
    }
    for tensor in &source.initializer {
        let fresh = site
            .exporter
            .fresh(&format!("{}/{}", site.node.name, tensor.name()));
        names.push((tensor.name().to_owned(), fresh.clone()));
        let mut tensor = tensor.clone();
        tensor.name = Some(fresh);
        site.exporter.proto.initializer.push(tensor);
    }
    let mut node = node.clone();
    for input in node.input.iter_mut().filter(|input| !input.is_empty()) {
        let known = names.iter().find(|(own, _)| own == input);
        let (_, name) = known.ok_or_else(broken)?;
        name.clone_into(input);
    }
    let mut results = Vec::new();
    for output in &mut node.output {
        *output = site.exporter.fresh(&format!("{}/out", site.node.name));
        results.push(output.clone());
    }
    site.exporter.proto.node.push(node);
    Ok(results)
}

/// Bytes of hexadecimal digits.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|c| c.to_digit(16).map(|digit| digit as u8))
        .collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(
        digits
            .chunks(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::CHANGES;
    use std::path::Path;
    use std::process::Command;

    #[test]
    fn the_versions_are_those_of_the_package() {
        let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let python = crate_folder.join("../../.tools/onnx/bin/python");
        if !python.exists() {
            println!("skipped: the package onnx is not installed; scripts/test-tools.sh gets it");
            return;
        }
        let script = crate_folder.join("tests/operator_versions.py");
        let output = Command::new(python).arg(script).output().expect("it runs");
        let lines = CHANGES.iter().map(|(name, versions)| {
            let versions = versions.iter().map(|version| format!(" {version}"));
            format!("{name}{}\n", versions.collect::<String>())
        });
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            lines.collect::<String>()
        );
    }
}
