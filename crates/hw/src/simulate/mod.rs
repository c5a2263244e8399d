//! Simulation of the printed text: rows of codes go in, and what comes out is compared with the integer executor's answers.
//!
//! Icarus runs a testbench in SystemVerilog ([`testbench`]), Verilator a program in C++ ([`harness`]). Both print the same lines,
//! which are read here. [`TEST_NET`] is the same test for users of cocotb.

mod harness;
mod icarus;
mod scratch;
mod testbench;
mod verilator;
mod wave;

pub use harness::harness;
pub use icarus::{FIRST_ROWS_FILE, Icarus, icarus, run_icarus, serial_line};
pub use scratch::Scratch;
pub use testbench::{serial_testbench, testbench};
pub use verilator::{VerilatedModel, verilator};
pub use wave::{Wave, WaveLine};

use crate::folder::Emitted;
use crate::ports::Element;
use crate::tools::ToolError;
use serde::Serialize;

/// The testbench in Python, `tb/test_net.py`. It reads the ports and the vectors from the folder that it lies in.
pub const TEST_NET: &str = include_str!("test_net.py");

/// The result of a simulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Rows that were compared.
    pub rows: u64,
    /// Rows with an element that differs.
    pub differing: u64,
    /// The first difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Difference>,
}

/// An element that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The row, from 0.
    pub row: u64,
    /// The element of the output.
    pub element: String,
    /// The code that the integer executor gives.
    pub expected: i64,
    /// The code of the simulation; `x` where bits have no value.
    pub got: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Self {
            row,
            element,
            expected,
            got,
        } = self;
        write!(f, "row {row}: {element} is {got}, not {expected}")
    }
}

/// Writes the testbenches of a folder: `tb/net_tb.sv`, `tb/harness.cpp` and `tb/test_net.py`.
pub fn write_testbenches(emitted: &Emitted) -> Result<(), ToolError> {
    emitted.write("tb/net_tb.sv", &testbench(&emitted.ports))?;
    emitted.write("tb/harness.cpp", &harness(&emitted.ports))?;
    emitted.write("tb/test_net.py", TEST_NET)?;
    Ok(())
}

/// Reads the lines that testbenches print: `DIFFERS row R element E expected A got B` for the first difference, and at the end
/// `DONE rows N differing M`.
fn outcome(tool: &'static str, printed: &str) -> Result<Outcome, ToolError> {
    let unreadable = |message: String| ToolError::Answer { tool, message };
    let words = |start: &str| {
        let mut lines = printed.lines().map(str::trim);
        let line = lines.find(|line| line.starts_with(start))?;
        Some(line.split_whitespace().collect::<Vec<_>>())
    };
    let number = |word: &str| {
        word.parse()
            .map_err(|_| unreadable(format!("{word} is no number")))
    };
    let first = match words("DIFFERS ").as_deref() {
        Some(
            [
                "DIFFERS",
                "row",
                row,
                "element",
                element,
                "expected",
                expected,
                "got",
                got,
            ],
        ) => Some(Difference {
            row: number(row)?,
            element: (*element).to_owned(),
            expected: expected
                .parse()
                .map_err(|_| unreadable(format!("{expected} is no code")))?,
            got: (*got).to_owned(),
        }),
        Some(words) => return Err(unreadable(words.join(" "))),
        None => None,
    };
    match words("DONE ").as_deref() {
        Some(["DONE", "rows", rows, "differing", differing]) => Ok(Outcome {
            rows: number(rows)?,
            differing: number(differing)?,
            first,
        }),
        _ => Err(unreadable(
            "the simulation did not come to its end".to_owned(),
        )),
    }
}

/// The name of an element without blanks, as testbenches print it.
fn plain_name(element: &Element) -> String {
    element.name.replace(char::is_whitespace, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_testbenches_are_read() {
        let good = outcome("vvp", "VCD info\nDONE rows 12 differing 0\n").unwrap();
        assert_eq!(
            good,
            Outcome {
                rows: 12,
                differing: 0,
                first: None
            }
        );
        let text = "DIFFERS row 3 element y[1] expected -5 got x\nDONE rows 12 differing 2\n";
        let bad = outcome("vvp", text).unwrap();
        assert_eq!((bad.rows, bad.differing), (12, 2));
        assert_eq!(bad.first.unwrap().to_string(), "row 3: y[1] is x, not -5");
        for text in [
            "",
            "DONE rows 12",
            "DONE rows a differing 0",
            "DIFFERS row 1\nDONE rows 2 differing 1",
        ] {
            assert!(outcome("vvp", text).is_err(), "{text}");
        }
    }
}
