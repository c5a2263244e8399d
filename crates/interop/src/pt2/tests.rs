use super::*;
use crate::archive::pack;
use crate::checkpoint::{Checkpoint, Kind, NamedTensor, encode};
use crate::torch::Storages;
use serde_json::{Value as Json, json};

fn name(name: &str) -> Extent {
    Extent::Name(name.to_owned())
}

fn tensor(name: &str) -> Argument {
    Argument::Tensor(name.to_owned())
}

/// The arguments that `torch.export` writes, each with its meaning.
#[test]
fn arguments_are_read_by_the_name_of_their_entry() {
    let some = |word: &str| Some(word.to_owned());
    let cases = [
        (json!({"as_none": true}), Argument::None),
        (json!({"as_tensor": {"name": "x"}}), tensor("x")),
        (
            json!({"as_optional_tensor": {"as_tensor": {"name": "x"}}}),
            tensor("x"),
        ),
        (
            json!({"as_optional_tensor": {"as_none": true}}),
            Argument::None,
        ),
        (
            json!({"as_tensors": [{"name": "a"}, {"name": "b"}]}),
            Argument::Tensors(vec![some("a"), some("b")]),
        ),
        (
            json!({"as_optional_tensors": [{"as_tensor": {"name": "a"}}, {"as_none": true}]}),
            Argument::Tensors(vec![some("a"), None]),
        ),
        (json!({"as_int": -3}), Argument::Int(Extent::Number(-3))),
        (
            json!({"as_sym_int": {"as_name": "n"}}),
            Argument::Int(name("n")),
        ),
        (
            json!({"as_sym_int": {"as_int": 4}}),
            Argument::Int(Extent::Number(4)),
        ),
        (
            json!({"as_ints": [1, 2]}),
            Argument::Ints(vec![Extent::Number(1), Extent::Number(2)]),
        ),
        (
            json!({"as_sym_ints": [{"as_name": "n"}, {"as_expr": {"expr_str": "2*s0"}}]}),
            Argument::Ints(vec![name("n"), name("2*s0")]),
        ),
        (json!({"as_float": 0.5}), Argument::Float(0.5)),
        (
            json!({"as_float": "Infinity"}),
            Argument::Float(f64::INFINITY),
        ),
        (
            json!({"as_float": "-Infinity"}),
            Argument::Float(f64::NEG_INFINITY),
        ),
        (
            json!({"as_floats": [0.5, 2]}),
            Argument::Floats(vec![0.5, 2.0]),
        ),
        (
            json!({"as_sym_float": {"as_float": 1.5}}),
            Argument::Float(1.5),
        ),
        (json!({"as_bool": true}), Argument::Bool(true)),
        (
            json!({"as_sym_bool": {"as_bool": false}}),
            Argument::Bool(false),
        ),
        (
            json!({"as_bools": [true, false]}),
            Argument::Bools(vec![true, false]),
        ),
        (
            json!({"as_string": "sum"}),
            Argument::Text("sum".to_owned()),
        ),
        (json!({"as_scalar_type": 7}), Argument::ScalarType(7)),
        (json!({"as_device": {"type": "cpu"}}), Argument::Placement),
        (json!({"as_layout": 7}), Argument::Placement),
        (json!({"as_memory_format": 1}), Argument::Placement),
        (
            json!({"as_graph": {}}),
            Argument::Other("as_graph".to_owned()),
        ),
    ];
    for (json, expected) in cases {
        assert_eq!(Argument::read(&json), Some(expected), "{json}");
    }
    let is_nan = |argument| matches!(argument, Some(Argument::Float(value)) if value.is_nan());
    assert!(is_nan(Argument::read(&json!({"as_float": "NaN"}))));
}

#[test]
fn arguments_of_another_form_are_none() {
    for json in [
        json!(3),
        json!({}),
        json!({"as_tensor": 3}),
        json!({"as_tensors": {"name": "a"}}),
        json!({"as_tensors": ["a"]}),
        json!({"as_optional_tensors": [{"as_int": 1}]}),
        json!({"as_int": 0.5}),
        json!({"as_sym_int": {"as_word": "n"}}),
        json!({"as_sym_int": {"as_expr": "n"}}),
        json!({"as_ints": [1, "2"]}),
        json!({"as_float": "infinity"}),
        json!({"as_bool": 1}),
        json!({"as_bools": [1]}),
        json!({"as_string": 1}),
        json!({"as_scalar_type": -1}),
    ] {
        assert_eq!(Argument::read(&json), None, "{json}");
    }
}

#[test]
fn an_argument_names_the_values_that_it_reads() {
    let some = |word: &str| Some(word.to_owned());
    let cases: [(Argument, &[&str]); 7] = [
        (tensor("x"), &["x"]),
        (
            Argument::Tensors(vec![some("a"), None, some("b")]),
            &["a", "b"],
        ),
        (Argument::Int(name("n")), &["n"]),
        (Argument::Int(Extent::Number(3)), &[]),
        (
            Argument::Ints(vec![name("n"), Extent::Number(3), name("m")]),
            &["n", "m"],
        ),
        (Argument::Text("x".to_owned()), &[]),
        (Argument::None, &[]),
    ];
    for (argument, expected) in cases {
        assert_eq!(
            argument.names().collect::<Vec<_>>(),
            expected,
            "{argument:?}"
        );
    }
}

#[test]
fn element_types_have_pytorch_s_numbers_and_names() {
    let words = [
        (1, "uint8"),
        (2, "int8"),
        (3, "int16"),
        (4, "int32"),
        (5, "int64"),
        (6, "float16"),
        (7, "float32"),
        (8, "float64"),
        (12, "bool"),
        (13, "bfloat16"),
    ];
    for number in 0..30 {
        let word = words.iter().find(|(of, _)| *of == number);
        let found = ScalarType::of_number(number);
        assert_eq!(found.map(ScalarType::name), word.map(|(_, word)| *word));
        assert_eq!(found, word.and_then(|(_, word)| ScalarType::of_name(word)));
        let is_float = word.is_some_and(|(_, word)| word.contains("float"));
        assert_eq!(
            found.is_some_and(ScalarType::is_float),
            is_float,
            "{number}"
        );
    }
    assert_eq!(ScalarType::of_name("complex64"), None);
}

/// A program of two calls, one of them in a layer.
fn description() -> Json {
    json!({
        "schema_version": {"major": 8, "minor": 2},
        "graph_module": {
            "graph": {
                "tensor_values": {
                    "x": {"dtype": 7, "sizes": [{"as_expr": {"expr_str": "s0"}}, {"as_int": 3}]},
                    "y": {"dtype": 5, "sizes": []},
                },
                "nodes": [
                    {
                        "target": "torch.ops.aten.linear.default",
                        "inputs": [
                            {"name": "input", "arg": {"as_tensor": {"name": "x"}}},
                            {"name": "weight", "arg": {"as_tensor": {"name": "w"}}},
                        ],
                        "outputs": [{"as_tensor": {"name": "linear"}}],
                        "metadata": {"nn_module_stack": "a,,net.Net;b,net.fc,torch.nn.modules.linear.Linear"},
                    },
                    {
                        "target": "torch.ops.aten.chunk.default",
                        "inputs": [{"arg": {"as_tensor": {"name": "linear"}}}],
                        "outputs": [
                            {"as_tensors": [{"name": "c0"}, {"name": "c1"}]},
                            {"as_none": true},
                            {"as_sym_int": {"as_name": "n"}},
                        ],
                        "metadata": {"nn_module_stack": "a,,net.Net;b,net.seq,torch.nn.modules.container.Sequential"},
                    },
                    {"target": "_operator.getitem", "inputs": [], "outputs": []},
                ],
            },
            "signature": {
                "input_specs": [
                    {"parameter": {"arg": {"name": "w"}, "parameter_name": "net.fc.weight"}},
                    {"buffer": {"arg": {"name": "b"}, "buffer_name": "net.count"}},
                    {"tensor_constant": {"arg": {"name": "k"}, "tensor_constant_name": "net.k"}},
                    {"custom_obj": {"arg": {"name": "o"}}},
                    {"token": {}},
                    {"user_input": {"arg": {"as_tensor": {"name": "x"}}}},
                    {"user_input": {"arg": {"as_int": 3}}},
                ],
                "output_specs": [
                    {"buffer_mutation": {"arg": {"name": "b"}}},
                    {"user_output": {"arg": {"as_tensor": {"name": "c0"}}}},
                ],
            },
        },
    })
}

fn described(json: &Json) -> Result<Program, String> {
    schema::program("program", &json.to_string()).map_err(|problem| problem.to_string())
}

#[test]
fn a_description_becomes_calls_on_named_values() {
    let program = described(&description()).unwrap();
    let inputs: Vec<(&str, &InputKind)> = program
        .inputs
        .iter()
        .map(|input| (input.value.as_str(), &input.kind))
        .collect();
    let expected = [
        ("w", &InputKind::Parameter("net.fc.weight".to_owned())),
        ("b", &InputKind::Buffer("net.count".to_owned())),
        ("k", &InputKind::Buffer("net.k".to_owned())),
        ("o", &InputKind::Other("custom_obj".to_owned())),
        ("x", &InputKind::User),
    ];
    assert_eq!(inputs, expected);
    assert_eq!(program.outputs, [tensor("c0")]);
    let ty = &program.types["x"];
    assert_eq!(
        (ty.dtype, &ty.sizes[..]),
        (ScalarType::F32, &[name("s0"), Extent::Number(3)][..])
    );
    assert_eq!(program.types["y"].dtype, ScalarType::I64);

    let [linear, chunk, getitem] = &program.calls[..] else {
        panic!("{:?}", program.calls);
    };
    let layer = Layer {
        run: "b".to_owned(),
        name: "net.fc".to_owned(),
        path: "net.fc".to_owned(),
    };
    let expected = Call {
        target: "aten.linear.default".to_owned(),
        arguments: vec![
            ("input".to_owned(), tensor("x")),
            ("weight".to_owned(), tensor("w")),
        ],
        results: vec![Some("linear".to_owned())],
        module: "net.fc".to_owned(),
        layer: Some(layer),
    };
    assert_eq!(*linear, expected);
    let results = [Some("c0"), Some("c1"), None, Some("n")].map(|name| name.map(str::to_owned));
    assert_eq!(chunk.results, results);
    // A container is no layer.
    assert_eq!((chunk.module.as_str(), &chunk.layer), ("net.seq", &None));
    assert_eq!(chunk.arguments[0].0, "");
    assert_eq!(
        (getitem.target.as_str(), getitem.module.as_str()),
        ("_operator.getitem", "")
    );
}

#[test]
fn a_description_that_pytorch_does_not_write_is_refused() {
    let cases = [
        (
            "/schema_version",
            json!(null),
            "program: has no schema_version",
        ),
        (
            "/schema_version/major",
            json!(7),
            "program: has schema 7.2; schema 8 is read, which PyTorch from 2.5 on writes",
        ),
        (
            "/graph_module/signature/input_specs/0/parameter/parameter_name",
            json!(3),
            "program: an input that PyTorch does not write",
        ),
        (
            "/graph_module/signature/output_specs/1/user_output",
            json!({}),
            "program: an output that PyTorch does not write",
        ),
        (
            "/graph_module/graph/nodes/1/target",
            json!(null),
            "program: node 1 is one that PyTorch does not write",
        ),
        (
            "/graph_module/graph/nodes/0/inputs/1/arg",
            json!([]),
            "program: node 0 is one that PyTorch does not write",
        ),
        (
            "/graph_module/graph/tensor_values/x/dtype",
            json!(null),
            "x: has no dtype",
        ),
        (
            "/graph_module/graph/tensor_values/x/dtype",
            json!(9),
            "x: has the element type 9, which is not read",
        ),
        (
            "/graph_module/graph/tensor_values/x/sizes/1",
            json!("n"),
            "x: has a size that PyTorch does not write",
        ),
    ];
    for (place, value, expected) in cases {
        let mut json = description();
        *json.pointer_mut(place).expect("a place of the description") = value;
        assert_eq!(described(&json), Err(expected.to_owned()), "{place}");
    }
}

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let entries = entries
        .iter()
        .map(|&(name, bytes)| (name.to_owned(), bytes));
    pack(entries).unwrap()
}

fn pickled(tensors: Vec<NamedTensor>) -> Vec<u8> {
    let checkpoint = Checkpoint {
        kind: Kind::StateDict,
        tensors,
        training: None,
        graph: None,
        metadata: Json::Null,
    };
    encode(&checkpoint).unwrap()
}

fn named(name: &str, values: &[f32]) -> NamedTensor {
    NamedTensor {
        name: name.to_owned(),
        shape: vec![values.len()],
        values: values.to_vec(),
    }
}

/// One description and two pickles, as PyTorch 2.5 to 2.7 have them.
#[test]
fn the_older_layout_has_pickled_tensors() {
    let text = description().to_string();
    let weights = pickled(vec![named("w", &[0.5, -1.0])]);
    let constants = pickled(vec![named("k", &[3.0])]);
    let bytes = zip(&[
        ("net/serialized_exported_program.json", text.as_bytes()),
        ("net/serialized_state_dict.pt", &weights),
        ("net/serialized_constants.pt", &constants),
    ]);
    let (program, tensors) = decode(&bytes).unwrap();
    assert_eq!(program.calls.len(), 3);
    let values: Vec<(&str, &[f32])> = tensors
        .iter()
        .map(|(name, stored)| (name.as_str(), &stored.values[..]))
        .collect();
    assert_eq!(values, [("k", &[3.0][..]), ("w", &[0.5, -1.0][..])]);
    assert_eq!(
        (tensors["w"].dtype, &tensors["w"].shape[..]),
        (None, &[2][..])
    );

    let alone = zip(&[("serialized_exported_program.json", text.as_bytes())]);
    assert!(decode(&alone).unwrap().1.is_empty());
}

/// A list of views on raw bytes; two of them share a storage, one is transposed, one is nothing.
#[test]
fn the_newer_layout_has_views_of_raw_bytes() {
    let text = description().to_string();
    let view = |path: &str, dtype: u64, sizes: Json, strides: Json, offset: u64| {
        json!({"path_name": path, "use_pickle": false, "tensor_meta": {
            "dtype": dtype, "sizes": sizes, "strides": strides, "storage_offset": {"as_int": offset},
        }})
    };
    let config = json!({"config": {
        "rows": view("weight_0", 7, json!([{"as_int": 2}, 2]), json!([2, 1]), 0),
        "columns": view("weight_0", 7, json!([2, 2]), json!([1, 2]), 0),
        "last": view("weight_0", 7, json!([]), json!([]), 3),
        "numbers": view("weight_1", 5, json!([2]), json!([1]), 0),
        "nothing": {"path_name": "weight_9", "tensor_meta": null},
    }});
    let floats: Vec<u8> = [1.0_f32, 2.0, 3.0, 4.0]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let numbers: Vec<u8> = [-5_i64, 6].iter().flat_map(|v| v.to_le_bytes()).collect();
    let constants = json!({"config": {"k": view("k", 7, json!([1]), json!([1]), 0)}});
    let archive = |config: &Json| {
        zip(&[
            ("net/models/other/x.json", b"{}"),
            ("net/models/model.json", text.as_bytes()),
            (
                "net/data/weights/model_weights_config.json",
                config.to_string().as_bytes(),
            ),
            ("net/data/weights/weight_0", &floats),
            ("net/data/weights/weight_1", &numbers),
            (
                "net/data/constants/model_constants_config.json",
                constants.to_string().as_bytes(),
            ),
            ("net/data/constants/k", &2.5_f32.to_le_bytes()),
        ])
    };
    let (program, tensors) = decode(&archive(&config)).unwrap();
    assert_eq!(program.inputs.len(), 5);
    let expected: [(&str, ScalarType, &[usize], &[f32]); 5] = [
        ("columns", ScalarType::F32, &[2, 2], &[1.0, 3.0, 2.0, 4.0]),
        ("k", ScalarType::F32, &[1], &[2.5]),
        ("last", ScalarType::F32, &[], &[4.0]),
        ("numbers", ScalarType::I64, &[2], &[-5.0, 6.0]),
        ("rows", ScalarType::F32, &[2, 2], &[1.0, 2.0, 3.0, 4.0]),
    ];
    let found: Vec<(&str, ScalarType, &[usize], &[f32])> = tensors
        .iter()
        .map(|(name, s)| (name.as_str(), s.dtype.unwrap(), &s.shape[..], &s.values[..]))
        .collect();
    assert_eq!(found, expected);

    let list = "net/data/weights/model_weights_config.json: rows: has the";
    let cases = [
        ("dtype", json!(99), format!("{list} dtype 99, which is not read")),
        ("sizes", json!([{"as_name": "n"}, 2]), format!(r#"{list} sizes [{{"as_name":"n"}},2], which is not read"#)),
        ("strides", json!(3), format!("{list} strides 3, which is not read")),
        ("storage_offset", json!(-1), format!("{list} storage_offset -1, which is not read")),
        ("strides", json!([1]), "rows: tensor: has 2 axes and 1 strides, which is not read".to_owned()),
        (
            "storage_offset",
            json!(1),
            "rows: tensor: a view of shape [2, 2], strides [2, 1] and offset 1 lies outside its 4 elements".to_owned(),
        ),
    ];
    for (key, value, message) in cases {
        let mut config = config.clone();
        config["config"]["rows"]["tensor_meta"][key] = value;
        let error = decode(&archive(&config)).unwrap_err();
        assert_eq!(error.to_string(), message, "{key}");
    }
}

/// A tensor that is pickled alone, as those of unusual kinds are.
#[test]
fn the_newer_layout_may_have_pickled_tensors() {
    let text = description().to_string();
    let config = json!({"config": {
        "w": {"path_name": "weight_0", "use_pickle": true, "tensor_meta": {}},
    }});
    let read = |weight: &[u8]| {
        decode(&zip(&[
            ("models/model.json", text.as_bytes()),
            (
                "data/weights/model_weights_config.json",
                config.to_string().as_bytes(),
            ),
            ("data/weights/weight_0", weight),
        ]))
    };
    let mut storages = Storages::default();
    let root = storages.float(&[1, 2], &[0.5, -1.0]);
    let (_, tensors) = read(&storages.pack(&root).unwrap()).unwrap();
    let expected = Stored {
        shape: vec![1, 2],
        dtype: None,
        values: vec![0.5, -1.0],
    };
    assert_eq!(tensors["w"], expected);
    let error = read(&pickled(vec![named("w", &[1.0])])).unwrap_err();
    let expected =
        "data/weights/model_weights_config.json: w: is pickled as PyTorch does not write it";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn files_that_are_no_programs_are_told_so() {
    let said = |bytes: &[u8]| decode(bytes).unwrap_err().to_string();
    assert!(
        said(b"\x08\x07 onnx")
            .starts_with("is no exported program: torch.export.save writes a zip archive")
    );
    let other = zip(&[("archive/data.pkl", b"N.")]);
    assert!(said(&other).starts_with("zip archive: has neither models/*.json nor"));
    let path = std::env::temp_dir().join(format!("interop_{}.pt2", std::process::id()));
    std::fs::write(&path, &other).unwrap();
    let error = read(&path).unwrap_err();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(error.path, path);
}
