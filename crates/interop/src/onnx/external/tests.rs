use super::*;
use crate::onnx::proto::{FunctionProto, StringStringEntryProto};
use std::fs;

/// A folder of the system's with a network of no content and ten bytes beside it.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("interop_onnx_{name}_{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(path.join("sub")).unwrap();
    fs::write(path.join("net.onnx"), b"").unwrap();
    fs::write(path.join("data.bin"), b"0123456789").unwrap();
    fs::write(path.join("sub/more.bin"), b"abc").unwrap();
    path
}

/// The place of a tensor's data, by key.
type Entries<'a> = &'a [(&'a str, &'a str)];

fn external(entries: Entries) -> TensorProto {
    let entry = |&(key, value): &(&str, &str)| StringStringEntryProto {
        key: Some(key.to_owned()),
        value: Some(value.to_owned()),
    };
    TensorProto {
        name: Some("t".to_owned()),
        data_location: Some(DataLocation::External as i32),
        external_data: entries.iter().map(entry).collect(),
        ..TensorProto::default()
    }
}

fn with_initializer(tensor: TensorProto) -> ModelProto {
    let graph = GraphProto {
        initializer: vec![tensor],
        ..GraphProto::default()
    };
    ModelProto {
        graph: Some(graph),
        ..ModelProto::default()
    }
}

/// The data that a tensor of the network in this folder gets, or the sentence why it gets none.
fn attached(folder: &Path, entries: Entries) -> Result<Vec<u8>, String> {
    let mut model = with_initializer(external(entries));
    attach(&mut model, &folder.join("net.onnx")).map_err(|problem| problem.to_string())?;
    let tensor = &model.graph.as_ref().unwrap().initializer[0];
    assert_eq!(
        (tensor.data_location, tensor.external_data.len()),
        (None, 0)
    );
    Ok(tensor.raw_data.clone().unwrap().to_vec())
}

#[test]
fn data_are_the_named_bytes_of_a_file_beside_the_network() {
    let folder = folder("bytes");
    let cases: [(Entries, &[u8]); 8] = [
        (&[("location", "data.bin")], b"0123456789"),
        (&[("location", "./data.bin")], b"0123456789"),
        (&[("location", "sub/more.bin")], b"abc"),
        (&[("location", "data.bin"), ("offset", "3")], b"3456789"),
        (&[("location", "data.bin"), ("length", "10")], b"0123456789"),
        (
            &[("location", "data.bin"), ("offset", "3"), ("length", "4")],
            b"3456",
        ),
        (
            &[("offset", "8"), ("length", "2"), ("location", "data.bin")],
            b"89",
        ),
        (&[("location", "data.bin"), ("offset", "10")], b""),
    ];
    for (entries, expected) in cases {
        let found = attached(&folder, entries);
        assert_eq!(found.as_deref(), Ok(expected), "{entries:?}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn data_elsewhere_or_beyond_the_end_are_refused() {
    let folder = folder("refused");
    let outside =
        |place: &str| format!("its data in '{place}' does not lie in the folder of the file");
    let behind = |offset: &str| {
        let file = folder.join("data.bin");
        format!(
            "its data from byte {offset} on ends behind the 10 bytes of {}",
            file.display()
        )
    };
    let in_data =
        |key: &'static str, value: &'static str| vec![("location", "data.bin"), (key, value)];
    let missing = folder.join("none.bin");
    let largest = usize::MAX.to_string();
    let cases: Vec<(Vec<(&str, &str)>, String)> = vec![
        (
            vec![("offset", "1")],
            "its data lies beside the file, but not where".to_owned(),
        ),
        (vec![("location", "")], outside("")),
        (vec![("location", "../data.bin")], outside("../data.bin")),
        (
            vec![("location", "sub/../data.bin")],
            outside("sub/../data.bin"),
        ),
        (vec![("location", "/data.bin")], outside("/data.bin")),
        (
            vec![("location", "sub\\more.bin")],
            outside("sub\\more.bin"),
        ),
        (in_data("offset", "11"), behind("11")),
        (in_data("length", "11"), behind("0")),
        (
            vec![("location", "data.bin"), ("offset", "9"), ("length", "2")],
            behind("9"),
        ),
        (
            vec![
                ("location", "data.bin"),
                ("offset", &largest),
                ("length", "2"),
            ],
            behind(&largest),
        ),
        (
            in_data("offset", "x"),
            "the offset 'x' of its data is not a size".to_owned(),
        ),
        (
            in_data("length", "-1"),
            "the length '-1' of its data is not a size".to_owned(),
        ),
        (
            vec![("location", "none.bin")],
            format!(
                "its data is missing: there is no file {}, which belongs to the network",
                missing.display()
            ),
        ),
    ];
    for (entries, message) in cases {
        assert_eq!(
            attached(&folder, &entries),
            Err(format!("tensor 't': {message}")),
            "{entries:?}"
        );
    }
    // A folder is no file.
    let error = attached(&folder, &[("location", "sub")]).unwrap_err();
    assert!(error.starts_with("tensor 't': its data in /"), "{error}");
    fs::remove_dir_all(folder).unwrap();
}

/// A link may leave the folder only together with the network, as in a cache whose files are links to another folder.
#[cfg(unix)]
#[test]
fn links_stay_with_the_network() {
    use std::os::unix::fs::symlink;
    let (cache, store) = (folder("cache"), folder("store"));
    symlink(store.join("data.bin"), cache.join("link.bin")).unwrap();
    let entries = [("location", "link.bin")];
    let error = attached(&cache, &entries).unwrap_err();
    assert!(
        error.ends_with("'link.bin' does not lie in the folder of the file"),
        "{error}"
    );
    fs::remove_file(cache.join("net.onnx")).unwrap();
    symlink(store.join("net.onnx"), cache.join("net.onnx")).unwrap();
    assert_eq!(
        attached(&cache, &entries).as_deref(),
        Ok(&b"0123456789"[..])
    );
    symlink(cache.join("data.bin"), cache.join("inner.bin")).unwrap();
    assert!(attached(&cache, &[("location", "inner.bin")]).is_ok());
    fs::remove_dir_all(cache).unwrap();
    fs::remove_dir_all(store).unwrap();
}

/// Every place in which a network can have a tensor.
fn everywhere() -> Vec<ModelProto> {
    let tensor = || external(&[("location", "data.bin")]);
    let node = |attribute: AttributeProto| NodeProto {
        attribute: vec![AttributeProto::default(), attribute],
        ..NodeProto::default()
    };
    let inner = || with_initializer(tensor()).graph;
    let attributes = || {
        [
            AttributeProto {
                t: Some(tensor()),
                ..AttributeProto::default()
            },
            AttributeProto {
                tensors: vec![tensor()],
                ..AttributeProto::default()
            },
            AttributeProto {
                g: inner(),
                ..AttributeProto::default()
            },
            AttributeProto {
                graphs: inner().into_iter().collect(),
                ..AttributeProto::default()
            },
        ]
    };
    let in_graphs = attributes().map(|attribute| ModelProto {
        graph: Some(GraphProto {
            node: vec![node(attribute)],
            ..GraphProto::default()
        }),
        ..ModelProto::default()
    });
    let in_functions = attributes().map(|attribute| ModelProto {
        functions: vec![FunctionProto {
            node: vec![node(attribute)],
            ..FunctionProto::default()
        }],
        ..ModelProto::default()
    });
    let all = in_graphs.into_iter().chain(in_functions);
    all.chain([with_initializer(tensor())]).collect()
}

#[test]
fn tensors_are_found_wherever_a_network_has_them() {
    let folder = folder("everywhere");
    let models = everywhere();
    assert_eq!(models.len(), 9);
    for model in models {
        let error = refuse(&model).unwrap_err().to_string();
        assert_eq!(
            error,
            "tensor 't': its data lies beside the file; open the file by its path"
        );
        let mut model = model;
        attach(&mut model, &folder.join("net.onnx")).unwrap();
        assert!(refuse(&model).is_ok());
        let mut found = Vec::new();
        each_tensor(&mut model, &mut |tensor| {
            found.push(tensor.raw_data.clone());
            Ok(())
        })
        .unwrap();
        assert_eq!(found, [Some(Bytes::from_static(b"0123456789"))]);
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Data in the message itself stays as it is.
#[test]
fn a_tensor_with_its_data_is_left_alone() {
    let tensor = TensorProto {
        data_location: Some(DataLocation::Default as i32),
        raw_data: Some(Bytes::from_static(b"own")),
        ..external(&[])
    };
    let mut model = with_initializer(tensor);
    let before = model.clone();
    assert!(refuse(&model).is_ok());
    attach(&mut model, Path::new("nowhere/net.onnx")).unwrap();
    assert_eq!(model, before);
}
