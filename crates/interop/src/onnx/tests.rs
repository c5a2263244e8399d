use super::proto::{
    GraphProto, NodeProto, OperatorStatus, TensorProto, Version,
    attribute_proto::AttributeType,
    tensor_proto::{DataLocation, DataType},
};
use super::*;

fn graph() -> GraphProto {
    let node = NodeProto {
        op_type: Some("Relu".to_owned()),
        input: vec!["x".to_owned()],
        output: vec!["y".to_owned()],
        ..NodeProto::default()
    };
    GraphProto {
        name: Some("g".to_owned()),
        node: vec![node],
        ..GraphProto::default()
    }
}

#[test]
fn messages_come_back_from_their_bytes() {
    let graph = graph();
    let bytes = encode_graph(&graph);
    assert_eq!(decode_graph(bytes.clone()).unwrap(), graph);
    assert!(decode_graph(bytes[..bytes.len() - 1].to_vec()).is_err());

    let proto = ModelProto {
        graph: Some(graph),
        ..ModelProto::default()
    };
    let bytes = encode(&proto);
    assert_eq!(bytes.len(), encoded_len(&proto));
    assert_eq!(decode(bytes.clone()).unwrap().proto, proto);
    let path = std::env::temp_dir().join(format!("interop_net_{}.onnx", std::process::id()));
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(read(&path).unwrap().proto, proto);
    std::fs::remove_file(&path).unwrap();
    let error = read(&path).unwrap_err();
    assert_eq!(error.path, path);

    let tensor = Tensor {
        name: "t".to_owned(),
        shape: vec![2],
        element: Element::F32,
        values: Values::Floats(vec![0.5, -1.0]),
    };
    let bytes = encode_tensor(&tensor.write());
    assert_eq!(decode_tensor(bytes).unwrap(), tensor);
}

#[test]
fn files_of_other_kinds_are_named() {
    let said = |bytes: &[u8]| decode(bytes.to_vec()).unwrap_err().to_string();
    assert!(said(b"PK\x03\x04rest").starts_with("is not ONNX but a zip archive"));
    assert_eq!(said(b""), "is not an ONNX network: it has no graph");
    assert_eq!(
        said(b"\x7fELF"),
        "is not ONNX or is cut off: byte 0 starts no field"
    );
}

/// The names of the enums in `onnx.proto`.
#[test]
fn numbers_have_the_published_names() {
    assert_eq!(
        AttributeType::try_from(7).map(|of| of.as_str_name()),
        Ok("INTS")
    );
    assert_eq!(
        DataType::try_from(10).map(|of| of.as_str_name()),
        Ok("FLOAT16")
    );
    macro_rules! names_come_back {
        ($name:ident, $count:literal) => {
            let known: Vec<$name> = (0..64).filter_map(|n| $name::try_from(n).ok()).collect();
            assert_eq!(known.len(), $count, stringify!($name));
            for value in known {
                assert_eq!($name::from_str_name(value.as_str_name()), Some(value));
            }
            assert_eq!($name::from_str_name("none of them"), None);
        };
    }
    names_come_back!(AttributeType, 15);
    names_come_back!(DataType, 27);
    names_come_back!(DataLocation, 2);
    names_come_back!(Version, 14);
    names_come_back!(OperatorStatus, 2);
}

fn typed(element: Element, shape: &[i64]) -> TensorProto {
    TensorProto {
        dims: shape.to_vec(),
        data_type: Some(element.code()),
        ..TensorProto::default()
    }
}

fn read_values(proto: &TensorProto) -> Result<Values, String> {
    let read = Tensor::read(proto, &Budget::of_size(100));
    read.map(|tensor| tensor.values)
        .map_err(|problem| problem.to_string())
}

/// The fields for numbers that are not raw bytes: `int32_data` has the bits of 16-bit floats and the bytes of packed
/// elements, `uint64_data` those of 32 bits too.
#[test]
fn each_element_is_read_from_its_own_field() {
    use Element::{
        BF16, Bool, F4E2M1, F8E4M3, F16, F32, F64, I2, I4, I8, I32, I64, U2, U4, U16, U32, U64,
    };
    let floats = |values: &[f32]| Ok(Values::Floats(values.to_vec()));
    let ints = |values: &[i64]| Ok(Values::Ints(values.to_vec()));
    let of_ints = |element, shape: i64, data: &[i32]| TensorProto {
        int32_data: data.to_vec(),
        ..typed(element, &[shape])
    };
    let cases = [
        (
            TensorProto {
                float_data: vec![1.5],
                ..typed(F32, &[1])
            },
            floats(&[1.5]),
        ),
        (
            TensorProto {
                double_data: vec![0.1],
                ..typed(F64, &[])
            },
            floats(&[0.1]),
        ),
        (
            TensorProto {
                int64_data: vec![-3, 4],
                ..typed(I64, &[2])
            },
            ints(&[-3, 4]),
        ),
        (
            TensorProto {
                uint64_data: vec![5],
                ..typed(U32, &[1])
            },
            ints(&[5]),
        ),
        (
            TensorProto {
                uint64_data: vec![6],
                ..typed(U64, &[1])
            },
            ints(&[6]),
        ),
        (of_ints(F16, 2, &[0x3c00, 0xc000]), floats(&[1.0, -2.0])),
        (of_ints(BF16, 2, &[0x3f80, 0xc000]), floats(&[1.0, -2.0])),
        (of_ints(F8E4M3, 2, &[0x38, 0xb8]), floats(&[1.0, -1.0])),
        (of_ints(F4E2M1, 2, &[0x21]), floats(&[0.5, 1.0])),
        (of_ints(I32, 2, &[-7, 7]), ints(&[-7, 7])),
        (of_ints(I8, 1, &[-7]), ints(&[-7])),
        (of_ints(U16, 1, &[65_535]), ints(&[65_535])),
        (of_ints(Bool, 2, &[2, 0]), ints(&[1, 0])),
        (of_ints(I4, 3, &[0x8f, 0x03]), ints(&[-1, -8, 3])),
        (of_ints(U4, 3, &[0x8f, 0x03]), ints(&[15, 8, 3])),
        (of_ints(I2, 4, &[0b11_10_01_00]), ints(&[0, 1, -2, -1])),
        (of_ints(U2, 4, &[0b11_10_01_00]), ints(&[0, 1, 2, 3])),
        (
            of_ints(I4, 3, &[0x8f]),
            Err("tensor '': has 1 elements of int4, but its shape [3] has 3".to_owned()),
        ),
        (
            TensorProto {
                uint64_data: vec![1 << 63],
                ..typed(U64, &[1])
            },
            Err("tensor '': has the element 9223372036854775808, which is not an i64".to_owned()),
        ),
    ];
    for (proto, expected) in cases {
        assert_eq!(read_values(&proto), expected, "{proto:?}");
    }
}

#[test]
fn each_element_is_read_from_raw_bytes() {
    use Element::{BF16, F4E2M1, F8E5M2, F16, F64, I16, U64};
    let raw = |element, shape: i64, bytes: &[u8]| {
        read_values(&TensorProto {
            raw_data: Some(bytes.to_vec().into()),
            ..typed(element, &[shape])
        })
    };
    let floats = |values: &[f32]| Ok(Values::Floats(values.to_vec()));
    assert_eq!(raw(F16, 2, &[0x00, 0x3c, 0x00, 0xc0]), floats(&[1.0, -2.0]));
    assert_eq!(
        raw(BF16, 2, &[0x80, 0x3f, 0x00, 0xc0]),
        floats(&[1.0, -2.0])
    );
    assert_eq!(raw(F64, 1, &0.1_f64.to_le_bytes()), floats(&[0.1]));
    assert_eq!(raw(F8E5M2, 2, &[0x3c, 0xbc]), floats(&[1.0, -1.0]));
    assert_eq!(raw(F4E2M1, 3, &[0x21, 0x0f]), floats(&[0.5, 1.0, -6.0]));
    assert_eq!(raw(I16, 1, &[0xfe, 0xff]), Ok(Values::Ints(vec![-2])));
    let error = raw(U64, 1, &[0xff; 8]).unwrap_err();
    assert_eq!(
        error,
        "tensor '': has the element 18446744073709551615, which is not an i64"
    );
}

#[test]
fn values_have_a_number() {
    assert_eq!(Values::Floats(vec![1.0, 2.0]).len(), 2);
    assert_eq!(Values::Ints(vec![1, 2, 3]).len(), 3);
    assert!(Values::Ints(Vec::new()).is_empty() && !Values::Ints(vec![0]).is_empty());
}
