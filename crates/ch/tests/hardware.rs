//! Commands over a folder of emitted hardware, as a user types them: what they print, their exit codes, wrong input.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../hw/tests/emitted/mod.rs"]
mod emitted;
mod folder;
mod support;

use emitted::{edit, pipelined_at, there};
use folder::Folder;
use hw::tools::{ICARUS, Tool, Toolbox, YOSYS};
use serde_json::Value as Json;
use std::fs;
use support::{Printed, ch, ch_with, words};

fn has(tool: &'static Tool) -> bool {
    there(Toolbox::new(None).find(tool)).is_some()
}

fn run(line: &str, folder: &Folder) -> Printed {
    ch(&words(line), folder)
}

#[test]
fn a_simulation_says_how_many_rows_are_right() {
    let folder = Folder::new("hardware_right");
    let _fixture = pipelined_at(&folder.join("hw"));
    if !has(&ICARUS) {
        return;
    }
    let printed = run("simulate hw", &folder);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert!(
        printed.stdout.starts_with("iverilog ")
            && printed.stdout.ends_with(": all 200 rows are right\n"),
        "{}",
        printed.stdout
    );
    let printed = run("simulate hw --rows 7 --vcd wave.vcd", &folder);
    assert!(
        printed
            .stdout
            .ends_with(": 7 of 200 rows were run, all right; --rows runs more\n"),
        "{}",
        printed.stdout
    );
    assert!(folder.join("wave.vcd").exists());
}

#[test]
fn a_row_that_differs_fails_with_exit_code_1() {
    let folder = Folder::new("hardware_wrong");
    let fixture = pipelined_at(&folder.join("hw"));
    if !has(&ICARUS) {
        return;
    }
    edit(&fixture, "fc2_n0_s0 + fc2_n0_s1", "fc2_n0_s0 - fc2_n0_s1");
    let printed = run("simulate hw --json", &folder);
    assert_eq!(printed.code, Some(1), "{}", printed.stderr);
    let json: Json = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!(json["first"]["element"], "y[0]");
    assert!(json["differing"].as_u64().unwrap() > 100, "{json}");
    let printed = run("simulate hw", &folder);
    assert_eq!(printed.code, Some(1));
    assert!(
        printed
            .stdout
            .contains(" of 200 rows differ; row 0: y[0] is "),
        "{}",
        printed.stdout
    );
}

/// A line with its error.
const MISTAKES: &[(&str, &str)] = &[
    (
        "simulate nowhere",
        "nowhere: is no folder; `ch emit --out` makes one",
    ),
    (
        "simulate .",
        "./ports.json: is not there; `ch emit` writes it",
    ),
    (
        "simulate hw --with verilator --gates",
        "gates are simulated by Icarus alone; leave --with verilator out",
    ),
    (
        "simulate hw --with verilator --vcd w",
        "the waveform is written by Icarus alone; leave --with verilator out",
    ),
    (
        "synth hw --target ecp55",
        "invalid value 'ecp55' for '--target <T>': unknown target 'ecp55'; did you mean 'ecp5'?",
    ),
    (
        "synth hw --target xcup --place",
        "there is no open place and route for xcup; ecp5 and ice40 have one",
    ),
    (
        "bitstream hw --board ulx3s",
        "invalid value 'ulx3s' for '--board <NAME>': unknown board 'ulx3s'; `ch list boards` names all",
    ),
];

#[test]
fn wrong_input_is_one_sentence() {
    let folder = Folder::new("hardware_mistakes");
    let fixture = pipelined_at(&folder.join("hw"));
    for (line, error) in MISTAKES {
        let printed = run(line, &folder);
        assert_eq!(
            (printed.code, printed.stdout.as_str()),
            (Some(2), ""),
            "{line}"
        );
        assert_eq!(printed.stderr, format!("error: {error}\n"), "{line}");
    }
    let x = folder.join("hw/tb/x.bin");
    let bytes = fs::read(&x).unwrap();
    fs::write(&x, &bytes[..100]).unwrap();
    let printed = run("simulate hw", &folder);
    assert_eq!(printed.code, Some(2));
    assert!(
        printed.stderr.ends_with(
            "200 rows of 16 codes of 4 bytes are 12800 bytes, but 84 follow the header\n"
        ),
        "{}",
        printed.stderr
    );
    fs::write(&x, &bytes).unwrap();
    edit(&fixture, "module net (", "module net (,");
    if has(&ICARUS) {
        let printed = run("simulate hw", &folder);
        assert_eq!(printed.code, Some(2));
        assert!(
            printed.stderr.starts_with("error: iverilog failed: ")
                && printed.stderr.contains("net.sv:"),
            "{}",
            printed.stderr
        );
    }
}

#[test]
fn a_tool_that_is_missing_or_hangs_is_named() {
    let folder = Folder::new("hardware_tools");
    let _fixture = pipelined_at(&folder.join("hw"));
    let line = words("simulate hw");
    let printed = ch_with(&line, &folder, &[("MASE_IVERILOG", "/no/such/iverilog")]);
    assert_eq!(printed.code, Some(2));
    assert_eq!(
        printed.stderr,
        "error: $MASE_IVERILOG names /no/such/iverilog, which is not iverilog; correct or unset it\n"
    );
    if cfg!(unix) && has(&ICARUS) {
        let slow = folder.join("slow");
        fs::write(
            &slow,
            "#!/bin/sh\ncase $1 in -V) echo version 9.9;; *) sleep 60;; esac\n",
        )
        .unwrap();
        std::process::Command::new("chmod")
            .arg("+x")
            .arg(&slow)
            .status()
            .unwrap();
        let variables = [
            ("MASE_IVERILOG", slow.to_str().unwrap()),
            ("MASE_TOOL_SECONDS", "1"),
        ];
        let printed = ch_with(&line, &folder, &variables);
        assert_eq!(printed.code, Some(2));
        assert_eq!(
            printed.stderr,
            "note: iverilog 9.9 has not been tried with this program, 11.0 has; look twice at its results\n\
             error: iverilog did not end within 1 s and was stopped; $MASE_TOOL_SECONDS allows it more seconds\n"
        );
    }
}

/// Ctrl-C reaches the program alone, and the tool ends with it.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_the_tool() {
    let folder = Folder::new("hardware_interrupt");
    let _fixture = pipelined_at(&folder.join("hw"));
    let slow = folder.join("slow");
    fs::write(&slow, "#!/bin/sh\ncase $1 in -V) echo version 11.0;; *) echo $$ > started; exec sleep 60;; esac\n").unwrap();
    std::process::Command::new("chmod")
        .arg("+x")
        .arg(&slow)
        .status()
        .unwrap();
    if !has(&ICARUS) {
        return;
    }
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_ch"))
        .args(["simulate", "hw"])
        .env("MASE_IVERILOG", &slow)
        .current_dir(&*folder)
        .spawn()
        .unwrap();
    let started = folder.join("started");
    let number = loop {
        let text = fs::read_to_string(&started).unwrap_or_default();
        match text.trim().parse::<u32>() {
            Ok(number) => break number,
            Err(_) => std::thread::yield_now(),
        }
    };
    let kill = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let name = fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
    assert_ne!(name.trim(), "sleep");
}

/// A folder of `ch emit`, with a network of its own formats.
fn emit(folder: &Folder) {
    let line = "emit jsc-tiny jsc-sim --quantize-rest 6 --rows 40 --target ice40 --out hw --quiet";
    let printed = run(line, folder);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
}

#[test]
fn a_netlist_is_shown_as_text() {
    let folder = Folder::new("hardware_show");
    emit(&folder);
    let printed = run("show hw/net.json", &folder);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    let lines: Vec<&str> = printed.stdout.lines().collect();
    let adders = lines[0].split(", ").nth(1).unwrap();
    let json = fs::read_to_string(folder.join("hw/report.json")).unwrap();
    let facts: Json = serde_json::from_str(&json).unwrap();
    let expected = format!("{} adders of {} bits", facts["adders"], facts["adder_bits"]);
    assert_eq!(adders, expected);
    assert!(
        lines[2].starts_with("seq_blocks_0_n0_i0 ") && lines[2].contains("= x[0]"),
        "{}",
        lines[2]
    );
    let sum = lines.iter().find(|line| line.contains("_a0 ")).unwrap();
    assert!(sum.contains(" + ") || sum.contains(" - "), "{sum}");
    assert_eq!(run("show hw", &folder).stdout, printed.stdout);
    fs::write(folder.join("hw/net.json"), "{}").unwrap();
    let printed = run("show hw", &folder);
    assert_eq!(printed.code, Some(2));
    assert!(
        printed
            .stderr
            .starts_with("error: hw/net.json is no netlist of `ch emit`: "),
        "{}",
        printed.stderr
    );
}

/// Solving, rows and the seed of `--effort best` are the same on any number of threads, and so is every file.
#[test]
fn the_same_files_on_any_number_of_threads() {
    let folder = Folder::new("hardware_threads");
    let text = "graph \"g\" {
      x: f32[N, 16] = placeholder
      fc = linear(x: integer(6, 3)) { target = \"fc\", in_features = 16, out_features = 12, weight: integer(5, 4), bias: integer(6, 4) }
      r = relu(fc)
      out = linear(r: integer(5, 3, signed = false)) { target = \"out\", in_features = 12, out_features = 5, weight: integer(5, 4), bias: integer(6, 4) }
      return out
    }";
    fs::write(folder.join("g.mg"), text).unwrap();
    let mut files: Vec<Vec<(String, Vec<u8>)>> = Vec::new();
    for threads in [1, 2, 8] {
        let line = format!(
            "emit g.mg jsc-sim --rows 600 --effort best --seed 3 --cpu {threads} --out hw --quiet"
        );
        let printed = run(&line, &folder);
        assert_eq!(printed.code, Some(0), "{}", printed.stderr);
        let read = |name: &&str| {
            let bytes = fs::read(folder.join("hw").join(name)).unwrap();
            ((*name).to_owned(), bytes)
        };
        files.push(EMITTED.iter().map(read).collect());
    }
    let differing = |own: &Vec<(String, Vec<u8>)>| {
        let pairs = own.iter().zip(&files[0]);
        let differing: Vec<&str> = pairs
            .filter(|(own, first)| own != first)
            .map(|(own, _)| own.0.as_str())
            .collect();
        differing.join(", ")
    };
    assert_eq!(files.iter().map(differing).collect::<String>(), "");
}

/// Files of a folder that say nothing of the machine.
const EMITTED: &[&str] = &[
    "rtl/net.sv",
    "rtl/top_stream.sv",
    "rtl/top_serial.sv",
    "tb/net_tb.sv",
    "tb/harness.cpp",
    "tb/test_net.py",
    "tb/x.bin",
    "tb/y.bin",
    "net.json",
    "ports.json",
    "network.mz",
    "report.json",
    "report.md",
    "page.html",
];

fn report(folder: &Folder) -> (Json, String) {
    let read = |name: &str| fs::read_to_string(folder.join("hw").join(name)).unwrap();
    let page = read("page.html");
    let data: Json = serde_json::from_str(report::page::data_text(&page).unwrap()).unwrap();
    let facts: Json = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!(data["hardware"]["report"], facts);
    (facts, read("report.md"))
}

#[test]
fn every_command_adds_its_line_to_the_reports() {
    let folder = Folder::new("hardware_reports");
    emit(&folder);
    let (facts, readable) = report(&folder);
    assert_eq!(facts["network"], "jsc-tiny");
    assert!(
        readable.contains("| interpreter | ✓ 40 of 40 rows, all equal | mase "),
        "{readable}"
    );
    let mut expected = vec!["interpreter"];
    if has(&ICARUS) {
        assert_eq!(run("simulate hw --rows 20", &folder).code, Some(0));
        expected.push("simulate");
        let (_, readable) = report(&folder);
        let line = "| simulate (icarus) | ✓ 20 of 40 rows, all equal | iverilog ";
        assert!(readable.contains(line), "{readable}");
        assert!(folder.join("hw/tb/first_rows.vcd").is_file());
    }
    if has(&YOSYS) {
        for (line, rung) in [("prove hw", "prove"), ("prove hw --check", "check")] {
            let printed = run(line, &folder);
            assert_eq!(printed.code, Some(0), "{line}: {}", printed.stderr);
            expected.push(rung);
        }
        assert_eq!(run("synth hw", &folder).code, Some(0));
        let (facts, readable) = report(&folder);
        assert_eq!(facts["synth"][0]["target"], "ice40");
        assert!(
            readable.contains("✓ proved for all 2^96 inputs"),
            "{readable}"
        );
        assert!(readable.contains("## Synthesis for ice40"), "{readable}");
    }
    let (facts, _) = report(&folder);
    let lines = facts["verification"].as_array().unwrap().iter();
    let rungs: Vec<&str> = lines.map(|line| line["rung"].as_str().unwrap()).collect();
    assert_eq!(rungs, expected);
}

#[test]
fn a_failed_check_is_in_the_reports_too() {
    let folder = Folder::new("hardware_failed");
    if !has(&ICARUS) {
        return;
    }
    let fixture = pipelined_at(&folder.join("hw"));
    edit(&fixture, "fc2_n0_s0 + fc2_n0_s1", "fc2_n0_s0 - fc2_n0_s1");
    assert_eq!(run("simulate hw", &folder).code, Some(1));
    let (facts, readable) = report(&folder);
    assert_eq!(facts["verification"][0]["passed"], false);
    assert!(
        readable.contains(" of 200 rows differ; row 0: y[0] is "),
        "{readable}"
    );
    // What is broken is named, and the result stands.
    fs::write(folder.join("hw/report.json"), "{").unwrap();
    let printed = run("simulate hw", &folder);
    assert_eq!(printed.code, Some(1));
    assert!(
        printed
            .stderr
            .starts_with("note: the reports of the folder are as they were: "),
        "{}",
        printed.stderr
    );
}

/// The body of a network that has no hardware, the options beside it, and the sentence that says why.
const REFUSED: &[(&str, &str, &str)] = &[
    (
        "fc = linear(x) { in_features = 16, out_features = 5 } return fc",
        "",
        "the network cannot become hardware: fc (linear): data_in_0 has no fixed-point format; give it one, for example \
         data_in_0: integer(8, 4)",
    ),
    (
        "r = relu(x: minifloat_ieee(8, 4, 7)) return r",
        "",
        "the network cannot become hardware: r (relu): data_in_0 has format minifloat_ieee(8, 4), which is not fixed point; \
         give it one that is, for example integer(8, 4)",
    ),
    (
        "s = softmax(x: integer(8, 4)) { dim = 1 } return s",
        "",
        "the network cannot become hardware: s (softmax): has no exact integer form; end the network before it, or put an \
         operator that has one in its place",
    ),
    (
        "s = sigmoid(x: integer(13, 4)) { data_out_0: integer(8, 7) } return s",
        "",
        "the network cannot become hardware: s (sigmoid): is exact as a table only, and data_in_0 has 13 bits; give \
         data_in_0 at most 12 bits",
    ),
    (
        "fc = linear(x: integer(8, 4)) { in_features = 16, out_features = 5, weight: integer(4, 2), bias: integer(6, 4) }
         norm = batch_norm1d(fc: integer(8, 4)) { num_features = 5, weight: integer(4, 2), bias: integer(6, 4) } return norm",
        "",
        "the network cannot become hardware: norm (batch_norm1d): data_in_0 is the result of fc (linear), which has formats \
         already; run the pass fuse_batch_norm before formats are given: it folds norm into fc",
    ),
    (
        "r = relu(x: integer(63, 4)) return r",
        "",
        "the network cannot become hardware: r: a value of it has 63 bits, more than 62; give its operands fewer bits",
    ),
    (
        "r = relu(x: integer(8, 4)) return r",
        "--clock 1000 --target ecp5",
        "a clock of 1000 MHz cannot be met on ecp5: a register behind every adder reaches about 253 MHz",
    ),
    (
        "r = relu(x: integer(8, 4)) return r",
        "--clock 100 --target xcup",
        "the delays of xcup are not known; give --levels, or a target that can be placed here: ecp5, ice40",
    ),
    (
        "fc = linear(x: integer(8, 4)) { in_features = 16, out_features = 64, weight: integer(6, 5), bias: integer(6, 4) } \
         return fc",
        "--max-luts 20",
        "the network needs more than 1000 LUT by a first estimate, and --max-luts is 20; fewer bits, fewer weights (prune) \
         or --output argmax make it smaller",
    ),
    (
        "r = relu(x: integer(8, 4)) return r",
        "--out other",
        "other: holds other files; name another folder, or give --force to replace it",
    ),
    (
        "r = relu(x: integer(8, 4)) return r",
        "--out file",
        "file: is a file; name a folder",
    ),
];

#[test]
fn a_network_without_hardware_is_refused_in_one_sentence_and_nothing_is_written() {
    let folder = Folder::new("hardware_refused");
    fs::create_dir(folder.join("other")).unwrap();
    fs::write(folder.join("other/notes"), "mine").unwrap();
    fs::write(folder.join("file"), "mine").unwrap();
    for (body, options, sentence) in REFUSED {
        let body = body.replace(" return ", "\n return ");
        let text = format!("graph \"g\" {{\n x: f32[N, 16] = placeholder\n {body}\n}}\n");
        fs::write(folder.join("g.mg"), text).unwrap();
        let out = if options.contains("--out") {
            ""
        } else {
            "--out hw"
        };
        let line = format!("emit g.mg jsc-sim --rows 10 --quiet {out} {options}");
        let printed = run(&line, &folder);
        assert_eq!(printed.code, Some(2), "{line}");
        let error = format!("error: {sentence}\n");
        assert!(
            printed.stderr.ends_with(&error),
            "{line}\n{}",
            printed.stderr
        );
        let mut left: Vec<String> = fs::read_dir(&*folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.starts_with("mase_output"))
            .collect();
        left.sort();
        assert_eq!(left, ["file", "g.mg", "other"], "{line}");
    }
}

#[test]
fn a_batch_norm_that_no_layer_can_take_in_is_named() {
    let folder = Folder::new("hardware_norm");
    let text = "graph \"g\" {
      x: f32[N, 16] = placeholder
      fc = linear(x: integer(8, 4)) { in_features = 16, out_features = 5, weight: integer(4, 2), bias: integer(6, 4) }
      r = relu(fc: integer(8, 4))
      norm = batch_norm1d(r: integer(8, 4)) { num_features = 5, weight: integer(4, 2), bias: integer(6, 4) }
      return norm
    }";
    fs::write(folder.join("g.mg"), text).unwrap();
    let printed = run("emit g.mg jsc-sim --rows 10 --out hw", &folder);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    let note = "note: norm is a batch norm behind a layer and costs adders of its own, because the layer cannot take it in\n";
    assert!(printed.stderr.contains(note), "{}", printed.stderr);
}

/// Files of a folder that are cut short, and the beginning and the end of the sentence.
const CUT: &[(&str, &str, &str)] = &[
    ("net.json", "prove hw", "; `ch emit` writes it anew"),
    ("ports.json", "prove hw", "; `ch emit` writes it anew"),
    (
        "certificate.json",
        "prove hw --check",
        "; `ch prove` without --check writes it anew",
    ),
];

#[test]
fn files_that_are_cut_short_are_named_with_the_way_to_get_them() {
    let folder = Folder::new("hardware_cut");
    emit(&folder);
    if !has(&YOSYS) {
        return;
    }
    assert_eq!(run("prove hw", &folder).code, Some(0));
    for (name, line, way_out) in CUT {
        let path = folder.join("hw").join(name);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..300]).unwrap();
        let printed = run(line, &folder);
        assert_eq!(printed.code, Some(2), "{line}: {}", printed.stdout);
        let is_named = printed
            .stderr
            .contains(&format!("{name}: cannot be read: "));
        assert!(
            is_named && printed.stderr.ends_with(&format!("{way_out}\n")),
            "{}",
            printed.stderr
        );
        fs::remove_file(&path).unwrap();
        let printed = run(line, &folder);
        assert!(
            printed.stderr.contains("is not there; `ch "),
            "{}",
            printed.stderr
        );
        fs::write(&path, &whole).unwrap();
    }
}

/// Of the bits that `--quantize-rest` gives, half are behind the point.
#[test]
fn the_rest_is_rounded_to_integers_of_a_width() {
    let folder = Folder::new("hardware_rest");
    let line = "emit jsc-tiny jsc-sim --quantize-rest 6 --rows 40 --target ice40 --out hw";
    let printed = run(line, &folder);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert!(
        printed.stdout.contains("integer(6, 3)"),
        "{}",
        printed.stdout
    );
}
