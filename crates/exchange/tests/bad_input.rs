//! Files that are broken or hostile: one sentence each, with the node, the tensor and the value.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use exchange::onnx::{ExportOptions, ImportOptions, export, import};
use interop::onnx::proto::tensor_shape_proto::dimension::Value as Size;
use interop::onnx::proto::type_proto::Value as Kind;
use interop::onnx::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, StringStringEntryProto, TensorProto,
    attribute_proto::AttributeType, tensor_proto::DataLocation,
};
use interop::onnx::{Model, decode, encode, read};
use models::ModelInfo;
use std::{env, fs};

/// A network of two layers as a file holds it.
fn network() -> ModelProto {
    let mut graph = models::build("jsc-toy", &ModelInfo::default()).unwrap();
    graph.initialize(0);
    let without_source = ExportOptions {
        with_source: false,
        ..ExportOptions::default()
    };
    export(&graph, &without_source).unwrap()
}

fn graph(proto: &mut ModelProto) -> &mut GraphProto {
    proto.graph.as_mut().unwrap()
}

/// The sentence about a network that was changed.
fn refusal(change: impl Fn(&mut ModelProto)) -> String {
    let mut proto = network();
    change(&mut proto);
    match decode(encode(&proto)) {
        Err(problem) => problem.to_string(),
        Ok(model) => import(&model, &ImportOptions::default())
            .unwrap_err()
            .to_string(),
    }
}

#[test]
fn every_cut_file_is_an_error() {
    // The facts about the file stand at its end; a file without them is whole.
    let mut proto = network();
    proto.metadata_props.clear();
    let bytes = encode(&proto);
    for len in 0..bytes.len() {
        let outcome = decode(bytes[..len].to_vec());
        let read = outcome.map(|model| import(&model, &ImportOptions::default()).is_ok());
        assert!(!matches!(read, Ok(true)), "{len} of {} bytes", bytes.len());
    }
}

#[test]
fn a_file_with_the_ending_of_another_kind_is_named() {
    let program = include_bytes!("fixtures/pt2/mlp.pt2");
    let problem = decode(program.to_vec()).unwrap_err().to_string();
    assert!(problem.contains("not ONNX but a zip archive"), "{problem}");
    let network = encode(&network());
    let problem = interop::pt2::decode(&network).unwrap_err().to_string();
    assert!(
        problem.contains("is no exported program") && problem.contains("the ending .onnx"),
        "{problem}"
    );
}

/// Gives the first axis of the input a size.
fn first_axis(proto: &mut ModelProto, size: i64) {
    let ty = graph(proto).input[0].r#type.as_mut();
    if let Some(Kind::TensorType(tensor)) = &mut ty.unwrap().value {
        tensor.shape.as_mut().unwrap().dim[0].value = Some(Size::DimValue(size));
    }
}

/// Some programs write -1 for a free axis.
#[test]
fn an_axis_of_minus_one_is_free() {
    let mut proto = network();
    first_axis(&mut proto, -1);
    let imported = import(&Model { proto }, &ImportOptions::default()).unwrap();
    assert!(imported.graph.to_string().contains("f32[N, 16]"));
}

#[test]
fn broken_networks_are_refused_with_the_place_and_the_value() {
    type Change = fn(&mut ModelProto);
    let cases: &[(Change, &str)] = &[
        (
            |p| p.graph = None,
            "is not an ONNX network: it has no graph",
        ),
        (
            |p| graph(p).initializer[0].data_type = Some(99),
            "has the unknown element type 99",
        ),
        (
            |p| graph(p).initializer[0].dims = vec![-3],
            "has an axis of size -3",
        ),
        (
            |p| graph(p).initializer[0].dims = vec![1 << 31, 1 << 31],
            "has more elements than memory holds",
        ),
        (
            |p| {
                let copy = graph(p).initializer[0].clone();
                graph(p).initializer.push(copy);
            },
            "two values have the name",
        ),
        (
            |p| {
                graph(p).initializer.remove(0);
            },
            "which is neither an input, a stored tensor nor made by an earlier node",
        ),
        (
            |p| graph(p).node.swap(0, 1),
            "which is neither an input, a stored tensor nor made by an earlier node",
        ),
        (|p| graph(p).output.clear(), "the network has no outputs"),
        (|p| first_axis(p, -3), "input 'x': axis 0 has the size -3"),
        (|p| first_axis(p, 0), "input 'x': axis 0 is empty"),
        (
            |p| p.opset_import[0].version = Some(99),
            "its operators are of opset 99, and those of opset 1 to 27 are read",
        ),
        (
            |p| p.opset_import[0].version = Some(0),
            "its operators are of opset 0, and those of opset 1 to 27 are read",
        ),
        (|p| graph(p).input.clear(), "reads 'x', which is neither"),
        (
            |p| graph(p).initializer[0].data_location = Some(DataLocation::External as i32),
            "its data lies beside the file; open the file by its path",
        ),
    ];
    for (change, sentence) in cases {
        let problem = refusal(change);
        assert!(problem.contains(sentence), "{problem}");
        assert!(!problem.contains('\n'), "{problem}");
    }
}

#[test]
fn data_beside_the_file_stays_in_its_folder_and_fits() {
    let folder = env::temp_dir().join(format!("onnx_external_{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("data.bin"), [0_u8; 16]).unwrap();
    let entry = |key: &str, value: &str| StringStringEntryProto {
        key: Some(key.to_owned()),
        value: Some(value.to_owned()),
    };
    let cases = [
        (
            vec![entry("location", "../data.bin")],
            "does not lie in the folder of the file",
        ),
        (
            vec![entry("location", "/etc/hostname")],
            "does not lie in the folder of the file",
        ),
        (
            vec![entry("location", "none.bin")],
            "its data is missing: there is no file",
        ),
        (
            vec![
                entry("location", "data.bin"),
                entry("offset", "12"),
                entry("length", "8"),
            ],
            "ends behind the 16 bytes of",
        ),
        (
            vec![entry("location", "data.bin"), entry("offset", "-1")],
            "is not a size",
        ),
        (vec![entry("location", "data.bin")], "has 16 bytes, but"),
        (vec![], "its data lies beside the file, but not where"),
    ];
    for (entries, sentence) in cases {
        let mut proto = network();
        let tensor: &mut TensorProto = &mut graph(&mut proto).initializer[0];
        tensor.raw_data = None;
        tensor.data_location = Some(DataLocation::External as i32);
        tensor.external_data = entries;
        let path = folder.join("network.onnx");
        fs::write(&path, encode(&proto)).unwrap();
        let problem = match read(&path) {
            Err(error) => error.to_string(),
            Ok(model) => import(&model, &ImportOptions::default())
                .unwrap_err()
                .to_string(),
        };
        assert!(problem.contains(sentence), "{problem}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// A link is no way out of the folder, but a cache may link a network and its data to a folder of its own.
#[cfg(unix)]
#[test]
fn links_lead_to_data_beside_the_file_only() {
    use std::os::unix::fs::symlink;

    let folder = env::temp_dir().join(format!("onnx_links_{}", std::process::id()));
    let (network, store) = (folder.join("network"), folder.join("store"));
    fs::create_dir_all(&network).unwrap();
    fs::create_dir_all(&store).unwrap();
    let mut proto = self::network();
    let tensor = &mut graph(&mut proto).initializer[0];
    fs::write(store.join("data.bin"), tensor.raw_data.take().unwrap()).unwrap();
    tensor.data_location = Some(DataLocation::External as i32);
    tensor.external_data = vec![StringStringEntryProto {
        key: Some("location".to_owned()),
        value: Some("data.bin".to_owned()),
    }];
    let bytes = encode(&proto);
    fs::write(network.join("plain.onnx"), &bytes).unwrap();
    fs::write(store.join("stored.onnx"), &bytes).unwrap();
    symlink(store.join("data.bin"), network.join("data.bin")).unwrap();
    symlink(store.join("stored.onnx"), network.join("linked.onnx")).unwrap();

    let problem = read(&network.join("plain.onnx")).unwrap_err().to_string();
    assert!(
        problem.contains("does not lie in the folder of the file"),
        "{problem}"
    );
    assert!(read(&network.join("linked.onnx")).is_ok());
    assert!(read(&store.join("stored.onnx")).is_ok());
    fs::remove_dir_all(&folder).unwrap();
}

/// The network with one node between its last value and its output.
fn with_node(node: NodeProto) -> ModelProto {
    let mut proto = network();
    let graph = graph(&mut proto);
    let last = graph.output[0].name().to_owned();
    let mut node = node;
    node.input.insert(0, last);
    node.output = vec!["end".to_owned()];
    graph.node.push(node);
    graph.output[0].name = Some("end".to_owned());
    proto
}

fn node(op: &str, attribute: Vec<AttributeProto>) -> NodeProto {
    NodeProto {
        op_type: Some(op.to_owned()),
        name: Some("added".to_owned()),
        attribute,
        ..NodeProto::default()
    }
}

#[test]
fn unknown_operators_and_attributes_are_kept_and_written_back() {
    let axis = AttributeProto {
        name: Some("wobble".to_owned()),
        r#type: Some(AttributeType::Int as i32),
        i: Some(3),
        ..AttributeProto::default()
    };
    for (added, why) in [
        (
            node("Wobble", vec![axis.clone()]),
            "no such operator is known",
        ),
        (
            node("Relu", vec![axis]),
            "attribute wobble is not understood",
        ),
    ] {
        let proto = with_node(added.clone());
        let imported = import(&Model { proto }, &ImportOptions::default()).unwrap();
        let note = imported.notes.join(" ");
        assert!(
            note.contains("1 node is kept as it is and does not run") && note.contains(why),
            "{note}"
        );
        let written = export(&imported.graph, &ExportOptions::default()).unwrap();
        let nodes = &written.graph.as_ref().unwrap().node;
        let kept = nodes
            .iter()
            .find(|node| node.op_type() == added.op_type() && !node.attribute.is_empty());
        assert_eq!(kept.unwrap().attribute, added.attribute);
    }
}

/// The type of its result stands in the file, which is all that a reader knows of it.
#[test]
fn an_unknown_operator_within_a_network_is_read_again() {
    let mut proto = with_node(node("Wobble", Vec::new()));
    let graph = graph(&mut proto);
    let end = graph.output[0].clone();
    graph.value_info.push(end);
    graph.node.push(NodeProto {
        input: vec!["end".to_owned()],
        output: vec!["last".to_owned()],
        ..node("Relu", Vec::new())
    });
    graph.output[0].name = Some("last".to_owned());
    let imported = import(&Model { proto }, &ImportOptions::default()).unwrap();
    let options = ExportOptions {
        with_source: false,
        ..ExportOptions::default()
    };
    let proto = export(&imported.graph, &options).unwrap();
    let again = import(&Model { proto }, &ImportOptions::default()).unwrap();
    let operators = |graph: &ir::Graph| -> Vec<&'static str> {
        graph.nodes().iter().map(|node| node.op.name()).collect()
    };
    assert_eq!(operators(&again.graph), operators(&imported.graph));
    assert_eq!(again.notes, imported.notes);
}

/// A file of one node on the input, of this version of ONNX's own operators.
fn old_file(node: NodeProto, version: i64) -> ModelProto {
    let mut proto = with_node(node);
    proto.opset_import[0].version = Some(version);
    let last = proto.graph.as_mut().unwrap().node.pop().unwrap();
    // What stands before it is of later sets.
    graph(&mut proto).node = vec![NodeProto {
        input: vec!["x".to_owned(); last.input.len()],
        ..last
    }];
    let info = graph(&mut proto).input[0].clone();
    graph(&mut proto).output[0].r#type = info.r#type;
    proto
}

/// A group norm of set 18 has a scale for each group, that of set 21 one for each channel.
#[test]
fn an_operator_of_an_old_set_is_not_written_into_one_that_has_another() {
    let groups = AttributeProto {
        name: Some("num_groups".to_owned()),
        r#type: Some(AttributeType::Int as i32),
        i: Some(1),
        ..AttributeProto::default()
    };
    let proto = old_file(node("GroupNormalization", vec![groups]), 18);
    let imported = import(&Model { proto }, &ImportOptions::default()).unwrap();
    let problem = export(&imported.graph, &ExportOptions::default()).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "added (opaque): it is GroupNormalization of opset 18, which is another operator in opset 21; choose --opset 18"
    );
}

#[test]
fn operators_of_the_first_sets_that_have_changed_are_refused() {
    for (op, since) in [("Add", 7), ("Dropout", 7), ("Sum", 8), ("Relu", 6)] {
        for version in 1..since.min(7) {
            let proto = old_file(node(op, Vec::new()), version);
            let problem = import(&Model { proto }, &ImportOptions::default()).unwrap_err();
            assert_eq!(
                problem.to_string(),
                format!(
                    "node 'added' ({op}): it is of opset {version}, and has been another operator since opset {since}; convert the file with onnx.version_converter"
                )
            );
        }
    }
    // What has not changed is read as ever.
    let proto = old_file(node("Relu", Vec::new()), 6);
    let read = import(&Model { proto }, &ImportOptions::default()).unwrap();
    assert_eq!(read.notes, Vec::<String>::new());
}

#[test]
fn values_with_one_name_are_named_with_their_node() {
    let problem = refusal(|p| {
        let name = graph(p).node[0].output[0].clone();
        graph(p).node[1].output[0] = name;
    });
    assert!(
        problem.contains("node '")
            && problem.contains("its result has the name of an earlier value"),
        "{problem}"
    );
    let problem = refusal(|p| {
        let copy = graph(p).input[0].clone();
        graph(p).input.push(copy);
    });
    assert_eq!(problem, "two values have the name 'x'");
}

/// What is evaluated takes no more memory than a file of its size may.
#[test]
fn a_small_file_that_describes_much_is_refused() {
    let stored = |values: &[i64]| TensorProto {
        name: Some("sizes".to_owned()),
        dims: vec![values.len() as i64],
        data_type: Some(7),
        int64_data: values.to_vec(),
        ..TensorProto::default()
    };
    let made = |op: &str, from: &str, to: &str| NodeProto {
        op_type: Some(op.to_owned()),
        input: vec![from.to_owned()],
        output: vec![to.to_owned()],
        ..NodeProto::default()
    };
    let refuse = |sizes: &[i64], nodes: Vec<NodeProto>| {
        refusal(|p| {
            graph(p).initializer.push(stored(sizes));
            graph(p).node.splice(0..0, nodes.clone());
        })
    };
    let problem = refuse(&[1 << 28], vec![made("ConstantOfShape", "sizes", "c")]);
    assert!(
        problem.contains(
            "a constant of shape [268435456] needs more than the 256 MB that reading may take"
        ),
        "{problem}"
    );
    let mut chain = vec![made("ConstantOfShape", "sizes", "c0")];
    for k in 0..8 {
        chain.push(made("Neg", &format!("c{k}"), &format!("c{}", k + 1)));
    }
    let problem = refuse(&[1 << 24], chain);
    assert!(
        problem.contains("needs more than the 256 MB that reading a file of"),
        "{problem}"
    );
    let mut tile = made("Tile", "sizes", "c");
    tile.input.push("sizes".to_owned());
    let problem = refuse(&[1 << 20, 1 << 20], vec![tile]);
    assert!(
        problem.contains("node 'c' (Tile): it has more repetitions"),
        "{problem}"
    );
}

/// A list that is made of one number can have millions of sizes.
#[test]
fn lists_of_millions_are_no_shapes() {
    let many = TensorProto {
        name: Some("n".to_owned()),
        dims: vec![1],
        data_type: Some(7),
        int64_data: vec![1 << 21],
        ..TensorProto::default()
    };
    let list = NodeProto {
        op_type: Some("ConstantOfShape".to_owned()),
        input: vec!["n".to_owned()],
        output: vec!["list".to_owned()],
        attribute: vec![AttributeProto {
            name: Some("value".to_owned()),
            r#type: Some(AttributeType::Tensor as i32),
            t: Some(TensorProto {
                dims: vec![1],
                data_type: Some(7),
                int64_data: vec![1],
                ..TensorProto::default()
            }),
            ..AttributeProto::default()
        }],
        ..NodeProto::default()
    };
    for (op, inputs, why) in [
        ("Reshape", 1, "a shape of 2097152 axes is not read"),
        ("Expand", 1, "a shape of 2097152 axes is not read"),
        ("Slice", 2, "it cuts more axes than its input has"),
        ("Wobble", 1, "no such operator is known"),
    ] {
        let mut proto = with_node(node(op, Vec::new()));
        let graph = graph(&mut proto);
        graph.initializer.push(many.clone());
        let last = graph.node.last_mut().unwrap();
        last.input.extend(vec!["list".to_owned(); inputs]);
        graph.node.insert(0, list.clone());
        let imported = import(&Model { proto }, &ImportOptions::default()).unwrap();
        let note = imported.notes.join(" ");
        assert!(note.contains(why), "{op}: {note}");
        assert!(imported.graph.to_string().len() < 10_000, "{op}");
    }
}

/// A graph computes with integers in f32, where a sum with such a number would be another.
#[test]
fn integers_that_a_graph_does_not_hold_are_no_operands() {
    let cast = AttributeProto {
        name: Some("to".to_owned()),
        r#type: Some(AttributeType::Int as i32),
        i: Some(7),
        ..AttributeProto::default()
    };
    for op in ["Add", "Equal", "Min"] {
        let mut proto = with_node(node("Cast", vec![cast.clone()]));
        let graph = graph(&mut proto);
        graph.initializer.push(TensorProto {
            name: Some("large".to_owned()),
            dims: vec![1],
            data_type: Some(7),
            int64_data: vec![1 << 40],
            ..TensorProto::default()
        });
        graph.node.push(NodeProto {
            name: Some("last".to_owned()),
            op_type: Some(op.to_owned()),
            input: vec!["end".to_owned(), "large".to_owned()],
            output: vec!["result".to_owned()],
            ..NodeProto::default()
        });
        graph.output[0].name = Some("result".to_owned());
        let imported = import(&Model { proto }, &ImportOptions::default()).unwrap();
        let note = imported.notes.join(" ");
        let sentence = format!("last ({op}: a constant holds integers beyond 2^24");
        assert!(note.contains(&sentence), "{op}: {note}");
    }
}

#[test]
fn operators_of_old_sets_are_not_read_as_new_ones() {
    let mut proto = with_node(node("Relu", Vec::new()));
    proto.opset_import[0].version = Some(5);
    let problem = import(&Model { proto }, &ImportOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        problem.contains("it is of opset 5, and has been another operator since opset"),
        "{problem}"
    );
}

/// Writes what reads and reads it again; nothing panics.
fn survives(bytes: Vec<u8>) {
    let Ok(model) = decode(bytes) else { return };
    let Ok(imported) = import(&model, &ImportOptions::default()) else {
        return;
    };
    let Ok(proto) = export(&imported.graph, &ExportOptions::default()) else {
        return;
    };
    import(&Model { proto }, &ImportOptions::default()).unwrap();
}

#[test]
fn a_changed_byte_is_an_error_or_another_network() {
    let bytes = encode(&network());
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= [0x01, 0x80, 0xff][at % 3];
        survives(changed);
    }
}
