//! Small emitted folders, written by hand: what `ch emit` would leave of a few adders.
#![allow(dead_code, reason = "each test binary uses a part")]

use hw::folder::Emitted;
use hw::ports::{Element, Ports, packed};
use hw::vectors::Vectors;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// A folder that is removed when the test ends.
pub struct Fixture(pub Emitted);

impl Deref for Fixture {
    type Target = Emitted;

    fn deref(&self) -> &Emitted {
        &self.0
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0.path);
    }
}

/// `x[0]` signed, `x[1]` always 0, `x[2]` unsigned; a sum, a rectified value and a constant 0.
const COMBINATIONAL: &str = "\
module net (
  input logic clk,
  input logic [8:0] x,
  output logic [9:0] y
);
  wire unused_clk = &{1'b0, clk};
  wire signed [3:0] x_0 = x[3:0];
  wire [4:0] x_2 = x[8:4];
  wire [6:0] fc1_n0_a0 = {2'b00, x_2} + {1'b0, x_2, 1'b0};
  wire signed [7:0] fc1_n0_a1 = {{4{x_0[3]}}, x_0} + {1'b0, fc1_n0_a0};
  wire [2:0] relu_n0 = x_0[3] ? 3'd0 : x_0[2:0];
  assign y = {relu_n0[1:0], fc1_n0_a1};
  wire unused_bit = &{1'b0, relu_n0[2]};
endmodule
";

/// Three inputs, one of them without bits.
pub fn combinational(name: &str) -> Fixture {
    let element = |name: &str, min, max| (name.to_owned(), 0, min, max);
    let ports = Ports {
        inputs: packed([
            element("x[0]", -8, 7),
            element("x[1]", 0, 0),
            element("x[2]", 0, 31),
        ]),
        outputs: packed([
            element("y[0]", -8, 100),
            element("y[1]", 0, 0),
            element("y[2]", 0, 3),
        ]),
        latency: 0,
    };
    let row = |x: &[i64]| vec![x[0] + 3 * x[2], 0, x[0].max(0) & 3];
    write(&own_folder(name), COMBINATIONAL, &ports, row)
}

/// Inputs of the pipelined network.
const WIDTH: u32 = 16;

/// Sixteen signed inputs of 6 bits, in all more than a word of 64; their sum after two registers, and each but the first minus
/// its neighbour.
pub fn pipelined(name: &str) -> Fixture {
    pipelined_at(&own_folder(name))
}

/// The same in a folder of the caller's.
pub fn pipelined_at(path: &Path) -> Fixture {
    let inputs = (0..WIDTH).map(|k| (format!("x[{k}]"), 2, -32, 31));
    let sum = (16 * -32, 16 * 31);
    let outputs = (0..WIDTH).map(|k| {
        let (min, max) = if k == 0 { sum } else { (-63, 63) };
        (format!("y[{k}]"), 2, min, max)
    });
    let ports = Ports {
        inputs: packed(inputs),
        outputs: packed(outputs),
        latency: 2,
    };
    let row = |x: &[i64]| {
        let differences = x.windows(2).map(|pair| pair[1] - pair[0]);
        [x.iter().sum()].into_iter().chain(differences).collect()
    };
    write(path, &pipelined_text(), &ports, row)
}

fn pipelined_text() -> String {
    let input = |k: usize| format!("  wire [5:0] x_{k} = x[{}:{}];\n", 6 * k + 5, 6 * k);
    let difference = |k: usize| {
        let (a, b) = (
            format!("{{x_{k}[5], x_{k}}}"),
            format!("{{x_{0}[5], x_{0}}}", k - 1),
        );
        format!(
            "  reg [6:0] fc1_n{k}_a0, fc1_n{k}_d0;\n  always @(posedge clk) begin\n    fc1_n{k}_a0 <= {a} - {b};\n    fc1_n{k}_d0 <= fc1_n{k}_a0;\n  end\n"
        )
    };
    let half_sum = |half: usize| {
        let terms = (8 * half..8 * half + 8).map(|k| format!("{{{{4{{x_{k}[5]}}}}, x_{k}}}"));
        let sum = terms.collect::<Vec<_>>().join(" + ");
        format!("  reg [9:0] fc2_n0_s{half};\n  always @(posedge clk) fc2_n0_s{half} <= {sum};\n")
    };
    let outputs = (1..16).rev().map(|k| format!("fc1_n{k}_d0, "));
    [
        "module net (\n  input logic clk,\n  input logic [95:0] x,\n  output logic [114:0] y\n);\n"
            .to_owned(),
        (0..16).map(input).collect(),
        (1..16).map(difference).collect(),
        (0..2).map(half_sum).collect(),
        "  reg [9:0] fc2_n0_a0;\n  always @(posedge clk) fc2_n0_a0 <= fc2_n0_s0 + fc2_n0_s1;\n"
            .to_owned(),
        format!(
            "  assign y = {{{}fc2_n0_a0}};\nendmodule\n",
            outputs.collect::<String>()
        ),
    ]
    .concat()
}

/// The folder of a fixture's own.
fn own_folder(name: &str) -> PathBuf {
    let name = format!("{name}_{}", std::process::id());
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Writes the folder with 200 rows that a counter draws.
fn write(path: &Path, net: &str, ports: &Ports, row: impl Fn(&[i64]) -> Vec<i64>) -> Fixture {
    let _ = fs::remove_dir_all(path);
    for part in ["rtl", "tb"] {
        fs::create_dir_all(path.join(part)).unwrap();
    }
    fs::write(path.join("rtl/net.sv"), net).unwrap();
    fs::write(
        path.join("ports.json"),
        serde_json::to_string(ports).unwrap(),
    )
    .unwrap();
    let (mut x, mut y, mut state) = (Vec::new(), Vec::new(), 1_u64);
    for _ in 0..200 {
        let codes: Vec<i64> = ports
            .inputs
            .iter()
            .map(|element| draw(element, &mut state))
            .collect();
        y.extend(row(&codes));
        x.extend(codes);
    }
    Vectors::new(ports.inputs.len(), x)
        .unwrap()
        .write(&path.join("tb/x.bin"))
        .unwrap();
    Vectors::new(ports.outputs.len(), y)
        .unwrap()
        .write(&path.join("tb/y.bin"))
        .unwrap();
    Fixture(Emitted::open(path).unwrap())
}

/// A code of the element, by a linear congruence.
pub fn draw(element: &Element, state: &mut u64) -> i64 {
    *state = state
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    let count = (element.max - element.min + 1) as u64;
    element.min + ((*state >> 33) % count) as i64
}

/// Changes the folder's text of the network.
pub fn edit(fixture: &Fixture, from: &str, to: &str) {
    let text = fs::read_to_string(fixture.net()).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(fixture.net(), text.replace(from, to)).unwrap();
}

/// The result, or nothing where the tool is missing.
pub fn there<T>(result: Result<T, hw::tools::ToolError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error @ hw::tools::ToolError::Missing(_)) => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// True when every tool is there; a missing one is named.
pub fn has_all_tools() -> bool {
    let tools = hw::tools::Toolbox::new(None);
    let mut all = hw::tools::TOOLS.iter();
    all.all(|tool| there(tools.find(tool)).is_some())
}
