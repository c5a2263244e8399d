//! The texts of `ch explain` on operators, formats, pipelines, tools, models, datasets and settings
//! below the line of their table.

use crate::settings::{Accepts, Setting};
use data::DatasetEntry;
use format::FormatEntry;
use hw::tools::Tool;
use ir::{AttributeError, Op, OpEntry};
use models::{Classes, ModelEntry};
use passes::Pipeline;
use serde_json::{Map, Value as Json};

/// Class, opcode and attributes of an operator.
pub fn op(entry: &OpEntry) -> String {
    let mut lines = vec![
        format!("MASE type   {}", entry.mase_type),
        format!("fx opcode   {}", entry.fx_op),
    ];
    let attributes = attributes(entry.name);
    if !attributes.is_empty() {
        lines.push(format!("attributes  {}", attributes.join(", ")));
    }
    lines.join("\n")
}

/// The attributes of an operator, from the error that the reader of attributes gives for an unknown one.
fn attributes(op: &str) -> &'static [&'static str] {
    let unknown = Map::from_iter([("?".to_owned(), Json::Null)]);
    match Op::from_attributes(op, unknown) {
        Some(Err(AttributeError::Unknown { known, .. })) => known,
        _ => &[],
    }
}

/// The formula, the example and the fields of a format.
pub fn format(entry: &FormatEntry) -> String {
    let names = entry.fields.iter().map(|field| field.name.len());
    let width = names.max().unwrap_or(0);
    let fields = entry.fields.iter().map(|field| {
        let default = field.default.map(|default| format!(" (default {default})"));
        let default = default.unwrap_or_default();
        format!("  {:<width$}  {}{default}", field.name, field.about)
    });
    let mut lines = vec![
        entry.doc.trim_end().to_owned(),
        String::new(),
        "fields, in positional order:".to_owned(),
    ];
    lines.extend(fields);
    if !entry.aliases.is_empty() {
        lines.push(format!("\nalso called {}", entry.aliases.join(", ")));
    }
    lines.join("\n")
}

/// The ways to get and to name a tool.
pub fn tool(tool: &Tool) -> String {
    let Tool {
        install, variable, ..
    } = tool;
    format!(
        "get it  {install}\nname it  ${variable}, before .tools and the path\nfound  `ch list tools`"
    )
}

/// The steps of a pipeline in their order, and the configs of those that need one.
pub fn pipeline(entry: &Pipeline) -> String {
    let names = entry.steps.iter().map(|step| step.pass.len());
    let width = names.max().unwrap_or(0);
    let mut lines = vec!["steps, in their order:".to_owned()];
    for step in entry.steps {
        lines.push(format!("  {:<width$}  {}", step.pass, step.why));
    }
    for step in entry.steps {
        let config = passes::default_config(step.pass);
        if !config.is_empty() {
            let pass = step.pass;
            lines.push(format!("\nwithout [passes.{pass}], {pass} has {config}"));
        }
    }
    lines.join("\n")
}

/// Input, classes and size of a model.
pub fn model(entry: &ModelEntry) -> String {
    let classes = match entry.classes {
        Classes::Any(default) => format!("any number, {default} by default"),
        Classes::Only(only) => only.to_string(),
        Classes::Optional => "any number, none by default".to_owned(),
    };
    let mut lines = vec![
        format!("input       {}", entry.input),
        format!("sample      {:?} by default", entry.input_shape),
        format!("classes     {classes}"),
        format!("parameters  {} with these defaults", entry.parameters),
    ];
    if !entry.aliases.is_empty() {
        lines.push(format!("aliases     {}", entry.aliases.join(", ")));
    }
    lines.join("\n")
}

/// Sample, classes and origin of a dataset.
pub fn dataset(entry: &DatasetEntry) -> String {
    let mut lines = vec![
        format!("sample   {:?}", entry.sample_shape),
        format!("classes  {}", entry.classes.join(", ")),
    ];
    if !entry.page.is_empty() {
        lines.push(format!("page     {}", entry.page));
    }
    if !entry.aliases.is_empty() {
        lines.push(format!("\nalso called {}", entry.aliases.join(", ")));
    }
    lines.join("\n")
}

/// The effect, the option and the default of a setting, in one line.
pub fn setting_line(setting: &Setting) -> String {
    let option = match setting.argument.option {
        None => "given by position".to_owned(),
        Some(option) => format!("--{option}"),
    };
    let default = match setting.default {
        None => String::new(),
        Some(default) => format!(", default {default}"),
    };
    format!("{} ({option}{default})", setting.about)
}

/// The values that a setting accepts.
pub fn setting(setting: &Setting) -> String {
    match setting.accepts {
        Accepts::Text => "takes a text".to_owned(),
        Accepts::Choice(words) => format!("takes one of {}", words.join(", ")),
        Accepts::Whole(min) => format!("takes a whole number of at least {min}"),
        Accepts::Number => "takes a finite number of at least 0".to_owned(),
        Accepts::Form(form, _) => format!("takes {form}"),
        Accepts::Switch => "takes true or false in a file; the option takes no value".to_owned(),
    }
}
