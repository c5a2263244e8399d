//! The definition of a pass.

use crate::{Context, PassError, PassReport};
use config::Reader;
use ir::Graph;

/// The purpose of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Looks; changes nothing but statistics.
    Analysis,
    /// Changes the graph.
    Transform,
    /// Reads and writes files.
    Interface,
}

impl Kind {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Analysis => "analysis",
            Self::Transform => "transform",
            Self::Interface => "interface",
        }
    }
}

/// A pass with its config: one type, one file, one line of the table.
pub trait Pass: Send {
    /// The key in `[passes.NAME]`, also the name of the file.
    const NAME: &'static str;
    /// One line for `ch list passes`.
    const ABOUT: &'static str;
    /// The text of `ch explain`: what it does, an example, a graph before and after where it changes one, its keys, what
    /// it reads and writes, its limits.
    const DOC: &'static str;

    /// Reads the config. Problems are the reader's; the pass runs only when there are none.
    fn read(reader: &mut Reader) -> Self
    where
        Self: Sized;

    /// Does the work. When it fails the graph is as it was before.
    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError>;
}

/// One line of the table of passes.
#[derive(Clone, Copy)]
pub struct PassEntry {
    /// The key in `[passes.NAME]`.
    pub name: &'static str,
    /// Names that the original has for it.
    pub aliases: &'static [&'static str],
    /// The purpose.
    pub kind: Kind,
    /// One line.
    pub about: &'static str,
    /// The text of `ch explain`.
    pub doc: &'static str,
    /// Reads the config.
    pub(crate) read: fn(&mut Reader) -> Box<dyn Configured>,
}

impl PassEntry {
    /// The line of a pass that looks.
    pub const fn analysis<P: Pass + 'static>() -> Self {
        Self::of::<P>(Kind::Analysis)
    }

    /// The line of a pass that changes the graph.
    pub const fn transform<P: Pass + 'static>() -> Self {
        Self::of::<P>(Kind::Transform)
    }

    /// The line of a pass that reads or writes files.
    pub const fn interface<P: Pass + 'static>() -> Self {
        Self::of::<P>(Kind::Interface)
    }

    const fn of<P: Pass + 'static>(kind: Kind) -> Self {
        Self {
            name: P::NAME,
            aliases: &[],
            kind,
            about: P::ABOUT,
            doc: P::DOC,
            read: |reader| Box::new(P::read(reader)),
        }
    }

    /// The same line with names that the original has for the pass.
    pub(crate) const fn with_aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}

/// A pass whose config has been read.
pub(crate) trait Configured: Send {
    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError>;
}

impl<P: Pass> Configured for P {
    fn run(&self, graph: &mut Graph, context: &mut Context) -> Result<PassReport, PassError> {
        Pass::run(self, graph, context)
    }
}
