//! `report.md`: the facts of a folder to read.

mod tools;

use super::{Check, Claim, checks, count, list, text};
use crate::ports::{Element, Ports};
use ::report::{Table, escape_line};
use serde_json::Value as Json;
use std::fmt::Write;

/// Elements of a port that are listed.
const MAX_ELEMENTS: usize = 64;

/// The report of facts, of ports and of a certificate.
pub fn markdown(
    facts: &Json,
    ports: &Ports,
    net_sv: Option<&str>,
    claim: Option<&Claim>,
) -> String {
    let mut out = format!("# Hardware of {}\n\n", name_of(facts));
    head(&mut out, facts);
    verification(&mut out, &checks(facts, net_sv, claim));
    if let Some(claim) = claim {
        proof(&mut out, claim);
    }
    layers(&mut out, facts);
    stages(&mut out, facts);
    out += "\n## Ports\n";
    for (port, elements) in [("x", &ports.inputs), ("y", &ports.outputs)] {
        elements_of(&mut out, port, elements);
    }
    for found in list(facts, "synth") {
        tools::synthesis(&mut out, found);
    }
    tools::bitstreams(&mut out, facts);
    out
}

/// The network's name, or that it has none.
pub(crate) fn name_of(facts: &Json) -> String {
    match text(facts, "network") {
        "" => "a network".to_owned(),
        name => words(name),
    }
}

/// A text as Markdown shows it letter by letter.
fn words(text: &str) -> String {
    let shown = escape_line(text);
    let mut out = String::with_capacity(shown.len());
    let all: Vec<char> = shown.chars().collect();
    for (at, &c) in all.iter().enumerate() {
        let is_letter = |at: Option<usize>| {
            let c = at.and_then(|at| all.get(at));
            c.is_some_and(|c| c.is_alphanumeric())
        };
        // Between letters an underscore is one.
        let is_inner = c == '_' && is_letter(at.checked_sub(1)) && is_letter(Some(at + 1));
        match c {
            '<' => out += "&lt;",
            '&' => out += "&amp;",
            // A bracket may close the text of a link.
            ']' if !matches!(all.get(at + 1), Some('(' | '[' | ':')) => out.push(c),
            '\\' | '`' | '*' | ']' | '~' | '_' if !is_inner => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

fn head(out: &mut String, facts: &Json) {
    if facts["adders"].is_null() {
        *out += "This folder has no facts of `ch emit`.\n";
        return;
    }
    let program = match text(facts, "program") {
        "" => String::new(),
        program => format!(", by {}", words(program)),
    };
    let _ = writeln!(
        out,
        "Made by `ch emit` for {}{program}. `page.html` shows the same with drawings, `report.json` has every figure.\n",
        words(text(facts, "target"))
    );
    let mut table = Table::new(&["figure", "value"]);
    let mut push = |name: &str, value: String| table.push([name.to_owned(), value]);
    push("steps of the integer program", number(facts, "steps"));
    push(
        "adders",
        format!(
            "{} of {} bits, {} levels",
            number(facts, "adders"),
            number(facts, "adder_bits"),
            number(facts, "levels")
        ),
    );
    push("neurons removed", number(facts, "removed"));
    push(
        "pipeline",
        match count(facts, "latency") {
            0 => "combinational: no registers".to_owned(),
            cycles => format!(
                "{cycles} cycles, {} flip-flops, a result every cycle",
                number(facts, "flip_flops")
            ),
        },
    );
    let estimate = &facts["estimate"];
    if !estimate.is_null() {
        push(
            "estimate",
            format!(
                "{} ± {} LUT, 0 DSP",
                number(estimate, "lut"),
                number(estimate, "error")
            ),
        );
    }
    push("bits of x", number(facts, "input_bits"));
    push("bits of y", number(facts, "output_bits"));
    *out += &table.to_markdown();
}

/// A number as it stands; a dash where there is none.
fn number(facts: &Json, key: &str) -> String {
    match &facts[key] {
        Json::Number(number) => match number.as_f64() {
            Some(whole) if whole.fract() == 0.0 => format!("{whole:.0}"),
            _ => number.to_string(),
        },
        _ => "–".to_owned(),
    }
}

fn verification(out: &mut String, checks: &[Check]) {
    *out += "\n## Verification\n\n";
    let mut table = Table::new(&["check", "result", "by", "what is compared"]);
    for check in checks {
        let mark = match check.passed {
            Some(true) => "✓ ",
            Some(false) => "✗ ",
            None => "",
        };
        let on = match check.on.as_str() {
            "" => String::new(),
            on => format!(" ({})", words(on)),
        };
        // The commands of checks that were not run stand in backticks.
        let result = match check.passed {
            None => check.result.clone(),
            Some(_) => words(&check.result),
        };
        table.push([
            format!("{}{on}", check.rung),
            format!("{mark}{result}"),
            words(&check.tool),
            check.about.clone(),
        ]);
    }
    *out += &table.to_markdown();
}

fn proof(out: &mut String, claim: &Claim) {
    let _ = writeln!(
        out,
        "\n## Proof\n\n`certificate.json`: rtl/net.sv computes the network for all 2^{} inputs, with {} words, {} outputs and a \
         latency of {} cycles. Proved by {}, read by {}. `ch prove --check` checks it.\n",
        claim.input_bits,
        claim.words,
        claim.outputs,
        claim.latency,
        words(&claim.program),
        words(&claim.reader)
    );
    if let Some(file) = &claim.changed {
        let _ = writeln!(
            out,
            "**{} is not the file that was proved.**\n",
            words(file)
        );
    }
    let mut table = Table::new(&["file", "SHA-256"]);
    for (file, hash) in &claim.files {
        table.push([words(file), words(hash)]);
    }
    *out += &table.to_markdown();
}

fn layers(out: &mut String, facts: &Json) {
    let all = list(facts, "layers");
    if all.is_empty() {
        return;
    }
    *out += "\n## Layers\n\n";
    let mut table = Table::new(&[
        "layer",
        "neurons",
        "adders",
        "bits",
        "LUT (estimate)",
        "share",
        "FF",
    ]);
    let sum = |key: &str| all.iter().map(|layer| count(layer, key)).sum::<u64>();
    let total = sum("lut").max(1) as f64;
    for layer in all {
        let share = match layer["lut"].as_u64() {
            Some(lut) => format!("{:.1} %", 100.0 * lut as f64 / total),
            None => "–".to_owned(),
        };
        table.push([
            words(text(layer, "layer")),
            number(layer, "neurons"),
            number(layer, "adders"),
            number(layer, "adder_bits"),
            number(layer, "lut"),
            share,
            number(layer, "ff"),
        ]);
    }
    let [neurons, adders, bits, lut, ff] =
        ["neurons", "adders", "adder_bits", "lut", "ff"].map(|key| sum(key).to_string());
    table.totals = Some(vec![
        "all".to_owned(),
        neurons,
        adders,
        bits,
        lut,
        String::new(),
        ff,
    ]);
    *out += &table.to_markdown();
}

fn stages(out: &mut String, facts: &Json) {
    let all = list(facts, "stages");
    if all.is_empty() || count(facts, "latency") == 0 {
        return;
    }
    *out += "\n## Pipeline\n\n";
    let mut table = Table::new(&["stage", "levels", "adders", "bits", "FF at its end"]);
    for stage in all {
        table.push(["stage", "levels", "adders", "adder_bits", "ff"].map(|key| number(stage, key)));
    }
    *out += &table.to_markdown();
}

fn elements_of(out: &mut String, port: &str, elements: &[Element]) {
    let bits: u32 = elements.iter().map(|element| element.width).sum();
    let _ = writeln!(
        out,
        "\n`{port}`: {} elements, {bits} bits, element 0 lowest.\n",
        elements.len()
    );
    let mut table = Table::new(&["element", "bits", "from bit", "sign", "codes", "a code is"]);
    for element in elements.iter().take(MAX_ELEMENTS) {
        let Element {
            name,
            offset,
            width,
            signed,
            frac_width,
            min,
            max,
        } = element;
        let sign = if *signed { "signed" } else { "unsigned" };
        table.push([
            words(name),
            width.to_string(),
            offset.to_string(),
            sign.to_owned(),
            format!("{min} … {max}"),
            format!("2^{}", -i64::from(*frac_width)),
        ]);
    }
    *out += &table.to_markdown();
    if elements.len() > MAX_ELEMENTS {
        let _ = writeln!(
            out,
            "\nThe first {MAX_ELEMENTS} of {} elements; `ports.json` has all.",
            elements.len()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_stay_letters() {
        assert_eq!(words("seq_blocks_2"), "seq_blocks_2");
        assert_eq!(
            words("_a_ <b>*c*[d](e)`f`"),
            "\\_a\\_ &lt;b>\\*c\\*[d\\](e)\\`f\\`"
        );
        assert_eq!(words("a\nb|c"), "a\\\\u{a}b|c");
    }

    /// Whatever a file holds, there is a report.
    #[test]
    fn any_facts_are_a_report() {
        let ports = Ports {
            inputs: Vec::new(),
            outputs: Vec::new(),
            latency: 0,
        };
        for facts in [
            json!({}),
            json!({ "adders": "x", "layers": [1, null], "stages": [[]], "latency": 2, "verification": 7 }),
            json!({ "synth": [{ "placement": { "seeds": [{}] } }, 3], "bitstreams": [{}] }),
        ] {
            assert!(markdown(&facts, &ports, None, None).starts_with("# Hardware of a network\n"));
        }
    }
}
