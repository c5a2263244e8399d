//! Named arrays of a dataset, and the inputs of a network that they feed.
//!
//! A table of floats feeds the one float input of most networks. A network that takes integers, or several inputs, is fed
//! by arrays: an array for each placeholder, under its name, with an entry for each row.

use crate::dataset::{Dataset, Split};
use crate::error::DataError;
use interop::npy::Values;
use ir::{DType, Elements, NodeId, Verified};

/// An array with one entry, of the same shape, for each row of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct InputArray {
    /// Its name in the file.
    pub name: String,
    /// The axes of one entry.
    pub shape: Vec<usize>,
    /// The values of all rows, row-major.
    pub values: Values,
}

impl InputArray {
    /// Values of one row.
    pub fn width(&self) -> usize {
        self.shape.iter().product()
    }

    /// The values of all rows.
    pub fn elements(&self) -> Elements<'_> {
        match &self.values {
            Values::F32(values) => Elements::F32(values),
            Values::I64(values) => Elements::I64(values),
        }
    }
}

/// Named arrays with a label for each row.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrays {
    /// The arrays, in the order of the placeholders that they feed.
    pub inputs: Vec<InputArray>,
    /// The label of every row.
    pub labels: Vec<u32>,
}

/// An input that a network takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkInput {
    /// The name of the placeholder.
    pub name: String,
    /// The type of its elements.
    pub dtype: DType,
    /// The value of every element where a file has no array of this name; none for an input that must be there.
    pub default: Option<i64>,
}

impl NetworkInput {
    /// The inputs of a network, none of which may be left out.
    pub fn of(network: &Verified) -> Vec<Self> {
        let placeholders = network.placeholders().into_iter();
        placeholders
            .map(|id| Self {
                name: network.graph().node(id).name.clone(),
                dtype: network.ty(id.into()).dtype,
                default: None,
            })
            .collect()
    }
}

/// True for inputs that a table of floats feeds: a single one of floats. Nothing known of the network is taken for one.
pub fn is_table(inputs: &[NetworkInput]) -> bool {
    match inputs {
        [] => true,
        [only] => only.dtype != DType::I64,
        _ => false,
    }
}

/// The inputs of a network in words: `input_ids (i64), token_type_ids (i64)`.
pub(crate) fn listing(inputs: &[NetworkInput]) -> String {
    let word = |input: &NetworkInput| match input.default {
        Some(value) => format!("{} ({}, {value} if left out)", input.name, input.dtype),
        None => format!("{} ({})", input.name, input.dtype),
    };
    inputs.iter().map(word).collect::<Vec<_>>().join(", ")
}

impl Dataset {
    /// Checks that the rows feed the inputs of a network: an array of its type and shape for each, whose integers are rows
    /// of the embeddings that they index.
    ///
    /// # Errors
    /// With the first array that does not, and the row and the value where it is one.
    pub fn check_inputs(&self, network: &Verified) -> Result<(), DataError> {
        self.find_mismatch(network).map_or(Ok(()), |message| {
            Err(DataError::Inputs {
                dataset: self.info.name.clone(),
                message,
            })
        })
    }

    fn find_mismatch(&self, network: &Verified) -> Option<String> {
        if let Some(message) = self.find_fixed_input(network) {
            return Some(message);
        }
        let wanted = NetworkInput::of(network);
        let name = &network.graph().name;
        let Some(arrays) = self.train.arrays() else {
            return (!is_table(&wanted)).then(|| {
                format!(
                    "{name} takes {}, but the rows are {} floats each; save an .npz file with arrays of these names",
                    listing(&wanted),
                    self.train.width()
                )
            });
        };
        if arrays.len() != wanted.len() {
            return Some(format!(
                "{name} takes {}, but there are {} arrays",
                listing(&wanted),
                arrays.len()
            ));
        }
        let ids = network.placeholders().into_iter();
        ids.zip(arrays).find_map(|(id, array)| {
            let ty = network.ty(id.into());
            let n_rows_axes = usize::from(begins_with_batch(network, id));
            let shape = ty.shape.bind(1).map(|sizes| sizes[n_rows_axes..].to_vec());
            let is_same_type = (ty.dtype == DType::I64) == (array.elements().dtype() == DType::I64);
            // The floats of a single input may be laid out otherwise, as the rows of a table may.
            let fits = is_table(&wanted) || shape.as_ref() == Some(&array.shape);
            if !is_same_type || !fits {
                return Some(format!(
                    "array '{}' has {}{:?} for each row, but {name} takes {}{:?} for {}",
                    array.name,
                    array.elements().dtype(),
                    array.shape,
                    ty.dtype,
                    shape.unwrap_or_default(),
                    network.graph().node(id).name
                ));
            }
            let bound = network.index_bound(id)?;
            let problem = out_of_range(array, bound)?;
            let last = bound - 1;
            Some(format!(
                "{problem}; the vocabulary of {name} has {bound} entries, 0 to {last}"
            ))
        })
    }

    /// An input without a batch, which one row can feed and more cannot.
    fn find_fixed_input(&self, network: &Verified) -> Option<String> {
        let n_rows = [&self.train, &self.val, &self.test].map(Split::len);
        let n_rows = n_rows.into_iter().max().filter(|&n_rows| n_rows > 1)?;
        let ids = network.placeholders();
        let id = ids
            .into_iter()
            .find(|&id| !begins_with_batch(network, id))?;
        let (name, input) = (&network.graph().name, &network.graph().node(id).name);
        Some(format!(
            "{name} takes {} for {input}, whose first axis is not the batch, but there are {n_rows} rows; --batch-axis 0 makes it the \
             batch of an .onnx network, and a graph has N there",
            network.ty(id.into())
        ))
    }
}

/// True when the first axis of an input is the batch.
fn begins_with_batch(network: &Verified, id: NodeId) -> bool {
    let first = network.ty(id.into()).shape.0.first();
    first.is_some_and(|dim| dim.symbol.is_some())
}

/// The first integer that is no row of an embedding, in words.
fn out_of_range(array: &InputArray, bound: usize) -> Option<String> {
    let Values::I64(values) = &array.values else {
        return None;
    };
    let is_outside = |&value: &i64| usize::try_from(value).map_or(true, |value| value >= bound);
    let at = values.iter().position(is_outside)?;
    Some(format!(
        "array '{}', row {}: {} is out of range",
        array.name,
        at / array.width() + 1,
        values[at]
    ))
}

impl Split {
    /// The values of all rows of the dataset, an array for each input; a table is one array of floats. The rows of this
    /// split are at [`Split::indices`].
    pub fn elements(&self) -> impl Iterator<Item = Elements<'_>> {
        let table = self.table().map(|rows| Elements::F32(&rows.values));
        let arrays = self.arrays().unwrap_or_default();
        table
            .into_iter()
            .chain(arrays.iter().map(InputArray::elements))
    }
}
