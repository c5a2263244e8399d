//! A parameter: shape and values, shared by reference and copied on write.

use std::sync::Arc;

/// A dense f32 array in row-major order. Cloning shares the values; [`Tensor::values_mut`] copies them first if they
/// are shared.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    shape: Vec<usize>,
    values: Arc<Vec<f32>>,
}

impl Tensor {
    /// A tensor of `shape` with the given values, or `None` when their number does not fit the shape.
    pub fn new(shape: Vec<usize>, values: Vec<f32>) -> Option<Self> {
        let numel = shape
            .iter()
            .try_fold(1_usize, |n, &size| n.checked_mul(size));
        (numel == Some(values.len())).then(|| Self {
            shape,
            values: Arc::new(values),
        })
    }

    /// A tensor whose every element is `value`; the shape must be one that memory holds, as the verifier checks.
    pub fn filled(shape: Vec<usize>, value: f32) -> Self {
        let len = shape.iter().product();
        Self {
            shape,
            values: Arc::new(vec![value; len]),
        }
    }

    /// The size of every axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The values in row-major order.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The values for writing; copies them first when another tensor shares them.
    pub fn values_mut(&mut self) -> &mut [f32] {
        Arc::<Vec<f32>>::make_mut(&mut self.values)
    }

    /// True when both tensors share one allocation.
    pub fn shares_values_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.values, &other.values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_shares_until_it_is_written() {
        let original = Tensor::filled(vec![2, 3], 1.0);
        let mut copy = original.clone();
        assert!(copy.shares_values_with(&original));
        copy.values_mut()[0] = 2.0;
        assert!(!copy.shares_values_with(&original));
        assert_eq!(original.values()[0], 1.0);
    }

    #[test]
    fn the_number_of_values_must_fit_the_shape() {
        assert!(Tensor::new(vec![2, 2], vec![0.0; 3]).is_none());
        assert!(Tensor::new(vec![usize::MAX, 3], vec![0.0; 3]).is_none());
        assert!(Tensor::new(vec![], vec![0.0]).is_some());
    }
}
