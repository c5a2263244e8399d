//! A value held against a schema: the part of JSON Schema that the project's schema uses.

use serde_json::{Map, Value as Json};

/// The keywords that are understood; another one in a schema is a mistake of the test.
const KEYWORDS: &[&str] = &[
    "$defs",
    "$ref",
    "$schema",
    "additionalProperties",
    "anyOf",
    "description",
    "enum",
    "items",
    "maxItems",
    "minItems",
    "minimum",
    "properties",
    "required",
    "title",
    "type",
];

/// A schema in a file of its own.
pub struct Schema(pub Json);

impl Schema {
    /// The places of a value that are not as the schema says, each with what is wrong.
    pub fn problems(&self, value: &Json) -> Vec<String> {
        let mut problems = Vec::new();
        self.check(&self.0, value, "", &mut problems);
        problems
    }

    /// The keys that have no description.
    pub fn undescribed(&self) -> Vec<String> {
        let mut found = Vec::new();
        collect_undescribed(&self.0, "", &mut found);
        found
    }

    fn check(&self, schema: &Json, value: &Json, place: &str, problems: &mut Vec<String>) {
        let Json::Object(rules) = schema else {
            panic!("{place}: {schema} is no schema")
        };
        let mut complain = |what: String| problems.push(format!("{place}: {what}"));
        for (keyword, rule) in rules {
            assert!(KEYWORDS.contains(&keyword.as_str()), "{place}: {keyword}");
            match keyword.as_str() {
                "type" if !is_of_type(value, rule) => complain(format!("{value} is no {rule}")),
                "enum" if !list(rule).contains(value) => {
                    complain(format!("{value} is none of {rule}"));
                }
                "minimum" if value.as_f64() < rule.as_f64() && value.is_number() => {
                    complain(format!("{value} is less than {rule}"));
                }
                _ => {}
            }
        }
        if let Some(name) = rules.get("$ref").and_then(Json::as_str) {
            let name = name.strip_prefix("#/$defs/").unwrap();
            self.check(&self.0["$defs"][name], value, place, problems);
        }
        if let Some(choices) = rules.get("anyOf") {
            let fits = |choice: &Json| {
                let mut found = Vec::new();
                self.check(choice, value, place, &mut found);
                found.is_empty()
            };
            if !list(choices).iter().any(fits) {
                problems.push(format!("{place}: {value} is none of what it may be"));
            }
        }
        match value {
            Json::Object(entries) => self.check_entries(rules, entries, place, problems),
            Json::Array(items) => self.check_items(rules, items, place, problems),
            _ => {}
        }
    }

    fn check_entries(
        &self,
        rules: &Map<String, Json>,
        entries: &Map<String, Json>,
        place: &str,
        problems: &mut Vec<String>,
    ) {
        for key in rules.get("required").map_or(&[][..], list) {
            if !entries.contains_key(key.as_str().unwrap()) {
                problems.push(format!("{place}: {key} is missing"));
            }
        }
        let known = rules.get("properties").and_then(Json::as_object);
        for (key, value) in entries {
            let place = format!("{place}/{key}");
            let others = rules.get("additionalProperties");
            match known.and_then(|known| known.get(key)).or(others) {
                Some(Json::Bool(false)) => {
                    problems.push(format!("{place}: the schema has no such entry"));
                }
                Some(schema) => self.check(schema, value, &place, problems),
                None => {}
            }
        }
    }

    fn check_items(
        &self,
        rules: &Map<String, Json>,
        items: &[Json],
        place: &str,
        problems: &mut Vec<String>,
    ) {
        let limit = |key: &str| rules.get(key).and_then(Json::as_u64).map(|n| n as usize);
        let (min, max) = (limit("minItems"), limit("maxItems"));
        if min.is_some_and(|min| items.len() < min) || max.is_some_and(|max| items.len() > max) {
            problems.push(format!("{place}: it has {} items", items.len()));
        }
        if let Some(schema) = rules.get("items") {
            for (at, item) in items.iter().enumerate() {
                self.check(schema, item, &format!("{place}/{at}"), problems);
            }
        }
    }
}

fn list(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn is_of_type(value: &Json, rule: &Json) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other} is no type"),
    };
    match rule {
        Json::String(name) => is(name),
        names => list(names).iter().any(|name| is(name.as_str().unwrap())),
    }
}

fn collect_undescribed(schema: &Json, place: &str, found: &mut Vec<String>) {
    for (key, own) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}/{key}");
        if own["description"].as_str().is_none_or(str::is_empty) {
            found.push(place.clone());
        }
        collect_undescribed(own, &place, found);
    }
    for inner in [&schema["items"]]
        .into_iter()
        .chain(list(&schema["anyOf"]))
        .filter(|inner| inner.is_object())
    {
        collect_undescribed(inner, place, found);
    }
}
