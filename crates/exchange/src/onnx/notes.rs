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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_counted_by_their_types() {
        let mut notes = Notes::default();
        for element in [
            Element::F16,
            Element::I32,
            Element::F16,
            Element::F32,
            Element::I64,
            Element::F64,
        ] {
            notes.convert(element);
        }
        notes.convert(Element::BF16);
        let expected = [
            "1 tensor of bfloat16 is read as f32",
            "1 tensor of double is read as f32",
            "2 tensors of float16 are read as f32",
            "1 tensor of int32 is read as i64",
        ];
        assert_eq!(notes.sentences(), expected);
    }

    #[test]
    fn nodes_that_stay_are_named_up_to_four() {
        let of = |n: usize| {
            let mut notes = Notes::default();
            (0..n).for_each(|k| notes.keep_opaque(&format!("n{k}"), "Op", "why"));
            notes.sentences()
        };
        assert!(of(0).is_empty());
        assert_eq!(
            of(1),
            ["1 node is kept as it is and does not run: n0 (Op: why)"]
        );
        let two = "2 nodes are kept as they are and do not run: n0 (Op: why), n1 (Op: why)";
        assert_eq!(of(2), [two]);
        assert!(of(4)[0].ends_with("n3 (Op: why)"));
        assert!(of(6)[0].starts_with("6 nodes are kept as they are"));
        assert!(of(6)[0].ends_with("n3 (Op: why) and 2 more"));
    }
}
