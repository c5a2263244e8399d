//! Numbers of channels that may change, and which of them must stay equal: a union-find.

/// A number of channels of a layer's results; `None` for the size of an axis that never changes.
pub(super) type Unknown = Option<usize>;

/// All numbers of channels of a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Unknowns(Vec<Entry>);

#[derive(Clone, Debug)]
struct Entry {
    parent: usize,
    /// The reason why it cannot change.
    fixed: Option<String>,
    /// The nodes that make it equal to others.
    joined_by: Vec<String>,
}

impl Unknowns {
    /// One that is equal to no other.
    pub fn add(&mut self) -> usize {
        let parent = self.0.len();
        self.0.push(Entry {
            parent,
            fixed: None,
            joined_by: Vec::new(),
        });
        parent
    }

    /// The one that stands for all that are equal to this one.
    pub fn root(&self, mut index: usize) -> usize {
        while self.0[index].parent != index {
            index = self.0[index].parent;
        }
        index
    }

    /// The reason why this one cannot change.
    pub fn fixed(&self, index: usize) -> Option<&str> {
        self.0[self.root(index)].fixed.as_deref()
    }

    /// The nodes that make this one equal to others.
    pub fn joined_by(&self, index: usize) -> &[String] {
        &self.0[self.root(index)].joined_by
    }

    /// A node needs both to be equal.
    pub fn join(&mut self, a: Unknown, b: Unknown, node: &str) -> Unknown {
        let (a, b) = match (a, b) {
            (Some(a), Some(b)) => (self.root(a), self.root(b)),
            (Some(_), None) | (None, Some(_)) => {
                self.fix(a.or(b), || {
                    format!("{node} joins them with a value of a fixed size")
                });
                return None;
            }
            (None, None) => return None,
        };
        if a != b {
            let (first, second) = (a.min(b), a.max(b));
            self.0[second].parent = first;
            let fixed = self.0[second].fixed.take();
            let joined_by = std::mem::take(&mut self.0[second].joined_by);
            let root = &mut self.0[first];
            root.fixed = root.fixed.take().or(fixed);
            root.joined_by.extend(joined_by);
            root.joined_by.push(node.to_owned());
        }
        Some(a)
    }

    /// This one cannot change; the first reason stays.
    pub fn fix(&mut self, unknown: Unknown, reason: impl FnOnce() -> String) {
        if let Some(index) = unknown {
            let root = self.root(index);
            self.0[root].fixed.get_or_insert_with(reason);
        }
    }
}
