//! Operators of other programs: their text, their types, their unknown cost.

use ir::{FlopFormula, Graph, verify};

const TEXT: &str = "graph \"boxes\" {
  boxes: f32[1, 6, 4] = placeholder
  scores: f32[1, 1, 6] = placeholder
  nms = opaque(boxes, scores) {
    operator = \"NonMaxSuppression\", version = 11, results = [\"i64[3, 3]\"], attributes = [\"center_point_box = 1\"],
    source = \"0a02\",
  }
  top = opaque(scores) { operator = \"Top\", domain = \"own\", version = 1, results = [\"f32[N]\", \"bool[]\"] }
  return nms, top, top.1
}
";

#[test]
fn the_text_prints_as_it_is_read() {
    let graph = Graph::parse(TEXT).unwrap();
    assert_eq!(graph.to_string(), TEXT);
}

#[test]
fn results_have_the_stated_types_and_no_known_cost() {
    let graph = Graph::parse(TEXT).unwrap();
    let verified = verify(&graph).unwrap();
    let types: Vec<String> = verified
        .output_values()
        .iter()
        .map(|&value| verified.ty(value).to_string())
        .collect();
    assert_eq!(types, ["i64[3, 3]", "f32[N]", "bool[]"]);
    let cost = verified.cost(graph.find("nms").unwrap(), 1).unwrap();
    assert_eq!((cost.flops, cost.formula), (0, FlopFormula::Unknown));
}

#[test]
fn a_result_that_is_no_type_is_a_violation() {
    for (from, to, problem) in [
        (
            "i64[3, 3]",
            "u8[3]",
            "results = \"u8[3]\": is not a type such as f32[N, 3]",
        ),
        ("[\"i64[3, 3]\"]", "[]", "the number of results = 0"),
    ] {
        let graph = Graph::parse(&TEXT.replace(from, to)).unwrap();
        let error = verify(&graph).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}
