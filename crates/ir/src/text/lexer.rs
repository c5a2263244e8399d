//! From characters to tokens.

use std::ops::Range;

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A name or a word.
    Name,
    /// A number as written.
    Number,
    /// A string, with its escapes resolved.
    Text(String),
    /// One of the characters that structure the text.
    Mark(char),
    /// A character that the grammar lacks; its error is already reported.
    Bad,
    /// The end of the text.
    End,
}

/// A token and the bytes it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// Its kind.
    pub kind: Kind,
    /// Its place.
    pub span: Range<usize>,
    /// True when it is the first on its line.
    pub first: bool,
}

/// The tokens of `source`, the last of which is [`Kind::End`], and what could not be read.
pub fn tokens(source: &str) -> (Vec<Token>, Vec<(Range<usize>, String)>) {
    let mut lexer = Lexer {
        source,
        at: 0,
        errors: Vec::new(),
    };
    let mut tokens = Vec::new();
    let mut first = true;
    loop {
        first |= lexer.skip_blanks();
        let start = lexer.at;
        let kind = lexer.token();
        let span = start..lexer.at;
        let ended = kind == Kind::End;
        tokens.push(Token { kind, span, first });
        first = false;
        if ended {
            return (tokens, lexer.errors);
        }
    }
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    errors: Vec<(Range<usize>, String)>,
}

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.source[self.at..].chars().next()
    }

    fn skip_while(&mut self, accept: impl Fn(char) -> bool) {
        let rest = &self.source[self.at..];
        self.at += rest.find(|c| !accept(c)).unwrap_or(rest.len());
    }

    /// Skips blanks and comments; whether a line ended.
    fn skip_blanks(&mut self) -> bool {
        let start = self.at;
        self.skip_while(char::is_whitespace);
        while self.peek() == Some('#') {
            self.skip_while(|c| c != '\n');
            self.skip_while(char::is_whitespace);
        }
        self.source[start..self.at].contains('\n')
    }

    fn token(&mut self) -> Kind {
        let Some(c) = self.peek() else {
            return Kind::End;
        };
        let second = self.source[self.at..].chars().nth(1);
        match c {
            'a'..='z' | 'A'..='Z' | '_' => {
                self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
                Kind::Name
            }
            '0'..='9' => self.number(),
            '-' if second.is_some_and(|c| c.is_ascii_digit()) => self.number(),
            '"' => self.text(),
            '{' | '}' | '(' | ')' | '[' | ']' | ',' | ':' | '=' | '.' | '*' => {
                self.at += 1;
                Kind::Mark(c)
            }
            other => {
                self.at += other.len_utf8();
                let span = self.at - other.len_utf8()..self.at;
                self.errors
                    .push((span, format!("unexpected character {other:?}")));
                Kind::Bad
            }
        }
    }

    fn number(&mut self) -> Kind {
        let digits = |lexer: &mut Self| lexer.skip_while(|c| c.is_ascii_digit());
        self.at += 1;
        digits(self);
        let rest = &self.source.as_bytes()[self.at..];
        if rest.first() == Some(&b'.') && rest.get(1).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
            digits(self);
        }
        let rest = &self.source.as_bytes()[self.at..];
        let sign = usize::from(matches!(rest.get(1), Some(b'+' | b'-')));
        let has_exponent = matches!(rest.first(), Some(b'e' | b'E'));
        if has_exponent && rest.get(1 + sign).is_some_and(u8::is_ascii_digit) {
            self.at += 1 + sign;
            digits(self);
        }
        Kind::Number
    }

    /// A string; it cannot run past its line.
    fn text(&mut self) -> Kind {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.peek() {
                None | Some('\n') => {
                    self.errors.push((
                        start..self.at,
                        "the string has no end on its line".to_owned(),
                    ));
                    return Kind::Bad;
                }
                Some('"') => {
                    self.at += 1;
                    return Kind::Text(text);
                }
                Some('\\') => text.push(self.escape()),
                Some(c) => {
                    self.at += c.len_utf8();
                    text.push(c);
                }
            }
        }
    }

    fn escape(&mut self) -> char {
        let rest = &self.source[self.at + 1..];
        let (c, len) = match rest.chars().next() {
            Some(c @ ('"' | '\\')) => (Some(c), 2),
            Some('n') => (Some('\n'), 2),
            Some('r') => (Some('\r'), 2),
            Some('t') => (Some('\t'), 2),
            Some('u') => unicode(rest).map_or((None, 2), |(c, len)| (Some(c), len + 1)),
            Some('\n') | None => (None, 1),
            Some(other) => (None, 1 + other.len_utf8()),
        };
        let span = self.at..self.at + len;
        self.at += len;
        c.unwrap_or_else(|| {
            let message = r#"unknown escape; there are \" \\ \n \r \t and \u{hex}"#;
            self.errors.push((span, message.to_owned()));
            char::REPLACEMENT_CHARACTER
        })
    }
}

/// The character of `u{hex}` and the length of that text.
fn unicode(text: &str) -> Option<(char, usize)> {
    let inner = text.strip_prefix("u{")?;
    let end = inner.find('}').filter(|&end| end <= 6)?;
    let c = char::from_u32(u32::from_str_radix(&inner[..end], 16).ok()?)?;
    Some((c, end + 3))
}
