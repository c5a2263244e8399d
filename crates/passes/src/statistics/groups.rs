//! Groups: the values of a sample that are taken together.

use super::StatisticError;
use kernels::gemm::transpose;

/// The axes that a statistic reduces, besides the samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Dims {
    /// All axes: one number.
    #[default]
    All,
    /// None: every element of a sample by itself.
    PerElement,
    /// These axes of a sample.
    Axes(Vec<usize>),
}

/// The elements of a sample in groups of equal size, one for each element of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Groups {
    /// The axes that are left.
    pub shape: Vec<usize>,
    /// The elements of the first group, then those of the second, and so on; empty when all are one group.
    elements: Vec<u32>,
    /// Elements of one group.
    pub size: usize,
}

impl Groups {
    /// The groups of a sample of this shape.
    pub fn new(dims: &Dims, sample: &[usize]) -> Result<Self, StatisticError> {
        let is_reduced: Vec<bool> = match dims {
            Dims::All => vec![true; sample.len()],
            Dims::PerElement => vec![false; sample.len()],
            Dims::Axes(axes) => {
                if let Some(&axis) = axes.iter().find(|&&axis| axis >= sample.len()) {
                    let shape = sample.to_vec();
                    return Err(StatisticError::Axis { axis, shape });
                }
                (0..sample.len()).map(|axis| axes.contains(&axis)).collect()
            }
        };
        let pick = |wanted: bool| {
            let axes = sample.iter().zip(&is_reduced);
            axes.filter(move |(_, is_reduced)| **is_reduced == wanted)
                .map(|(&size, _)| size)
        };
        Ok(Self {
            shape: pick(false).collect(),
            size: pick(true).product(),
            elements: elements(sample, &is_reduced),
        })
    }

    /// The number of groups.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Appends the values of groups `first..last` in whole samples to `out`, group after group.
    pub fn gather(&self, rows: &[f32], first: usize, last: usize, out: &mut Vec<f32>) {
        let width = self.size * self.count();
        if self.size == 1 {
            // Every element is a group of its own, in their order.
            let (count, start) = (rows.len() / width, out.len());
            out.resize(start + count * (last - first), 0.0);
            let out = &mut out[start..];
            transpose(count, last - first, &rows[first..], width, out, count);
            return;
        }
        for elements in self.elements.chunks(self.size).take(last).skip(first) {
            for row in rows.chunks_exact(width) {
                out.extend(elements.iter().map(|&element| row[element as usize]));
            }
        }
    }
}

/// The elements of a sample sorted by group.
fn elements(sample: &[usize], is_reduced: &[bool]) -> Vec<u32> {
    if is_reduced.iter().all(|&is_reduced| is_reduced) {
        return Vec::new();
    }
    let strides: Vec<usize> = (0..sample.len())
        .map(|axis| sample[axis + 1..].iter().product())
        .collect();
    // Axes that are left vary slowest.
    let kept = (0..sample.len()).filter(|&axis| !is_reduced[axis]);
    let reduced = (0..sample.len()).filter(|&axis| is_reduced[axis]);
    let mut elements = vec![0];
    for axis in kept.chain(reduced) {
        let (size, stride) = (sample[axis], strides[axis]);
        let steps = |start: u32| (0..size).map(move |k| start + (k * stride) as u32);
        elements = elements.into_iter().flat_map(steps).collect();
    }
    elements
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_the_elements_that_numpy_reduces() {
        let rows: Vec<f32> = (0..24).map(|k| k as f32).collect();
        let gathered = |dims: Dims| {
            let groups = Groups::new(&dims, &[2, 3, 2]).unwrap();
            let mut out = Vec::new();
            if groups.count() > 1 {
                groups.gather(&rows, 0, groups.count(), &mut out);
            }
            (groups.shape, groups.size, out)
        };
        assert_eq!(gathered(Dims::All), (vec![], 12, vec![]));
        assert_eq!(gathered(Dims::Axes(vec![2, 0, 1])).1, 12);
        let (shape, size, out) = gathered(Dims::PerElement);
        assert_eq!((shape, size), (vec![2, 3, 2], 1));
        assert_eq!(out[..4], [0.0, 12.0, 1.0, 13.0]);
        let (shape, size, out) = gathered(Dims::Axes(vec![2, 0]));
        assert_eq!((shape, size), (vec![3], 4));
        assert_eq!(out[..8], [0.0, 1.0, 6.0, 7.0, 12.0, 13.0, 18.0, 19.0]);
    }

    #[test]
    fn an_axis_that_a_sample_does_not_have_is_refused() {
        let error = Groups::new(&Dims::Axes(vec![0, 2]), &[4, 5]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "dims: axis 2 is not below 2, the axes of a sample of shape [4, 5]"
        );
    }
}
