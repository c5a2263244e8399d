//! The check of certificates: what it finds in a small network, and claims that it refuses.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod yosys;

use engine::State;
use engine::integer::Program;
use hw::emit::{Emission, Style};
use hw::print::verilog;
use hw::prove::{ElementWord, checked_forms, elements};
use hw::rtl::Rtl;
use hw::solve::Effort;
use ir::{Graph, Tensor, verify};

const NETWORK: &str = "graph \"two\" {
  x: f32[N, 2] = placeholder
  fc = linear(x: integer(4, 2)) { in_features = 2, out_features = 2, weight: integer(4, 2), bias: integer(6, 4) }
  out = relu(fc) { data_out_0: integer(4, 2, signed = false, rounding = nearest_up) }
  return out
}";

struct Case {
    program: Program,
    emission: Emission,
    rtl: Rtl,
    elements: Vec<ElementWord>,
}

fn case() -> Option<Case> {
    let yosys = yosys::found()?;
    let mut graph = Graph::parse(NETWORK).unwrap();
    graph.initialize(1);
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let program = Program::of(&verified, &state, 1).unwrap();
    let emission = Emission::of(&program, Style::Combinational, Effort::Normal).unwrap();
    let rtl = yosys.read(&verilog(&emission.net, &emission.ports));
    let elements = elements(&emission.net);
    Some(Case {
        program,
        emission,
        rtl,
        elements,
    })
}

fn check(case: &Case, elements: &[ElementWord]) -> Result<Vec<String>, String> {
    let forms = checked_forms(&case.rtl, &case.emission.ports, &case.program, elements);
    let forms = forms.map_err(|error| error.to_string())?;
    let line = |own: &hw::prove::WordForm| {
        format!("{} = {} in {} … {}", own.word, own.form, own.min, own.max)
    };
    Ok(forms.iter().map(line).collect())
}

#[test]
fn every_word_has_its_form() {
    let Some(case) = case() else {
        return;
    };
    let forms = check(&case, &case.elements).unwrap();
    let expected = [
        "fc_n0_a0 = 2*x[1] + 3 in -13 … 17",
        "fc_n0_a1 = -2*x[1] - 3 in -17 … 13",
        "fc_n0_i0 = x[0] in -8 … 7",
        "fc_n0_q0 = fc_n0_q0 in 0 … 3",
        "fc_n0_q0_f = -x[1] + floor((2*x[1] + 1) / 2^2) - 1 in -5 … 3",
        "fc_n1_a0 = x[1] + 9 in 1 … 16",
        "fc_n1_a1 = x[0] + x[1] + 9 in -7 … 23",
        "fc_n1_i0 = x[1] in -8 … 7",
        "fc_n1_q0 = fc_n1_q0 in 0 … 5",
        "fc_n1_q0_f = floor((x[0] + x[1] + 1) / 2^2) + 2 in -2 … 5",
        "x = x[0] + 16*x[1] - 16*floor((x[0]) / 2^3) in -136 … 135",
        "y = fc_n0_q0 + 4*fc_n1_q0 in 0 … 23",
    ];
    assert_eq!(forms, expected);
}

#[test]
fn another_word_for_an_element_is_refused() {
    let Some(case) = case() else {
        return;
    };
    let changes: [fn(&mut Vec<ElementWord>); 6] = [
        |own| own[0].word = own[1].word.clone(),
        |own| own[0].source = own[0].word.clone(),
        |own| own[0].source = "no such word".to_owned(),
        |own| own[0].shift = 1,
        |own| own[0].element = 1,
        |own| own.truncate(1),
    ];
    for change in changes {
        let mut elements = case.elements.clone();
        change(&mut elements);
        let error = check(&case, &elements).unwrap_err();
        assert!(
            error.starts_with("y[0] is not shown") || error.starts_with("y[1] is not shown"),
            "{error}"
        );
    }
}

/// A last ReLU that nothing rounds, of words that are too wide to be tried.
const WIDE: &str = "graph \"wide\" {
  x: f32[N, 8] = placeholder
  fc = linear(x: integer(16, 8)) { in_features = 8, out_features = 2, weight: integer(14, 13), bias: integer(14, 13) }
  out = relu(fc)
  return out
}";

#[test]
fn bounds_of_wide_words_are_shown_piece_by_piece() {
    let Some(yosys) = yosys::found() else {
        return;
    };
    let mut graph = Graph::parse(WIDE).unwrap();
    graph.initialize(1);
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let program = Program::of(&verified, &state, 1).unwrap();
    let emission = Emission::of(&program, Style::Combinational, Effort::Normal).unwrap();
    let (ports, elements) = (&emission.ports, elements(&emission.net));
    let text = verilog(&emission.net, ports);
    let right = yosys.read(&text);
    checked_forms(&right, ports, &program, &elements).unwrap();
    let line = text.lines().rfind(|line| line.contains(" ? ")).unwrap();
    let sign: u32 = line.split(['[', ']']).nth(1).unwrap().parse().unwrap();
    assert!(sign > 24, "{line}");
    let faults = [
        (format!("[{sign}] ? "), format!("[{}] ? ", sign - 1)),
        ("'d0 : ".to_owned(), "'d1 : ".to_owned()),
        (":0])".to_owned(), ":1])".to_owned()),
        (" ? ".to_owned(), " & fc_n0_a0[0] ? ".to_owned()),
    ];
    for (from, to) in faults {
        let changed = line.replacen(&from, &to, 1);
        assert_ne!(changed, line, "{from}");
        let rtl = yosys.read(&text.replacen(line, &changed, 1));
        let checked = checked_forms(&rtl, ports, &program, &elements);
        assert!(checked.is_err(), "{changed}");
    }
}

/// Results of a table that are all far from 0, so that adders work on their low bits and constants are cut.
const CUT: &str = "graph \"cut\" {
  x: f32[N, 8] = placeholder
  h = hardtanh(x: integer(6, 3)) { min_val = -4.0, max_val = -1.0 }
  t = tanh(h: integer(5, 2)) { data_out_0: integer(6, 5) }
  fc = linear(t: integer(6, 5)) { target = \"fc\", in_features = 8, out_features = 5, weight: integer(6, 5), bias: integer(6, 5) }
  return fc
}";
/// Its weights and biases, in codes.
const CUT_WEIGHTS: [[f32; 8]; 5] = [
    [-4.0, 3.0, 4.0, -7.0, -6.0, 5.0, -6.0, 5.0],
    [-6.0, 2.0, -5.0, 0.0, 4.0, 0.0, -6.0, 3.0],
    [-6.0, 4.0, 4.0, 3.0, -6.0, 3.0, -3.0, 0.0],
    [-4.0, -5.0, -5.0, 0.0, 6.0, 4.0, -4.0, 0.0],
    [-3.0, 2.0, 0.0, -7.0, 0.0, 5.0, 7.0, 0.0],
];
const CUT_BIASES: [f32; 5] = [-3.0, 7.0, -5.0, -5.0, 4.0];

#[test]
fn words_that_are_cut_at_the_top_stand_for_their_values() {
    let Some(yosys) = yosys::found() else {
        return;
    };
    let mut graph = Graph::parse(CUT).unwrap();
    let layer = graph.find("fc").unwrap();
    let values = |codes: &[f32]| codes.iter().map(|code| code / 32.0).collect();
    let params = &mut graph.node_mut(layer).params;
    let weights = Tensor::new(vec![5, 8], values(CUT_WEIGHTS.as_flattened())).unwrap();
    params.insert("weight".into(), weights);
    let biases = Tensor::new(vec![5], values(&CUT_BIASES)).unwrap();
    params.insert("bias".into(), biases);
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let program = Program::of(&verified, &state, 1).unwrap();
    let style = Style::Pipelined { levels: 2.2 };
    let emission = Emission::of(&program, style, Effort::Normal).unwrap();
    let rtl = yosys.read(&verilog(&emission.net, &emission.ports));
    let elements = elements(&emission.net);
    checked_forms(&rtl, &emission.ports, &program, &elements).unwrap();
}
