//! A reader of one table: every key by name and type, every problem at once.

use crate::{Item, Key, Problem, Span, Table, Value, did_you_mean, is_same_name};
use serde_json::Value as Json;
use std::ops::RangeInclusive;

/// Reads the keys of one table.
pub struct Reader<'a> {
    table: &'a Table,
    /// The place of the table, for problems of the whole.
    span: Span,
    /// The name of the table, for notes; empty for the file itself.
    name: String,
    asked: Vec<&'a str>,
    takes_any: bool,
    problems: Vec<Problem>,
    notes: Vec<String>,
}

impl<'a> Reader<'a> {
    /// A reader of `table`, which stands at `span`.
    pub fn new(table: &'a Table, span: Span) -> Self {
        Self {
            table,
            span,
            name: String::new(),
            asked: Vec::new(),
            takes_any: false,
            problems: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The same with the name of its table, `passes.quantize`, for notes.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The item of a key, unless it is missing or `"NA"`.
    pub fn item(&mut self, key: &'static str) -> Option<&'a Item> {
        self.asked.push(key);
        let (_, item) = self.table.get(key)?;
        (!item.is_none()).then_some(item)
    }

    /// The value of a key, without asking for it.
    pub fn peek(&self, key: &str) -> Option<&'a Value> {
        let (_, item) = self.table.get(key)?;
        Some(&item.value)
    }

    /// A text.
    pub fn text(&mut self, key: &'static str) -> Option<String> {
        let item = self.item(key)?;
        match &item.value {
            Value::Text(text) => Some(text.clone()),
            other => self.wrong_kind(key, item, "a text", other),
        }
    }

    /// One of several words, by its meaning; case, `-` and `_` make no difference.
    pub fn choice<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)]) -> Option<T> {
        let item = self.item(key)?;
        let Value::Text(word) = &item.value else {
            return self.wrong_kind(key, item, "a word", &item.value);
        };
        let found = words.iter().find(|(known, _)| is_same_name(known, word));
        if found.is_none() {
            let mut names: Vec<&str> = words.iter().map(|(known, _)| *known).collect();
            names.dedup_by(|a, b| is_same_name(a, b));
            let close = did_you_mean(word, names.iter().copied());
            let message = format!("{key}: '{word}' is not one of {}{close}", names.join(", "));
            self.problem(item.span.clone(), message);
        }
        found.map(|(_, meaning)| *meaning)
    }

    /// A whole number within a range.
    pub fn whole(&mut self, key: &'static str, range: RangeInclusive<i64>) -> Option<i64> {
        let item = self.item(key)?;
        let Value::Int(number) = item.value else {
            return self.wrong_kind(key, item, "a whole number", &item.value);
        };
        let bound = if number < *range.start() {
            format!("below {}", range.start())
        } else if number > *range.end() {
            format!("above {}", range.end())
        } else {
            return Some(number);
        };
        self.problem(item.span.clone(), format!("{key}: {number} is {bound}"));
        None
    }

    /// A number of at least one.
    pub fn count(&mut self, key: &'static str) -> Option<usize> {
        self.whole(key, 1..=i64::from(u32::MAX)).map(|n| n as usize)
    }

    /// A number within a range.
    pub fn number(&mut self, key: &'static str, range: RangeInclusive<f64>) -> Option<f64> {
        let item = self.item(key)?;
        let number = match item.value {
            Value::Int(number) => number as f64,
            Value::Float(number) => number,
            ref other => return self.wrong_kind(key, item, "a number", other),
        };
        if !range.contains(&number) {
            let (min, max) = (range.start(), range.end());
            let bounds = if *max == f64::MAX {
                format!("a number of at least {min}")
            } else {
                format!("within {min} and {max}")
            };
            let message = format!("{key}: {number} is not {bounds}");
            self.problem(item.span.clone(), message);
            return None;
        }
        Some(number)
    }

    /// True or false, also written as 1 or 0.
    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let item = self.item(key)?;
        match item.value {
            Value::Bool(flag) => Some(flag),
            Value::Int(0) => Some(false),
            Value::Int(1) => Some(true),
            ref other => self.wrong_kind(key, item, "true or false", other),
        }
    }

    /// A list of words, each with its place; a single word is a list of one.
    pub fn words(&mut self, key: &'static str) -> Option<Vec<Key>> {
        let item = self.item(key)?;
        let items = match &item.value {
            Value::List(items) => items.as_slice(),
            Value::Text(_) => std::slice::from_ref(item),
            other => return self.wrong_kind(key, item, "a list of words", other),
        };
        let mut words = Vec::new();
        for item in items {
            match &item.value {
                Value::Text(name) => words.push(Key {
                    name: name.clone(),
                    span: item.span.clone(),
                }),
                other => drop(self.wrong_kind::<()>(key, item, "a word", other)),
            }
        }
        Some(words)
    }

    /// A table, read by `read`.
    pub fn table<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Reader<'a>) -> T,
    ) -> Option<T> {
        let item = self.item(key)?;
        self.inner(key, item, read)
    }

    /// An item that must be a table, read by `read`; its problems become this reader's.
    pub fn inner<T>(
        &mut self,
        key: &str,
        item: &'a Item,
        read: impl FnOnce(&mut Reader<'a>) -> T,
    ) -> Option<T> {
        let Some(table) = item.as_table() else {
            return self.wrong_kind(key, item, "a table", &item.value);
        };
        let name = if self.name.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.name)
        };
        let mut reader = Reader::new(table, item.span.clone()).named(name);
        let result = read(&mut reader);
        self.notes.append(&mut reader.notes);
        self.problems.extend(reader.finish());
        Some(result)
    }

    /// A table whose keys are the user's own, as JSON.
    pub fn json(&mut self, key: &'static str) -> Option<Json> {
        self.item(key).map(Item::to_json)
    }

    /// Every entry that no key asked for so far: names that the user chose.
    pub fn rest(&mut self) -> Vec<&'a (Key, Item)> {
        self.takes_any = true;
        let asked = &self.asked;
        let is_free = |entry: &&(Key, Item)| !asked.contains(&entry.0.name.as_str());
        self.table.0.iter().filter(is_free).collect()
    }

    /// Accepts keys of the original's files that change nothing here; a note names those that are given.
    pub fn ignore(&mut self, keys: &[&'static str]) {
        let given: Vec<&str> = keys
            .iter()
            .copied()
            .filter(|key| self.table.get(key).is_some())
            .collect();
        self.asked.extend(keys);
        self.note_without_effect(&given, "");
    }

    /// Accepts all keys of a sort that changes nothing here; a note names those that are given, with the reason.
    pub fn ignore_where(&mut self, is_ignored: impl Fn(&str) -> bool, reason: &str) {
        let keys = self.table.0.iter().map(|(key, _)| key.name.as_str());
        let given: Vec<&'a str> = keys
            .filter(|key| !self.asked.contains(key) && is_ignored(key))
            .collect();
        self.asked.extend(&given);
        self.note_without_effect(&given, reason);
    }

    /// Notes that keys of this table have no effect; `reason` follows, as in `: trials are not trained`.
    pub fn note_without_effect(&mut self, keys: &[&str], reason: &str) {
        if keys.is_empty() {
            return;
        }
        let (keys, have) = (
            keys.join("', '"),
            if keys.len() == 1 { "has" } else { "have" },
        );
        let place = if self.name.is_empty() {
            "the file".to_owned()
        } else {
            format!("[{}]", self.name)
        };
        self.note(format!("'{keys}' in {place} {have} no effect{reason}"));
    }

    /// Adds a note: something that is accepted and not what the user may expect.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// The notes so far, which are no longer the reader's.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// The name of the table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The place of the table.
    pub fn span(&self) -> Span {
        self.span.clone()
    }

    /// Reports a problem.
    pub fn problem(&mut self, span: Span, message: impl Into<String>) {
        let message = message.into();
        self.problems.push(Problem { span, message });
    }

    /// Reports that a key is missing.
    pub fn missing(&mut self, key: &str, hint: &str) {
        let span = self.span.clone();
        self.problem(span, format!("{key} is missing; {hint}"));
    }

    /// All problems, unknown keys included.
    pub fn finish(mut self) -> Vec<Problem> {
        if !self.takes_any {
            for (key, _) in &self.table.0 {
                if !self.asked.contains(&key.name.as_str()) {
                    let close = did_you_mean(&key.name, self.asked.iter().copied());
                    let known = match (close.is_empty(), self.distinct_keys()) {
                        (true, asked) if asked.is_empty() => "; there are no keys here".to_owned(),
                        (true, asked) => format!("; known are {}", asked.join(", ")),
                        (false, _) => close,
                    };
                    let message = format!("unknown key '{}'{known}", key.name);
                    self.problems.push(Problem {
                        span: key.span.clone(),
                        message,
                    });
                }
            }
        }
        self.problems
    }

    /// The keys that were asked for, each once.
    fn distinct_keys(&self) -> Vec<&'a str> {
        let mut keys: Vec<&'a str> = Vec::new();
        for key in &self.asked {
            if !keys.contains(key) {
                keys.push(key);
            }
        }
        keys
    }

    fn wrong_kind<T>(&mut self, key: &str, item: &Item, wanted: &str, got: &Value) -> Option<T> {
        let message = format!("{key}: {got} is not {wanted}");
        self.problem(item.span.clone(), message);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str, read: impl FnOnce(&mut Reader)) -> Vec<String> {
        let table = Table::parse(text).unwrap();
        let mut reader = Reader::new(&table, 0..0);
        read(&mut reader);
        let problems = reader.finish();
        let at = |problem: Problem| format!("{}: {}", &text[problem.span], problem.message);
        problems.into_iter().map(at).collect()
    }

    #[test]
    fn every_problem_is_reported_with_its_place() {
        let text = "by = \"tpye\"\nnum = -3\nflag = 2\nsparsity = 1.5\nfoo = 2\n";
        let found = problems(text, |reader| {
            assert!(reader.choice("by", &[("type", 1), ("name", 2)]).is_none());
            assert!(reader.count("num").is_none());
            assert!(reader.flag("flag").is_none());
            assert!(reader.number("sparsity", 0.0..=1.0).is_none());
        });
        assert_eq!(
            found,
            [
                "\"tpye\": by: 'tpye' is not one of type, name; did you mean 'type'?",
                "-3: num: -3 is below 1",
                "2: flag: 2 is not true or false",
                "1.5: sparsity: 1.5 is not within 0 and 1",
                "foo: unknown key 'foo'; known are by, num, flag, sparsity",
            ]
        );
    }

    #[test]
    fn na_is_not_given() {
        let found = problems("by = \"NA\"\n", |reader| {
            assert!(reader.text("by").is_none());
        });
        assert!(found.is_empty());
    }

    #[test]
    fn notes_name_the_table_and_keys_are_listed_once() {
        let text = "[a.b]\nold = 1\nolder = 2\nflag = 1\nzzz = 3\n";
        let mut notes = Vec::new();
        let found = problems(text, |reader| {
            reader.table("a", |a| {
                a.table("b", |b| {
                    assert_eq!((b.flag("flag"), b.flag("flag")), (Some(true), Some(true)));
                    b.ignore(&["old", "older", "oldest"]);
                })
            });
            notes = reader.take_notes();
        });
        assert_eq!(notes, ["'old', 'older' in [a.b] have no effect"]);
        assert_eq!(
            found,
            ["zzz: unknown key 'zzz'; known are flag, old, older, oldest"]
        );
    }

    #[test]
    fn inner_tables_report_to_the_outer() {
        let found = problems("[weight]\nx = 1\n", |reader| {
            reader.table("weight", |weight| weight.flag("y"));
        });
        assert_eq!(found, ["x: unknown key 'x'; known are y"]);
    }
}
