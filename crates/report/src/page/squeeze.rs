//! Programs and looks without what only readers of the sources need: comments, indentation, spaces around signs.
//!
//! Names stay names, so that a browser's tools can still show the page's program. In the sources every statement ends with
//! a semicolon, comments have lines of their own, and regular expressions hold neither quotes nor spaces.

/// A style sheet on fewer bytes.
pub(super) fn style(text: &str) -> String {
    let signs = [
        (": ", ":"),
        ("; ", ";"),
        (", ", ","),
        (" {", "{"),
        ("{ ", "{"),
        (";}", "}"),
        (" }", "}"),
    ];
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let short = |text: String, (long, short): &(&str, &str)| text.replace(long, short);
            signs.iter().fold(line.to_owned(), short)
        })
        .collect()
}

/// A program on fewer bytes. That a name is not assigned to again is of use to its writers only: `const` is written `let`.
pub(super) fn program(text: &str) -> String {
    let is_kept = |line: &&str| !line.is_empty() && !line.starts_with("//");
    let lines = text.lines().map(str::trim).filter(is_kept);
    let lines: Vec<String> = lines.map(|line| line.replace("const ", "let ")).collect();
    let mut out = String::with_capacity(text.len());
    let mut scanner = Scanner::default();
    for c in lines.join("\n").chars() {
        scanner.push(c, &mut out);
    }
    out
}

/// A reader of a program that knows which characters are part of a text.
#[derive(Default)]
struct Scanner {
    /// Open texts by their quotes, and open braces of code: `{` for a block, `$` for a place in a template.
    open: Vec<char>,
    is_escaped: bool,
    is_space_due: bool,
}

impl Scanner {
    fn push(&mut self, c: char, out: &mut String) {
        if let Some(&quote @ ('"' | '\'' | '`')) = self.open.last() {
            self.push_text(c, quote, out);
            return;
        }
        if c == ' ' || c == '\n' {
            self.is_space_due = true;
            return;
        }
        let last = out.chars().next_back().unwrap_or('\n');
        if c == '}' && matches!(last, ';' | ',') {
            out.pop();
        }
        if std::mem::take(&mut self.is_space_due) && must_part(last, c) {
            out.push(' ');
        }
        match c {
            '"' | '\'' | '`' | '{' => self.open.push(c),
            '}' => _ = self.open.pop(),
            _ => {}
        }
        out.push(c);
    }

    fn push_text(&mut self, c: char, quote: char, out: &mut String) {
        let is_place = quote == '`' && c == '{' && out.ends_with('$') && !self.is_escaped;
        if is_place {
            self.open.push('$');
        } else if c == quote && !self.is_escaped {
            self.open.pop();
        }
        self.is_escaped = c == '\\' && !self.is_escaped;
        out.push(c);
    }
}

/// True where two characters would be read as another sign or word if no space stood between them.
fn must_part(a: char, b: char) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    is_word(a) && is_word(b) || a == b && matches!(a, '+' | '-' | '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_spaces() {
        let text =
            "// about\nconst a = `x ${ b ? `, c ${ d } ` : \"e  f\" } g`;\n  return a - -b;\n";
        let expected = "let a=`x ${b?`, c ${d} `:\"e  f\"} g`;return a- -b;";
        assert_eq!(program(text), expected);
        assert_eq!(program("a = 'it\\'s  b' + c;"), "a='it\\'s  b'+c;");
    }

    #[test]
    fn rules_keep_their_meaning() {
        let text = "a b > i {\n  margin: 0 calc(1px - 2px); content: \" ↑\"; }\n\n@media (x: 1) { c { d: e } }\n";
        let expected = "a b > i{margin:0 calc(1px - 2px);content:\" ↑\"}@media (x:1){c{d:e}}";
        assert_eq!(style(text), expected);
    }
}
