//! Values of every kind as they stand in a file, places of problems, and the nearest names.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use config::{Item, Problem, Reader, Table, Value, describe, did_you_mean, nearest};
use serde_json::json;

/// Reads a text; the problems, each with the text at its place.
fn read(text: &str, read: impl FnOnce(&mut Reader)) -> Vec<String> {
    let table = Table::parse(text).unwrap();
    let mut reader = Reader::new(&table, 0..text.len());
    read(&mut reader);
    let at = |problem: Problem| format!("{}: {}", &text[problem.span], problem.message);
    reader.finish().into_iter().map(at).collect()
}

#[test]
fn values_of_every_kind_are_read() {
    let text = "text = \"a\"\nint = -3\nhex = 0x1f\nfloat = 2.5\nyes = true\nno = 0\none = \"w\"\nmany = [\"x\", \"y\"]\n\
                date = 2020-01-02\nlarge = 99999999999999999999\n[table]\nkey = [1, 2.0, false, {a = \"b\"}]\n";
    let problems = read(text, |reader| {
        assert_eq!(reader.text("text").unwrap(), "a");
        assert_eq!(reader.whole("int", -3..=-3), Some(-3));
        assert_eq!(reader.count("hex"), Some(31));
        assert_eq!(reader.number("float", 2.5..=2.5), Some(2.5));
        assert_eq!(reader.number("int", -4.0..=0.0), Some(-3.0));
        assert_eq!(
            (reader.flag("yes"), reader.flag("no")),
            (Some(true), Some(false))
        );
        let words = |words: Vec<config::Key>| -> Vec<String> {
            words
                .into_iter()
                .map(|key| format!("{} {}", key.name, &text[key.span]))
                .collect()
        };
        assert_eq!(words(reader.words("one").unwrap()), ["w \"w\""]);
        assert_eq!(words(reader.words("many").unwrap()), ["x \"x\"", "y \"y\""]);
        assert_eq!(reader.text("date").unwrap(), "2020-01-02");
        assert_eq!(reader.text("large").unwrap(), "99999999999999999999");
        let choices = [("first", 1), ("A", 2)];
        assert_eq!(reader.choice("text", &choices), Some(2));
        assert_eq!(
            reader.json("table"),
            Some(json!({"key": [1, 2.0, false, {"a": "b"}]}))
        );
        assert_eq!(reader.peek("int"), Some(&Value::Int(-3)));
        assert_eq!((reader.peek("none"), reader.text("none")), (None, None));
    });
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn values_of_another_kind_are_named() {
    let text = "a = 1\nb = \"x\"\nc = [1]\nd = {}\ne = 2.0\nf = true\n";
    let problems = read(text, |reader| {
        assert_eq!(reader.text("a"), None);
        assert_eq!(reader.choice("a", &[("x", ())]), None);
        assert_eq!(reader.whole("e", 0..=9), None);
        assert_eq!(reader.number("b", 0.0..=9.0), None);
        assert_eq!(reader.flag("c"), None);
        assert_eq!(reader.words("f"), None);
        assert_eq!(reader.words("c").map(|words| words.len()), Some(0));
        assert_eq!(reader.table("d", |_| 5), Some(5));
        assert_eq!(reader.table("a", |_| 5), None);
    });
    let expected = [
        "1: a: 1 is not a text",
        "1: a: 1 is not a word",
        "2.0: e: 2.0 is not a whole number",
        "\"x\": b: 'x' is not a number",
        "[1]: c: a list is not true or false",
        "true: f: true is not a list of words",
        "1: c: 1 is not a word",
        "1: a: 1 is not a table",
    ];
    assert_eq!(problems, expected);
}

#[test]
fn numbers_have_bounds() {
    let text = "a = 0\nb = 4294967296\nc = -0.5\n";
    let problems = read(text, |reader| {
        assert_eq!((reader.count("a"), reader.count("b")), (None, None));
        assert_eq!(reader.number("c", 0.0..=f64::MAX), None);
        assert_eq!(reader.number("c", 0.0..=1.0), None);
        assert_eq!(reader.whole("a", 0..=0), Some(0));
    });
    let expected = [
        "0: a: 0 is below 1",
        "4294967296: b: 4294967296 is above 4294967295",
        "-0.5: c: -0.5 is not a number of at least 0",
        "-0.5: c: -0.5 is not within 0 and 1",
    ];
    assert_eq!(problems, expected);
}

#[test]
fn keys_are_asked_for_ignored_or_unknown() {
    let text = "old_a = 1\nold_b = 2\nkept = 3\n";
    let mut notes = Vec::new();
    let mut free = Vec::new();
    let problems = read(text, |reader| {
        reader.flag("old_b");
        reader.ignore_where(|key| key.starts_with("old"), ": there is no old");
        reader.missing("new", "name it");
        assert_eq!((reader.name(), reader.span()), ("", 0..text.len()));
        notes = reader.take_notes();
        free = reader
            .rest()
            .iter()
            .map(|entry| entry.0.name.clone())
            .collect();
    });
    assert_eq!(
        notes,
        ["'old_a' in the file has no effect: there is no old"]
    );
    assert_eq!(free, ["kept"]);
    assert_eq!(
        problems,
        [
            "2: old_b: 2 is not true or false",
            &format!("{text}: new is missing; name it")
        ]
    );
    assert_eq!(
        read("keep = 1\nlong = 2\n", |reader| drop(reader.text("kept"))),
        [
            "keep: unknown key 'keep'; did you mean 'kept'?",
            "long: unknown key 'long'; known are kept"
        ]
    );
    assert_eq!(
        read("a = 1\n", |_| ()),
        ["a: unknown key 'a'; there are no keys here"]
    );
    let table = Table::default();
    assert_eq!(
        Reader::new(&table, 0..0).named("passes.quantize").name(),
        "passes.quantize"
    );
}

#[test]
fn na_and_none_are_as_good_as_nothing() {
    let item = |text: &str| Item {
        value: Value::Text(text.to_owned()),
        span: 0..0,
    };
    assert!(item("NA").is_none() && item("None").is_none() && !item("na").is_none());
    assert_eq!(item("NA").as_table(), None);
}

#[test]
fn problems_are_shown_in_their_line() {
    let text = "é = 1\nname = \"a\nb\"\n";
    let at = |span: std::ops::Range<usize>| Problem {
        span,
        message: "is wrong".to_owned(),
    };
    let one = "x.toml:1:5: is wrong\n  é = 1\n      ^";
    let other = "x.toml:2:8: is wrong\n  name = \"a\n         ^^";
    assert_eq!(describe("x.toml", text, &[at(5..6)]), one);
    assert_eq!(describe("x.toml", text, &[at(14..18)]), other);
    // Inside of a letter, and behind the end.
    assert_eq!(
        describe("x.toml", text, &[at(1..2)]),
        "x.toml:1:1: is wrong\n  é = 1\n  ^"
    );
    assert_eq!(
        describe("x.toml", text, &[at(90..91)]),
        "x.toml:4:1: is wrong\n  \n  ^"
    );
    let both = describe("x.toml", text, &[at(5..6), at(14..18)]);
    assert_eq!(both, format!("2 problems in x.toml\n{one}\n{other}"));
    let problem = Table::parse("a = 1\na = 2\n").unwrap_err();
    assert_eq!(
        (problem.span, problem.message.as_str()),
        (6..7, "duplicate key")
    );
}

#[test]
fn the_nearest_names_come_first() {
    let names = ["label", "table", "able", "labels", "cable", "x", "label"];
    assert_eq!(nearest("LABEL", names), ["label", "labels", "able"]);
    assert_eq!(
        nearest("xyz", ["ab", "xy", "wxyzw", "wwxyzw"]),
        ["xy", "wxyzw"]
    );
    // A third of the letters may differ, and not all of a name.
    assert_eq!(nearest("abcdefghi", ["abcdef", "abcde"]), ["abcdef"]);
    assert_eq!(nearest("ab", ["cd", "a", "cde"]), ["a"; 0]);
    for (length, found) in [(100, 1), (101, 0)] {
        let long = "n".repeat(length);
        assert_eq!(nearest(&long, [long.as_str()]).len(), found);
        assert_eq!(nearest(&"n".repeat(100), [long.as_str()]).len(), found);
    }
    assert_eq!(did_you_mean("labe", ["label"]), "; did you mean 'label'?");
    assert_eq!(
        did_you_mean("labe", ["label", "laber", "labem"]),
        "; did you mean 'label', 'labem' or 'laber'?"
    );
    assert_eq!(did_you_mean("labe", ["x"]), "");
}
