//! A column of a table: its heading, its meaning and its alignment.

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The heading.
    pub heading: &'static str,
    /// The meaning of its cells.
    pub about: &'static str,
    /// The alignment of its cells.
    pub align: Align,
}

/// The alignment of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

impl Column {
    /// A column of words.
    pub const fn words(heading: &'static str, about: &'static str) -> Self {
        Self {
            heading,
            about,
            align: Align::Left,
        }
    }

    /// A column of numbers.
    pub const fn numbers(heading: &'static str, about: &'static str) -> Self {
        Self {
            heading,
            about,
            align: Align::Right,
        }
    }
}
