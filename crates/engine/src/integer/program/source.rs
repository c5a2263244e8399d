//! The sources of a program's codes: which operand elements and constants every element is computed from.

use super::super::grid::Grids;
use super::super::weights::Weights;
use super::rows::Rows;

/// The computation of the codes of a step.
#[derive(Clone, Debug)]
pub enum Source {
    /// The codes of a placeholder's floats.
    Encode {
        /// The placeholder, by its place among the program's inputs.
        input: usize,
        /// The fixed point of every element.
        grids: Grids,
    },
    /// Codes that are known.
    Constant(Vec<i64>),
    /// The operand's elements, in the same order.
    Copy,
    /// A product with weights: [`Rows::terms`] has the terms of every sum.
    Layer {
        /// The rows of the left operand.
        rows: Rows,
        /// The weights, and the initial values of sums.
        weights: Weights,
    },
    /// For each element the element of the operand that it is.
    Gather(Vec<usize>),
    /// `a·2^bits[0] ± b·2^bits[1]`.
    Sum {
        /// For each element the element of either operand.
        indices: [Vec<usize>; 2],
        /// Bits by which either operand moves to the left.
        bits: [u32; 2],
        /// True when b is subtracted.
        subtract: bool,
    },
    /// `a·b`.
    Product {
        /// For each element the element of either operand.
        indices: [Vec<usize>; 2],
    },
    /// The largest element, or the sum, of every window over planes. The windows of a plane, row after row, are the elements of
    /// the result's plane.
    Pool {
        /// Per window of rows, and of columns, the positions of its elements; padding is left out. The sum of no elements is 0.
        windows: [Vec<Vec<usize>>; 2],
        /// Rows and columns of a plane of the operand.
        plane: [usize; 2],
        /// True for the largest element, false for the sum.
        is_max: bool,
    },
    /// Sums of the operand's elements.
    Total {
        /// For each element of the operand the sum that it is a term of.
        targets: Vec<usize>,
    },
    /// The place of the largest of neighbouring elements, the first of equal ones.
    Argmax {
        /// Elements of the operand for each of the result.
        classes: usize,
    },
    /// Runs of every operand in turn, then the next runs of all.
    Cat {
        /// Per operand, the run that it gives.
        parts: Vec<CatPart>,
    },
    /// Products of matrices.
    MatMul(MatMul),
}

/// The part of an operand in a concatenation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatPart {
    /// Elements that follow each other in the result.
    pub run: usize,
    /// Bits by which they move to the left.
    pub bits: u32,
}

/// `C[m, n] = A[m, k]·B[k, n]` for every pair of matrices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatMul {
    /// Rows of a left matrix.
    pub m: usize,
    /// Columns of a left matrix, and rows of a right one.
    pub k: usize,
    /// Columns of a right matrix.
    pub n: usize,
    /// Per matrix of the result, the index of its left and right matrix.
    pub pairs: Vec<(usize, usize)>,
}

/// The operand's elements in the window of element `i` of a [`Source::Pool`].
pub fn pool_window(
    windows: &[Vec<Vec<usize>>; 2],
    [height, width]: [usize; 2],
    i: usize,
) -> Vec<usize> {
    let [rows, columns] = windows;
    let plane = i / (rows.len() * columns.len()) * height * width;
    let (own_rows, own_columns) = (
        &rows[i / columns.len() % rows.len()],
        &columns[i % columns.len()],
    );
    let row = |&y: &usize| own_columns.iter().map(move |x| plane + y * width + x);
    own_rows.iter().flat_map(row).collect()
}
