//! A TOML file of settings: every problem at once, each with its line and column. Only here `"NA"` means none.

use super::Action;
use super::catalog::{self, SECTIONS, SETTINGS, WITHOUT_EFFECT};
use anyhow::{Context, Result, bail};
use config::did_you_mean;
use config::{Problem, Table, describe};
use passes::Program;
use search::config::SearchConfig;
use std::collections::BTreeMap;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// Config files are small; more than this is another file by mistake.
const MAX_FILE: u64 = 1 << 24;

/// What a file says.
#[derive(Debug, Default)]
pub struct File {
    /// Settings by key.
    pub values: BTreeMap<&'static str, String>,
    /// Keys that change nothing.
    pub without_effect: Vec<String>,
    /// Tables that single actions read.
    pub document: Document,
}

/// The text of a file with the tables that single actions read, kept so that their problems can show their place.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// The file's name.
    pub name: String,
    /// All of it.
    text: String,
    /// `[passes.…]` and `[search.…]`, by their names.
    sections: BTreeMap<&'static str, Table>,
}

impl Document {
    /// The table `[passes]` or `[search]`.
    pub fn section(&self, name: &str) -> Option<&Table> {
        self.sections.get(name)
    }

    /// The names of the tables that are there.
    pub fn section_names(&self) -> impl Iterator<Item = &'static str> {
        self.sections.keys().copied()
    }

    /// What is wrong with the tables that an action reads.
    fn problems(&self, action: Action) -> Vec<Problem> {
        let read = |(name, table): (&&str, &Table)| match *name {
            _ if !action.reads(name) => None,
            "passes" => Program::read(table).err(),
            _ => SearchConfig::read(table).err(),
        };
        self.sections.iter().filter_map(read).flatten().collect()
    }

    /// Every problem with its place and line.
    pub fn describe(&self, problems: &[Problem]) -> String {
        describe(&self.name, &self.text, problems)
    }
}

/// Reads a file for an action.
pub fn read(path: &Path, action: Action) -> Result<File> {
    let name = path.display();
    let size = std::fs::metadata(path)
        .with_context(|| format!("cannot read {name}"))?
        .len();
    if size > MAX_FILE {
        bail!("{name} has {size} bytes, which is too large for a config file");
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    let mut file = parse(&text, action)
        .map_err(|problems| anyhow::anyhow!("{}", describe(&name.to_string(), &text, &problems)))?;
    file.document.name = name.to_string();
    file.document.text = text;
    Ok(file)
}

/// All settings of a text, or all problems of the settings and of the tables that the action reads.
pub fn parse(text: &str, action: Action) -> Result<File, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut problems: Vec<Problem> = errors
        .iter()
        .map(|error| Problem {
            span: error.span().unwrap_or(0..0),
            message: error.message().to_owned(),
        })
        .collect();
    let mut file = File::default();
    for (key, value) in table.get_ref() {
        match setting(key.get_ref(), value.get_ref()) {
            Ok(Entry::Setting(key, text)) => drop(file.values.insert(key, text)),
            Ok(Entry::None) => {}
            Ok(Entry::WithoutEffect) => file.without_effect.push(key.get_ref().to_string()),
            Ok(Entry::Section(name, table)) => drop(file.document.sections.insert(name, table)),
            Err((at, message)) => {
                let span = if at == At::Key {
                    key.span()
                } else {
                    value.span()
                };
                // A value that cannot be read at all has been reported.
                if problems.iter().all(|problem| problem.span != span) {
                    problems.push(Problem { span, message });
                }
            }
        }
    }
    // Behind a slip of the syntax a table may be there in part only.
    if errors.is_empty() {
        problems.extend(file.document.problems(action));
    }
    problems.sort_by_key(|problem| problem.span.start);
    if problems.is_empty() {
        Ok(file)
    } else {
        Err(problems)
    }
}

enum Entry {
    Setting(&'static str, String),
    /// `"NA"`.
    None,
    WithoutEffect,
    Section(&'static str, Table),
}

#[derive(PartialEq)]
enum At {
    Key,
    Value,
}

fn setting(key: &str, value: &DeValue) -> Result<Entry, (At, String)> {
    if let Some(name) = SECTIONS.iter().find(|name| **name == key) {
        let message = || (At::Value, format!("{key} must be a table, [{key}.…]"));
        let table = value.as_table().ok_or_else(message)?;
        return Ok(Entry::Section(name, Table::of(table)));
    }
    if WITHOUT_EFFECT.contains(&key) {
        return Ok(Entry::WithoutEffect);
    }
    let Some(setting) = catalog::find(key) else {
        let names = SETTINGS
            .iter()
            .map(|s| s.key)
            .chain(SECTIONS.iter().copied());
        return Err((
            At::Key,
            format!("unknown key '{key}'{}", did_you_mean(key, names)),
        ));
    };
    let text = text_of(value).ok_or_else(|| {
        (
            At::Value,
            format!("{key}: a {} is not a single value", value.type_str()),
        )
    })?;
    if text == "NA" {
        return Ok(Entry::None);
    }
    match setting.kind.problem(&text) {
        None => Ok(Entry::Setting(setting.key, text)),
        Some(problem) => Err((At::Value, format!("{key}: {problem}"))),
    }
}

/// A single value as text.
fn text_of(value: &DeValue) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(
            i64::from_str_radix(number.as_str(), number.radix())
                .ok()?
                .to_string(),
        ),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(flag) => Some(flag.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_problems_are_reported_with_their_places() {
        let text =
            "model = \"jsc-tiny\"\nbatch_sise = 5\nlearning_rate = \"fast\"\nmax_epochs = 0\n";
        let problems = parse(text, Action::Train).unwrap_err();
        let shown = describe("a.toml", text, &problems);
        assert_eq!(
            shown,
            "3 problems in a.toml\n\
             a.toml:2:1: unknown key 'batch_sise'; did you mean 'batch_size'?\n  batch_sise = 5\n  ^^^^^^^^^^\n\
             a.toml:3:17: learning_rate: 'fast' is not a number\n  learning_rate = \"fast\"\n                  ^^^^^^\n\
             a.toml:4:14: max_epochs: 0 is below 1\n  max_epochs = 0\n               ^"
        );
    }

    #[test]
    fn files_of_the_original_are_understood() {
        let text = "model = \"jsc-tiny\"\ndataset = \"jsc\"\ntask = \"cls\"\nmax_epochs = 5\nbatch_size = 512\n\
                    learning_rate = 1e-2\naccelerator = \"cpu\"\nproject = \"NA\"\nseed = 42\nnum_devices = 1\n\
                    [passes.quantize]\nby = \"type\"\n[search.search_space]\nname = \"x\"\n";
        let file = parse(text, Action::Train).unwrap();
        assert_eq!(file.values["learning_rate"], "1e-2");
        assert!(!file.values.contains_key("project"));
        assert_eq!(file.without_effect, ["num_devices"]);
        let sections: Vec<_> = file.document.section_names().collect();
        assert_eq!(sections, ["passes", "search"]);
    }

    #[test]
    fn syntax_errors_do_not_hide_others() {
        let problems = parse("model = \nunknown = 1\nseed = -3\n", Action::Run).unwrap_err();
        assert_eq!(problems.len(), 3, "{problems:?}");
    }

    #[test]
    fn tables_that_the_action_reads_are_checked_with_the_settings() {
        let text =
            "sede = 1\n[passes.quantise]\nby = \"type\"\n[search.search_space]\nname = \"x\"\n";
        let problems = |action| {
            let problems = parse(text, action).unwrap_err();
            let place = |problem: &Problem| text[..problem.span.start].lines().count();
            problems.iter().map(place).collect::<Vec<usize>>()
        };
        let (passes, search) = (problems(Action::Transform), problems(Action::Search));
        assert_eq!(problems(Action::Train), [0]);
        assert!(passes.len() == 2 && passes[0] == 0, "{passes:?}");
        assert!(search.len() > 2 && search[0] == 0, "{search:?}");
        assert_eq!(problems(Action::Run).len(), passes.len() + search.len() - 1);
        let broken = parse(&format!("model = \n{text}"), Action::Run).unwrap_err();
        assert_eq!(
            broken.len(),
            2,
            "a table may be there in part only: {broken:?}"
        );
    }
}
