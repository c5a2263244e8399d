//! Forms as a reader writes them.

use crate::check::form::{Atom, Atoms, Form};
use std::fmt::Write;

impl Atoms {
    /// A form as a reader writes it.
    pub fn text(&self, form: &Form) -> String {
        let joined = |forms: &[Form]| {
            let all: Vec<String> = forms.iter().map(|form| self.text(form)).collect();
            all.join(", ")
        };
        let mut text = String::new();
        for &(atom, factor) in &form.terms {
            let own = match &self.all[atom].0 {
                Atom::Word(name, 0) => name.clone(),
                Atom::Word(name, number) => format!("{name}#{number}"),
                Atom::Floor(form, bits) => format!("floor(({}) / 2^{bits})", self.text(form)),
                Atom::Less(a, b) => format!("less({}, {})", self.text(a), self.text(b)),
                Atom::Product(a, b) => format!("({}) * ({})", self.text(a), self.text(b)),
                Atom::Max(forms) => format!("max({})", joined(forms)),
                Atom::Argmax(entries) => {
                    let entry =
                        |(place, form): &(i128, Form)| format!("{place}: {}", self.text(form));
                    let all: Vec<String> = entries.iter().map(entry).collect();
                    format!("argmax({})", all.join(", "))
                }
            };
            let sign = match (factor < 0, text.is_empty()) {
                (true, true) => "-",
                (true, false) => " - ",
                (false, true) => "",
                (false, false) => " + ",
            };
            let times = match factor.abs() {
                1 => String::new(),
                other => format!("{other}*"),
            };
            let _ = write!(text, "{sign}{times}{own}");
        }
        match form.offset {
            0 if !text.is_empty() => text,
            offset if text.is_empty() => offset.to_string(),
            offset if offset < 0 => format!("{text} - {}", -offset),
            offset => format!("{text} + {offset}"),
        }
    }
}
