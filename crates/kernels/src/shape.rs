//! Shapes, strides and the walk over the outer axes of strided arrays.

/// Highest rank of an array.
pub(crate) const MAX_RANK: usize = 8;

/// One axis of `N` arrays that are walked together.
#[derive(Clone, Copy)]
pub(crate) struct Axis<const N: usize> {
    pub(crate) size: usize,
    /// Distance of neighbours in each array; zero where the array repeats.
    pub(crate) strides: [usize; N],
}

impl<const N: usize> Default for Axis<N> {
    fn default() -> Self {
        Self {
            size: 1,
            strides: [0; N],
        }
    }
}

impl<const N: usize> Axis<N> {
    /// Appends this axis to the first `rank` of `axes`: drops it when of size one, merges it with the one before when
    /// the two are one run in every array. Returns the new rank.
    pub(crate) fn push_merged(self, axes: &mut [Self; MAX_RANK], rank: usize) -> usize {
        if self.size == 1 {
            return rank;
        }
        if let Some(before) = axes[..rank].last_mut()
            && (0..N).all(|i| before.strides[i] == self.strides[i] * self.size)
        {
            before.size *= self.size;
            before.strides = self.strides;
            return rank;
        }
        axes[rank] = self;
        rank + 1
    }
}

/// Row-major strides; unused entries are zero.
pub(crate) fn strides(shape: &[usize]) -> [usize; MAX_RANK] {
    let mut out = [0; MAX_RANK];
    let mut step = 1;
    for (out, &size) in out.iter_mut().zip(shape).rev() {
        *out = step;
        step *= size;
    }
    out
}

/// Calls `f` with the offsets into each array for every index of the axes, the last axis fastest.
#[inline(always)]
pub(crate) fn for_each_run<const N: usize>(axes: &[Axis<N>], mut f: impl FnMut([usize; N])) {
    if axes.iter().any(|axis| axis.size == 0) {
        return;
    }
    let mut index = [0usize; MAX_RANK];
    let mut offsets = [0usize; N];
    loop {
        f(offsets);
        let mut at = axes.len();
        loop {
            if at == 0 {
                return;
            }
            at -= 1;
            let axis = &axes[at];
            index[at] += 1;
            if index[at] < axis.size {
                for (offset, stride) in offsets.iter_mut().zip(axis.strides) {
                    *offset += stride;
                }
                break;
            }
            index[at] = 0;
            for (offset, stride) in offsets.iter_mut().zip(axis.strides) {
                *offset -= stride * (axis.size - 1);
            }
        }
    }
}

/// The number of windows along an axis of padded size; none where a window does not fit.
pub(crate) fn windows(padded: usize, [kernel, stride, dilation]: [usize; 3]) -> usize {
    let span = dilation * (kernel.max(1) - 1) + 1;
    if padded < span {
        0
    } else {
        (padded - span) / stride + 1
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, MAX_RANK, windows};

    /// Sizes and strides of the axes that are left of those of some arrays.
    fn merged<const N: usize>(axes: &[(usize, [usize; N])]) -> Vec<(usize, [usize; N])> {
        let mut kept = [Axis::default(); MAX_RANK];
        let mut rank = 0;
        for &(size, strides) in axes {
            rank = Axis { size, strides }.push_merged(&mut kept, rank);
        }
        let kept = kept[..rank].iter();
        kept.map(|axis| (axis.size, axis.strides)).collect()
    }

    #[test]
    fn axes_that_are_one_run_in_every_array_become_one() {
        assert_eq!(merged(&[(2, [12]), (3, [4]), (4, [1])]), [(24, [1])]);
        // Equal in one array, a row apart in the other.
        let padded = [(3, [4, 5]), (4, [1, 1])];
        assert_eq!(merged(&padded), padded);
        let repeated = [(2, [12, 0]), (3, [4, 0]), (4, [1, 1])];
        assert_eq!(merged(&repeated), [(6, [4, 0]), (4, [1, 1])]);
        let turned = [(4, [1, 3]), (3, [4, 1])];
        assert_eq!(merged(&turned), turned);
        assert_eq!(merged(&[(5, [7]), (1, [9]), (7, [1])]), [(35, [1])]);
        assert_eq!(merged(&[(1, [3])]), []);
    }

    #[test]
    fn windows_are_those_that_fit() {
        for (padded, window, count) in [
            (8, [3, 1, 1], 6),
            (8, [3, 2, 1], 3),
            (9, [3, 2, 1], 4),
            (8, [3, 1, 2], 4),
            (5, [3, 1, 2], 1),
            (4, [3, 1, 2], 0),
            (10, [2, 3, 5], 2),
            (0, [1, 1, 1], 0),
            (7, [1, 1, 3], 7),
        ] {
            assert_eq!(windows(padded, window), count, "{padded} {window:?}");
        }
    }
}
