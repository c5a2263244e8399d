//! The printed testbenches in the simulators themselves: right networks pass, wrong ones are found with the row and the element.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod emitted;

use emitted::{combinational, edit, pipelined, there};
use hw::simulate::{Icarus, Outcome, TEST_NET, icarus, verilator, write_testbenches};
use hw::tools::{COCOTB, ICARUS, Toolbox, VERILATOR};
use std::fs;

const ALL: Outcome = Outcome {
    rows: 200,
    differing: 0,
    first: None,
};

#[test]
fn icarus_finds_no_difference_in_right_networks() {
    let tools = Toolbox::new(None);
    for fixture in [combinational("sim_icarus_c"), pipelined("sim_icarus_p")] {
        let Some(outcome) = there(icarus(&fixture, &tools, &Icarus::default())) else {
            return;
        };
        assert_eq!(outcome, ALL);
    }
}

#[test]
fn icarus_names_the_first_difference() {
    let tools = Toolbox::new(None);
    let fixture = pipelined("sim_wrong");
    edit(
        &fixture,
        "fc1_n3_a0 <= {x_3[5], x_3} -",
        "fc1_n3_a0 <= {x_3[5], x_3} +",
    );
    let (x, _) = fixture.vectors(None).unwrap();
    let row = x.rows().position(|row| row[2] != 0).unwrap();
    let Some(outcome) = there(icarus(&fixture, &tools, &Icarus::default())) else {
        return;
    };
    let codes = x.rows().nth(row).unwrap();
    let first = outcome.first.unwrap();
    assert_eq!((first.row, first.element.as_str()), (row as u64, "y[3]"));
    assert_eq!(first.expected, codes[3] - codes[2]);
    assert_eq!(first.got, (codes[3] + codes[2]).to_string());
    let wrong = x.rows().filter(|row| row[2] != 0).count();
    assert_eq!(outcome.differing, wrong as u64);
}

/// A register too many: the first rows are compared with bits that have no value.
#[test]
fn icarus_compares_at_the_latency_of_the_ports() {
    let tools = Toolbox::new(None);
    let mut fixture = pipelined("sim_late");
    fixture.0.ports.latency = 1;
    let Some(outcome) = there(icarus(&fixture, &tools, &Icarus::default())) else {
        return;
    };
    let first = outcome.first.unwrap();
    assert_eq!((first.row, first.got.as_str()), (0, "x"));
}

#[test]
fn rows_and_waveform_are_as_asked() {
    let tools = Toolbox::new(None);
    let fixture = combinational("sim_vcd");
    let vcd = fixture.path.join("wave.vcd");
    let choices = Icarus {
        rows: Some(7),
        vcd: Some(vcd.clone()),
        ..Icarus::default()
    };
    let Some(outcome) = there(icarus(&fixture, &tools, &choices)) else {
        return;
    };
    assert_eq!(outcome.rows, 7);
    let wave = fs::read_to_string(vcd).unwrap();
    assert!(wave.contains("fc1_n0_a1"), "no signal of the network");
}

/// One build, of the model whose ports are wider than one number.
#[test]
fn verilator_agrees_and_takes_the_text_without_a_warning() {
    let tools = Toolbox::new(None);
    let Some(found) = there(tools.find(&VERILATOR)) else {
        return;
    };
    for fixture in [combinational("sim_lint_c"), pipelined("sim_lint_p")] {
        let mut lint = found.command();
        lint.args(["--lint-only", "-Wall"]).arg(fixture.net());
        let answer = tools.run_ok(VERILATOR.name, &mut lint).unwrap();
        assert_eq!(answer.stderr, "");
    }
    let fixture = pipelined("sim_verilator");
    let Some(outcome) = there(verilator(&fixture, &tools, None)) else {
        return;
    };
    assert_eq!(outcome, ALL);
}

#[test]
fn cocotb_runs_the_python_testbench() {
    let tools = Toolbox::new(None);
    let (Some(cocotb), Some(_)) = (there(tools.find(&COCOTB)), there(tools.find(&ICARUS))) else {
        return;
    };
    let fixture = pipelined("sim_cocotb");
    write_testbenches(&fixture).unwrap();
    assert_eq!(
        fs::read_to_string(fixture.path.join("tb/test_net.py")).unwrap(),
        TEST_NET
    );
    let run = || {
        let mut command = cocotb.command();
        command
            .args(["test_net.py", "20"])
            .current_dir(fixture.path.join("tb"));
        tools.run(COCOTB.name, &mut command).unwrap()
    };
    let answer = run();
    assert!(answer.success, "{}{}", answer.stdout, answer.stderr);
    edit(&fixture, "fc2_n0_s0 + fc2_n0_s1", "fc2_n0_s0 - fc2_n0_s1");
    assert!(!run().success);
}
