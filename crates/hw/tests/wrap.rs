//! The wrappers in the simulators: a stream with random stalls, a serial line bit by bit, and no warning of any tool.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod emitted;

use emitted::{Fixture, combinational, edit, pipelined, there};
use hw::ports::Element;
use hw::simulate::{Scratch, run_icarus, serial_line, serial_testbench};
use hw::tools::{ICARUS, PYOSYS, ToolError, Toolbox, VERILATOR, YOSYS};
use hw::wrap::{Serial, stream, write_wrappers};
use std::path::{Path, PathBuf};

const STALLS: &str = include_str!("stalls_tb.sv");

/// Beats of the test: the rows of the fixture, 50 times.
const BEATS: usize = 10_000;

/// A row as one number in hexadecimal digits.
fn hexadecimal(codes: &[i64], elements: &[Element]) -> String {
    let mut bits: Vec<bool> = Vec::new();
    for (code, element) in codes.iter().zip(elements) {
        bits.extend((0..element.width).map(|bit| code >> bit & 1 == 1));
    }
    let digit = |bits: &[bool]| {
        let value = bits
            .iter()
            .rev()
            .fold(0, |value, bit| value << 1 | u32::from(*bit));
        char::from_digit(value, 16).unwrap()
    };
    bits.chunks(4).rev().map(digit).collect()
}

fn rows_in_hexadecimal<'a>(rows: impl Iterator<Item = &'a [i64]>, elements: &[Element]) -> String {
    rows.map(|row| hexadecimal(row, elements) + "\n").collect()
}

/// Runs the test of stalls and returns what it prints.
fn stalls(fixture: &Fixture, tools: &Toolbox, wrapper: &str) -> Result<String, ToolError> {
    let scratch = Scratch::new()?;
    let ports = &fixture.ports;
    let (x, y) = fixture.vectors(None)?;
    scratch.write("x.hex", rows_in_hexadecimal(x.rows(), &ports.inputs))?;
    scratch.write("y.hex", rows_in_hexadecimal(y.rows(), &ports.outputs))?;
    let bytes = |bits: u32| bits.next_multiple_of(8).to_string();
    let bench = STALLS
        .replace("ROWS", &x.len().to_string())
        .replace("BEATS", &BEATS.to_string())
        .replace("LATENCY", &ports.latency.to_string())
        .replace("X_BITS", &bytes(ports.input_bits()))
        .replace("Y_BITS", &bytes(ports.output_bits()));
    let sources = [
        fixture.net(),
        scratch.write("top_stream.sv", wrapper)?,
        scratch.write("stalls_tb.sv", bench)?,
    ];
    run_icarus(
        tools,
        &scratch,
        "stalls_tb",
        &sources.each_ref().map(PathBuf::as_path),
        &[],
    )
}

#[test]
fn streams_lose_nothing_and_have_no_bubble() {
    let tools = Toolbox::new(None);
    for fixture in [combinational("wrap_stream_c"), pipelined("wrap_stream_p")] {
        let Some(printed) = there(stalls(&fixture, &tools, &stream(&fixture.ports))) else {
            return;
        };
        assert_eq!(printed, format!("{BEATS} beats right, no bubble\n"));
    }
}

/// One place fewer than needed has bubbles; a ready that ignores the reader loses rows.
#[test]
fn the_test_of_stalls_can_fail() {
    let tools = Toolbox::new(None);
    let fixture = pipelined("wrap_stream_wrong");
    let good = stream(&fixture.ports);
    let short = good.replace("taken != 3'd4", "taken != 3'd3");
    let deaf = good.replace("taken != 3'd4", "1'b1");
    for (wrapper, fault) in [(short, "bubble"), (deaf, "wrong")] {
        assert_ne!(wrapper, good);
        let Some(printed) = there(stalls(&fixture, &tools, &wrapper)) else {
            return;
        };
        assert!(printed.contains(fault), "{printed}");
    }
}

#[test]
fn twenty_rows_go_over_the_serial_line() {
    let tools = Toolbox::new(None);
    for fixture in [combinational("wrap_serial_c"), pipelined("wrap_serial_p")] {
        for divisor in [4, 9] {
            let serial = Serial::new(&fixture.ports, divisor).unwrap();
            let Some(outcome) = there(serial_line(&fixture, &tools, &serial, 20)) else {
                return;
            };
            assert_eq!(
                (outcome.rows, outcome.differing, outcome.first),
                (20, 0, None)
            );
        }
    }
    let fixture = combinational("wrap_serial_wrong");
    edit(&fixture, "+ {1'b0, fc1_n0_a0}", "- {1'b0, fc1_n0_a0}");
    let serial = Serial::new(&fixture.ports, 4).unwrap();
    let outcome = serial_line(&fixture, &tools, &serial, 20).unwrap();
    assert_eq!(outcome.first.unwrap().element, "y[0]");
}

/// Verilator with -Wall, both yosys and Icarus with -Wall print no warning.
#[test]
fn no_tool_warns() {
    let tools = Toolbox::new(None);
    for fixture in [combinational("wrap_lint_c"), pipelined("wrap_lint_p")] {
        write_wrappers(&fixture).unwrap();
        for top in ["top_stream", "top_serial"] {
            let files = [fixture.net(), fixture.path.join(format!("rtl/{top}.sv"))];
            assert_no_tool_warns(&tools, top, &files);
        }
    }
    // What the printer prints: sums, roundings, windows, a maximum, tables, an index.
    for printed in ["layer", "window", "choice"] {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        let text = std::fs::read_to_string(golden.join(format!("{printed}.sv"))).unwrap();
        let scratch = Scratch::new().unwrap();
        let net = scratch.write("net.sv", text).unwrap();
        assert_no_tool_warns(&tools, "net", &[net]);
    }
}

fn assert_no_tool_warns(tools: &Toolbox, top: &str, files: &[PathBuf]) {
    for warnings in [
        verilator(tools, top, files),
        icarus(tools, files),
        pyosys(tools, top, files),
        yosys(tools, top, files),
    ] {
        assert_eq!(there(warnings).unwrap_or_default(), "", "{files:?}");
    }
}

fn verilator(tools: &Toolbox, top: &str, files: &[PathBuf]) -> Result<String, ToolError> {
    let found = tools.find(&VERILATOR)?;
    let mut command = found.command();
    command
        .args(["--lint-only", "-Wall", "--top-module", top])
        .args(files);
    Ok(tools.run(VERILATOR.name, &mut command)?.stderr)
}

fn icarus(tools: &Toolbox, files: &[PathBuf]) -> Result<String, ToolError> {
    let found = tools.find(&ICARUS)?;
    let mut command = found.command();
    command.args(["-g2012", "-Wall", "-t", "null"]).args(files);
    Ok(tools.run(ICARUS.name, &mut command)?.stderr)
}

/// The commands by which yosys reads a design.
fn script(top: &str, files: &[PathBuf]) -> String {
    let names: Vec<String> = files
        .iter()
        .map(|file: &PathBuf| file.display().to_string())
        .collect();
    format!(
        "read_verilog -sv {}; hierarchy -check -top {top}; proc; opt; check -assert",
        names.join(" ")
    )
}

fn warnings(printed: &str) -> String {
    let lines = printed
        .lines()
        .filter(|line| line.contains("Warning") || line.contains("ERROR"));
    lines.collect()
}

fn yosys(tools: &Toolbox, top: &str, files: &[PathBuf]) -> Result<String, ToolError> {
    let found = tools.find(&YOSYS)?;
    let answer = tools.run(
        YOSYS.name,
        found.command().args(["-p", &script(top, files)]),
    )?;
    Ok(warnings(&(answer.stdout + &answer.stderr)))
}

fn pyosys(tools: &Toolbox, top: &str, files: &[PathBuf]) -> Result<String, ToolError> {
    let found = tools.find(&PYOSYS)?;
    let program = "import sys; from pyosys import libyosys as ys; d = ys.Design(); [ys.run_pass(c.strip(), d) for c in sys.argv[1].split(';')]";
    let answer = tools.run(
        PYOSYS.name,
        found.command().args(["-c", program, &script(top, files)]),
    )?;
    assert!(answer.success, "{}{}", answer.stdout, answer.stderr);
    Ok(warnings(&(answer.stdout + &answer.stderr)))
}

#[test]
fn a_partial_row_is_forgotten() {
    let tools = Toolbox::new(None);
    let fixture = pipelined("wrap_partial");
    let serial = Serial::new(&fixture.ports, 4).unwrap();
    let text = serial_testbench(&fixture.ports, &serial);
    // One zero byte and a long silence before the first row; the watchdog looks away.
    let noise = "    rx = 1'b0; repeat (36) @(posedge clk); rx = 1'b1; repeat (700) @(posedge clk); silence = 0;\n    for (step = 0;";
    let text = text
        .replace("    for (step = 0;", noise)
        .replace("silence > 82", "silence > 800");
    let run = || -> Result<String, ToolError> {
        let scratch = Scratch::new()?;
        let copy = |name: &str| {
            std::fs::copy(fixture.path.join("tb").join(name), scratch.file(name)).unwrap()
        };
        copy("x.bin");
        copy("y.bin");
        let sources = [
            fixture.net(),
            scratch.write("top_serial.sv", serial.print())?,
            scratch.write("net_tb.sv", &text)?,
        ];
        run_icarus(
            &tools,
            &scratch,
            "net_tb",
            &sources.each_ref().map(PathBuf::as_path),
            &["+rows=3".to_owned()],
        )
    };
    assert!(text.contains("silence > 800"), "{text}");
    if let Some(printed) = there(run()) {
        assert_eq!(printed, "DONE rows 3 differing 0\n");
    }
}
