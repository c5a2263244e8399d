//! Every name the program prints, gathered from the tables of all crates for `ch list` and `ch explain`.

use crate::commands::COLUMNS;
use crate::settings::{SETTINGS, Setting};
use format::Format;
use ir::{FxOp, MaseType, Op};

mod details;
mod ports;
mod reports;
mod training;

/// A kind of names.
pub struct Kind {
    /// What `ch list` calls it.
    pub name: &'static str,
    /// What one of them is called.
    pub singular: &'static str,
    /// What they are.
    pub about: &'static str,
    /// All of them, in the order of their table.
    pub words: fn() -> Vec<Word>,
}

/// One name with its meaning.
pub struct Word {
    /// The name.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// One line.
    pub about: String,
    /// All there is to say beyond that line; may be empty.
    pub details: String,
}

/// Every kind, in reading order.
pub static KINDS: &[Kind] = &[
    Kind {
        name: "commands",
        singular: "command",
        about: "what `ch` can do",
        words: || table(reports::COMMANDS.iter().copied()),
    },
    Kind {
        name: "ops",
        singular: "operator",
        about: "operators: what a node computes",
        words: ops,
    },
    Kind {
        name: "formats",
        singular: "format",
        about: "number formats: which values a tensor may hold",
        words: formats,
    },
    Kind {
        name: "passes",
        singular: "pass",
        about: "what `ch transform` runs over a graph, as [passes.NAME] of a config file",
        words: passes,
    },
    Kind {
        name: "statistics",
        singular: "statistic",
        about: "what profile_statistics can measure of weights and activations",
        words: statistics,
    },
    Kind {
        name: "strategies",
        singular: "strategy",
        about: "how `ch search` chooses what to try next",
        words: strategies,
    },
    Kind {
        name: "objectives",
        singular: "objective",
        about: "what `ch search` can search for",
        words: || {
            let objectives = search::OBJECTIVES.iter();
            table(objectives.map(|entry| (entry.name, entry.about)))
        },
    },
    Kind {
        name: "models",
        singular: "model",
        about: "networks that come with the program",
        words: models,
    },
    Kind {
        name: "datasets",
        singular: "dataset",
        about: "data to learn from, built in or found in files",
        words: datasets,
    },
    Kind {
        name: "settings",
        singular: "setting",
        about: "settings of a run, in a TOML file or as options",
        words: settings,
    },
    Kind {
        name: "metrics",
        singular: "metric",
        about: "what training and testing measure",
        words: || table(training::TRAINING_METRICS.iter().copied()),
    },
    Kind {
        name: "files",
        singular: "file",
        about: "what a run leaves in its folder",
        words: || table(training::FILES.iter().copied()),
    },
    Kind {
        name: "opcodes",
        singular: "opcode",
        about: "what a node is to torch.fx",
        words: || table(FxOp::TABLE.iter().map(|&(_, name, about)| (name, about))),
    },
    Kind {
        name: "types",
        singular: "MASE type",
        about: "how MASE classes a node",
        words: || {
            table(
                MaseType::TABLE
                    .iter()
                    .map(|&(_, name, about)| (name, about)),
            )
        },
    },
    Kind {
        name: "rules",
        singular: "rule",
        about: "what the verifier asks of a graph",
        words: || table(ir::RULES.iter().copied()),
    },
    Kind {
        name: "ports",
        singular: "port",
        about: "what a node reads and makes",
        words: || table(ports::PORTS.iter().copied()),
    },
    Kind {
        name: "columns",
        singular: "column",
        about: "headings of the program's tables",
        words: columns,
    },
];

impl Word {
    /// The name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        [self.name].into_iter().chain(self.aliases.iter().copied())
    }

    /// Whether this is what a user means by `name`.
    pub fn is_called(&self, name: &str) -> bool {
        self.names().any(|known| known.eq_ignore_ascii_case(name))
    }
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

fn statistics() -> Vec<Word> {
    let word = |entry: &passes::statistics::StatisticEntry| Word {
        details: entry.doc.to_owned(),
        ..plain(entry.name, entry.about)
    };
    passes::statistics::STATISTICS.iter().map(word).collect()
}

fn strategies() -> Vec<Word> {
    let word = |entry: &study::SamplerEntry| Word {
        details: entry.doc.to_owned(),
        ..plain(entry.name, entry.about)
    };
    study::SAMPLERS.iter().map(word).collect()
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

fn settings() -> Vec<Word> {
    let word = |setting: &Setting| Word {
        details: details::setting(setting),
        ..plain(setting.key, &details::setting_line(setting))
    };
    SETTINGS.iter().map(word).collect()
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

fn table(lines: impl Iterator<Item = (&'static str, &'static str)>) -> Vec<Word> {
    lines.map(|(name, about)| plain(name, about)).collect()
}

/// The texts of some tables are doc comments, with the line breaks of the source.
fn plain(name: &'static str, about: &str) -> Word {
    Word {
        name,
        aliases: &[],
        about: about.split_whitespace().collect::<Vec<_>>().join(" "),
        details: String::new(),
    }
}
