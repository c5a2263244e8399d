//! Faults in the printed text: the prover refuses every one that changes a result, and so does the check.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod simulated;
mod yosys;

use engine::State;
use engine::integer::Program;
use hw::emit::{Emission, Style};
use hw::print::verilog;
use hw::prove::{checked_forms, elements, prove};
use hw::solve::Effort;
use ir::{Graph, verify};
use random::Random;
use simulated::simulate;
use std::io::Write;

/// Three inputs of three bits, so that every input can be tried.
const NETWORK: &str = "graph \"small\" {
  x: f32[N, 3] = placeholder
  fc1 = linear(x: integer(3, 1)) { in_features = 3, out_features = 6, weight: integer(5, 3), bias: integer(6, 4) }
  r1 = relu(fc1)
  fc2 = linear(r1: integer(4, 2, signed = false)) { in_features = 6, out_features = 3, weight: integer(5, 3), bias: integer(6, 4) }
  out = identity(fc2) { data_out_0: integer(6, 3) }
  return out
}";

/// A kind of fault: the lines that a line may become.
type Fault = (&'static str, fn(&str, Random) -> Option<String>);

const FAULTS: &[Fault] = &[
    ("sum for difference", |line, _| {
        let swapped = if line.contains(" - ") {
            line.replacen(" - ", " + ", 1)
        } else {
            line.replacen(" + ", " - ", 1)
        };
        Some(swapped)
    }),
    ("a bit of a constant", flip_constant),
    ("a slice by one", move_slice),
    ("no sign extension", |line, _| {
        let start = line.find("{{")? + 1;
        let end = start + line[start..].find("}}")? + 2;
        let times: u32 = line[start + 1..].split('{').next()?.parse().ok()?;
        Some(format!("{}{times}'d0{}", &line[..start], &line[end..]))
    }),
    ("a bit less", |line, _| {
        let top: u32 = line
            .strip_prefix("  logic [")?
            .split(':')
            .next()?
            .parse()
            .ok()?;
        Some(line.replacen(
            &format!("[{top}:"),
            &format!("[{}:", top.checked_sub(1)?),
            1,
        ))
    }),
    ("another threshold", |line, _| {
        let start = line.find(" ? ")? + 3;
        let rest = &line[start..];
        rest.contains("'d0 :")
            .then(|| format!("{}{}", &line[..start], rest.replacen("'d0 :", "'d1 :", 1)))
    }),
    ("another rounding bit", |line, _| {
        line.contains(" & |")
            .then(|| line.replacen(" & |", " | |", 1))
    }),
    ("another bound", |line, _| {
        let start = line.rfind("? ")? + 2;
        let rest = &line[start..];
        let (bits, value) = rest.split_once("'d")?;
        let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
        let value: u64 = digits.parse().ok()?;
        let own = format!("{bits}'d{digits}");
        Some(line.replacen(&own, &format!("{bits}'d{}", value.checked_sub(1)?), 1))
    }),
    ("swapped operands", |line, _| {
        let (name, value) = line.trim_end_matches(';').split_once(" = ")?;
        let (a, b) = value.split_once(" - ")?;
        let is_plain =
            !value.starts_with('{') || value.matches('{').count() == value.matches('}').count();
        (is_plain && !value.starts_with("{{")).then(|| format!("{name} = {b} - {a};"))
    }),
    ("another sign", |line, _| {
        let start = line.find("] ? ")?;
        let open = line[..start].rfind('[')?;
        let place: u32 = line[open + 1..start].parse().ok()?;
        Some(format!(
            "{}[{}]{}",
            &line[..open],
            place.checked_sub(1)?,
            &line[start + 1..]
        ))
    }),
];

fn flip_constant(line: &str, random: Random) -> Option<String> {
    let places: Vec<usize> = line.match_indices("'d").map(|found| found.0).collect();
    let place = *places.get(random.bits(1) as usize % places.len().max(1))?;
    let bits: String = line[..place]
        .chars()
        .rev()
        .take_while(char::is_ascii_digit)
        .collect();
    let bits: u32 = bits.chars().rev().collect::<String>().parse().ok()?;
    let digits: String = line[place + 2..]
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    let value: u64 = digits.parse::<u64>().ok()? ^ 1 << (random.bits(2) % u64::from(bits));
    Some(format!(
        "{}'d{value}{}",
        &line[..place],
        &line[place + 2 + digits.len()..]
    ))
}

fn move_slice(line: &str, random: Random) -> Option<String> {
    let (_, value) = line.split_once(" = ")?;
    let offset = line.len() - value.len();
    let opens: Vec<usize> = value.match_indices('[').map(|found| found.0).collect();
    let open = offset + *opens.get(random.bits(3) as usize % opens.len().max(1))?;
    let close = open + line[open..].find(']')?;
    let (high, low) = line[open + 1..close].split_once(':')?;
    let (high, low): (u32, u32) = (high.parse().ok()?, low.parse().ok()?);
    let moved = format!("[{}:{}]", high.checked_sub(1)?, low.checked_sub(1)?);
    Some(format!("{}{moved}{}", &line[..open], &line[close + 1..]))
}

/// The text with a fault in one line.
fn faulty(text: &str, fault: Fault, random: Random) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let tries = (0..300).map(|k| random.bits(100 + k) as usize % lines.len());
    tries.into_iter().find_map(|at| {
        let changed = (fault.1)(lines[at], random).filter(|changed| changed != lines[at])?;
        let mut lines = lines.clone();
        lines[at] = &changed;
        Some(lines.join("\n") + "\n")
    })
}

/// The text with a register less, with a register more, or with two results in each other's place; true for registers.
fn faulty_structure(text: &str, random: Random) -> Option<(String, bool)> {
    let lines: Vec<&str> = text.lines().collect();
    let kind = random.bits(0) % 3;
    if kind < 2 {
        let registers: Vec<&&str> = lines.iter().filter(|line| line.contains(" <= ")).collect();
        let line = registers.get(random.bits(1) as usize % registers.len().max(1))?;
        let (name, source) = line.trim().trim_end_matches(';').split_once(" <= ")?;
        let late = format!("{name}_late");
        let read = if kind == 0 { source } else { &late };
        let reads = |line: &&str| !line.contains(" <= ") && !line.contains("logic");
        let ends = ["[", ";", " "];
        let is_read = |line: &&str| {
            let named = |end: &&str| line.contains(&format!("{name}{end}"));
            reads(line) && ends.iter().any(named)
        };
        if !lines.iter().any(is_read) {
            return None;
        }
        let replaced = lines.iter().map(|own| {
            if reads(own) {
                ends.iter().fold((*own).to_owned(), |line, end| {
                    line.replace(&format!("{name}{end}"), &format!("{read}{end}"))
                })
            } else if kind == 1 && own == *line {
                format!("{own}\n    {late} <= {name};")
            } else if kind == 1 && own.ends_with(&format!("] {name};")) {
                format!(
                    "{own}\n{}",
                    own.replace(&format!(" {name};"), &format!(" {late};"))
                )
            } else {
                (*own).to_owned()
            }
        });
        return Some((replaced.collect::<Vec<_>>().join("\n") + "\n", true));
    }
    let results: Vec<usize> = (0..lines.len())
        .filter(|&at| lines[at].contains("assign y["))
        .collect();
    let (a, b) = (
        results[0],
        results[1 + random.bits(2) as usize % (results.len() - 1)],
    );
    let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    (lines[a], lines[b]) = {
        let [(x, of_x), (y, of_y)] = [value_of(&lines[a]), value_of(&lines[b])];
        (format!("{x} = {of_y}"), format!("{y} = {of_x}"))
    };
    Some((lines.join("\n") + "\n", false))
}

fn value_of(line: &str) -> (String, String) {
    let (name, value) = line.split_once(" = ").unwrap();
    (name.to_owned(), value.to_owned())
}

#[test]
fn every_fault_that_changes_a_result_is_refused() {
    let Some(yosys) = yosys::found() else {
        return;
    };
    let mut graph = Graph::parse(NETWORK).unwrap();
    graph.initialize(3);
    let verified = verify(&graph).unwrap();
    let state = State::new(&verified).unwrap();
    let program = Program::of(&verified, &state, 1).unwrap();
    let emission =
        Emission::of(&program, Style::Pipelined { levels: 3.0 }, Effort::Normal).unwrap();
    let text = verilog(&emission.net, &emission.ports);
    let ports = &emission.ports;
    let right = yosys.read(&text);
    let proof = prove(&right, ports, &program).unwrap();
    // Every input is an atom, and every rounding of this network.
    assert!(proof.atoms > ports.inputs.len());
    let elements = elements(&emission.net);
    checked_forms(&right, ports, &program, &elements).unwrap();
    let all: Vec<u64> = (0..1 << ports.input_bits()).collect();
    let expected = simulate(&right, &all);
    let (mut tried, mut changing, mut harmless, mut unseen) = (0, 0, 0, 0);
    for seed in 0..240_u64 {
        let random = Random::new(seed, "faults");
        let kind = seed as usize % (FAULTS.len() + 1);
        let fault = match FAULTS.get(kind) {
            Some(fault) => faulty(&text, *fault, random).map(|mutant| (mutant, false)),
            None => faulty_structure(&text, random),
        };
        let Some((mutant, is_early_or_late)) = fault else {
            continue;
        };
        tried += 1;
        // A text that yosys does not take is refused too.
        let Some(rtl) = yosys.try_read(&mutant) else {
            continue;
        };
        let got = simulate(&rtl, &all);
        // Cycles are not seen with an input that stays.
        let is_changed = got != expected || is_early_or_late;
        let is_proved = prove(&rtl, ports, &program).is_ok();
        let is_checked = checked_forms(&rtl, ports, &program, &elements).is_ok();
        assert!(
            !(is_changed && (is_proved || is_checked)),
            "fault {seed} of kind {kind} was proved or checked:\n{mutant}"
        );
        changing += usize::from(is_changed);
        harmless += usize::from(is_proved);
        let few = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(|k| random.bits(200 + k) as usize % all.len());
        unseen += usize::from(
            is_changed
                && few.iter().all(|&row| {
                    got.as_ref().map(|got| got[row]) == expected.as_ref().map(|all| all[row])
                }),
        );
    }
    assert!(tried >= 200, "{tried} faults");
    assert!(
        harmless * 10 < tried,
        "{harmless} of {tried} faults changed nothing"
    );
    assert!(unseen > 0, "ten rows saw every fault");
    let line = format!(
        "{tried} faults, {changing} of them change a result; ten random rows alone would have missed {unseen}\n"
    );
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}
