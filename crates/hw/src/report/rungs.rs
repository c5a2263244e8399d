//! The checks of emitted hardware, from the netlist to the serial line, and what came of each.

use super::{Claim, count, list, text};
use serde::Serialize;
use serde_json::Value as Json;

/// A kind of check.
#[derive(Debug, PartialEq, Eq)]
pub struct RungKind {
    /// The name in `report.json`.
    pub name: &'static str,
    /// The two sides that are compared, and for which inputs.
    pub about: &'static str,
    /// The command that runs it.
    pub command: &'static str,
}

/// Every check, in the order of the flow.
pub static RUNGS: &[RungKind] = &[
    RungKind {
        name: "interpreter",
        about: "the netlist computes what the integer executor does, on rows of the dataset",
        command: "ch emit",
    },
    RungKind {
        name: "simulate",
        about: "rtl/net.sv in a simulator computes what the integer executor does, on rows of the dataset",
        command: "ch simulate",
    },
    RungKind {
        name: "prove",
        about: "rtl/net.sv computes the network, for every input",
        command: "ch prove",
    },
    RungKind {
        name: "check",
        about: "certificate.json holds for the files of the folder",
        command: "ch prove --check",
    },
    RungKind {
        name: "gates",
        about: "the gates after synthesis compute what the integer executor does, on rows of the dataset",
        command: "ch simulate --gates",
    },
    RungKind {
        name: "place",
        about: "the network between registers fits the device, and reaches a clock",
        command: "ch synth --place",
    },
    RungKind {
        name: "serial",
        about: "the network behind its simulated serial line answers as the integer executor does",
        command: "ch bitstream",
    },
];

impl RungKind {
    /// The kind of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        RUNGS.iter().find(|kind| kind.name == name)
    }
}

/// A check that was run.
#[derive(Clone, Debug)]
pub struct Rung {
    /// Its kind.
    pub kind: &'static RungKind,
    /// The simulator, target or board.
    pub on: String,
    /// The tools with their versions.
    pub tool: String,
    /// True when nothing differs.
    pub passed: bool,
    /// The SHA-256 of `rtl/net.sv` at that time.
    pub net_sv: String,
    /// The numbers of its result, an object.
    pub facts: Json,
}

/// A line of a report about a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The name of its kind.
    pub rung: String,
    /// The simulator, target or board.
    pub on: String,
    /// The result in words, or the command that would run it.
    pub result: String,
    /// The tools with their versions.
    pub tool: String,
    /// Its end; none when it was not run.
    pub passed: Option<bool>,
    /// The two sides that are compared.
    pub about: String,
}

/// All checks of a report: those that were run, and for every kind that was not the command.
pub fn checks(facts: &Json, net_sv: Option<&str>, claim: Option<&Claim>) -> Vec<Check> {
    let mut all = Vec::new();
    for kind in RUNGS {
        let lines = list(facts, "verification").iter();
        let own: Vec<&Json> = lines.filter(|line| line["rung"] == kind.name).collect();
        if own.is_empty() {
            all.push(Check {
                rung: kind.name.to_owned(),
                on: String::new(),
                result: format!("not run; `{}` does it", kind.command),
                tool: String::new(),
                passed: None,
                about: kind.about.to_owned(),
            });
        }
        all.extend(own.into_iter().map(|line| {
            let mut result = sentence(kind, line, claim);
            let is_of_another = net_sv.is_some_and(|now| text(line, "net_sv") != now);
            if is_of_another {
                result += "; rtl/net.sv has changed since";
            }
            Check {
                rung: kind.name.to_owned(),
                on: text(line, "on").to_owned(),
                result,
                tool: text(line, "tool").to_owned(),
                passed: Some(line["passed"] == true),
                about: kind.about.to_owned(),
            }
        }));
    }
    all
}

/// The result of a check in words.
fn sentence(kind: &RungKind, line: &Json, claim: Option<&Claim>) -> String {
    let passed = line["passed"] == true;
    if !line["reason"].is_null() {
        return text(line, "reason").to_owned();
    }
    match (kind.name, claim) {
        ("check", Some(claim)) if passed => format!(
            "certificate.json holds for all 2^{} inputs",
            claim.input_bits
        ),
        ("prove", Some(claim)) if passed => format!(
            "proved for all 2^{} inputs: {} words, {} outputs, latency {} cycles",
            claim.input_bits, claim.words, claim.outputs, claim.latency
        ),
        ("prove" | "check", _) => if passed { "proved" } else { "not proved" }.to_owned(),
        ("place", _) => {
            let seeds = count(line, "seeds");
            let plural = if seeds == 1 { "" } else { "s" };
            let clock = line["median_mhz"].as_f64().unwrap_or(0.0);
            format!("{clock:.1} MHz, the median of {seeds} seed{plural}")
        }
        _ => rows(line),
    }
}

/// The result of a comparison row by row.
fn rows(line: &Json) -> String {
    let (rows, differing) = (count(line, "rows"), count(line, "differing"));
    let available = line["available_rows"].as_u64().unwrap_or(rows);
    if differing == 0 {
        return format!("{rows} of {available} rows, all equal");
    }
    let first = &line["first"];
    let words = |key: &str| match &first[key] {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    let [row, element, got, expected] = ["row", "element", "got", "expected"].map(words);
    if first.is_null() {
        return format!("{differing} of {rows} rows differ");
    }
    format!("{differing} of {rows} rows differ; row {row}: {element} is {got}, not {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_are_words() {
        let facts = json!({ "verification": [
            { "rung": "interpreter", "passed": true, "rows": 20, "differing": 0, "net_sv": "old", "tool": "mase 1" },
            { "rung": "simulate", "on": "icarus", "passed": false, "rows": 7, "differing": 2, "net_sv": "now",
              "first": { "row": 3, "element": "y[1]", "expected": -5, "got": "x" } },
            { "rung": "prove", "passed": false, "net_sv": "now", "reason": "not proved: y[0]" },
            { "rung": "place", "on": "ecp5", "passed": true, "net_sv": "now", "median_mhz": 101.25, "seeds": 1 },
            { "rung": "of another program" },
        ] });
        let all = checks(&facts, Some("now"), None);
        let results: Vec<(&str, &str)> = all
            .iter()
            .map(|check| (check.rung.as_str(), check.result.as_str()))
            .collect();
        assert_eq!(
            results,
            [
                (
                    "interpreter",
                    "20 of 20 rows, all equal; rtl/net.sv has changed since"
                ),
                ("simulate", "2 of 7 rows differ; row 3: y[1] is x, not -5"),
                ("prove", "not proved: y[0]"),
                ("check", "not run; `ch prove --check` does it"),
                ("gates", "not run; `ch simulate --gates` does it"),
                ("place", "101.2 MHz, the median of 1 seed"),
                ("serial", "not run; `ch bitstream` does it"),
            ]
        );
        assert_eq!(all[3].passed, None);
        assert_eq!(checks(&json!({}), None, None).len(), RUNGS.len());
    }

    #[test]
    fn a_proof_is_told_with_what_its_certificate_claims() {
        let claim = Claim {
            input_bits: 16,
            words: 30,
            outputs: 2,
            latency: 3,
            ..Claim::default()
        };
        let told = |name: &str, passed: bool, claim: Option<&Claim>| {
            let kind = RungKind::find(name).expect("it is in the table");
            sentence(kind, &json!({ "passed": passed }), claim)
        };
        let proved = "proved for all 2^16 inputs: 30 words, 2 outputs, latency 3 cycles";
        assert_eq!(told("prove", true, Some(&claim)), proved);
        let holds = "certificate.json holds for all 2^16 inputs";
        assert_eq!(told("check", true, Some(&claim)), holds);
        for name in ["prove", "check"] {
            assert_eq!(told(name, true, None), "proved");
            assert_eq!(told(name, false, None), "not proved");
            assert_eq!(told(name, false, Some(&claim)), "not proved");
        }
        let kind = RungKind::find("place").expect("it is in the table");
        let line = json!({ "passed": true, "median_mhz": 99.96, "seeds": 5 });
        assert_eq!(
            sentence(kind, &line, None),
            "100.0 MHz, the median of 5 seeds"
        );
    }

    #[test]
    fn rows_are_counted_among_those_that_there_are() {
        let of = |line: Json| rows(&line);
        let equal = json!({ "rows": 20, "differing": 0, "available_rows": 90 });
        assert_eq!(of(equal), "20 of 90 rows, all equal");
        let differing = json!({ "rows": 20, "differing": 3 });
        assert_eq!(of(differing), "3 of 20 rows differ");
    }
}
