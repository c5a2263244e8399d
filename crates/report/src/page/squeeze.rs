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
    /// For every open brace, and outside of all: the last statement and the present one are declarations by `let`.
    lets: Vec<[bool; 2]>,
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
        let is_parted = std::mem::take(&mut self.is_space_due) && must_part(last, c);
        if (is_parted || matches!(c, '[' | '{')) && out.ends_with("let") {
            self.declare(out);
        }
        if is_parted && !out.ends_with(',') {
            out.push(' ');
        }
        match c {
            '"' | '\'' | '`' | '{' => self.open.push(c),
            '}' => _ = self.open.pop(),
            ';' => {
                let [_, present] = *self.level();
                *self.level() = [present, false];
            }
            _ => {}
        }
        if c == '{' {
            *self.level() = [false; 2];
        }
        out.push(c);
    }

    fn level(&mut self) -> &mut [bool; 2] {
        self.lets.resize(self.open.len() + 1, [false; 2]);
        &mut self.lets[self.open.len()]
    }

    /// Joins a declaration that begins with what was just written, `let`, to the one before it. A loop's is none.
    fn declare(&mut self, out: &mut String) {
        let before = out[..out.len() - "let".len()].chars().next_back();
        if !matches!(before, None | Some(';' | '{' | '}')) {
            return;
        }
        let [last, _] = *self.level();
        if last && out.ends_with(";let") {
            out.truncate(out.len() - ";let".len());
            out.push(',');
        }
        *self.level() = [last, true];
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
    fn declarations_are_joined_where_they_follow_each_other() {
        let text = "const a = 1;\nlet [b] = [2];\nif (a) {\n  const c = 3;\n  b++;\n  let d;\n}\nconst { e } = f;\n\
            const g = () => { const h = 1; return h; };\nconst i = 2;\nfor (const j of i) j();\nconst outlet = 4;\nk = outlet in l;\n";
        let expected = "let a=1,[b]=[2];if(a){let c=3;b++;let d}let{e}=f,g=()=>{let h=1;return h},i=2;\
            for(let j of i)j();let outlet=4;k=outlet in l;";
        assert_eq!(program(text), expected);
    }

    #[test]
    fn rules_keep_their_meaning() {
        let text = "a b > i {\n  margin: 0 calc(1px - 2px); content: \" ↑\"; }\n\n@media (x: 1) { c { d: e } }\n";
        let expected = "a b > i{margin:0 calc(1px - 2px);content:\" ↑\"}@media (x:1){c{d:e}}";
        assert_eq!(style(text), expected);
    }
}
