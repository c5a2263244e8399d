//! The rounding of a batch row by row.
//!
//! A network computes each sample alone, so what a format does to a sample must not depend on the others in the batch.
//! On a data port no scale is therefore shared by two indices of an axis that depends on the batch. Parameters, and values
//! that are the same for every batch, are rounded as whole arrays.

use crate::Shape;
use format::Format;

/// A format with the shape in which it rounds the values of a data port.
#[derive(Clone, Debug, PartialEq)]
pub struct RowFormat {
    /// The format; where scales would span rows, with scales within them.
    pub format: Format,
    /// The values' shape; where the batch is not the first of several axes, with the axes up to it as one.
    pub shape: Vec<usize>,
}

impl RowFormat {
    /// The rounding of a data port whose values have this shape in a batch of `rows`; `None` when they do not fit in
    /// memory.
    pub fn of(format: &Format, shape: &Shape, rows: usize) -> Option<Self> {
        let sizes = shape.bind(rows)?;
        let last = shape.0.iter().rposition(|dim| dim.symbol.is_some());
        // Stored fields lie along the axes of a sample, which the verifier has checked.
        let is_stored = !format.stored_fields().is_empty();
        let Some(last) = last.filter(|_| !is_stored && !format.rounds_alone()) else {
            return Some(Self {
                format: format.clone(),
                shape: sizes,
            });
        };
        let (outer, inner) = sizes.split_at(last + 1);
        let mut shape = vec![outer.iter().product()];
        shape.extend(inner);
        if inner.is_empty() {
            shape.push(1);
        }
        Some(Self {
            format: format.within_rows(),
            shape,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(format: &str, shape: &str) -> (String, Vec<usize>) {
        let shape = Shape(shape.split(", ").map(|dim| dim.parse().unwrap()).collect());
        let rounding = RowFormat::of(&Format::parse(format).unwrap(), &shape, 5).unwrap();
        (rounding.format.to_string(), rounding.shape)
    }

    #[test]
    fn scales_stay_within_the_rows_of_a_batch() {
        let channel = "scale_integer(8, channel)".to_owned();
        let tensor = "scale_integer(8)";
        assert_eq!(of(tensor, "N, 3, 4"), (channel.clone(), vec![5, 3, 4]));
        assert_eq!(of(tensor, "2*N, 3"), (channel.clone(), vec![10, 3]));
        assert_eq!(of(tensor, "3, N, 4"), (channel.clone(), vec![15, 4]));
        assert_eq!(of(tensor, "N"), (channel, vec![5, 1]));
        assert_eq!(of(tensor, "3, 4"), (tensor.to_owned(), vec![3, 4]));
        let blocks = "block_fp(8, 8, block_size = [2, 2])";
        let within = "block_fp(8, 8, block_size = [2, 2], skip_first_dim = true)".to_owned();
        assert_eq!(of(blocks, "N, 4"), (within, vec![5, 4]));
        assert_eq!(of(blocks, "4, 4"), (blocks.to_owned(), vec![4, 4]));
    }
}
