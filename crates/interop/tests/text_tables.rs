//! Tables of text, arrays of bytes and archives: every reader reads a file as it reads its bytes, packed or not, and names the
//! place of what it refuses.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use flate2::Compression;
use flate2::write::GzEncoder;
use interop::columns::{MAX_CLASSES, Table, TableError, TableProblem};
use interop::npy::{self, Numbers, Values};
use interop::{Budget, arff, csv, idx, npz, tar};
use std::fmt::Display;
use std::io::Write as _;
use std::path::{Path, PathBuf};

type Read = fn(&Path, &str) -> Result<Table, TableError>;

fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("text_tables_{name}"));
    std::fs::write(&path, content).unwrap();
    path
}

fn packed(content: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

fn budget() -> Budget {
    Budget::of_size(0)
}

fn table(features: &[&str], values: &[f32], classes: &[&str], labels: &[u32]) -> Table {
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    Table {
        features: owned(features),
        values: values.to_vec(),
        classes: owned(classes),
        labels: labels.to_vec(),
    }
}

fn parse_csv(text: &str) -> Result<Table, String> {
    csv::parse(text.as_bytes(), "y", &budget()).map_err(|problem| problem.to_string())
}

fn parse_arff(text: &str) -> Result<Table, String> {
    arff::parse(text.as_bytes(), "y", &budget()).map_err(|problem| problem.to_string())
}

/// A table with these labels.
fn labelled(labels: impl Iterator<Item = impl Display>) -> String {
    let rows = labels.map(|label| format!("0,{label}"));
    let lines: Vec<String> = std::iter::once("x,y".to_owned()).chain(rows).collect();
    lines.join("\n")
}

#[test]
fn files_are_read_packed_or_not() {
    let expected = table(&["x"], &[1.0, 2.5], &["a", "b"], &[1, 0]);
    let comma = b"x,y\n1,b\n2.5,a\n";
    let attributes =
        b"@relation r\n% a note\n\n@ATTRIBUTE x real\n@attribute 'y' {a, b}\n@data\n1,b\n2.5,'a'\n";
    let cases: [(&str, &[u8], Read); 2] = [
        ("a.csv", comma, csv::read),
        ("a.arff", attributes, arff::read),
    ];
    for (name, content, read) in cases {
        assert_eq!(read(&file(name, content), "y").unwrap(), expected);
        let zipped = file(&format!("{name}.gz"), &packed(content));
        assert_eq!(read(&zipped, "y").unwrap(), expected);
        let error = read(Path::new("none"), "y").unwrap_err().to_string();
        assert!(error.starts_with("none: "), "{error}");
    }
    let bytes = b"\0\0\x08\x02\0\0\0\x02\0\0\0\x03abcdef";
    for (name, content) in [("a.idx", bytes.to_vec()), ("a.idx.gz", packed(bytes))] {
        let array = idx::read(&file(name, &content)).unwrap();
        assert_eq!(
            (array.shape, &array.values[..]),
            (vec![2, 3], &b"abcdef"[..])
        );
    }
}

#[test]
fn arrays_are_read_from_files() {
    let numbers = |shape: &[usize], values: Values| Numbers {
        shape: shape.to_vec(),
        values,
    };
    let arrays = vec![
        (
            "x".to_owned(),
            numbers(&[2, 1], Values::F32(vec![0.5, -1.0])),
        ),
        ("y".to_owned(), numbers(&[2], Values::I64(vec![7, 3]))),
    ];
    let path = file("a.npz", &npz::encode(&arrays).unwrap());
    let (read, shape) = npz::read(&path, "y").unwrap();
    assert_eq!(read, table(&["x0"], &[0.5, -1.0], &["3", "7"], &[1, 0]));
    assert_eq!(shape, [1]);
    assert_eq!(npz::read_arrays(&path, None).unwrap().arrays, arrays);

    let path = file("a.npy", &[]);
    npy::write(&path, &[2, 1], &[0.5, -1.0]).unwrap();
    assert_eq!(npy::read_numbers(&path).unwrap(), arrays[0].1);
    let array = npy::read(&path).unwrap();
    assert_eq!((array.shape, array.values), (vec![2, 1], vec![0.5, -1.0]));
}

#[test]
fn cells_may_be_quoted_and_separated_in_three_ways() {
    let expected = table(
        &["x", "a;b"],
        &[1.0, 2.0, 3.0, 4.0],
        &["c\"d", "e\nf"],
        &[0, 1],
    );
    for separator in [",", ";", "\t"] {
        let text = "\u{feff}x|\"a;b\"|y\r\n\r\n1| \"2\" |\"c\"\"d\"\r\n3|4|\"e\nf\"";
        let read = parse_csv(&text.replace('|', separator)).unwrap();
        assert_eq!(read, expected, "{separator:?}");
    }
    // Of as many commas as semicolons, commas separate.
    assert_eq!(parse_csv("x;1,y\n5,a\n").unwrap().features, ["x;1"]);
}

#[test]
fn classes_are_in_order_of_numbers_or_of_letters() {
    let classes = |labels: &str| {
        let table = parse_csv(&labelled(labels.split(' '))).unwrap();
        (table.classes.join(" "), table.labels)
    };
    assert_eq!(
        classes("10 9 -1 9"),
        ("-1 9 10".to_owned(), vec![2, 1, 0, 1])
    );
    assert_eq!(classes("10 9 b 9"), ("10 9 b".to_owned(), vec![0, 1, 2, 1]));
    assert_eq!(classes("10 9 inf"), ("10 9 inf".to_owned(), vec![0, 1, 2]));
}

#[test]
fn what_is_refused_is_named_with_its_place() {
    let cases = [
        ("", "has no rows"),
        ("x,y\n", "has no rows"),
        ("y\na\n", "has no columns but 'y'"),
        ("x,z\n1,a\n", "has no column 'y'; it has x, z"),
        (
            "x,y\n1,a\n1\n",
            "row 2 has 1 cells; the table has 2 columns",
        ),
        ("x,y\n1,a,2\n", "row 1 has 3 cells; the table has 2 columns"),
        ("x,y\n1,\n", "row 1, column 'y': the label is empty"),
        ("x,y\nb,a\n", "row 1, column 'x': 'b' is not a number"),
        (
            "x,y\n1e39,a\n",
            "row 1, column 'x': '1e39' is not a finite float32",
        ),
        (
            "x;y\n1,5;a\n",
            "row 1, column 'x': '1,5' is not a number; decimals are written with a point",
        ),
        ("x,y\n\n1,\"a\n2,b\n", "line 3: a quoted cell has no end"),
        ("x,y\n1,\"a\"b\n", "line 2: text follows a closing quote"),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_csv(text).unwrap_err(), expected, "{text:?}");
    }
    let head = "@relation r\n@attribute x real\n@attribute y {a}\n";
    let cases = [
        (
            "@relation r\nx\n",
            "is not an ARFF file: line 2 is neither @relation, @attribute nor @data",
        ),
        ("@attribute\n", "line 1: the attribute has no name"),
        (
            &format!("{head}@data\n{{0 1}}\n"),
            "line 5: sparse rows are not read",
        ),
        (
            &format!("{head}@data\n?,a\n"),
            "row 1, column 'x': '?' is not a number",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(parse_arff(text).unwrap_err(), expected, "{text:?}");
    }
}

/// A message lists thirty columns and counts the others.
#[test]
fn long_lists_of_columns_are_cut() {
    let header = |count: usize| {
        let names: Vec<String> = (0..count).map(|i| format!("c{i}")).collect();
        names.join(",")
    };
    let message = |count| parse_csv(&header(count)).unwrap_err();
    assert!(message(30).ends_with("c28, c29"), "{}", message(30));
    assert!(message(31).ends_with("c28, c29, 1 more"), "{}", message(31));
    assert!(message(35).ends_with("c28, c29, 5 more"), "{}", message(35));
}

#[test]
fn classes_records_and_lines_have_limits() {
    let classes = |count: usize| parse_csv(&labelled(0..count)).map(|table| table.classes.len());
    assert_eq!(classes(MAX_CLASSES), Ok(MAX_CLASSES));
    let message = classes(MAX_CLASSES + 1).unwrap_err();
    assert!(
        message.starts_with("row 10001, column 'y': there are more than 10000"),
        "{message}"
    );

    // The longest record, and one byte more.
    let rest = |used: usize| " ".repeat(csv::MAX_RECORD - used);
    let text = format!("x,y\n1,a{}\n", rest(4));
    assert_eq!(parse_csv(&text).unwrap().labels, [0]);
    let text = format!("x,y\n1,a{}\n", rest(3));
    assert_eq!(
        parse_csv(&text).unwrap_err(),
        "line 2: the record has more than 16777216 bytes"
    );
    let text = format!("x,y\n1,\"a\n{}\"\n", rest(3));
    assert_eq!(
        parse_csv(&text).unwrap_err(),
        "line 3: the record has more than 16777216 bytes"
    );
    let head = "@relation r\n@attribute x real\n@attribute y {a}\n@data\n";
    let rest = |used: usize| " ".repeat(arff::MAX_LINE - used);
    assert_eq!(
        parse_arff(&format!("{head}1,a{}\n", rest(4)))
            .unwrap()
            .labels,
        [0]
    );
    assert_eq!(
        parse_arff(&format!("{head}1,a{}\n", rest(3))).unwrap_err(),
        "line 5: has more than 16777216 bytes"
    );
}

#[test]
fn arrays_of_bytes_are_as_long_as_they_say() {
    let message = |bytes: &[u8]| idx::parse(bytes, &budget()).unwrap_err().to_string();
    let head = b"\0\0\x08\x01\0\0\0\x02";
    let cases: [(&[u8], &str); 5] = [
        (
            b"\0\0",
            "is not an IDX file of bytes: the header: failed to fill whole buffer",
        ),
        (
            b"\0\0\x0d\x01",
            "is not an IDX file of bytes: it starts with [00, 00, 0d, 01], not [00, 00, 08, rank]",
        ),
        (
            &[head, &b"a"[..]].concat(),
            "elements: shape [2] needs 2 bytes, the file has 1",
        ),
        (
            &[head, &b"abc"[..]].concat(),
            "elements: shape [2] needs 2 bytes, the file has more",
        ),
        (
            b"\0\0\x08\x01\x40\0\0\x01",
            "header: shape [1073741825] is more than the 1073741824 bytes that are read",
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(message(bytes), expected);
    }
    // As many as are read of any file, but not of a small one: five bytes of memory for each.
    let rows = |count: u32| [&b"\0\0\x08\x01"[..], &count.to_be_bytes()].concat();
    for count in [1 << 30, 51_200_001] {
        assert!(
            message(&rows(count)).starts_with("needs more than the 256 MB"),
            "{count}"
        );
    }
    assert!(message(&rows(51_200_000)).starts_with("elements: "));
}

/// An entry of a tar archive.
fn entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
    let mut header = [0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    let size = format!("{:011o} ", content.len());
    header[124..136].copy_from_slice(size.as_bytes());
    header[156] = kind;
    let padding = content.len().next_multiple_of(512) - content.len();
    [&header[..], content, &vec![0; padding]].concat()
}

fn visit(archive: &[u8], max_bytes: u64) -> Result<Vec<(String, usize)>, TableProblem> {
    let mut visited = Vec::new();
    tar::visit(archive, max_bytes, &budget(), |name, content| {
        assert!(content.iter().all(|&byte| byte == name.as_bytes()[0]));
        visited.push((name.to_owned(), content.len()));
        Ok(())
    })?;
    Ok(visited)
}

#[test]
fn plain_files_of_an_archive_are_visited() {
    let archive = [
        entry("a", b'0', &[b'a'; 512]),
        entry("folder", b'5', &[]),
        entry("b", 0, &[b'b'; 700]),
        entry("c", b'0', &[]),
    ]
    .concat();
    let expected = [("a", 512), ("b", 700), ("c", 0)].map(|(name, size)| (name.to_owned(), size));
    let ended = [&archive[..], &[0; 1024], b"what follows is not read"].concat();
    for archive in [&archive, &packed(&archive), &ended] {
        assert_eq!(visit(archive, 700).unwrap(), expected);
    }
    let refused = |archive: &[u8], max_bytes| visit(archive, max_bytes).unwrap_err().to_string();
    assert_eq!(
        refused(&archive, 699),
        "entry 'b': has 700 bytes, more than the 699 that are read"
    );
    assert_eq!(
        refused(&entry("b", b'0', &[b'b'; 700])[..1211], 700),
        "entry 'b': has 700 bytes, of which 699 are there"
    );
    assert_eq!(refused(&archive[..511], 700), "unexpected end of file");
    assert_eq!(
        refused(&[b'x'; 512], 700),
        format!(
            "is not a tar archive: entry '{}' has no size",
            "x".repeat(100)
        )
    );
    let full = entry("a", b'0', &[]).repeat(10_000);
    assert_eq!(refused(&full, 0), "archive: has more than 10000 entries");
    assert_eq!(visit(&full[512..], 0).unwrap().len(), 9_999);
}

/// Files of which the memory is used again, up to the memory of a small archive and beyond.
#[test]
fn no_more_is_unpacked_than_a_file_may_take() {
    let entries = |more: &[u8]| {
        let entry = entry("a", b'0', &vec![b'a'; 1999 * 512]);
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        (0..250).for_each(|_| packed.write_all(&entry).unwrap());
        packed.write_all(more).unwrap();
        packed.finish().unwrap()
    };
    let read = |archive: &[u8]| tar::visit(archive, 1 << 20, &budget(), |_, _| Ok(()));
    assert!(read(&entries(&[])).is_ok());
    let message = read(&entries(&[0])).unwrap_err().to_string();
    assert!(message.contains("needs more than the 256 MB"), "{message}");
}
