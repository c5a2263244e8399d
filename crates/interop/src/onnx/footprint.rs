//! The memory that the messages of a file will take, found before any of them is made.
//!
//! An empty message is two bytes in a file and hundreds in memory. The walk below follows the fields that hold messages, charges
//! every message with its size, and so ends a file of nothing but empty nodes with a sentence.

use super::error::OnnxProblem;
use super::proto::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, SparseTensorProto,
    StringStringEntryProto, TensorAnnotation, TensorProto, TensorShapeProto, TrainingInfoProto,
    TypeProto, ValueInfoProto, tensor_shape_proto,
};
use crate::Budget;
use std::mem::size_of;

/// Messages within messages, at most; fewer than what decoding allows.
const MAX_DEPTH: usize = 90;

/// A message: its size in memory, and its fields that hold messages.
struct Layout {
    size: usize,
    children: &'static [(u64, usize)],
}

/// A file.
pub const MODEL: usize = 0;
/// A tensor on its own.
pub const TENSOR: usize = 4;

/// A graph on its own.
pub const GRAPH: usize = 1;
const NODE: usize = 2;
const ATTRIBUTE: usize = 3;
const VALUE_INFO: usize = 5;
const TYPE: usize = 6;
const TYPE_OF: usize = 7;
const SHAPE: usize = 8;
const DIMENSION: usize = 9;
const ENTRY: usize = 10;
const FUNCTION: usize = 11;
const SPARSE: usize = 12;
const TRAINING: usize = 13;
const ANNOTATION: usize = 14;

/// Every message by its number above.
const LAYOUTS: &[Layout] = &[
    Layout {
        size: size_of::<ModelProto>(),
        children: &[
            (7, GRAPH),
            (8, ENTRY),
            (14, ENTRY),
            (20, TRAINING),
            (25, FUNCTION),
            (26, ENTRY),
        ],
    },
    Layout {
        size: size_of::<GraphProto>(),
        children: &[
            (1, NODE),
            (5, TENSOR),
            (11, VALUE_INFO),
            (12, VALUE_INFO),
            (13, VALUE_INFO),
            (14, ANNOTATION),
            (15, SPARSE),
            (16, ENTRY),
        ],
    },
    Layout {
        size: size_of::<NodeProto>(),
        children: &[(5, ATTRIBUTE), (9, ENTRY), (10, ENTRY)],
    },
    Layout {
        size: size_of::<AttributeProto>(),
        children: &[
            (5, TENSOR),
            (6, GRAPH),
            (10, TENSOR),
            (11, GRAPH),
            (14, TYPE),
            (15, TYPE),
            (22, SPARSE),
            (23, SPARSE),
        ],
    },
    Layout {
        size: size_of::<TensorProto>(),
        children: &[(13, ENTRY), (16, ENTRY)],
    },
    Layout {
        size: size_of::<ValueInfoProto>(),
        children: &[(2, TYPE), (4, ENTRY)],
    },
    Layout {
        size: size_of::<TypeProto>(),
        children: &[
            (1, TYPE_OF),
            (4, TYPE_OF),
            (5, TYPE_OF),
            (8, TYPE_OF),
            (9, TYPE_OF),
        ],
    },
    // A sequence, a map and an optional hold a type where a tensor holds a shape; both are walked as the larger one.
    Layout {
        size: size_of::<TypeProto>(),
        children: &[(1, TYPE), (2, SHAPE)],
    },
    Layout {
        size: size_of::<TensorShapeProto>(),
        children: &[(1, DIMENSION), (4, TYPE_OF)],
    },
    Layout {
        size: size_of::<tensor_shape_proto::Dimension>(),
        children: &[],
    },
    Layout {
        size: size_of::<StringStringEntryProto>(),
        children: &[],
    },
    Layout {
        size: size_of::<FunctionProto>(),
        children: &[
            (7, NODE),
            (9, ENTRY),
            (11, ATTRIBUTE),
            (12, VALUE_INFO),
            (14, ENTRY),
        ],
    },
    Layout {
        size: size_of::<SparseTensorProto>(),
        children: &[(1, TENSOR), (2, TENSOR)],
    },
    Layout {
        size: size_of::<TrainingInfoProto>(),
        children: &[(1, GRAPH), (2, GRAPH), (3, ENTRY), (4, ENTRY)],
    },
    Layout {
        size: size_of::<TensorAnnotation>(),
        children: &[(2, ENTRY)],
    },
];

/// The fields of a tensor that are windows on the file and take no memory.
const RAW_DATA: u64 = 9;

/// Refuses bytes whose message would take more memory than they may.
pub fn check(bytes: &[u8], message: usize) -> Result<(), OnnxProblem> {
    let budget = Budget::of_size(bytes.len() as u64);
    let mut walk = Walk {
        bytes,
        at: 0,
        budget: &budget,
    };
    walk.message(message, bytes.len(), 0)
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    budget: &'a Budget,
}

impl Walk<'_> {
    fn message(&mut self, kind: usize, end: usize, depth: usize) -> Result<(), OnnxProblem> {
        if depth > MAX_DEPTH {
            return Err(OnnxProblem::Depth(MAX_DEPTH));
        }
        let layout = &LAYOUTS[kind];
        // A list that grows holds its old half beside the new one.
        self.budget.take(2 * layout.size as u64)?;
        while self.at < end {
            let start = self.at;
            let key = self.varint(end)?;
            let (field, wire) = (key >> 3, key & 7);
            let broken = || OnnxProblem::Field(start);
            match wire {
                0 => {
                    self.varint(end)?;
                    self.budget.take(16)?;
                }
                1 => self.skip(8, end)?,
                5 => self.skip(4, end)?,
                2 => {
                    let len = usize::try_from(self.varint(end)?).map_err(|_| broken())?;
                    let inner = self.at.checked_add(len).filter(|&inner| inner <= end);
                    let inner = inner.ok_or_else(broken)?;
                    let child = layout.children.iter().find(|child| child.0 == field);
                    match child {
                        Some(&(_, child)) => self.message(child, inner, depth + 1)?,
                        None if kind == TENSOR && field == RAW_DATA => {}
                        // Packed numbers take up to eight bytes for each of theirs.
                        None => self.budget.take(64 + 8 * len as u64)?,
                    }
                    self.at = inner;
                }
                _ => return Err(broken()),
            }
        }
        Ok(())
    }

    fn skip(&mut self, len: usize, end: usize) -> Result<(), OnnxProblem> {
        let next = self.at + len;
        if next > end {
            return Err(OnnxProblem::Field(self.at));
        }
        self.at = next;
        self.budget.take(2 * len as u64)?;
        Ok(())
    }

    fn varint(&mut self, end: usize) -> Result<u64, OnnxProblem> {
        let start = self.at;
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.bytes[..end].get(self.at);
            let byte = *byte.ok_or(OnnxProblem::Field(start))?;
            self.at += 1;
            value += u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(OnnxProblem::Field(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field that holds these bytes.
    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![number << 3 | 2];
        let mut len = content.len();
        while len >= 0x80 {
            bytes.push(len as u8 | 0x80);
            len >>= 7;
        }
        bytes.push(len as u8);
        bytes.extend(content);
        bytes
    }

    #[test]
    fn a_million_empty_nodes_are_too_many() {
        let nodes: Vec<u8> = std::iter::repeat_n([1 << 3 | 2, 0], 1_000_000)
            .flatten()
            .collect();
        let error = check(&field(7, &nodes), MODEL).unwrap_err();
        assert!(matches!(error, OnnxProblem::Budget(_)), "{error}");
        assert!(check(&field(7, &nodes[..2000]), MODEL).is_ok());
    }

    #[test]
    fn graphs_within_graphs_end() {
        let mut graph = Vec::new();
        for _ in 0..60 {
            graph = field(1, &field(5, &field(6, &graph)));
        }
        let error = check(&field(7, &graph), MODEL).unwrap_err();
        assert!(matches!(error, OnnxProblem::Depth(_)), "{error}");
    }

    #[test]
    fn a_field_that_is_cut_off_is_named_by_its_place() {
        let file = field(7, &field(2, b"name"));
        for len in 1..file.len() {
            let error = check(&file[..len], MODEL).unwrap_err();
            assert!(matches!(error, OnnxProblem::Field(_)), "{len}: {error}");
        }
    }

    /// A tensor with one field of every sort of wire: a number, eight bytes, four bytes, text.
    const WIRES: &[u8] = &[
        2 << 3,
        0x96,
        0x01, // a varint
        10 << 3 | 1,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0, // eight bytes
        4 << 3 | 5,
        0,
        0,
        0,
        0, // four bytes
        8 << 3 | 2,
        2,
        b'a',
        b'b', // text
    ];

    /// The memory that these bytes are charged.
    fn charged(bytes: &[u8]) -> u64 {
        let budget = Budget::of_size(0);
        let mut walk = Walk {
            bytes,
            at: 0,
            budget: &budget,
        };
        walk.message(TENSOR, bytes.len(), 0).unwrap();
        assert_eq!(walk.at, bytes.len());
        budget.max() - budget.left()
    }

    /// Twice the message for its list, and for a field at least the memory of what it holds: lists of numbers that grow
    /// too, and packed ones of a byte each that become eight.
    #[test]
    fn every_field_is_charged() {
        let message = 2 * size_of::<TensorProto>() as u64;
        assert_eq!(charged(&[]), message);
        for (field, memory) in [
            (&WIRES[..3], 16),
            (&WIRES[3..12], 16),
            (&WIRES[12..17], 8),
            (&WIRES[17..], 64 + 16),
            (WIRES, 16 + 16 + 8 + 64 + 16),
        ] {
            assert_eq!(charged(field) - message, memory, "{field:?}");
        }
        // Raw data are a window on the file.
        assert_eq!(charged(&field(9, &[7; 1000])), message);
        let entry = 2 * size_of::<StringStringEntryProto>() as u64;
        assert_eq!(charged(&field(13, &[])), message + entry);
    }

    #[test]
    fn a_field_of_any_wire_ends_with_its_message() {
        let starts = [0, 3, 12, 17, WIRES.len()];
        for len in 0..WIRES.len() {
            let found = check(&WIRES[..len], TENSOR);
            assert_eq!(found.is_ok(), starts.contains(&len), "{len}: {found:?}");
        }
        // A field may not reach beyond the message around it, though the file goes on.
        for cut in [2, 11, 16, 20] {
            let start = starts.into_iter().rfind(|&start| start < cut).unwrap_or(0);
            let mut bytes = field(5, &WIRES[start..cut]);
            bytes.extend([0; 16]);
            assert!(check(&bytes, GRAPH).is_err(), "{cut}");
        }
        // Groups, and wires that do not exist.
        for wire in [3, 4, 6, 7] {
            let error = check(&[1 << 3 | wire, 0, 0, 0], TENSOR).unwrap_err();
            assert!(matches!(error, OnnxProblem::Field(0)), "{error}");
        }
    }

    #[test]
    fn numbers_have_at_most_ten_bytes() {
        let value = |bytes: &[u8]| {
            let budget = Budget::of_size(0);
            let mut walk = Walk {
                bytes,
                at: 0,
                budget: &budget,
            };
            walk.varint(bytes.len()).ok()
        };
        assert_eq!(value(&[0x7f]), Some(127));
        assert_eq!(value(&[0x96, 0x01]), Some(150));
        assert_eq!(
            value(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
            Some(u64::MAX)
        );
        assert_eq!(value(&[0xff; 11]), None);
        assert_eq!(value(&[0x80]), None);
        assert_eq!(value(&[]), None);
    }

    /// Lists within lists, up to what decoding would take too.
    #[test]
    fn messages_nest_to_a_fixed_depth() {
        let nested = |levels: usize| {
            let mut bytes = Vec::new();
            for level in 0..levels {
                bytes = field(if level % 2 == 0 { 1 } else { 4 }, &bytes);
            }
            bytes
        };
        // A type holds the type of its elements, which holds a type.
        assert!(check(&nested(MAX_DEPTH), TYPE).is_ok());
        let error = check(&nested(MAX_DEPTH + 1), TYPE_OF).unwrap_err();
        assert!(matches!(error, OnnxProblem::Depth(MAX_DEPTH)), "{error}");
    }
}
