//! A report on a plan, node by node.

use super::buffer::Storage;
use format::Integer;

/// The arithmetic and the storage of the result of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeReport {
    /// The node.
    pub node: String,
    /// Its operator.
    pub op: &'static str,
    /// The narrowest format that holds every result exactly.
    pub format: Integer,
    /// Its storage type; `None` when the node is an inner part of a kernel.
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
