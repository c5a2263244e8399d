//! `[search.search_space]`: what may be chosen, formats or channels.

use super::is_not_here;
use crate::format_space::Choices;
use crate::space::SpaceRules;
use config::{Reader, Sort, Value};
use passes::transform::redefine_channels::{Redefinition, names_sides};
use passes::{By, Rules};

/// Names of the space of formats that files of the original may have.
pub(super) const SPACES: &[(&str, ())] = &[
    ("graph/quantize/mixed_precision_ptq", ()),
    ("graph/quantize/mixed_precision", ()),
];

/// The space of channels was everybody's own in the fourth lab; its names have this word in common.
const CHANNELS: &str = "channel";
pub(super) fn read_space(reader: &mut Reader) -> SpaceRules {
    if is_not_here(reader, "name", Sort::SearchSpace) {
        return SpaceRules::Formats(no_rules(By::Name));
    }
    let is_named_channels = match reader.peek("name") {
        Some(Value::Text(name)) => is_channel_space(name),
        _ => false,
    };
    if is_named_channels {
        reader.text("name");
    } else {
        reader.choice("name", SPACES);
    }
    let is_channels = is_named_channels || reader.peek("seed").is_some_and(names_sides);
    if is_channels && !is_named_channels {
        reader.note("[search.search_space.seed] multiplies channels, so this is a search over channels, whatever its name");
    }
    reader.ignore(&["zc", "nas_zero_cost", "config"]);
    let by = reader.table("setup", |setup| {
        setup.ignore(&["model", "dataset", "task", "score_mod", "model_parallel"]);
        By::read(setup)
    });
    let by = by.flatten().unwrap_or(By::Name);
    if is_channels {
        SpaceRules::Channels(read_seed(reader, by, Redefinition::read))
    } else {
        SpaceRules::Formats(read_seed(reader, by, Choices::read))
    }
}

pub(super) fn is_channel_space(name: &str) -> bool {
    config::plain_name(name).contains(CHANNELS)
}

/// The rules of `[search.search_space.seed]`.
fn read_seed<T>(reader: &mut Reader, by: By, value: fn(&mut Reader) -> T) -> Rules<T> {
    let rules = reader.table("seed", |seed| Rules::read_by(by, seed, value));
    rules.unwrap_or_else(|| {
        reader.missing(
            "[search.search_space.seed]",
            "give choices such as [search.search_space.seed.linear.config]",
        );
        no_rules(by)
    })
}

pub(super) fn no_rules<T>(by: By) -> Rules<T> {
    Rules {
        by,
        rules: Vec::new(),
        default: None,
    }
}
