//! The text between the braces of a node, and the operator that comes of it.

use super::parse::{Parsed, Parser, Reported};
use super::statement::{Formats, Name};
use crate::ops::placeholder::Placeholder;
use crate::{AttributeError, Op, Type};
use config::did_you_mean;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::ops::Range;

/// The target and the attributes of a node.
#[derive(Default)]
pub struct Body {
    pub target: String,
    attributes: Map<String, Json>,
    /// The places of each entry's name and value.
    spans: BTreeMap<String, (Range<usize>, Range<usize>)>,
}

impl Parser<'_> {
    /// `{ target = "…", in_features = 16, weight: integer(8, 4) }`, or nothing.
    pub fn body(&mut self, formats: &mut Formats) -> Parsed<Body> {
        let mut body = Body::default();
        if self.take_mark('{') {
            self.list('}', |parser| parser.entry(&mut body, formats))?;
        }
        Ok(body)
    }

    fn entry(&mut self, body: &mut Body, formats: &mut Formats) -> Parsed<()> {
        let (name, span) = self.expect_name("an attribute, a port or '}'")?;
        let is_new = if self.take_mark(':') {
            let is_new = !formats.contains_key(name);
            let format = self.format()?;
            formats.extend(format.map(|format| (name.to_owned(), format)));
            is_new
        } else if self.take_mark('=') {
            self.attribute((name, span.clone()), body)?
        } else {
            return Err(self.unexpected("'=' and a value, or ':' and a format"));
        };
        if !is_new {
            self.report(span, format!("'{name}' is given twice"));
        }
        Ok(())
    }

    /// True when the attribute is new.
    fn attribute(&mut self, (name, span): Name, body: &mut Body) -> Parsed<bool> {
        let start = self.peek(0).span.start;
        if name == "target" {
            body.target = self.expect_text("a string")?;
        } else {
            let value = self.literal()?;
            body.attributes.insert(name.to_owned(), value);
        }
        let end = self.source[..self.peek(0).span.start].trim_end().len();
        Ok(body
            .spans
            .insert(name.to_owned(), (span, start..end))
            .is_none())
    }

    /// The operator of `x: f32[N, 16] = placeholder`, whose attributes are its type.
    pub fn placeholder(
        &mut self,
        name: &str,
        span: Range<usize>,
        stated: Option<(Type, Range<usize>)>,
        body: &Body,
    ) -> Parsed<Op> {
        let Some((Type { shape, dtype }, _)) = stated else {
            let message = format!("the type is missing: write {name}: f32[N, 16] = placeholder");
            return Err(self.report(span, message));
        };
        if let Some(attribute) = body.attributes.keys().next() {
            let (at, _) = body.spans[attribute].clone();
            return Err(self.report(
                at,
                format!("unknown attribute '{attribute}' of placeholder"),
            ));
        }
        Ok(Placeholder { shape, dtype }.into())
    }

    /// The operator made of the attributes; unknown ones are reported and left out, to find what else is wrong.
    pub fn op(&mut self, (op, span): Name, mut body: Body) -> Parsed<Op> {
        loop {
            let built = Op::from_attributes(op, body.attributes.clone()).ok_or(Reported)?;
            let error = match built {
                Ok(op) => return Ok(op),
                Err(error) => error,
            };
            let reported = self.attribute_error(op, &span, &body, &error);
            match error.given_name() {
                Some(name)
                    if matches!(error, AttributeError::Unknown { .. }) && !self.is_full() =>
                {
                    body.attributes.shift_remove(name);
                }
                _ => return Err(reported),
            }
        }
    }

    fn attribute_error(
        &mut self,
        op: &str,
        op_span: &Range<usize>,
        body: &Body,
        error: &AttributeError,
    ) -> Reported {
        let spans = error
            .given_name()
            .and_then(|name| body.spans.get(name).cloned());
        let (name_span, value_span) = spans.unwrap_or((op_span.clone(), op_span.clone()));
        match error {
            AttributeError::Unknown { name, known } => {
                let hint = did_you_mean(name, known.iter().copied());
                let all = if hint.is_empty() {
                    there_are(known)
                } else {
                    hint
                };
                self.report(
                    name_span,
                    format!("unknown attribute '{name}' of {op}{all}"),
                )
            }
            AttributeError::Missing(_) => self.report(op_span.clone(), format!("{op}: {error}")),
            AttributeError::Invalid { .. } => self.report(value_span, error.to_string()),
        }
    }
}

fn there_are(known: &[&str]) -> String {
    if known.is_empty() {
        "; it has none".to_owned()
    } else {
        format!("; it has {}", known.join(", "))
    }
}
