//! Statements: from tokens to nodes.

use super::lexer::Kind;
use super::parse::{Parsed, Parser, Reported};
use crate::ops::placeholder::Output;
use crate::{Node, NodeId, Op, Type, Value};
use config::did_you_mean;
use format::Format;
use std::collections::BTreeMap;
use std::ops::Range;

/// A name and where it stands.
pub type Name<'s> = (&'s str, Range<usize>);

/// Formats by port.
pub type Formats = BTreeMap<String, Format>;

impl<'s> Parser<'s> {
    /// The whole text.
    pub fn graph(&mut self) -> Parsed<()> {
        if !self.is_word(0, "graph") {
            return Err(self.unexpected("graph \"name\" { … }"));
        }
        self.next();
        self.graph.name = self.expect_text("the graph's name as a string")?;
        self.expect_mark('{')?;
        while !self.take_mark('}') {
            if self.peek(0).kind == Kind::End {
                return Err(self.unexpected("'}'"));
            }
            if self.is_full() {
                return Ok(());
            }
            self.statement_or_skip();
        }
        if self.peek(0).kind != Kind::End {
            return Err(self.unexpected("the end of the text"));
        }
        Ok(())
    }

    /// True when a statement starts here. Entries of a body look similar, so the first tokens of a line are compared
    /// with what only a statement can start with.
    pub fn starts_statement(&self) -> bool {
        let is_name = |ahead: usize| self.peek(ahead).kind == Kind::Name;
        let is_literal = self.is_word(2, "true") || self.is_word(2, "false");
        self.peek(0).first
            && is_name(0)
            && ((self.is_mark(1, '=') && is_name(2) && !is_literal)
                || (self.is_mark(1, ':') && is_name(2) && self.is_mark(3, '['))
                || (self.is_word(0, "return") && is_name(1)))
    }

    /// Reads a statement; after an error, skips to the next one.
    fn statement_or_skip(&mut self) {
        let first = self.peek(0).clone();
        if self.statement().is_ok() {
            return;
        }
        // The name stays known, so that its readers are not blamed for it.
        if first.kind == Kind::Name {
            let name = self.text(&first);
            let place = self.graph.nodes().len();
            self.names.entry(name).or_insert((place, first.span));
            self.graph.push(Node::new(name, "", Output {}, &[]));
        }
        let is_last = |parser: &Self| parser.is_mark(0, '}') && parser.peek(1).kind == Kind::End;
        while self.peek(0).kind != Kind::End && !self.starts_statement() && !is_last(self) {
            self.next();
        }
    }

    fn statement(&mut self) -> Parsed<()> {
        let names_a_node = self.is_mark(1, '=') || self.is_mark(1, ':');
        if self.is_word(0, "return") && !names_a_node {
            let span = self.next().span;
            let (inputs, formats) = self.returned()?;
            let node = Node::new("output", "", Output {}, &inputs);
            self.declare(("output", span), Node { formats, ..node });
            return Ok(());
        }
        let name = self.expect_name("a node's name or return")?;
        let stated = if self.take_mark(':') {
            Some(self.stated_type()?)
        } else {
            None
        };
        self.expect_mark('=')?;
        let op = self.expect_name("an op")?;
        self.check_op(&op);
        let takes_nothing = matches!(op.0, "placeholder" | "constant");
        let (inputs, mut formats) = if takes_nothing && !self.is_mark(0, '(') {
            Default::default()
        } else {
            self.arguments()?
        };
        let body = self.body(&mut formats)?;
        let target = body.target.clone();
        let op = match stated {
            _ if op.0 == "placeholder" => self.placeholder(name.0, op.1, stated, &body)?,
            Some((_, span)) => return Err(self.states_type(op.0, span)),
            None => self.op(op, body)?,
        };
        let node = Node::new(name.0, &target, op, &inputs);
        self.declare(name, Node { formats, ..node });
        Ok(())
    }

    /// Appends a node under a name that must be new.
    fn declare(&mut self, (name, span): Name<'s>, node: Node) {
        if let Some((_, first)) = self.names.get(name) {
            let line = self.source[..first.start].matches('\n').count() + 1;
            let message = format!("the name '{name}' is already taken in line {line}");
            self.report(span.clone(), message);
        }
        self.names.insert(name, (self.graph.nodes().len(), span));
        self.graph.push(node);
    }

    fn stated_type(&mut self) -> Parsed<(Type, Range<usize>)> {
        let start = self.peek(0).span.start;
        let ty = self.ty()?;
        let end = self.source[..self.peek(0).span.start].trim_end().len();
        Ok((ty, start..end))
    }

    fn states_type(&mut self, op: &str, span: Range<usize>) -> Reported {
        let message = format!("only a placeholder states its type; that of {op} is inferred");
        self.report(span, message)
    }

    fn check_op(&mut self, (name, span): &Name) {
        let mut names = Op::TABLE.iter().map(|entry| entry.name);
        if !names.clone().any(|known| known == *name) {
            let hint = did_you_mean(name, &mut names);
            self.report(span.clone(), format!("unknown op '{name}'{hint}"));
        }
    }

    /// `(a: integer(8, 4), b.1)`.
    fn arguments(&mut self) -> Parsed<(Vec<Value>, Formats)> {
        let mut formats = Formats::new();
        let mut port = 0;
        self.expect_mark('(')?;
        let inputs = self.list(')', |parser| {
            port += 1;
            parser.argument(port - 1, &mut formats)
        })?;
        Ok((inputs, formats))
    }

    /// `a: integer(8, 4), b.1` without parentheses.
    fn returned(&mut self) -> Parsed<(Vec<Value>, Formats)> {
        let mut formats = Formats::new();
        let mut inputs = vec![self.argument(0, &mut formats)?];
        while self.take_mark(',') && self.peek(0).kind == Kind::Name && !self.starts_statement() {
            inputs.push(self.argument(inputs.len(), &mut formats)?);
        }
        Ok((inputs, formats))
    }

    fn argument(&mut self, port: usize, formats: &mut Formats) -> Parsed<Value> {
        let value = self.value()?;
        if self.take_mark(':') {
            let format = self.format()?;
            formats.extend(format.map(|format| (format!("data_in_{port}"), format)));
        }
        Ok(value)
    }

    fn value(&mut self) -> Parsed<Value> {
        let (name, span) = self.expect_name("a value")?;
        let node = self.names.get(name).map_or(0, |(node, _)| *node);
        if !self.names.contains_key(name) {
            let message = if self.is_defined_later(name) {
                format!("'{name}' is used before it is defined")
            } else {
                let hint = did_you_mean(name, self.names.keys().copied());
                format!("unknown value '{name}'{hint}")
            };
            self.report(span, message);
        }
        let mut output = 0;
        if self.take_mark('.') {
            let token = self.peek(0).clone();
            let Ok(number) = self.text(&token).parse() else {
                return Err(self.unexpected("the number of a result, as in a.1"));
            };
            self.next();
            output = number;
        }
        Ok(Value {
            node: NodeId(node as u32),
            output,
        })
    }
}
