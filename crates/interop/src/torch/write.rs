//! Tensors in the way PyTorch writes them: a description in the pickle, the elements beside it.

use crate::archive::pack;
use crate::dtype::f32_bytes;
use crate::error::Problem;
use crate::pickle::{Out, encode};

/// Storages of a file that is being written, by their number.
#[derive(Default)]
pub struct Storages(Vec<Vec<u8>>);

impl Storages {
    /// A tensor of f32.
    pub fn float(&mut self, shape: &[usize], values: &[f32]) -> Out {
        self.tensor("FloatStorage", shape, values.len(), f32_bytes(values))
    }

    /// A single number as int64.
    pub fn long(&mut self, value: i64) -> Out {
        self.tensor("LongStorage", &[], 1, value.to_le_bytes().to_vec())
    }

    /// The file whose object is `root`.
    pub fn pack(&self, root: &Out) -> Result<Vec<u8>, Problem> {
        let pickle = encode(root);
        let mut entries: Vec<(String, &[u8])> = vec![
            ("archive/data.pkl".to_owned(), &pickle),
            ("archive/byteorder".to_owned(), b"little"),
        ];
        for (key, bytes) in self.0.iter().enumerate() {
            entries.push((format!("archive/data/{key}"), bytes));
        }
        entries.push(("archive/version".to_owned(), b"3\n"));
        pack(entries)
    }

    fn tensor(
        &mut self,
        class: &'static str,
        shape: &[usize],
        numel: usize,
        bytes: Vec<u8>,
    ) -> Out {
        let key = self.0.len().to_string();
        self.0.push(bytes);
        let storage = Out::Persistent(Box::new(Out::Tuple(vec![
            Out::text("storage"),
            Out::Global("torch", class),
            Out::text(key),
            Out::text("cpu"),
            Out::Int(numel as i128),
        ])));
        let sizes = |sizes: Vec<usize>| {
            Out::Tuple(sizes.iter().map(|&size| Out::Int(size as i128)).collect())
        };
        let args = vec![
            storage,
            Out::Int(0),
            sizes(shape.to_vec()),
            sizes(strides(shape)),
            Out::Bool(false),
            Out::OrderedDict(Vec::new()),
        ];
        Out::Call(
            Box::new(Out::Global("torch._utils", "_rebuild_tensor_v2")),
            args,
        )
    }
}

fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1);
    }
    strides
}
