//! Pictures in small files of the published layouts, `jsc-openml` in both its forms, and what is said of bad ones.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use data::{DataError, Dataset, OpenOptions, Where, describe, find, get, open};
use interop::npy;
use std::fs;
use std::path::{Path, PathBuf};

fn root(test: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("images")
        .join(test);
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).unwrap();
    root
}

fn options(root: &Path) -> OpenOptions<'static> {
    OpenOptions {
        data_dir: Some(root.to_owned()),
        offline: true,
        ..OpenOptions::default()
    }
}

fn open_in(root: &Path, name: &str) -> Result<Dataset, DataError> {
    open(name, &options(root))
}

fn put(root: &Path, name: &str, content: &[u8]) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn idx(shape: &[u32], values: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, shape.len() as u8];
    bytes.extend(shape.iter().flat_map(|size| size.to_be_bytes()));
    bytes.extend(values);
    bytes
}

fn put_clothes(root: &Path) {
    for (name, n) in [("train", 20_u32), ("t10k", 5)] {
        let pixels = (0..n * 784).map(|pixel| pixel as u8);
        put(
            root,
            &format!("fashion_mnist/{name}-images-idx3-ubyte"),
            &idx(&[n, 28, 28], pixels),
        );
        let labels = (0..n).map(|row| row as u8 % 10);
        put(
            root,
            &format!("fashion_mnist/{name}-labels-idx1-ubyte"),
            &idx(&[n], labels),
        );
    }
}

#[test]
fn idx_pictures_are_bytes_over_255() {
    let root = root("clothes");
    put_clothes(&root);
    let set = open_in(&root, "fashion_mnist").unwrap();
    assert_eq!([set.train.len(), set.val.len(), set.test.len()], [18, 2, 5]);
    assert_eq!(set.test.indices(), [20, 21, 22, 23, 24]);
    assert_eq!(set.train.rows()[255], 1.0);
    assert_eq!(set.train.rows()[51], 0.2);
    assert_eq!(set.train.labels()[7], 7);
    // The same file names are no digits.
    let elsewhere = find("mnist", &options(&root.join("fashion_mnist"))).unwrap();
    let is_ours = |path: &PathBuf| path.starts_with(&root);
    assert!(!matches!(elsewhere, Where::Found(paths) if paths.iter().any(is_ours)));
}

#[test]
fn files_that_are_there_are_given_without_fetching() {
    let root = root("there");
    put_clothes(&root);
    let files = get("fashion_mnist", &options(&root)).unwrap();
    assert_eq!(files.len(), 4);
    assert!(
        files
            .iter()
            .all(|path| path.starts_with(&root) && path.is_file())
    );
    put(&root, "jets.csv", b"a,class\n1,q\n");
    let table = root.join("jets.csv");
    let name = format!("{}:class", table.display());
    assert_eq!(
        get(&name, &options(&root)).unwrap(),
        std::slice::from_ref(&table)
    );
    fs::remove_file(&table).unwrap();
    let error = get(&name, &options(&root)).unwrap_err();
    assert!(matches!(error, DataError::Io { path, .. } if path == table));
}

#[test]
fn bad_pictures_are_named() {
    let cases: [(&str, Vec<u8>, &str); 6] = [
        (
            "train-labels-idx1-ubyte",
            idx(&[20], [10; 20].into_iter()),
            "label 1 is 10; there are 10 classes",
        ),
        (
            "train-labels-idx1-ubyte",
            idx(&[19], [1; 19].into_iter()),
            "has shape [19]",
        ),
        (
            "train-images-idx3-ubyte",
            idx(&[20, 27, 28], [0; 20 * 27 * 28].into_iter()),
            "images of 28 x 28 were expected",
        ),
        (
            "train-images-idx3-ubyte",
            idx(&[20, 28, 28], [0; 100].into_iter()),
            "needs 15680 bytes, the file has 100",
        ),
        (
            "train-images-idx3-ubyte",
            idx(&[u32::MAX, u32::MAX, 28], [0; 9].into_iter()),
            "is more than the 1073741824 bytes",
        ),
        (
            "train-images-idx3-ubyte",
            b"\x89PNG and more".to_vec(),
            "is not an IDX file of bytes",
        ),
    ];
    for (file, content, expected) in cases {
        let root = root("bad_clothes");
        put_clothes(&root);
        put(&root, &format!("fashion_mnist/{file}"), &content);
        let message = open_in(&root, "fashion_mnist").unwrap_err().to_string();
        assert!(
            message.contains(expected) && message.contains(file),
            "{message}"
        );
    }
}

#[test]
fn a_set_of_files_with_one_missing_names_that_one() {
    let root = root("incomplete");
    put_clothes(&root);
    fs::remove_file(root.join("fashion_mnist/t10k-labels-idx1-ubyte")).unwrap();
    let message = open_in(&root, "fashion_mnist").unwrap_err().to_string();
    assert!(
        message.contains("needs t10k-labels-idx1-ubyte.gz, which is not in"),
        "{message}"
    );
    assert!(
        message.ends_with("or use 'toy_tiny', images that the program makes"),
        "{message}"
    );
}

/// Records of CIFAR-10: a label, then 3072 bytes.
fn records(n: u32, first: u32) -> Vec<u8> {
    let record = |row: u32| {
        std::iter::once((row % 10) as u8)
            .chain((0..3072).map(move |pixel: u32| (pixel + row) as u8))
    };
    (first..first + n).flat_map(record).collect()
}

fn tar(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, content) in entries {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[156] = b'0';
        bytes.extend(header);
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

fn batches() -> Vec<(String, Vec<u8>)> {
    let train = (1..=5).map(|k| (format!("data_batch_{k}.bin"), records(4, k * 4)));
    train
        .chain([("test_batch.bin".to_owned(), records(3, 90))])
        .collect()
}

#[test]
fn cifar10_is_the_same_packed_and_unpacked() {
    let (plain, packed) = (root("cifar_plain"), root("cifar_packed"));
    for (name, content) in batches() {
        put(&plain, &format!("cifar-10-batches-bin/{name}"), &content);
    }
    let batches = batches();
    let named: Vec<String> = batches
        .iter()
        .map(|(name, _)| format!("cifar-10-batches-bin/{name}"))
        .collect();
    let mut entries: Vec<(&str, Vec<u8>)> = named
        .iter()
        .map(String::as_str)
        .zip(batches.into_iter().map(|(_, content)| content))
        .collect();
    entries.insert(0, ("cifar-10-batches-bin/readme.html", b"read me".to_vec()));
    put(&packed, "cifar10/cifar-10-binary.tar.gz", &tar(&entries));
    let (plain, packed) = (
        open_in(&plain, "cifar10").unwrap(),
        open_in(&packed, "cifar10").unwrap(),
    );
    assert_eq!(
        [plain.train.len(), plain.val.len(), plain.test.len()],
        [18, 2, 3]
    );
    assert_eq!(plain.info.sample_shape, [3, 32, 32]);
    assert_eq!(plain.train.labels()[..3], [4, 5, 6]);
    assert_eq!(plain.info.hash, packed.info.hash);
}

#[test]
fn an_archive_of_cifar10_has_images_to_learn_from_and_to_test() {
    for (name, expected) in [
        (
            "data_batch_1.bin",
            "has 4 images to learn from and 0 to test",
        ),
        ("test_batch.bin", "has 0 images to learn from and 4 to test"),
        ("readme.html", "has 0 images to learn from and 0 to test"),
    ] {
        let root = root("half_cifar");
        let archive = tar(&[(name, records(4, 0))]);
        put(&root, "cifar10/cifar-10-binary.tar.gz", &archive);
        let message = open_in(&root, "cifar10").unwrap_err().to_string();
        assert!(message.ends_with(expected), "{message}");
    }
}

#[test]
fn bad_cifar10_is_named() {
    let mut wrong_label = records(4, 4);
    wrong_label[3073] = 77;
    for (content, expected) in [
        (
            records(4, 4)[1..].to_vec(),
            "has 12291 bytes, not a multiple of 3073",
        ),
        (wrong_label, "label 2 is 77; there are 10 classes"),
        (Vec::new(), "has 0 bytes"),
    ] {
        let root = root("bad_cifar");
        for (name, content) in batches() {
            put(&root, &format!("cifar10/{name}"), &content);
        }
        put(&root, "cifar10/data_batch_2.bin", &content);
        let message = open_in(&root, "cifar10").unwrap_err().to_string();
        assert!(
            message.contains(expected) && message.contains("data_batch_2.bin"),
            "{message}"
        );
    }
}

#[test]
fn toy_tiny_can_be_told_apart() {
    let set = open("toy_tiny", &OpenOptions::default()).unwrap();
    assert_eq!(set.info.sample_shape, [1, 28, 28]);
    assert_eq!(
        [set.train.len(), set.val.len(), set.test.len()],
        [900, 100, 200]
    );
    assert_eq!(set.whole().len(), 1200);
    assert_eq!(set.train.rows().len(), 1200 * 784);
    let upper_half_is_brighter =
        |image: &[f32]| image[..392].iter().sum::<f32>() > image[392..].iter().sum::<f32>();
    let images = set.train.rows().chunks_exact(784).zip(set.train.labels());
    let right = images
        .filter(|(image, label)| upper_half_is_brighter(image) == (**label == 0))
        .count();
    assert!(right >= 1150, "{right} of 1200");
}

const COLUMNS: &str = "zlogz c1_b0_mmdt c1_b1_mmdt c1_b2_mmdt c2_b1_mmdt c2_b2_mmdt d2_b1_mmdt d2_b2_mmdt \
                       d2_a1_b1_mmdt d2_a1_b2_mmdt m2_b1_mmdt m2_b2_mmdt n2_b1_mmdt n2_b2_mmdt mass_mmdt multiplicity";

fn arff(n_rows: usize) -> String {
    let attributes: Vec<String> = COLUMNS
        .split(' ')
        .map(|name| format!("@ATTRIBUTE '{name}' REAL"))
        .collect();
    let attributes = attributes.join(
        "
",
    );
    let mut text = format!(
        "% jets\n@RELATION jets\n\n{attributes}\n@ATTRIBUTE class {{g, q, t, w, z}}\n@DATA\n"
    );
    for row in 0..n_rows {
        let mut values: Vec<String> = (0..16)
            .map(|column| ((row * 7 + column * 3) % 23).to_string())
            .collect();
        values.push(["'g'", "q", "t", "w", "z"][row % 5].to_owned());
        text += &values.join(",");
        text.push('\n');
    }
    text
}

#[test]
fn openml_jets_are_read_from_arff() {
    let root = root("arff");
    put(
        &root,
        "jsc-openml/hls4ml_lhc_jets_hlf.arff",
        arff(60).as_bytes(),
    );
    let set = open_in(&root, "jsc-openml").unwrap();
    assert_eq!(set.info.classes, ["g", "q", "t", "w", "z"]);
    assert_eq!(set.train.labels()[..5], [0, 1, 2, 3, 4]);
    assert_eq!(
        [set.train.len(), set.val.len(), set.test.len()],
        [43, 5, 12]
    );
    for (from, to, expected) in [
        ("'zlogz'", "'zlog'", "has the columns"),
        (
            "@DATA\n",
            "@DATA\n{0 1}\n",
            "line 22: sparse rows are not read",
        ),
        (
            "@DATA\n0",
            "@DATA\n?",
            "row 1, column 'zlogz': '?' is not a number",
        ),
        ("@RELATION", "RELATION", "is not an ARFF file"),
        ("class {", "kind {", "has no column 'class'"),
    ] {
        let text = arff(60).replacen(from, to, 1);
        put(
            &root,
            "jsc-openml/hls4ml_lhc_jets_hlf.arff",
            text.as_bytes(),
        );
        let message = open_in(&root, "jsc-openml").unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn openml_jets_are_read_from_the_tutorials_arrays() {
    let root = root("arrays");
    let one_hot = |n: usize| {
        (0..n * 5)
            .map(|k| f32::from(k % 5 == k / 5 % 5))
            .collect::<Vec<_>>()
    };
    let features = |n: usize| (0..n * 16).map(|k| k as f32).collect::<Vec<_>>();
    fs::create_dir_all(root.join("jsc-openml")).unwrap();
    let save = |name: &str, shape: &[usize], values: &[f32]| {
        npy::write(&root.join("jsc-openml").join(name), shape, values).unwrap();
    };
    for (part, n) in [("train_val", 20), ("test", 5)] {
        save(&format!("X_{part}.npy"), &[n, 16], &features(n));
        save(&format!("y_{part}.npy"), &[n, 5], &one_hot(n));
    }
    let set = open_in(&root, "jsc-openml").unwrap();
    // Standardised and split already: nothing is changed but a tenth held for validation.
    assert_eq!(set.train.rows()[..320], features(20));
    assert_eq!([set.train.len(), set.val.len(), set.test.len()], [18, 2, 5]);
    assert_eq!(set.train.labels()[..6], [0, 1, 2, 3, 4, 0]);
    save("y_test.npy", &[5, 5], &[1.0; 25]);
    let message = open_in(&root, "jsc-openml").unwrap_err().to_string();
    assert!(
        message.contains("y_test.npy: row 1: [1.0, 1.0, 1.0, 1.0, 1.0] is not one-hot"),
        "{message}"
    );
}

/// Ten different rows are enough for three parts, nine are not, however often they occur.
#[test]
fn jets_have_at_least_ten_different_rows() {
    let root = root("few");
    let written = |n_rows: usize| {
        let text = arff(n_rows) + arff(n_rows).split_once("@DATA\n").unwrap().1;
        put(
            &root,
            "jsc-openml/hls4ml_lhc_jets_hlf.arff",
            text.as_bytes(),
        );
        open_in(&root, "jsc-openml")
    };
    let set = written(10).unwrap();
    assert_eq!([set.train.len(), set.val.len(), set.test.len()], [7, 1, 2]);
    let message = written(9).unwrap_err().to_string();
    let expected = "has 9 rows; at least 10 are needed to train, validate and test";
    assert!(message.ends_with(expected), "{message}");
}

/// An array in place of a good one, and what is said of it.
type Changed<'a> = (&'a str, &'a [usize], &'a [f32], &'a str);

#[test]
fn arrays_of_the_tutorial_that_do_not_fit_are_named() {
    let root = root("bad_arrays");
    fs::create_dir_all(root.join("jsc-openml")).unwrap();
    let save = |name: &str, shape: &[usize], values: &[f32]| {
        npy::write(&root.join("jsc-openml").join(name), shape, values).unwrap();
    };
    let hot = [0.0, 0.0, 1.0, 0.0, 0.0];
    let mut infinite = [0.5; 32];
    infinite[16 + 3] = f32::INFINITY;
    let cases: [Changed; 10] = [
        (
            "X_test.npy",
            &[2, 16],
            &infinite,
            "row 2, column 'c1_b2_mmdt': inf is not finite",
        ),
        (
            "X_test.npy",
            &[1, 16],
            &[0.0; 16],
            "has shape [1, 16]; [2, 16] was expected",
        ),
        (
            "X_test.npy",
            &[2, 15],
            &[0.0; 30],
            "has shape [2, 15]; [2, 16] was expected",
        ),
        (
            "X_test.npy",
            &[32],
            &[0.0; 32],
            "has shape [32]; [2, 16] was expected",
        ),
        (
            "y_test.npy",
            &[10],
            &[0.0; 10],
            "has shape [10]; one-hot rows of 5 were expected",
        ),
        (
            "y_test.npy",
            &[2, 4],
            &[0.0; 8],
            "has shape [2, 4]; one-hot rows of 5 were expected",
        ),
        (
            "y_test.npy",
            &[1, 5, 2],
            &[0.0; 10],
            "has shape [1, 5, 2]; one-hot rows of 5 were expected",
        ),
        (
            "y_test.npy",
            &[1, 5],
            &[0.0; 5],
            "row 1: [0.0, 0.0, 0.0, 0.0, 0.0] is not one-hot",
        ),
        (
            "y_test.npy",
            &[1, 5],
            &[1.0, 0.0, 0.5, 0.0, 0.0],
            "row 1: [1.0, 0.0, 0.5, 0.0, 0.0] is not one-hot",
        ),
        (
            "y_test.npy",
            &[0, 5],
            &[],
            "has shape [2, 16]; [0, 16] was expected",
        ),
    ];
    for (name, shape, values, expected) in cases {
        for part in ["train_val", "test"] {
            save(&format!("X_{part}.npy"), &[2, 16], &[0.25; 32]);
            save(&format!("y_{part}.npy"), &[2, 5], &[hot, hot].concat());
        }
        assert!(open_in(&root, "jsc-openml").is_ok());
        save(name, shape, values);
        let message = open_in(&root, "jsc-openml").unwrap_err().to_string();
        assert!(message.ends_with(expected), "{message}");
    }
}

/// A file that has a size and no content on the disk.
#[test]
fn a_batch_larger_than_the_dataset_is_not_read() {
    let root = root("huge_cifar");
    for (name, content) in batches() {
        put(&root, &format!("cifar10/{name}"), &content);
    }
    let path = root.join("cifar10/data_batch_2.bin");
    let file = fs::File::create(&path).unwrap();
    file.set_len(100_000 * 3073 + 1).unwrap();
    let message = open_in(&root, "cifar10").unwrap_err().to_string();
    let expected = "has 307300001 bytes, more than the 307300000 that are read";
    assert!(message.ends_with(expected), "{message}");
    fs::remove_file(path).unwrap();
}

#[test]
fn a_description_adds_up() {
    let set = open("toy_tiny", &OpenOptions::default()).unwrap();
    let description = describe(&set);
    assert_eq!(
        description
            .classes
            .iter()
            .map(|class| class.rows.train)
            .sum::<usize>(),
        900
    );
    assert_eq!(description.classes[1].name, "below");
    let range = &description.features[0];
    assert!(range.min >= 0.0 && range.max <= 1.0 && range.min < range.max);
    let text = description.to_string();
    assert!(
        text.contains("toy_tiny: samples of [1, 28, 28], 2 classes"),
        "{text}"
    );
    let json = serde_json::to_value(&description).unwrap();
    assert_eq!(json["rows"]["test"], 200);
    assert_eq!(json["classes"][0]["name"], "above");
}

#[test]
fn archives_of_arrays_are_tables() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let open = |name: &str| {
        open(
            &format!("{}/{name}", fixtures.display()),
            &OpenOptions::default(),
        )
    };
    let table = open("table.npz:y").unwrap();
    assert_eq!(table.info.classes, ["-1", "0", "1", "2"]);
    assert_eq!(
        (table.train.width(), table.info.sample_shape.as_slice()),
        (3, &[3][..])
    );
    let images = open("images.npz:kind").unwrap();
    assert_eq!(images.info.sample_shape, [1, 3, 4]);
    for (name, expected) in [
        ("table.npz:z", "has no column 'z'"),
        (
            "table.npz:x",
            "array 'x': has shape [20, 3]; one label for each row was expected",
        ),
        ("table.npz:note", "array 'note': has shape []; one label"),
        (
            "images.npz:pictures",
            "array 'pictures': has shape [20, 1, 3, 4]",
        ),
    ] {
        let message = open(name).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}
