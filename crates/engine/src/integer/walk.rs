//! Places of elements: how the index of a result's element follows from axes.

/// The row-major strides of a shape.
pub(crate) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// The index `start + Σ position·stride` for every position in a box of these sizes, in row-major order.
pub(crate) fn box_indices(start: usize, sizes: &[usize], strides: &[usize]) -> Vec<usize> {
    let mut indices = vec![start];
    for (&size, &stride) in sizes.iter().zip(strides) {
        let bases = indices.iter();
        indices = bases
            .flat_map(|&base| (0..size).map(move |i| base + i * stride))
            .collect();
    }
    indices
}

/// For every element of shape `to` the element of shape `from` that broadcasting puts there.
pub(crate) fn broadcast_indices(from: &[usize], to: &[usize]) -> Vec<usize> {
    let mut steps = vec![0; to.len() - from.len()];
    let own = from.iter().zip(strides(from));
    steps.extend(own.map(|(&size, stride)| if size == 1 { 0 } else { stride }));
    box_indices(0, to, &steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_where_axes_say() {
        assert_eq!(strides(&[2, 3, 4]), [12, 4, 1]);
        assert_eq!(box_indices(1, &[2, 2], &[10, 3]), [1, 4, 11, 14]);
        assert_eq!(
            broadcast_indices(&[3, 1], &[2, 3, 2]),
            [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]
        );
        assert_eq!(broadcast_indices(&[], &[2]), [0, 0]);
    }
}
