//! One line of the table of settings: its key in a file, its argument on the command line, its group and its type.

use super::table::{Layer, Settings};
use serde_json::Value as Json;

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The key in a TOML file.
    pub key: &'static str,
    /// The argument on the command line.
    pub argument: Argument,
    /// The values that it accepts.
    pub accepts: Accepts,
    /// The part of the help it stands in.
    pub group: Group,
    /// The value when nobody gives one.
    pub default: Option<&'static str>,
    /// One line of help.
    pub about: &'static str,
    /// Reads a text into the setting's field of a layer.
    pub set: fn(&mut Layer, &str) -> Result<(), String>,
    /// The text that a layer gives.
    pub text: fn(&Layer) -> Option<&str>,
    /// The effective value.
    pub json: fn(&Settings) -> Json,
}

impl Setting {
    /// The spelling on the command line: `--batch-size`, or the key of what is given by position.
    pub fn spelling(&self) -> String {
        match self.argument.option {
            Some(option) => format!("--{option}"),
            None => self.key.to_owned(),
        }
    }
}

/// The values that a type accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accepts {
    /// Any text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number of at least this.
    Whole(i64),
    /// A finite number of at least zero.
    Number,
    /// A text of a form, in words, with examples.
    Form(&'static str, &'static [&'static str]),
    /// `true` or `false`; an option without a value.
    Switch,
}

/// An argument of the command line.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// The option, without the dashes; none for what is given by position.
    pub option: Option<&'static str>,
    /// Another spelling of the option.
    pub alias: Option<&'static str>,
    /// The placeholder of the value in the help.
    pub value_name: &'static str,
    /// The value of an option that is given alone.
    pub value_when_alone: Option<&'static str>,
    /// True when runs on the same data can differ in it, so that a sweep can vary it.
    pub is_swept: bool,
}

impl Argument {
    /// Another spelling.
    pub const fn alias(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }

    /// The value of the option without one.
    pub const fn when_alone(mut self, value: &'static str) -> Self {
        self.value_when_alone = Some(value);
        self
    }

    /// A sweep can vary it.
    pub const fn swept(mut self) -> Self {
        self.is_swept = true;
        self
    }
}

/// An argument by position.
pub const fn position(value_name: &'static str) -> Argument {
    Argument {
        option: None,
        alias: None,
        value_name,
        value_when_alone: None,
        is_swept: false,
    }
}

/// An option with a value.
pub const fn option(name: &'static str, value_name: &'static str) -> Argument {
    Argument {
        option: Some(name),
        ..position(value_name)
    }
}

/// An option without a value.
pub const fn switch(name: &'static str) -> Argument {
    option(name, "")
}

/// The subject of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Model, dataset, weights.
    Run,
    /// Optimiser, schedule, epochs, logs.
    Training,
    /// Folders of output.
    Output,
    /// Threads and machines.
    Machine,
    /// The amount of printing.
    Logging,
}

impl Group {
    /// The heading of its part of the help.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Run => "What to run",
            Self::Training => "Training",
            Self::Output => "Output",
            Self::Machine => "Machine",
            Self::Logging => "What is said",
        }
    }
}
