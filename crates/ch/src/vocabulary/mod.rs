//! Every name the program prints, gathered from the tables of all crates for `ch list` and `ch explain`.

use crate::command_line;
use crate::commands::COLUMNS;
use crate::settings::{SETTINGS, Setting};
use format::Format;
use ir::{FxOp, MaseType, Op};

pub mod compound;
mod details;
mod hardware;
mod keys;
mod ports;
mod reports;
mod terms;
mod training;

/// A kind of names.
pub struct Kind {
    /// The name in `ch list`.
    pub name: &'static str,
    /// An earlier name, which is still understood.
    alias: Option<&'static str>,
    /// The name of one of them.
    pub singular: &'static str,
    /// One line.
    pub about: &'static str,
    /// All of them, in the order of their table.
    pub words: fn() -> Vec<Word>,
}

/// One name with its meaning.
pub struct Word {
    /// The name.
    pub name: String,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// One line.
    pub about: String,
    /// The text of `ch explain` below that line; may be empty.
    pub details: String,
}

/// Every kind, in reading order.
#[rustfmt::skip]
pub static KINDS: &[Kind] = &[
    Kind::new("commands", "command", "what `ch` can do", commands),
    Kind::new("ops", "operator", "operators: what a node computes", ops),
    Kind::new("formats", "format", "number formats: which values a tensor may hold", formats),
    Kind::new("passes", "pass", "what `ch transform` runs over a graph, as [passes.NAME] of a config file", passes),
    Kind::new("pipelines", "pipeline", "sequences of passes that `ch transform --pipeline NAME` runs", pipelines),
    Kind::new("statistics", "statistic", "what profile_statistics can measure of weights and activations", statistics),
    Kind::new("samplers", "sampler", "how `ch search` chooses what to try next", samplers).alias("strategies"),
    Kind::new("objectives", "objective", "what `ch search` can search for", objectives),
    Kind::new("models", "model", "networks that come with the program", models),
    Kind::new("datasets", "dataset", "data to learn from, built in or found in files", datasets),
    Kind::new("targets", "target", "families of devices that `ch synth` knows", targets),
    Kind::new("boards", "board", "boards that `ch bitstream` makes files for", boards),
    Kind::new("tools", "tool", "programs of others that the commands for hardware run", tools),
    Kind::new("settings", "setting", "settings of a run, in a TOML file or as options", settings),
    Kind::new("metrics", "metric", "what training and testing measure", || plain_all(training::METRICS)),
    Kind::new("files", "file", "what a run and emitted hardware leave in their folders", || both(training::FILES, hardware::FILES)),
    Kind::new("opcodes", "opcode", "what a node is to torch.fx", opcodes),
    Kind::new("types", "MASE type", "how MASE classes a node", types),
    Kind::new("rules", "rule", "what the verifier asks of a graph", || plain_all(ir::RULES)),
    Kind::new("ports", "port", "what a node reads and makes", || plain_all(ports::PORTS)),
    Kind::new("columns", "column", "headings of the program's tables", columns),
    Kind::new("keys", "key", "keys of the program's JSON and CSV files", || both(keys::KEYS, hardware::KEYS)),
    Kind::new("words", "word", "words in messages and in the cells of tables", || plain_all(terms::TERMS)),
];

impl Kind {
    const fn new(
        name: &'static str,
        singular: &'static str,
        about: &'static str,
        words: fn() -> Vec<Word>,
    ) -> Self {
        Self {
            name,
            alias: None,
            singular,
            about,
            words,
        }
    }

    const fn alias(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }

    /// The kind with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        KINDS
            .iter()
            .find(|kind| kind.name == name || kind.alias == Some(name))
    }
}

impl Word {
    /// The name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [self.name.as_str()]
            .into_iter()
            .chain(self.aliases.iter().copied())
    }

    /// True when `name` is one of its names, in whatever case.
    pub fn is_called(&self, name: &str) -> bool {
        self.names().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// The commands as the command line defines them.
fn commands() -> Vec<Word> {
    let mut definition = command_line::definition();
    definition.build();
    let word = |command: &mut clap::Command| {
        let about = command.get_about().map(ToString::to_string);
        let about = about.unwrap_or_default();
        let (first, rest) = about.split_at(about.ceil_char_boundary(1));
        Word {
            name: command.get_name().to_owned(),
            aliases: &[],
            about: first.to_lowercase() + rest,
            details: command.render_usage().to_string(),
        }
    };
    definition.get_subcommands_mut().map(word).collect()
}

fn ops() -> Vec<Word> {
    let word = |entry: &ir::OpEntry| Word {
        details: details::op(entry),
        ..plain(entry.name, entry.about)
    };
    Op::TABLE.iter().map(word).collect()
}

fn formats() -> Vec<Word> {
    let word = |entry: &format::FormatEntry| Word {
        aliases: entry.aliases,
        details: details::format(entry),
        ..plain(entry.name, entry.about)
    };
    Format::TABLE.iter().map(word).collect()
}

fn passes() -> Vec<Word> {
    let word = |entry: &passes::PassEntry| Word {
        aliases: entry.aliases,
        details: entry.doc.to_owned(),
        ..plain(entry.name, entry.about)
    };
    passes::PASSES.iter().map(word).collect()
}

fn pipelines() -> Vec<Word> {
    let word = |entry: &passes::Pipeline| Word {
        details: details::pipeline(entry),
        ..plain(entry.name, entry.about)
    };
    passes::PIPELINES.iter().map(word).collect()
}

fn statistics() -> Vec<Word> {
    let word = |entry: &passes::statistics::StatisticEntry| Word {
        details: entry.doc.to_owned(),
        ..plain(entry.name, entry.about)
    };
    passes::statistics::STATISTICS.iter().map(word).collect()
}

fn samplers() -> Vec<Word> {
    let word = |entry: &study::SamplerEntry| Word {
        details: entry.doc.to_owned(),
        ..plain(entry.name, entry.about)
    };
    study::SAMPLERS.iter().map(word).collect()
}

fn objectives() -> Vec<Word> {
    let objectives = search::OBJECTIVES.iter();
    objectives
        .map(|entry| plain(entry.name, entry.about))
        .collect()
}

fn models() -> Vec<Word> {
    let word = |entry: &models::ModelEntry| Word {
        aliases: entry.aliases,
        details: details::model(entry),
        ..plain(entry.name, entry.about)
    };
    models::MODELS.iter().map(word).collect()
}

fn datasets() -> Vec<Word> {
    let word = |entry: &data::DatasetEntry| Word {
        aliases: entry.aliases,
        details: details::dataset(entry),
        ..plain(entry.name, entry.about)
    };
    data::DATASETS.iter().map(word).collect()
}

fn targets() -> Vec<Word> {
    let targets = hw::synth::TARGETS.iter();
    targets
        .map(|target| plain(target.name, target.about))
        .collect()
}

fn boards() -> Vec<Word> {
    let boards = hw::boards::BOARDS.iter();
    boards.map(|board| plain(board.name, board.about)).collect()
}

fn tools() -> Vec<Word> {
    let word = |tool: &&hw::tools::Tool| Word {
        details: details::tool(tool),
        ..plain(tool.name, tool.about)
    };
    hw::tools::TOOLS.iter().map(word).collect()
}

fn settings() -> Vec<Word> {
    let word = |setting: &Setting| Word {
        details: details::setting(setting),
        ..plain(setting.key, &details::setting_line(setting))
    };
    SETTINGS.iter().map(word).collect()
}

fn opcodes() -> Vec<Word> {
    let word = |&(_, name, about): &(FxOp, &'static str, &'static str)| plain(name, about);
    FxOp::TABLE.iter().map(word).collect()
}

fn types() -> Vec<Word> {
    let word = |&(_, name, about): &(MaseType, &'static str, &'static str)| plain(name, about);
    MaseType::TABLE.iter().map(word).collect()
}

/// A heading that stands in two tables means the same in both.
fn columns() -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for column in COLUMNS.iter().copied().flatten() {
        if !words.iter().any(|word| word.name == column.heading) {
            words.push(plain(column.heading, column.about));
        }
    }
    for &(heading, about) in reports::COLUMNS {
        if !words.iter().any(|word| word.name == heading) {
            words.push(plain(heading, about));
        }
    }
    words
}

fn plain_all(lines: &[(&str, &str)]) -> Vec<Word> {
    lines
        .iter()
        .map(|(name, about)| plain(name, about))
        .collect()
}

/// Two tables of one kind, one after the other.
fn both(first: &[(&str, &str)], second: &[(&str, &str)]) -> Vec<Word> {
    plain_all(&[first, second].concat())
}

/// A name with one line. The texts of some tables are doc comments, with the line breaks of the source.
fn plain(name: &str, about: &str) -> Word {
    Word {
        name: name.to_owned(),
        aliases: &[],
        about: about.split_whitespace().collect::<Vec<_>>().join(" "),
        details: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every name of an entry, aliases among them, is that of one word, and in whatever case.
    #[test]
    fn entries_are_found_by_all_their_names() {
        let check = |words: &[Word], name: &str, aliases: &[&str]| {
            for own in aliases.iter().copied().chain([name]) {
                let called = words
                    .iter()
                    .filter(|word| word.is_called(&own.to_uppercase()));
                let found: Vec<&str> = called.map(|word| word.name.as_str()).collect();
                assert_eq!(found, [name], "{own}");
            }
        };
        for entry in Format::TABLE {
            check(&formats(), entry.name, entry.aliases);
        }
        for entry in models::MODELS {
            check(&models(), entry.name, entry.aliases);
        }
        for entry in data::DATASETS {
            check(&datasets(), entry.name, entry.aliases);
        }
        for entry in passes::PASSES {
            check(&passes(), entry.name, entry.aliases);
        }
    }
}
