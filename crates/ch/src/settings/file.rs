//! A config file: settings, and the tables `[passes]`, `[search]` and those of hardware. Every problem is reported at once, each with its
//! line and column.

use super::setting::Setting;
use super::table::{Layer, SETTINGS};
use super::{Action, names};
use crate::hardware::{Hardware, TABLES};
use crate::missing;
use anyhow::{Context, Result, anyhow, bail};
use config::{Item, Key, Problem, Reader, Table, Value, describe, did_you_mean};
use passes::Program;
use search::config::SearchConfig;
use std::path::Path;

/// Config files are small; more than this is another file by mistake.
const MAX_FILE: u64 = 1 << 24;

/// Keys that files written for the original may have and that change nothing here; each is named in a note.
const WITHOUT_EFFECT: &[&str] = &[
    "to_debug",
    "action",
    "config",
    "interactive",
    "devices",
    "auto_requeue",
    "quant_config",
    "cf_args",
    "pretrained",
    "data_loader",
    "search_space",
    "runner",
    "num_devices",
    "num_nodes",
    "strategy",
    "is_to_auto_requeue",
    "github_ci",
    "disable_dataset_cache",
    "target",
    "num_targets",
    "is_pretrained",
    "max_token_len",
    "no_warnings",
];

/// Tables that single actions read, beside those of hardware.
const SECTIONS: [&str; 2] = ["passes", "search"];

/// The table of the original that says what to transform: `style`, and the passes to run.
const TRANSFORM: &str = "transform";

/// The styles of transforming; every network is a graph here.
const STYLES: &[(&str, ())] = &[("graph", ()), ("module", ())];

/// The content of a file.
#[derive(Default)]
pub struct Content {
    /// The settings.
    pub settings: Layer,
    /// `[passes]`, if the action reads it.
    pub passes: Option<Program>,
    /// `[search]`, if the action reads it.
    pub search: Option<SearchConfig>,
    /// The tables of hardware that the action reads.
    pub hardware: Hardware,
    /// Keys and tables that change nothing in this action.
    pub without_effect: Vec<String>,
    /// Notes on the tables.
    pub notes: Vec<String>,
}

/// The parts of a file that are read.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// The purpose.
    pub action: Action,
    /// The pipeline to run, whichever the file names.
    pub pipeline: Option<&'a str>,
    /// The settings of the command line, which win over the file's.
    pub typed: &'a [(&'static Setting, String)],
}

impl Scope<'_> {
    /// The text that the command line gives for a key.
    pub fn typed(&self, key: &str) -> Option<&str> {
        let mut typed = self.typed.iter();
        typed.find_map(|(setting, text)| (setting.key == key).then_some(text.as_str()))
    }

    /// True when the command line gives a key.
    pub fn is_typed(&self, key: &str) -> bool {
        self.typed(key).is_some()
    }
}

/// The problems of a file and of the pipeline on the command line.
#[derive(Debug, Default)]
pub struct Problems {
    /// Problems of the file, in its order.
    pub file: Vec<Problem>,
    /// Problems of the pipeline's name.
    pub pipeline: Vec<String>,
}

/// A file's name and text, to show the places of problems.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The name.
    pub name: String,
    text: String,
}

impl Source {
    /// Every problem with its place and line.
    pub fn describe(&self, problems: &[Problem]) -> String {
        describe(&self.name, &self.text, problems)
    }
}

/// Reads a file.
pub fn read(path: &Path, scope: Scope) -> Result<(Source, Content)> {
    missing::check(path)?;
    let name = path.display().to_string();
    let size = std::fs::metadata(path)
        .with_context(|| format!("cannot read {name}"))?
        .len();
    if size > MAX_FILE {
        bail!("{name} has {size} bytes, which is too large for a config file");
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    read_source(Source { name, text }, scope)
}

/// Reads a file whose text is known; an empty one when there is no file.
pub fn read_source(source: Source, scope: Scope) -> Result<(Source, Content)> {
    let problems = match parse(&source.text, scope) {
        Ok(content) => return Ok((source, content)),
        Err(problems) => problems,
    };
    let mut texts: Vec<String> = problems
        .pipeline
        .iter()
        .map(|problem| format!("--pipeline: {problem}"))
        .collect();
    if !problems.file.is_empty() {
        texts.push(source.describe(&problems.file));
    }
    Err(anyhow!("{}", texts.join("\n")))
}

/// The content of a text, or all problems of the settings and of the tables that the action reads.
pub fn parse(text: &str, scope: Scope) -> Result<Content, Problems> {
    let action = scope.action;
    let (table, mut problems) = Table::parse_recoverable(text);
    // Behind an error of syntax a table may be there in part only.
    let is_whole = problems.is_empty();
    let mut reader = Reader::new(&table, 0..0);
    let mut content = Content {
        settings: read_settings(&mut reader, text, scope),
        without_effect: without_effect(&table, action),
        ..Content::default()
    };
    if is_whole {
        names::check(&mut reader, &content.settings, scope);
    }
    let [passes, search] = SECTIONS.map(|name| read_section(&mut reader, name));
    let order = read_transform(&mut reader);
    let ordered = passes
        .zip(order)
        .map(|(passes, order)| in_order(&mut reader, passes, &order));
    // `[passes]` without a pass asks for none.
    let passes = ordered.as_ref().or(passes);
    let passes = passes.filter(|passes| !passes.0.is_empty());
    content.notes = reader.take_notes();
    report_unknown_keys(&mut reader);
    let mut found = reader.finish();
    let mut pipeline = Vec::new();
    if is_whole && action.reads("passes") {
        let result = read_passes(passes, scope.pipeline, &mut pipeline);
        content.passes = collect(result, &mut found);
        let notes = content.passes.iter().flat_map(Program::notes);
        content.notes.extend(notes.cloned());
    }
    if is_whole && action.reads("search") {
        content.search = collect(search.map(SearchConfig::read), &mut found);
        let notes = content.search.iter().flat_map(|search| &search.notes);
        content.notes.extend(notes.cloned());
    }
    if is_whole {
        let (hardware, mistakes) = Hardware::read(&table, text, |name| action.reads(name));
        content.hardware = hardware;
        found.extend(mistakes);
    }
    // A value that cannot be parsed has been reported.
    found.retain(|new| problems.iter().all(|problem| problem.span != new.span));
    problems.extend(found);
    problems.sort_by_key(|problem| problem.span.start);
    if problems.is_empty() && pipeline.is_empty() {
        Ok(content)
    } else {
        let file = problems;
        Err(Problems { file, pipeline })
    }
}

/// The settings; a value that the action has no use for is not looked at further than that it is there.
fn read_settings(reader: &mut Reader, text: &str, scope: Scope) -> Layer {
    let mut layer = Layer::default();
    for setting in SETTINGS {
        let Some(item) = reader.item(setting.key) else {
            continue;
        };
        let result = match value_text(item, text) {
            Some(value) => (setting.set)(&mut layer, &value),
            None => Err(format!("{} is not a single value", item.value)),
        };
        if let Err(problem) = result
            && scope.action.uses(setting.group)
            && !scope.is_typed(setting.key)
            && !is_idle(setting, &layer, scope)
        {
            reader.problem(item.span.clone(), format!("{}: {problem}", setting.key));
        }
    }
    layer
}

/// True for the epochs of a run that trains nothing, because it starts from a checkpoint.
fn is_idle(setting: &Setting, layer: &Layer, scope: Scope) -> bool {
    let is_run = scope.action == Action::Run;
    setting.key == "max_epochs" && is_run && names::load_path(layer, scope).is_some()
}

/// A single value as it is written in the file; numbers without underscores.
fn value_text(item: &Item, text: &str) -> Option<String> {
    match &item.value {
        Value::Text(text) => Some(text.clone()),
        Value::Int(number) => Some(number.to_string()),
        Value::Float(_) => Some(text[item.span.clone()].replace('_', "")),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::List(_) | Value::Table(_) => None,
    }
}

fn read_section<'a>(reader: &mut Reader<'a>, name: &'static str) -> Option<&'a Table> {
    let item = reader.item(name)?;
    let table = item.as_table();
    if table.is_none() {
        let message = format!("{name} must be a table, [{name}.…]");
        reader.problem(item.span.clone(), message);
    }
    table
}

/// `[transform]` of the original: its style, and the keys of the passes to run, if it lists them.
fn read_transform(reader: &mut Reader) -> Option<Vec<Key>> {
    let order = reader.table(TRANSFORM, |transform| {
        transform.choice("style", STYLES);
        transform.words("passes")
    });
    order.flatten()
}

/// The passes that a list names, in its order.
fn in_order(reader: &mut Reader, passes: &Table, order: &[Key]) -> Table {
    let mut chosen = Table::default();
    for key in order {
        if let Some(entry) = passes.get(&key.name) {
            chosen.0.push(entry.clone());
        } else {
            let names = passes.0.iter().map(|(key, _)| key.name.as_str());
            let close = did_you_mean(&key.name, names);
            let message = format!("passes: there is no [passes.{}]{close}", key.name);
            reader.problem(key.span.clone(), message);
        }
    }
    chosen
}

/// The passes of the file, or those of a pipeline. The problems of the pipeline's name have no place in the file.
fn read_passes(
    table: Option<&Table>,
    pipeline: Option<&str>,
    of_name: &mut Vec<String>,
) -> Option<Result<Program, Vec<Problem>>> {
    let Some(name) = pipeline else {
        return table.map(Program::read);
    };
    Some(Program::read_pipeline(table, name).map_err(|problems| {
        let (names, of_file): (Vec<_>, Vec<_>) = problems
            .into_iter()
            .partition(|problem| problem.span.is_empty());
        of_name.extend(names.into_iter().map(|problem| problem.message));
        of_file
    }))
}

fn report_unknown_keys(reader: &mut Reader) {
    reader.ignore(WITHOUT_EFFECT);
    reader.ignore(&TABLES);
    for (key, _) in reader.rest() {
        let keys = SETTINGS.iter().map(|setting| setting.key);
        let names = keys.chain(SECTIONS).chain(TABLES).chain([TRANSFORM]);
        let close = did_you_mean(&key.name, names);
        reader.problem(
            key.span.clone(),
            format!("unknown key '{}'{close}", key.name),
        );
    }
}

/// Keys without effect, in the order of the file, and the tables that the action does not read.
fn without_effect(table: &Table, action: Action) -> Vec<String> {
    let keys = table.0.iter().map(|(key, _)| key.name.as_str());
    let keys = keys.filter(|key| WITHOUT_EFFECT.contains(key));
    let is_unread = |name: &&str| !action.reads(name) && table.get(name).is_some();
    let sections = SECTIONS.into_iter().chain(TABLES).filter(is_unread);
    keys.chain(sections).map(str::to_owned).collect()
}

fn collect<T>(read: Option<Result<T, Vec<Problem>>>, problems: &mut Vec<Problem>) -> Option<T> {
    match read? {
        Ok(value) => Some(value),
        Err(found) => {
            problems.extend(found);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(action: Action) -> Scope<'static> {
        Scope {
            action,
            pipeline: None,
            typed: &[],
        }
    }

    fn problems(text: &str, action: Action) -> Vec<Problem> {
        let problems = parse(text, scope(action)).err();
        problems.expect("there are problems").file
    }

    #[test]
    fn all_problems_are_reported_with_their_places() {
        let text =
            "model = \"jsc-tiny\"\nbatch_sise = 5\nlearning_rate = \"fast\"\nmax_epochs = 0\n";
        let shown = describe("a.toml", text, &problems(text, Action::Train));
        assert_eq!(
            shown,
            "3 problems in a.toml\n\
             a.toml:2:1: unknown key 'batch_sise'; did you mean 'batch_size' or 'batch_axis'?\n  batch_sise = 5\n  ^^^^^^^^^^\n\
             a.toml:3:17: learning_rate: 'fast' is not a number\n  learning_rate = \"fast\"\n                  ^^^^^^\n\
             a.toml:4:14: max_epochs: 0 is below 1; -1 means no limit\n  max_epochs = 0\n               ^"
        );
    }

    #[test]
    fn files_of_the_original_are_understood() {
        let text = "model = \"jsc-tiny\"\ndataset = \"jsc\"\ntask = \"cls\"\nmax_epochs = 5\nbatch_size = 512\n\
                    learning_rate = 1e-2\naccelerator = \"cpu\"\nproject = \"NA\"\nseed = 42\nnum_devices = 1\n\
                    [passes.quantize]\nby = \"type\"\n[search.search_space]\nname = \"x\"\n";
        let Ok(content) = parse(text, scope(Action::Train)) else {
            panic!("the file is understood");
        };
        let learning_rate = content.settings.learning_rate.expect("it is given");
        assert_eq!(learning_rate.text, "1e-2");
        assert!(content.settings.project.is_none());
        assert_eq!(content.without_effect, ["num_devices", "passes", "search"]);
    }

    #[test]
    fn no_setting_is_noted_as_one_without_effect() {
        let mut keys = SETTINGS.iter().map(|setting| setting.key);
        assert!(keys.all(|key| !WITHOUT_EFFECT.contains(&key)));
    }

    #[test]
    fn syntax_errors_do_not_hide_others() {
        let found = problems("model = \nunknown = 1\nseed = -3\n", Action::Run);
        assert_eq!(found.len(), 3, "{found:?}");
    }

    #[test]
    fn tables_that_the_action_reads_are_checked_with_the_settings() {
        let text =
            "sede = 1\n[passes.quantise]\nby = \"type\"\n[search.search_space]\nname = \"x\"\n";
        let lines = |action| {
            let place = |problem: &Problem| text[..problem.span.start].lines().count();
            let problems = problems(text, action);
            problems.iter().map(place).collect::<Vec<usize>>()
        };
        let (passes, search) = (lines(Action::Transform), lines(Action::Search));
        assert_eq!(lines(Action::Train), [0]);
        assert!(passes.len() == 2 && passes[0] == 0, "{passes:?}");
        assert!(search.len() > 2 && search[0] == 0, "{search:?}");
        assert_eq!(lines(Action::Run).len(), passes.len() + search.len() - 1);
        let broken = problems(&format!("model = \n{text}"), Action::Run);
        assert_eq!(
            broken.len(),
            2,
            "a table may be there in part only: {broken:?}"
        );
    }
}
