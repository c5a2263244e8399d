//! The layout of texts: how statements are broken, and what of a line an error shows.

use ir::ops::activation::Relu;
use ir::ops::placeholder::Output;
use ir::ops::reshape::{AxisSize, Reshape};
use ir::{Dim, Graph, Node, NodeId};

/// A graph of one layer whose statement has about this length.
fn graph(length: usize) -> Graph {
    let text = format!(
        "graph \"g\" {{ x: f32[N, 4] = placeholder\n y = linear(x) {{ target = \"{}\", in_features = 4, \
         out_features = 2, weight: integer(8, 4), bias: integer(16, 9) }} return y }}",
        "é".repeat(length)
    );
    Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The first of the entries on a line, with its comma.
fn first_entry(line: &str) -> &str {
    let mut depth = 0;
    let end = line.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    });
    end.map_or(line, |end| &line[..=end])
}

/// A statement stands on one line of up to 120 characters, or its entries fill lines of up to 120.
#[test]
fn statements_fill_lines_of_120_characters() {
    let (mut whole, mut broken, mut full) = (0, 0, 0);
    for length in 0..200 {
        let graph = graph(length);
        let printed = graph.to_string();
        let lines: Vec<&str> = printed.lines().collect();
        let statement = &lines[2..lines.len() - 2];
        let width = |line: &str| line.chars().count();
        if let [line] = statement {
            assert!(width(line) <= 120, "{line}");
            whole += 1;
            continue;
        }
        let joined: Vec<&str> = statement.iter().map(|line| line.trim()).collect();
        let joined = format!("  {}", joined.join(" ").replace(", }", " }"));
        assert!(width(&joined) > 120, "{joined} would have fitted");
        let entries = &statement[1..statement.len() - 1];
        assert_eq!(statement[statement.len() - 1], "  }");
        for (at, line) in entries.iter().enumerate() {
            assert!(line.starts_with("    ") && line.ends_with(','), "{line}");
            let n_entries = line.matches(" = ").count() + line.matches(": ").count();
            assert!(width(line) <= 120 || n_entries == 1, "{line}");
            full += usize::from(width(line) == 120);
            let next = entries.get(at + 1).map_or("", |next| next.trim_start());
            let first = first_entry(next);
            assert!(
                next.is_empty() || width(line) + 1 + width(first) > 120,
                "{printed}"
            );
        }
        broken += 1;
        assert_eq!(Graph::parse(&printed).as_ref(), Ok(&graph), "{printed}");
    }
    assert!(
        whole >= 10 && broken > 100 && full > 0,
        "{whole} {broken} {full}"
    );
}

/// So many characters without a fault: a string where there is room for one.
fn filler(length: usize) -> String {
    match length {
        0 | 1 => " ".repeat(length),
        _ => format!("\"{}\"", "é".repeat(length - 2)),
    }
}

/// A long line is shown around its fault, a short one whole, and the mark is under the fault.
#[test]
fn an_error_shows_its_place() {
    for before in [0, 1, 79, 80, 81, 100, 159, 160, 161, 400] {
        for after in [0, 2, 60, 79, 80, 81, 200, 400] {
            let line = format!("{}@{}", filler(before), filler(after));
            let text = format!("# a line before\n{line}\n# a line behind");
            let errors = Graph::parse(&text).expect_err("not a graph").errors;
            let error = errors
                .iter()
                .find(|error| error.message.contains("'@'"))
                .expect("@ is no character of the grammar");
            assert_eq!((error.line, error.column), (2, before + 1));
            let (start, len) = error.mark;
            let shown: Vec<char> = error.excerpt.chars().collect();
            assert_eq!((shown[start], len), ('@', 1), "{error}");
            assert!(line.contains(&error.excerpt), "{error}");
            let n_chars = line.chars().count();
            if n_chars <= 160 {
                assert_eq!(error.excerpt, line.trim_end());
            } else {
                // As much as there is room for: all before the fault, or 80 characters of it.
                assert_eq!(start, before.min(80), "{error}");
                assert_eq!(shown.len(), 160.min(start + 1 + after), "{error}");
            }
            let rows: Vec<String> = error.to_string().lines().map(str::to_owned).collect();
            assert_eq!(rows[1], format!("  {}", error.excerpt));
            assert_eq!(rows[2], format!("  {}^", " ".repeat(start)));
        }
    }
}

#[test]
fn a_text_may_have_64_megabytes() {
    let text = "graph \"g\" { x: f32[N, 4] = placeholder return x }";
    let padded = |length: usize| text.to_owned() + &"\n".repeat(length - text.len());
    assert!(Graph::parse(&padded(64 << 20)).is_ok());
    let errors = Graph::parse(&padded((64 << 20) + 1)).expect_err("too long");
    let message = "the text has 67108865 bytes, more than 67108864";
    assert_eq!(errors.errors[0].message, message);
}

/// Symbols stand without quotes in a list, but for those that would be read as something else.
#[test]
fn symbols_that_look_like_words_are_read_back() {
    for symbol in ["N", "true", "false", "graph", "_1"] {
        let mut graph = Graph::new("g");
        let text = format!("graph \"g\" {{ x: f32[{symbol}, 4] = placeholder return x }}");
        let input = Graph::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
        graph.push(input.nodes()[0].clone());
        let many = Dim {
            factor: 4,
            symbol: Some(symbol.into()),
        };
        let shape = vec![AxisSize::Dim(many), AxisSize::Infer];
        graph.push(Node::new("y", "", Reshape { shape }, &[NodeId(0).into()]));
        let shape = vec![AxisSize::Dim(Dim::symbol(symbol)), AxisSize::Infer];
        graph.push(Node::new("z", "", Reshape { shape }, &[NodeId(1).into()]));
        graph.push(Node::new("r", "", Relu::default(), &[NodeId(2).into()]));
        graph.push(Node::new("output", "", Output {}, &[NodeId(3).into()]));
        let printed = graph.to_string();
        let again = Graph::parse(&printed).unwrap_or_else(|errors| panic!("{printed}{errors}"));
        assert_eq!(again, graph, "{printed}");
    }
}
