//! The SystemVerilog of three small networks, so that a change of the printer is seen in review. `UPDATE_GOLDEN=1` writes the files.

use engine::State;
use engine::integer::Program;
use hw::emit::{Emission, Style};
use hw::print::verilog;
use hw::solve::Effort;
use ir::{Graph, verify};
use std::path::Path;

const NETWORKS: [(&str, Style, &str); 3] = [
    (
        "layer",
        Style::Combinational,
        "graph \"layer\" {
           x: f32[N, 3] = placeholder
           fc = linear(x: integer(4, 2)) { target = \"fc\", in_features = 3, out_features = 2, weight: integer(4, 3), bias: integer(4, 2) }
           relu = relu(fc: integer(4, 1, signed = false))
           return relu
         }",
    ),
    (
        "window",
        Style::Pipelined { levels: 2.0 },
        "graph \"window\" {
           x: f32[N, 1, 3, 3] = placeholder
           conv = conv2d(x: integer(3, 1)) {
             target = \"conv\", in_channels = 1, out_channels = 1, kernel_size = 2, weight: integer(3, 2), bias: integer(3, 1),
           }
           pool = max_pool2d(conv: integer(4, 1)) { kernel_size = 2 }
           return pool
         }",
    ),
    (
        "choice",
        Style::Pipelined { levels: 3.0 },
        "graph \"choice\" {
           x: f32[N, 2] = placeholder
           fc = linear(x: integer(3, 1)) { target = \"fc\", in_features = 2, out_features = 3, weight: integer(3, 1), bias: integer(3, 1) }
           act = tanh(fc: integer(3, 1)) { data_out_0: integer(4, 3) }
           top = argmax(act)
           return top
         }",
    ),
];

#[test]
fn the_printed_text_is_the_one_that_was_reviewed() {
    for (name, style, text) in NETWORKS {
        let mut graph = Graph::parse(text).unwrap();
        graph.initialize(5);
        let verified = verify(&graph).unwrap();
        let state = State::new(&verified).unwrap();
        let program = Program::of(&verified, &state, 1).unwrap();
        let emission = Emission::of(&program, style, Effort::Normal).unwrap();
        let printed = verilog(&emission.net, &emission.ports);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.sv"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &printed).unwrap();
        }
        let reviewed = std::fs::read_to_string(&path).unwrap();
        assert_eq!(printed, reviewed, "{name}");
    }
}
