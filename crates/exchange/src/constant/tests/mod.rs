//! Evaluations against NumPy, Python and naive loops.

mod elementwise;
mod made;
mod moves;

use super::*;

fn floats(shape: &[usize], values: &[f32]) -> Array {
    Array::new(shape.to_vec(), Values::F32(values.to_vec()))
}

fn ints(shape: &[usize], values: &[i64]) -> Array {
    Array::new(shape.to_vec(), Values::I64(values.to_vec()))
}

fn truths(values: &[bool]) -> Array {
    Array::new(vec![values.len()], Values::Bool(values.to_vec()))
}

/// A tensor whose elements are their own places.
fn places(shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    ints(shape, &(0..n as i64).collect::<Vec<_>>())
}

/// Every index of a shape, the last axis fastest.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &size in shape {
        let with = |index: &Vec<usize>, i: usize| [index.as_slice(), &[i]].concat();
        all = all
            .iter()
            .flat_map(|index| (0..size).map(move |i| with(index, i)))
            .collect();
    }
    all
}

/// The element at an index, with index 0 along axes of size 1 and without the axes that the tensor does not have.
fn at(array: &Array, index: &[usize]) -> i64 {
    let own = &index[index.len() - array.shape.len()..];
    let place = array.shape.iter().zip(own).fold(0, |place, (&size, &i)| {
        place * size + if size == 1 { 0 } else { i }
    });
    array.integers().unwrap()[place]
}

fn said(result: Result<Array, Refusal>) -> String {
    result.unwrap_err().0
}

fn size(factor: i64, of_batch: bool) -> Size {
    Size { factor, of_batch }
}
