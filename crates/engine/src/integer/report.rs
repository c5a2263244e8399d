//! What a plan says about itself.

use super::buffer::Storage;
use format::Integer;

/// How the result of one node is computed and held.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeReport {
    /// The node.
    pub node: String,
    /// Its operator.
    pub op: &'static str,
    /// The narrowest format that holds every result exactly.
    pub format: Integer,
    /// How it is stored; not at all when the node is part of a kernel that goes on.
    pub storage: Option<Storage>,
    /// The kernel that computes it.
    pub kernel: String,
}

impl std::fmt::Display for NodeReport {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Self {
            node,
            op,
            format,
            storage,
            kernel,
        } = self;
        let sign = if format.signed {
            ""
        } else {
            ", signed = false"
        };
        let storage = storage.map_or("in passing", Storage::name);
        write!(
            f,
            "{node} ({op}): integer({}, {}{sign}), {storage}, {kernel}",
            format.width, format.frac_width
        )
    }
}
