//! The report of a folder of emitted hardware: its facts (`report.json`), the same to read (`report.md`) and the page (`page.html`).
//!
//! `ch emit` begins it, and every command over the folder adds what it found. `report.json` is the only store: the other two files
//! are written anew from it, from `certificate.json` and from the files that the facts are about. [`layers`] counts a netlist layer by
//! layer and stage by stage, [`RUNGS`] is the table of checks.

mod layers;
mod markdown;
mod proof;
mod rungs;

pub use layers::{Layer, Stage, layers, stages};
pub use markdown::markdown;
pub use proof::{Claim, sha256};
pub use rungs::{Check, RUNGS, Rung, RungKind, checks};

use crate::folder::{self, Emitted};
use crate::page::page;
use crate::tools::ToolError;
use serde_json::{Map, Value as Json, json};

/// The facts of a folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record(Json);

impl Record {
    /// Facts that are known already.
    pub fn of(facts: Json) -> Self {
        Self(facts)
    }

    /// The facts of a folder; none where it has no `report.json`.
    pub fn open(emitted: &Emitted) -> Result<Self, ToolError> {
        let path = emitted.path.join("report.json");
        if !path.is_file() {
            return Ok(Self(Json::Object(Map::new())));
        }
        let facts = serde_json::from_str(&folder::read(&path)?);
        let facts: Map<String, Json> = facts.map_err(|error| {
            let message = format!("{error}; remove it, or `ch emit` writes it anew");
            ToolError::file(&path, &message)
        })?;
        Ok(Self(Json::Object(facts)))
    }

    /// The facts.
    pub fn facts(&self) -> &Json {
        &self.0
    }

    /// Adds a check in place of the same one of an earlier run.
    pub fn add_rung(&mut self, rung: &Rung) {
        let Rung {
            kind,
            on,
            tool,
            passed,
            net_sv,
            facts,
        } = rung;
        let mut line = json!({
            "rung": kind.name, "on": on, "tool": tool, "passed": passed, "net_sv": net_sv,
        });
        if let (Some(line), Json::Object(facts)) = (line.as_object_mut(), facts) {
            line.extend(facts.clone());
        }
        self.put("verification", line, &["rung", "on"]);
    }

    /// Adds what synthesis found for a target.
    pub fn add_synthesis(&mut self, found: Json) {
        self.put("synth", found, &["target"]);
    }

    /// Adds the bitstream of a board, or why there is none.
    pub fn add_bitstream(&mut self, made: Json) {
        self.put("bitstreams", made, &["board"]);
    }

    /// Puts an entry into a list, in place of the one with the same keys.
    fn put(&mut self, list: &str, entry: Json, keys: &[&str]) {
        if !self.0[list].is_array() {
            self.0[list] = json!([]);
        }
        let Some(entries) = self.0[list].as_array_mut() else {
            return;
        };
        let is_same = |own: &&mut Json| keys.iter().all(|key| own[*key] == entry[*key]);
        match entries.iter_mut().find(is_same) {
            Some(own) => *own = entry,
            None => entries.push(entry),
        }
    }

    /// Writes `report.json`, `report.md` and `page.html`.
    pub fn write(&self, emitted: &Emitted) -> Result<(), ToolError> {
        let text = serde_json::to_string_pretty(&self.0).unwrap_or_default() + "\n";
        emitted.write("report.json", &text)?;
        let (claim, net_sv) = (Claim::read(emitted), sha256(&emitted.net()));
        let (claim, net_sv) = (claim.as_ref(), net_sv.as_deref());
        let readable = markdown(&self.0, &emitted.ports, net_sv, claim);
        emitted.write("report.md", &readable)?;
        emitted.write("page.html", &page(&self.0, emitted, net_sv, claim))?;
        Ok(())
    }
}

/// The entries of a list; none where there is no list.
pub(crate) fn list<'a>(facts: &'a Json, key: &str) -> &'a [Json] {
    facts[key].as_array().map_or(&[], Vec::as_slice)
}

/// A text of the facts; empty where there is none.
pub(crate) fn text<'a>(facts: &'a Json, key: &str) -> &'a str {
    facts[key].as_str().unwrap_or_default()
}

/// A whole number of the facts; 0 where there is none.
pub(crate) fn count(facts: &Json, key: &str) -> u64 {
    facts[key].as_u64().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_runs_again_replaces_its_line() {
        let mut record = Record::of(json!({ "adders": 3, "verification": "no list" }));
        let rung = |on: &str, passed, rows| Rung {
            kind: RungKind::find("simulate").unwrap(),
            on: on.to_owned(),
            tool: "iverilog 11.0".to_owned(),
            passed,
            net_sv: "ab".to_owned(),
            facts: json!({ "rows": rows }),
        };
        for rung in [
            rung("icarus", false, 5),
            rung("verilator", true, 9),
            rung("icarus", true, 7),
        ] {
            record.add_rung(&rung);
        }
        let lines = list(record.facts(), "verification");
        let lines: Vec<_> = lines
            .iter()
            .map(|line| (text(line, "on"), &line["passed"], count(line, "rows")))
            .collect();
        assert_eq!(
            lines,
            [("icarus", &json!(true), 7), ("verilator", &json!(true), 9)]
        );
        assert_eq!(record.facts()["adders"], 3);
    }
}
