//! Python's pickle as data: protocols 0 to 5, read without running anything.
//!
//! A pickle is a program for a small stack machine. Here a global is a name, and an application (`REDUCE`, `NEWOBJ`,
//! `BUILD` …) is a node that remembers what would have been called with what. Values live in one arena and refer to
//! each other by index: shared values stay shared, cycles are harmless, and every opcode makes at most one node, so
//! memory is bounded by the length of the stream.

mod machine;
mod opcode;
mod scan;
mod view;
mod write;

pub use machine::parse;
pub use view::View;
pub use write::{Out, encode};

/// A value of a [`Pickle`], by its place in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(u32);

/// A value as the stream describes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer of up to 127 bits.
    Int(i128),
    /// A larger integer; its value is not kept.
    HugeInt,
    /// A float.
    Float(f64),
    /// Text.
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list, tuple or set; the difference plays no part in reading.
    Sequence(Vec<Id>),
    /// A dict, in order, as written: a repeated key is there twice.
    Dict(Vec<(Id, Id)>),
    /// A class or function by name, never looked up.
    Global(String, String),
    /// A reference that only the container of the stream can resolve.
    Persistent(Id),
    /// The result of a call that was not made.
    Object(Box<Object>),
}

/// A call that was not made, and what would have been put into its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// The function that was not called.
    pub callable: Id,
    /// With which arguments.
    pub args: Id,
    /// The state that `BUILD` would have set.
    pub state: Option<Id>,
    /// The items that `APPENDS` would have added.
    pub items: Vec<Id>,
    /// The items that `SETITEMS` would have added.
    pub pairs: Vec<(Id, Id)>,
}

/// A whole stream.
#[derive(Debug)]
pub struct Pickle {
    nodes: Vec<Node>,
    root: Id,
}

/// A broken stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PickleError {
    /// Offset of the opcode.
    pub at: usize,
    /// The problem.
    pub message: String,
}

impl Pickle {
    /// The value that the stream leaves.
    pub fn root(&self) -> View<'_> {
        self.view(self.root)
    }

    fn view(&self, id: Id) -> View<'_> {
        View { pickle: self, id }
    }
}
