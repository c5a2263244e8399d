//! Laws over the tables of operators that are read.

use exchange::onnx::{ExportOptions, ImportOptions, OPERATORS, export, import};
use interop::onnx::Model;
use interop::onnx::proto::{
    GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, TensorShapeProto,
    TypeProto, ValueInfoProto, tensor_shape_proto, type_proto,
};
use std::collections::BTreeSet;

const FLOAT: i32 = 1;
const INT64: i32 = 7;

#[test]
fn an_operator_has_one_line_and_starts_at_a_version() {
    let names: BTreeSet<(&str, &str)> =
        OPERATORS.iter().map(|row| (row.domain, row.name)).collect();
    assert_eq!(names.len(), OPERATORS.len());
    for row in OPERATORS {
        assert!(row.since >= 1, "{}", row.name);
    }
}

/// A value of a file: a free batch of pictures, or none for a number of no axes.
fn value(name: &str, sizes: &[i64]) -> ValueInfoProto {
    use tensor_shape_proto::{Dimension, dimension::Value};

    let batch = Value::DimParam("N".to_owned());
    let sizes = sizes.iter().map(|&size| Value::DimValue(size));
    let dim = std::iter::once(batch).chain(sizes).map(|value| Dimension {
        value: Some(value),
        ..Dimension::default()
    });
    let tensor = type_proto::Tensor {
        elem_type: Some(FLOAT),
        shape: Some(TensorShapeProto { dim: dim.collect() }),
    };
    ValueInfoProto {
        name: Some(name.to_owned()),
        r#type: Some(TypeProto {
            value: Some(type_proto::Value::TensorType(tensor)),
            ..TypeProto::default()
        }),
        ..ValueInfoProto::default()
    }
}

/// A network of one node without attributes, whose inputs are a value, `x`, or stored numbers, `f` and `i`.
fn network(row: (&str, &str), version: i64, inputs: &[&str], n_outputs: usize) -> ModelProto {
    let outputs = ["a", "b", "c"][..n_outputs]
        .iter()
        .map(|name| (*name).to_owned());
    let node = NodeProto {
        domain: Some(row.0.to_owned()),
        op_type: Some(row.1.to_owned()),
        input: inputs.iter().map(|name| (*name).to_owned()).collect(),
        output: outputs.clone().collect(),
        ..NodeProto::default()
    };
    let floats = TensorProto {
        name: Some("f".to_owned()),
        data_type: Some(FLOAT),
        dims: vec![3],
        float_data: vec![0.5, 1.0, 2.0],
        ..TensorProto::default()
    };
    let integers = TensorProto {
        name: Some("i".to_owned()),
        data_type: Some(INT64),
        dims: vec![2],
        int64_data: vec![1, 2],
        ..TensorProto::default()
    };
    let set = |domain: &str, version| OperatorSetIdProto {
        domain: Some(domain.to_owned()),
        version: Some(version),
    };
    let mut opset_import = vec![set("", version)];
    if !row.0.is_empty() {
        opset_import.push(set(row.0, 1));
    }
    ModelProto {
        ir_version: Some(8),
        opset_import,
        graph: Some(GraphProto {
            name: Some("law".to_owned()),
            node: vec![node],
            initializer: vec![floats, integers],
            input: vec![value("x", &[3, 4, 4])],
            output: outputs.map(|name| value(&name, &[3, 4, 4])).collect(),
            ..GraphProto::default()
        }),
        ..ModelProto::default()
    }
}

/// Whatever a node reads, it is refused, stays as it is, or becomes a graph that can be written and read again; nothing panics.
#[test]
fn a_node_of_any_inputs_is_read_or_refused() {
    const INPUTS: &[&[&str]] = &[
        &[],
        &[""],
        &["x"],
        &["f"],
        &["i"],
        &["x", "f"],
        &["x", "i"],
        &["f", "f"],
        &["i", "i"],
        &["x", "x"],
        &["", "x"],
        &["x", "", "f"],
        &["x", "f", "f"],
        &["x", "i", "i"],
        &["i", "i", "i"],
        &["x", "x", "x"],
        &["x", "f", "f", "f"],
        &["x", "f", "f", "f", "f"],
        &["x", "f", "f", "f", "f", "f", "f", "f"],
    ];
    let mut n_read = 0;
    for row in OPERATORS {
        for version in BTreeSet::from([row.since, 13, 18, 23]) {
            for inputs in INPUTS {
                for n_outputs in 1..=3 {
                    let proto = network((row.domain, row.name), version, inputs, n_outputs);
                    let Ok(imported) = import(&Model { proto }, &ImportOptions::default()) else {
                        continue;
                    };
                    n_read += 1;
                    let Ok(proto) = export(&imported.graph, &ExportOptions::default()) else {
                        continue;
                    };
                    let again = import(&Model { proto }, &ImportOptions::default());
                    assert!(again.is_ok(), "{} {version} {inputs:?}", row.name);
                }
            }
        }
    }
    assert!(n_read > OPERATORS.len(), "{n_read} nodes are read");
}
