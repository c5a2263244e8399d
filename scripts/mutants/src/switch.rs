//! Rewrites a file so that each of its changes is there, behind a switch: `if on(17) { a - b } else { a + b }`.
//!
//! Every switch stands between the marks `/*<17*/` and `/*17>*/`, by which an error of the compiler is traced to its change.

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::LineColumn;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::change::{Change, Genre, Place};

/// What the crate's root gets: the function that says whether a change is on. `MUTANT` holds the number of the one that is; with
/// `MUTANT_REACHED`, the file it names gets the number of each that is come by.
pub const SWITCHES: &str = r#"
#[doc(hidden)]
#[allow(missing_docs, clippy::all, clippy::pedantic)]
pub mod mutant_switches {
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

    const UNREAD: usize = usize::MAX;
    const RECORDING: usize = usize::MAX - 1;
    static ON: AtomicUsize = AtomicUsize::new(UNREAD);
    static REACHED: [AtomicBool; 4096] = [const { AtomicBool::new(false) }; 4096];
    static FILE: OnceLock<Option<std::path::PathBuf>> = OnceLock::new();

    #[inline]
    pub fn on(number: usize) -> bool {
        let on = ON.load(Relaxed);
        if on >= RECORDING { slow(on, number) } else { on == number }
    }

    #[cold]
    fn slow(on: usize, number: usize) -> bool {
        if on == UNREAD {
            let asked = std::env::var("MUTANT").ok().and_then(|number| number.parse().ok()).unwrap_or(0);
            let file = FILE.get_or_init(|| std::env::var_os("MUTANT_REACHED").map(Into::into));
            ON.store(if file.is_some() { RECORDING } else { asked }, Relaxed);
            return self::on(number);
        }
        if !REACHED[number].swap(true, Relaxed)
            && let Some(Some(path)) = FILE.get()
            && let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path)
        {
            let _ = file.write_all(format!("{number}\n").as_bytes());
        }
        false
    }
}
"#;

/// What is found at the place of a change.
enum Site {
    Binary {
        whole: Range<usize>,
        left: Range<usize>,
        right: Range<usize>,
    },
    Unary {
        whole: Range<usize>,
        operand: Range<usize>,
    },
    Body {
        whole: Range<usize>,
    },
    Arm {
        after_pattern: usize,
        guard: Option<Range<usize>>,
    },
    Guard {
        whole: Range<usize>,
    },
    Field {
        whole: Range<usize>,
        name: String,
        value: Range<usize>,
        rest: Range<usize>,
    },
}

impl Site {
    fn range(&self) -> Range<usize> {
        match self {
            Self::Binary { whole, .. }
            | Self::Unary { whole, .. }
            | Self::Body { whole }
            | Self::Guard { whole }
            | Self::Field { whole, .. } => whole.clone(),
            Self::Arm {
                after_pattern,
                guard,
            } => guard.clone().unwrap_or(*after_pattern..*after_pattern),
        }
    }
}

/// The text with the changes behind switches, `root` being the path of the crate that has them. Changes whose place is not of
/// their kind are left out.
pub fn switch(text: &str, changes: &[&Change], root: &str) -> Result<String, syn::Error> {
    let file = syn::parse_file(text)?;
    let mut finder = Finder {
        lines: Lines::new(text),
        sites: BTreeMap::new(),
    };
    finder.visit_file(&file);
    let mut edits: Vec<Edit> = Vec::new();
    for change in changes {
        let start = finder.lines.offset(change.span.start);
        let body = || Site::Body {
            whole: start..finder.lines.offset(change.span.end),
        };
        let found = finder.sites.remove(&key(start, change.genre));
        let Some(site) = found.or_else(|| (change.genre == Genre::FnValue).then(body)) else {
            // Further changes of a place join the first.
            if let Some(edit) = edits
                .iter_mut()
                .find(|edit| edit.start == start && edit.genre == change.genre)
            {
                edit.changes.push((*change).clone());
            }
            continue;
        };
        match edits
            .iter_mut()
            .find(|edit| edit.start == start && edit.genre == change.genre)
        {
            Some(edit) => edit.changes.push((*change).clone()),
            None => edits.push(Edit {
                start,
                genre: change.genre,
                site,
                changes: vec![(*change).clone()],
            }),
        }
    }
    // Outer ones first; what begins a body stands before its first expression.
    edits.sort_by_key(|edit| {
        let range = edit.site.range();
        (
            range.start,
            edit.genre != Genre::FnValue,
            usize::MAX - range.end,
        )
    });
    Ok(Writer {
        text,
        root,
        edits: &edits,
    }
    .write(0..text.len(), 0))
}

fn key(start: usize, genre: Genre) -> (usize, u8) {
    (start, genre as u8)
}

struct Edit {
    start: usize,
    genre: Genre,
    site: Site,
    changes: Vec<Change>,
}

struct Writer<'a> {
    text: &'a str,
    root: &'a str,
    edits: &'a [Edit],
}

impl Writer<'_> {
    /// A part of the text, with the edits from `first` on that lie in it.
    fn write(&self, part: Range<usize>, first: usize) -> String {
        let mut out = String::new();
        let mut at = part.start;
        for (index, edit) in self.edits.iter().enumerate().skip(first) {
            let range = edit.site.range();
            if range.start < at || range.end > part.end {
                continue;
            }
            out += &self.text[at..range.start];
            out += &self.edit(edit, index + 1);
            at = range.end;
        }
        out + &self.text[at..part.end]
    }

    fn edit(&self, edit: &Edit, next: usize) -> String {
        let on = |change: &Change| format!("{}::mutant_switches::on({})", self.root, change.number);
        let marked =
            |change: &Change, text: String| format!("/*<{0}*/{text}/*{0}>*/", change.number);
        // A branch for each change, and what was there before.
        let choice = |branches: Vec<String>, before: String| {
            let mut out = String::from("(");
            for (change, branch) in edit.changes.iter().zip(branches) {
                out += &marked(change, format!("if {} {{ {branch} }} else ", on(change)));
            }
            out + &format!("{{ {before} }})")
        };
        // All marks around the whole, because an error may be one of moving twice.
        let all_marked = |text: String| {
            edit.changes
                .iter()
                .fold(text, |text, change| marked(change, text))
        };
        match &edit.site {
            Site::Binary { left, right, .. } => {
                let (l, r) = (
                    self.write(left.clone(), next),
                    self.write(right.clone(), next),
                );
                let branches = edit.changes.iter().map(|change| {
                    let is_assignment = change.replacement.ends_with('=')
                        && !["==", "!=", "<=", ">="].contains(&change.replacement.as_str());
                    if is_assignment {
                        format!("{l} {} {r};", change.replacement)
                    } else {
                        format!("({l}) {} ({r})", change.replacement)
                    }
                });
                let between = &self.text[left.end..right.start];
                all_marked(choice(branches.collect(), format!("{l}{between}{r}")))
            }
            Site::Unary { whole, operand } => {
                let inner = self.write(operand.clone(), next);
                let sign = &self.text[whole.start..operand.start];
                let branches = edit
                    .changes
                    .iter()
                    .map(|change| format!("{}{inner}", change.replacement))
                    .collect();
                all_marked(choice(branches, format!("{sign}{inner}")))
            }
            Site::Body { whole } => {
                let returns = |change: &Change| {
                    format!("if {} {{ return {}; }} ", on(change), change.replacement)
                };
                let first: String = edit
                    .changes
                    .iter()
                    .map(|change| marked(change, returns(change)))
                    .collect();
                all_marked(first + &self.write(whole.clone(), next))
            }
            Site::Arm { guard, .. } => {
                let off: Vec<_> = edit
                    .changes
                    .iter()
                    .map(|change| format!("!{}", on(change)))
                    .collect();
                all_marked(match guard {
                    Some(guard) => format!(
                        "{} && ({})",
                        off.join(" && "),
                        self.write(guard.clone(), next)
                    ),
                    None => format!(" if {}", off.join(" && ")),
                })
            }
            Site::Guard { whole } => {
                let mut guard = format!("({})", self.write(whole.clone(), next));
                for change in &edit.changes {
                    guard = match change.replacement.as_str() {
                        "true" => format!("({} || {guard})", on(change)),
                        _ => format!("(!{} && {guard})", on(change)),
                    };
                }
                all_marked(guard)
            }
            Site::Field {
                name, value, rest, ..
            } => {
                let (inner, rest) = (self.write(value.clone(), next), &self.text[rest.clone()]);
                let branches = edit
                    .changes
                    .iter()
                    .map(|_| format!("({rest}).{name}"))
                    .collect();
                all_marked(format!("{name}: {}", choice(branches, inner)))
            }
        }
    }
}

/// The byte at which each line begins.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        Self { text, starts }
    }

    fn offset(&self, place: Place) -> usize {
        let start = self.starts[place.line - 1];
        let line = &self.text[start..];
        start
            + line
                .char_indices()
                .nth(place.column - 1)
                .map_or(line.len(), |(at, _)| at)
    }

    fn range(&self, span: proc_macro2::Span) -> Range<usize> {
        let place = |at: LineColumn| {
            self.offset(Place {
                line: at.line,
                column: at.column + 1,
            })
        };
        place(span.start())..place(span.end())
    }
}

/// Collects the places that changes may name, by where they begin.
struct Finder<'a> {
    lines: Lines<'a>,
    sites: BTreeMap<(usize, u8), Site>,
}

impl Finder<'_> {
    fn add(&mut self, span: proc_macro2::Span, genre: Genre, site: Site) {
        self.sites
            .insert(key(self.lines.range(span).start, genre), site);
    }
}

/// `let` is no expression that could be put into parentheses.
fn has_let(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_expr_binary(&mut self, node: &'ast syn::ExprBinary) {
        if !has_let(&node.left) && !has_let(&node.right) {
            let site = Site::Binary {
                whole: self.lines.range(node.span()),
                left: self.lines.range(node.left.span()),
                right: self.lines.range(node.right.span()),
            };
            self.add(node.op.span(), Genre::BinaryOperator, site);
        }
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_unary(&mut self, node: &'ast syn::ExprUnary) {
        let site = Site::Unary {
            whole: self.lines.range(node.span()),
            operand: self.lines.range(node.expr.span()),
        };
        self.add(node.op.span(), Genre::UnaryOperator, site);
        visit::visit_expr_unary(self, node);
    }

    fn visit_arm(&mut self, node: &'ast syn::Arm) {
        let guard = node.guard.as_ref().map(|(_, guard)| guard);
        if !guard.is_some_and(|guard| has_let(guard)) {
            let range = guard.map(|guard| self.lines.range(guard.span()));
            let after_pattern = self.lines.range(node.pat.span()).end;
            if let (Some(guard), Some(whole)) = (guard, range.clone()) {
                self.add(guard.span(), Genre::MatchArmGuard, Site::Guard { whole });
            }
            self.add(
                node.span(),
                Genre::MatchArm,
                Site::Arm {
                    after_pattern,
                    guard: range,
                },
            );
        }
        visit::visit_arm(self, node);
    }

    fn visit_expr_struct(&mut self, node: &'ast syn::ExprStruct) {
        if let Some(rest) = &node.rest {
            for field in &node.fields {
                let syn::Member::Named(name) = &field.member else {
                    continue;
                };
                let site = Site::Field {
                    whole: self.lines.range(field.span()),
                    name: name.to_string(),
                    value: self.lines.range(field.expr.span()),
                    rest: self.lines.range(rest.span()),
                };
                self.add(field.span(), Genre::StructField, site);
            }
        }
        visit::visit_expr_struct(self, node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Span;

    /// The text with one change, without its marks; `^` stands before the place, and `on` for the switch.
    fn switched(text: &str, genre: Genre, replacement: &str, end: usize) -> String {
        let at = text.find('^').unwrap();
        let change = Change {
            number: 7,
            file: String::new(),
            genre,
            name: String::new(),
            replacement: replacement.into(),
            span: Span {
                start: Place {
                    line: 1,
                    column: at + 1,
                },
                end: Place {
                    line: 1,
                    column: end + 1,
                },
            },
        };
        let out = switch(&text.replace('^', ""), &[&change], "crate").unwrap();
        let out = out.replace("crate::mutant_switches::on(7)", "on");
        out.replace("/*<7*/", "").replace("/*7>*/", "")
    }

    #[test]
    fn every_kind_of_change_stands_behind_its_switch() {
        let operator = |text, replacement| switched(text, Genre::BinaryOperator, replacement, 0);
        assert_eq!(
            operator("fn f() -> i32 { a ^- b * c }", "+"),
            "fn f() -> i32 { (if on { (a) + (b * c) } else { a - b * c }) }"
        );
        assert_eq!(
            operator("fn f() { a ^+= b; }", "-="),
            "fn f() { (if on { a -= b; } else { a += b }); }"
        );
        assert_eq!(
            operator("fn f() { a ^<= b }", "=="),
            "fn f() { (if on { (a) == (b) } else { a <= b }) }"
        );
        assert_eq!(
            switched("fn f() { ^-a }", Genre::UnaryOperator, "", 0),
            "fn f() { (if on { a } else { -a }) }"
        );
        assert_eq!(
            switched("fn f() -> i32 { ^a }", Genre::FnValue, "1", 17),
            "fn f() -> i32 { if on { return 1; } a }"
        );
        assert_eq!(
            switched(
                "fn f() { match a { ^1 => b, _ => c } }",
                Genre::MatchArm,
                "",
                0
            ),
            "fn f() { match a { 1 if !on => b, _ => c } }"
        );
        assert_eq!(
            switched(
                "fn f() { match a { ^1 if d => b, _ => c } }",
                Genre::MatchArm,
                "",
                0
            ),
            "fn f() { match a { 1 if !on && (d) => b, _ => c } }"
        );
        let guard = |replacement| {
            let text = "fn f() { match a { 1 if ^d => b, _ => c } }";
            switched(text, Genre::MatchArmGuard, replacement, 0)
        };
        assert_eq!(
            guard("true"),
            "fn f() { match a { 1 if (on || (d)) => b, _ => c } }"
        );
        assert_eq!(
            guard("false"),
            "fn f() { match a { 1 if (!on && (d)) => b, _ => c } }"
        );
        assert_eq!(
            switched("fn f() { S { ^a, ..b } }", Genre::StructField, "", 0),
            "fn f() { S { a: (if on { (b).a } else { a }), ..b } }"
        );
    }

    /// A place of another kind, as the operator of a macro's text, is left as it is.
    #[test]
    fn what_is_not_found_is_left_out() {
        let text = "fn f() { assert!(a ^< b) }";
        assert_eq!(
            switched(text, Genre::BinaryOperator, ">", 0),
            text.replace('^', "")
        );
    }
}
