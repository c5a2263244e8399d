//! Texts that nobody meant as graphs: they give errors, quickly, and never a panic.

use ir::{Graph, verify};
use proptest::prelude::*;

const TEXT: &str = include_str!("golden/attention.mg");

/// What reading gives must be a graph that prints back, or at least one error with a place inside the text.
fn read(text: &str) {
    match Graph::parse(text) {
        Ok(graph) => {
            let printed = graph.to_string();
            if verify(&graph).is_ok() {
                assert_eq!(Graph::parse(&printed).as_ref(), Ok(&graph), "{printed}");
            }
        }
        Err(errors) => {
            assert!(!errors.errors.is_empty());
            assert!(errors.to_string().len() < 100_000);
            for error in &errors.errors {
                assert!(error.excerpt.chars().count() <= 160, "{error}");
                assert!(
                    (1..=text.split('\n').count()).contains(&error.line),
                    "{error}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_read(text in "\\PC*") {
        read(&text);
    }

    #[test]
    fn any_tokens_are_read(words in prop::collection::vec(prop::sample::select(vec![
        "graph", "\"g\"", "{", "}", "(", ")", "[", "]", ",", ":", "=", ".", "*", "x", "relu", "placeholder", "f32",
        "return", "N", "16", "-1", "1e-5", "integer(8, 4)", "integer(", "target", "\n", "#", "true", "\"", "\\", "λ",
    ]), 0..60)) {
        read(&words.join(" "));
        read(&format!("graph \"g\" {{ x: f32[N, 4] = placeholder\n{} return x }}", words.join("")));
    }

    #[test]
    fn a_damaged_text_is_read(cut in any::<prop::sample::Index>(), len in 0_usize..20, with in "[ -~]{0,6}") {
        let text = TEXT.split_once("----").map_or(TEXT, |(text, _)| text);
        let start = text.floor_char_boundary(cut.index(text.len()));
        let end = text.floor_char_boundary((start + len).min(text.len()));
        read(&format!("{}{with}{}", &text[..start], &text[end..]));
    }
}

#[test]
fn a_text_of_a_million_characters_is_read() {
    let lines = (1..24_000).map(|i| {
        format!(
            "  node_{i} = relu(node_{}) {{ target = \"a.{i}\" }}\n",
            i - 1
        )
    });
    let text = format!(
        "graph \"long\" {{\n  node_0: f32[N, 4] = placeholder\n{}  return node_23999\n}}\n",
        lines.collect::<String>()
    );
    assert!(text.len() > 1_000_000);
    let graph = Graph::parse(&text).unwrap();
    assert_eq!(graph.nodes().len(), 24_001);
    assert_eq!(graph.to_string(), text);
    verify(&graph).unwrap();
}

#[test]
fn long_lines_of_nonsense_give_short_reports() {
    for nonsense in [
        "[",
        "(",
        "{",
        "a = ",
        "a=b(",
        "a.",
        "\"\\",
        "x: f32[",
        "é",
        "1*",
        "a = relu(b) ",
    ] {
        let body = nonsense.repeat(200_000 / nonsense.len());
        read(&body);
        read(&format!(
            "graph \"g\" {{ x: f32[N] = placeholder y = relu(x) {{ target = {body}"
        ));
        read(&format!("graph \"g\" {{ {body} }}"));
    }
}

#[test]
fn long_names_are_not_compared_letter_by_letter() {
    let name = "n".repeat(300_000);
    let text = format!(
        "graph \"g\" {{ {name}: f32[N] = placeholder y = relu({name}n) z = {name}() return y }}"
    );
    assert_eq!(Graph::parse(&text).unwrap_err().errors.len(), 2);
}

#[test]
fn many_errors_are_cut_at_fifty() {
    let text = format!("graph \"g\" {{\n{}}}", "  a = nothing()\n".repeat(1000));
    assert_eq!(Graph::parse(&text).unwrap_err().errors.len(), 50);
}

/// What fuzzing has found stays found.
#[test]
fn earlier_findings_are_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/findings/text");
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if let Ok(text) = std::fs::read_to_string(file.path()) {
            read(&text);
        }
    }
}
