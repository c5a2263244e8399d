//! Reordering axes, and broadcasting with its gradient.

mod broadcast;

use crate::gemm::transpose;
use crate::isa::versions;
use crate::shape::{Axis, MAX_RANK, for_each_run, strides};
use crate::strided::{COPY, move_rows};
pub use broadcast::{broadcast_zip, fold_to, reduce_to, sum_axes};

/// `y = x` with its axes reordered: axis `i` of `y` is axis `perm[i]` of `x`, whose shape is `shape`. Any rank up to 8.
///
/// # Panics
/// When `perm` is not a permutation of the axes, or lengths do not fit: an error of the caller.
pub fn permute(x: &[f32], shape: &[usize], perm: &[usize], y: &mut [f32]) {
    check(x, shape, perm, y);
    if x.is_empty() {
        return;
    }
    let x_strides = strides(shape);
    let mut y_shape = [1; MAX_RANK];
    for (out, &p) in y_shape.iter_mut().zip(perm) {
        *out = shape[p];
    }
    let y_strides = strides(&y_shape[..perm.len()]);
    // Axes in the order of y; axes that stay neighbours merge.
    let mut axes = [Axis::default(); MAX_RANK];
    let mut rank = 0;
    for (i, &p) in perm.iter().enumerate() {
        let axis = Axis {
            size: shape[p],
            strides: [x_strides[p], y_strides[i]],
        };
        rank = axis.push_merged(&mut axes, rank);
    }
    let axes = &mut axes[..rank];
    match axes.iter().position(|axis| axis.strides[0] == 1) {
        None => y[0] = x[0],
        Some(at) if at + 1 == rank => copy_runs(axes, x, y),
        Some(at) => turn(axes, at, x, y),
    }
}

fn check(x: &[f32], shape: &[usize], perm: &[usize], y: &[f32]) {
    assert!(
        shape.len() <= MAX_RANK,
        "permute: rank {} exceeds {MAX_RANK}",
        shape.len()
    );
    let mut seen = [false; MAX_RANK];
    for &p in perm {
        assert!(
            p < shape.len() && !seen[p],
            "permute: {perm:?} is no permutation of {} axes",
            shape.len()
        );
        seen[p] = true;
    }
    assert_eq!(
        perm.len(),
        shape.len(),
        "permute: {perm:?} is no permutation of {} axes",
        shape.len()
    );
    let len: usize = shape.iter().product();
    assert!(
        x.len() == len && y.len() == len,
        "permute: shape {shape:?}, x has {}, y {}",
        x.len(),
        y.len()
    );
}

versions! {
    /// The last axis stays last: whole runs move, neighbouring ones in one loop over the axis before.
    fn copy_runs(axes: &[Axis<2>], x: &[f32], y: &mut [f32]) {
        let (outer, last) = axes.split_at(axes.len() - 1);
        let width = last[0].size;
        let Some((rows, outer)) = outer.split_last() else {
            return y[..width].copy_from_slice(&x[..width]);
        };
        let [ldx, ldy] = rows.strides;
        for_each_run(outer, #[inline(always)] |[from, to]| {
            move_rows::<COPY>(rows.size, width, &x[from..], ldx, &mut y[to..], ldy);
        });
    }
}

/// Axis `at`, contiguous in x, changes places with the last one of y: transposes over the remaining axes.
fn turn(axes: &mut [Axis<2>], at: usize, x: &[f32], y: &mut [f32]) {
    let inner = axes.len() - 2;
    axes[at..=inner].rotate_left(1);
    let (outer, pair) = axes.split_at(inner);
    let (cols, rows) = (pair[0], pair[1]);
    for_each_run(
        outer,
        #[inline(always)]
        |[from, to]| {
            transpose(
                rows.size,
                cols.size,
                &x[from..],
                rows.strides[0],
                &mut y[to..],
                cols.strides[1],
            );
        },
    );
}

#[cfg(test)]
mod tests {
    use super::permute;
    use crate::isa::testing::on_every_isa;
    use crate::shape::strides;
    use crate::testing::noise;

    fn check(shape: &[usize], perm: &[usize]) {
        let len = shape.iter().product();
        let x = noise(len, 1);
        let mut y = vec![9.0; len];
        permute(&x, shape, perm, &mut y);
        let y_shape: Vec<usize> = perm.iter().map(|&p| shape[p]).collect();
        let (xs, ys) = (strides(shape), strides(&y_shape));
        for (at, &got) in y.iter().enumerate() {
            let from: usize = (0..perm.len())
                .map(|i| at / ys[i] % y_shape[i] * xs[perm[i]])
                .sum();
            assert_eq!(got, x[from], "{shape:?} {perm:?} at {at}");
        }
    }

    #[test]
    fn all_permutations_of_small_shapes() {
        on_every_isa(|_| {
            check(&[], &[]);
            check(&[5], &[0]);
            check(&[1, 1], &[1, 0]);
            check(&[3, 0], &[1, 0]);
            check(&[17, 33], &[1, 0]);
            for shape in [[2, 3, 4], [16, 1, 17], [5, 20, 1]] {
                for p in [
                    [0, 1, 2],
                    [0, 2, 1],
                    [1, 0, 2],
                    [1, 2, 0],
                    [2, 0, 1],
                    [2, 1, 0],
                ] {
                    check(&shape, &p);
                }
            }
            for p in [
                [0, 2, 1, 3],
                [3, 2, 1, 0],
                [0, 2, 3, 1],
                [2, 3, 0, 1],
                [1, 3, 0, 2],
            ] {
                check(&[3, 5, 4, 16], &p);
            }
            check(&[2, 1, 3, 2, 2, 1, 2, 3], &[7, 3, 0, 5, 1, 6, 2, 4]);
        });
    }

    #[test]
    #[should_panic(expected = "[0, 0] is no permutation of 2 axes")]
    fn a_repeated_axis_is_an_error() {
        permute(&[0.0; 4], &[2, 2], &[0, 0], &mut [0.0; 4]);
    }
}
