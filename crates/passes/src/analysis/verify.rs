//! Every rule of the verifier, and whether the graph obeys it.

use crate::{Context, Pass, PassError, PassReport};
use config::Reader;
use ir::{Graph, RULES};

/// `[passes.verify]`: see [`Pass::DOC`].
pub struct Verify;

impl Pass for Verify {
    const NAME: &'static str = "verify";
    const ABOUT: &'static str = "checks every rule that a graph must obey, and lists them";
    const DOC: &'static str = "\
What it does: checks every rule of `ch list rules` and says which are broken and by what. The same check runs after every
pass; this one shows it.

Example:
  [passes.verify]

Config: none. Reads: the graph. Writes: nothing. Limits: none.";

    fn read(_: &mut Reader) -> Self {
        Self
    }

    fn run(&self, graph: &mut Graph, _: &mut Context) -> Result<PassReport, PassError> {
        let violations = ir::verify(graph)
            .err()
            .map_or_else(Vec::new, |error| error.violations);
        let row = |(rule, about): &(&str, &str)| {
            let own = violations
                .iter()
                .filter(|violation| violation.rule == *rule);
            let broken: Vec<String> = own.map(ToString::to_string).collect();
            let holds = if broken.is_empty() { "yes" } else { "no" };
            [*rule, holds, *about, &broken.join("; ")].map(str::to_owned)
        };
        let headings = ["Rule", "Holds", "Asks that", "Broken by"];
        let mut report = PassReport::table("rules", &headings, RULES.iter().map(row));
        report.is_good = violations.is_empty();
        Ok(report)
    }
}
