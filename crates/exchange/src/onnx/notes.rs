//! Sentences about what reading changed, each said once for all that it concerns.

use interop::onnx::Element;
use std::collections::BTreeMap;

/// Nodes that a sentence names, at most.
const MAX_SHOWN: usize = 4;

/// The changes so far.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    converted: BTreeMap<(&'static str, &'static str), usize>,
    opaque: Vec<String>,
}

impl Notes {
    /// Counts a tensor whose elements become those of a graph.
    pub fn convert(&mut self, element: Element) {
        let to = match element {
            Element::F16 | Element::BF16 | Element::F64 => "f32",
            Element::I32 => "i64",
            _ => return,
        };
        *self.converted.entry((element.name(), to)).or_default() += 1;
    }

    /// A node that stays as it is in the file.
    pub fn keep_opaque(&mut self, node: &str, operator: &str, reason: &str) {
        self.opaque.push(format!("{node} ({operator}: {reason})"));
    }

    /// The sentences.
    pub fn sentences(&self) -> Vec<String> {
        let converted = self.converted.iter().map(|((from, to), n)| {
            let (tensors, are) = if *n == 1 {
                ("tensor", "is")
            } else {
                ("tensors", "are")
            };
            format!("{n} {tensors} of {from} {are} read as {to}")
        });
        converted.chain(self.opaque_sentence()).collect()
    }

    fn opaque_sentence(&self) -> Option<String> {
        let shown = self.opaque[..self.opaque.len().min(MAX_SHOWN)].join(", ");
        match self.opaque.len() {
            0 => None,
            1 => Some(format!("1 node is kept as it is and does not run: {shown}")),
            n if n <= MAX_SHOWN => Some(format!(
                "{n} nodes are kept as they are and do not run: {shown}"
            )),
            n => Some(format!(
                "{n} nodes are kept as they are and do not run: {shown} and {} more",
                n - MAX_SHOWN
            )),
        }
    }
}
