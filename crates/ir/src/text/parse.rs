//! From tokens to literals, types and formats, and the bookkeeping of errors.

use super::error::{MAX_ERRORS, TextError, TextErrors};
use super::lexer::{self, Kind, Token};
use crate::{DType, Dim, Graph, Shape, Type};
use format::Format;
use serde_json::{Number, Value as Json};
use std::collections::HashMap;
use std::ops::Range;

/// Lists in attributes nest no deeper.
const MAX_DEPTH: usize = 16;

/// Texts are no longer.
const MAX_BYTES: usize = 64 << 20;

/// The error has been reported; the statement is given up.
pub struct Reported;

/// The result of a rule of the grammar.
pub type Parsed<T> = Result<T, Reported>;

/// A text being read.
pub struct Parser<'s> {
    pub source: &'s str,
    pub graph: Graph,
    /// The node of each name, and where the name was given.
    pub names: HashMap<&'s str, (usize, Range<usize>)>,
    tokens: Vec<Token>,
    at: usize,
    errors: Vec<(Range<usize>, String)>,
}

impl Graph {
    /// Reads the text form. All errors are reported, up to fifty.
    pub fn parse(source: &str) -> Result<Self, TextErrors> {
        if source.len() > MAX_BYTES {
            let message = format!("the text has {} bytes, more than {MAX_BYTES}", source.len());
            let errors = vec![TextError::new("", 0..0, message)];
            return Err(TextErrors { errors });
        }
        let mut parser = Parser::new(source);
        // What went wrong stands in the list of errors.
        let _ = parser.graph();
        parser.finish()
    }
}

impl<'s> Parser<'s> {
    fn new(source: &'s str) -> Self {
        let (tokens, errors) = lexer::tokens(source);
        Self {
            source,
            graph: Graph::default(),
            names: HashMap::new(),
            tokens,
            at: 0,
            errors,
        }
    }

    fn finish(mut self) -> Result<Graph, TextErrors> {
        if self.errors.is_empty() {
            return Ok(self.graph);
        }
        self.errors.sort_by_key(|(span, _)| span.start);
        self.errors.truncate(MAX_ERRORS);
        let errors = self.errors.into_iter();
        let errors = errors.map(|(span, message)| TextError::new(self.source, span, message));
        Err(TextErrors {
            errors: errors.collect(),
        })
    }

    /// Enough errors have been found.
    pub fn is_full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    /// Records an error.
    pub fn report(&mut self, span: Range<usize>, message: impl Into<String>) -> Reported {
        self.errors.push((span, message.into()));
        Reported
    }

    /// The token `ahead` places further on.
    pub fn peek(&self, ahead: usize) -> &Token {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    /// Takes the next token.
    pub fn next(&mut self) -> Token {
        let token = self.peek(0).clone();
        self.at += usize::from(token.kind != Kind::End);
        token
    }

    /// The text of a token.
    pub fn text(&self, token: &Token) -> &'s str {
        &self.source[token.span.clone()]
    }

    /// True when the token `ahead` places further on is this name.
    pub fn is_word(&self, ahead: usize, word: &str) -> bool {
        let token = self.peek(ahead);
        token.kind == Kind::Name && self.text(token) == word
    }

    /// True when the token `ahead` places further on is this mark.
    pub fn is_mark(&self, ahead: usize, mark: char) -> bool {
        self.peek(ahead).kind == Kind::Mark(mark)
    }

    /// True when a later line gives a node this name.
    pub fn is_defined_later(&self, name: &str) -> bool {
        let pairs = self.tokens[self.at..].windows(2);
        let mut names = pairs.filter(|pair| pair[0].first && pair[1].kind == Kind::Mark('='));
        names.any(|pair| self.text(&pair[0]) == name)
    }

    /// Takes the next token if it is this mark.
    pub fn take_mark(&mut self, mark: char) -> bool {
        let found = self.is_mark(0, mark);
        if found {
            self.next();
        }
        found
    }

    /// The next token must be this mark.
    pub fn expect_mark(&mut self, mark: char) -> Parsed<()> {
        if self.take_mark(mark) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("'{mark}'")))
        }
    }

    /// The next token must be a name.
    pub fn expect_name(&mut self, what: &str) -> Parsed<(&'s str, Range<usize>)> {
        if self.peek(0).kind != Kind::Name {
            return Err(self.unexpected(what));
        }
        let token = self.next();
        Ok((self.text(&token), token.span))
    }

    /// The next token must be a string.
    pub fn expect_text(&mut self, what: &str) -> Parsed<String> {
        match self.peek(0).kind.clone() {
            Kind::Text(text) => {
                self.next();
                Ok(text)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// The next token is not what the grammar wants.
    pub fn unexpected(&mut self, expected: &str) -> Reported {
        let token = self.peek(0).clone();
        let found = match token.kind {
            Kind::Bad => return Reported,
            Kind::End => "the end of the text".to_owned(),
            Kind::Text(_) => "a string".to_owned(),
            Kind::Name | Kind::Number | Kind::Mark(_) => format!("'{}'", self.text(&token)),
        };
        self.report(token.span, format!("expected {expected}, got {found}"))
    }

    /// `item` separated by commas, up to `close`, with a comma at the end or not.
    pub fn list<T>(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.take_mark(close) {
            items.push(item(self)?);
            if !self.take_mark(',') && !self.is_mark(0, close) {
                return Err(self.unexpected(&format!("',' or '{close}'")));
            }
        }
        Ok(items)
    }

    /// A type, `f32[N, 16]`.
    pub fn ty(&mut self) -> Parsed<Type> {
        let (name, span) = self.expect_name("a type such as f32[N, 16]")?;
        let Some(dtype) = DType::parse(name) else {
            return Err(self.report(
                span,
                format!("'{name}' is not an element type: write f32, i64 or bool"),
            ));
        };
        self.expect_mark('[')?;
        let dims = self.list(']', Self::dim)?;
        Ok(Type {
            shape: Shape(dims),
            dtype,
        })
    }

    fn dim(&mut self) -> Parsed<Dim> {
        let n_tokens = if self.is_mark(1, '*') { 3 } else { 1 };
        let span = self.peek(0).span.start..self.peek(n_tokens - 1).span.end;
        for _ in 0..n_tokens {
            if !matches!(
                self.peek(0).kind,
                Kind::Name | Kind::Number | Kind::Mark('*')
            ) {
                return Err(self.unexpected("a size"));
            }
            self.next();
        }
        let dim = self.source[span.clone()]
            .replace(char::is_whitespace, "")
            .parse();
        dim.map_err(|error: crate::ShapeError| self.report(span, error.to_string()))
    }

    /// The value of an attribute.
    pub fn literal(&mut self) -> Parsed<Json> {
        match self.peek(0).kind.clone() {
            Kind::Text(text) => {
                self.next();
                Ok(Json::String(text))
            }
            Kind::Number => self.number(),
            Kind::Name if self.is_word(0, "true") || self.is_word(0, "false") => {
                let token = self.next();
                Ok(Json::Bool(self.text(&token) == "true"))
            }
            Kind::Mark('[') => self.nested_items(0),
            _ => Err(self.unexpected("a number, a string, true, false or a list")),
        }
    }

    /// A list, which may hold lists.
    fn nested_items(&mut self, depth: usize) -> Parsed<Json> {
        let open = self.next();
        if depth == MAX_DEPTH {
            return Err(self.report(open.span, format!("lists nest deeper than {MAX_DEPTH}")));
        }
        let items = self.list(']', |parser| {
            if parser.is_mark(0, '[') {
                return parser.nested_items(depth + 1);
            }
            let is_word = parser.is_word(0, "true") || parser.is_word(0, "false");
            let is_symbol = parser.peek(0).kind == Kind::Name && !is_word;
            if is_symbol || parser.is_mark(1, '*') {
                return Ok(Json::String(parser.dim()?.to_string()));
            }
            parser.literal()
        })?;
        Ok(Json::Array(items))
    }

    fn number(&mut self) -> Parsed<Json> {
        let token = self.next();
        let text = self.text(&token);
        let number = if text.contains(['.', 'e', 'E']) {
            text.parse().ok().and_then(Number::from_f64)
        } else {
            let unsigned = text.parse::<u64>().map(Number::from);
            unsigned
                .or_else(|_| text.parse::<i64>().map(Number::from))
                .ok()
        };
        match number {
            Some(number) => Ok(Json::Number(number)),
            None => Err(self.report(token.span, format!("the number {text} is too large"))),
        }
    }

    /// A format, `integer(8, 4)`: a name and all up to the matching parenthesis. `None` where it is reported as bad
    /// but the text goes on behind it.
    pub fn format(&mut self) -> Parsed<Option<Format>> {
        let (_, Range { start, mut end }) = self.expect_name("a format such as integer(8, 4)")?;
        if self.is_mark(0, '(') {
            end = self.parentheses()?;
        }
        match Format::parse(&self.source[start..end]) {
            Ok(format) => Ok(Some(format)),
            Err(error) => {
                let span = match error.offset {
                    Some(offset) => {
                        let at = start + offset;
                        at..at
                    }
                    None => start..end,
                };
                self.report(span, error.to_string());
                Ok(None)
            }
        }
    }

    /// Skips a parenthesis with all it encloses; where it ends.
    fn parentheses(&mut self) -> Parsed<usize> {
        let mut depth = 0_usize;
        loop {
            let starts_statement = self.starts_statement();
            let token = self.peek(0).clone();
            match token.kind {
                Kind::Mark('(') => depth += 1,
                Kind::Mark(')') => depth -= 1,
                Kind::End | Kind::Mark('{' | '}') => return Err(self.unexpected("')'")),
                _ if starts_statement => return Err(self.unexpected("')'")),
                _ => {}
            }
            self.next();
            if depth == 0 {
                return Ok(token.span.end);
            }
        }
    }
}
