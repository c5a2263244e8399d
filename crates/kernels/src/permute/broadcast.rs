//! `NumPy` broadcasting of two operands, and its gradient: sums over repeated axes.
//!
//! Shapes are aligned at their last axis; an operand repeats along axes where its size is one or missing. Axes that form
//! one run in all operands are merged first, so equal shapes, scalars, trailing rows and leading columns come down to
//! one or two simple loops.

use crate::elementwise::{col_sums, sum};
use crate::isa::versions;
use crate::shape::{Axis, MAX_RANK, for_each_run, strides};

/// `y[i] = f(a[i], b[i])` with both operands broadcast to `y_shape`.
///
/// # Panics
/// When an operand's shape does not broadcast to `y_shape`, or lengths do not fit: an error of the caller.
pub fn broadcast_zip(
    a: &[f32],
    a_shape: &[usize],
    b: &[f32],
    b_shape: &[usize],
    y: &mut [f32],
    y_shape: &[usize],
    f: impl Fn(f32, f32) -> f32 + Copy,
) {
    let (axes, rank) = aligned(
        y_shape,
        [
            ("a", a_shape, a.len()),
            ("b", b_shape, b.len()),
            ("y", y_shape, y.len()),
        ],
    );
    zip_axes(&axes[..rank], a, b, y, f);
}

/// The gradient of broadcasting `dx_shape` to `dy_shape`: sums `dy` over the repeated axes. Overwrites `dx`.
///
/// # Panics
/// When `dx_shape` does not broadcast to `dy_shape`, or lengths do not fit: an error of the caller.
pub fn reduce_to(dy: &[f32], dy_shape: &[usize], dx: &mut [f32], dx_shape: &[usize]) {
    let (axes, rank) = aligned(
        dy_shape,
        [("dy", dy_shape, dy.len()), ("dx", dx_shape, dx.len())],
    );
    let axes = &axes[..rank];
    let patterns: [Option<[usize; 2]>; 2] = [0, 1].map(|i| axes.get(i).map(|axis| axis.strides));
    match patterns {
        _ if dy.is_empty() => dx.fill(0.0),
        [None | Some([1, 1]), None] => dx.copy_from_slice(dy),
        [Some([1, 0]), None] => dx[0] = sum(dy) as f32,
        [Some([_, 0]), Some([1, 1])] if rank == 2 => col_sums(dx.len(), dy, dx),
        _ => {
            dx.fill(0.0);
            reduce_axes(axes, dy, dx);
        }
    }
}

/// `y = f(y, x)` for every element of `x`, in order, where `y_shape` broadcasts to `x_shape`. The caller fills `y` with the
/// start.
///
/// # Panics
/// When `y_shape` does not broadcast to `x_shape`, or lengths do not fit: an error of the caller.
pub fn fold_to(
    x: &[f32],
    x_shape: &[usize],
    y: &mut [f32],
    y_shape: &[usize],
    f: impl Fn(f32, f32) -> f32 + Copy,
) {
    let (axes, rank) = aligned(x_shape, [("x", x_shape, x.len()), ("y", y_shape, y.len())]);
    fold_axes(&axes[..rank], x, y, f);
}

/// Sums `x` over the axes marked in `reduced`; `y` has the remaining axes in order.
///
/// # Panics
/// When lengths do not fit: an error of the caller.
pub fn sum_axes(x: &[f32], shape: &[usize], reduced: &[bool], y: &mut [f32]) {
    assert_eq!(
        shape.len(),
        reduced.len(),
        "sum_axes: shape {shape:?}, {} marks",
        reduced.len()
    );
    assert!(
        shape.len() <= MAX_RANK,
        "sum_axes: rank {} exceeds {MAX_RANK}",
        shape.len()
    );
    let mut kept = [1; MAX_RANK];
    for ((kept, &size), &reduced) in kept.iter_mut().zip(shape).zip(reduced) {
        *kept = if reduced { 1 } else { size };
    }
    reduce_to(x, shape, y, &kept[..shape.len()]);
}

/// The axes of `full` with the strides of each operand, merged where they can be.
fn aligned<const N: usize>(
    full: &[usize],
    operands: [(&str, &[usize], usize); N],
) -> ([Axis<N>; MAX_RANK], usize) {
    assert!(
        full.len() <= MAX_RANK,
        "broadcast: rank {} exceeds {MAX_RANK}",
        full.len()
    );
    for (name, shape, len) in operands {
        assert_eq!(
            shape.iter().product::<usize>(),
            len,
            "broadcast: {name} has {len} elements for shape {shape:?}"
        );
        let fits = shape
            .iter()
            .rev()
            .zip(full.iter().rev())
            .all(|(&own, &size)| own == size || own == 1);
        assert!(
            shape.len() <= full.len() && fits,
            "broadcast: {name} of shape {shape:?} does not broadcast to {full:?}"
        );
    }
    let own_strides = operands.map(|(_, shape, _)| strides(shape));
    let mut axes = [Axis::default(); MAX_RANK];
    let mut rank = 0;
    for (at, &size) in full.iter().enumerate() {
        let strides = std::array::from_fn(|i| {
            let (_, shape, _) = operands[i];
            match (at + shape.len()).checked_sub(full.len()) {
                Some(own) if shape[own] != 1 => own_strides[i][own],
                _ => 0,
            }
        });
        rank = Axis { size, strides }.push_merged(&mut axes, rank);
    }
    (axes, rank)
}

versions! {
    fn fold_axes(axes: &[Axis<2>], x: &[f32], y: &mut [f32], f: impl Fn(f32, f32) -> f32 + Copy) {
        let Some((last, outer)) = axes.split_last() else {
            y[0] = f(y[0], x[0]);
            return;
        };
        let n = last.size;
        for_each_run(outer, #[inline(always)] |[from, to]| {
            let x = &x[from..from + n];
            if last.strides[1] == 0 {
                y[to] = x.iter().fold(y[to], |y, &x| f(y, x));
            } else {
                for (y, &x) in y[to..to + n].iter_mut().zip(x) {
                    *y = f(*y, x);
                }
            }
        });
    }

    fn zip_axes(axes: &[Axis<3>], a: &[f32], b: &[f32], y: &mut [f32], f: impl Fn(f32, f32) -> f32 + Copy) {
        let Some((last, outer)) = axes.split_last() else {
            y[0] = f(a[0], b[0]);
            return;
        };
        let n = last.size;
        for_each_run(outer, #[inline(always)] |[from_a, from_b, to]| {
            let y = &mut y[to..to + n];
            match last.strides {
                [1, 1, _] => {
                    for ((y, &a), &b) in y.iter_mut().zip(&a[from_a..from_a + n]).zip(&b[from_b..from_b + n]) {
                        *y = f(a, b);
                    }
                }
                [1, _, _] => {
                    let b = b[from_b];
                    for (y, &a) in y.iter_mut().zip(&a[from_a..from_a + n]) {
                        *y = f(a, b);
                    }
                }
                [_, 1, _] => {
                    let a = a[from_a];
                    for (y, &b) in y.iter_mut().zip(&b[from_b..from_b + n]) {
                        *y = f(a, b);
                    }
                }
                _ => y.fill(f(a[from_a], b[from_b])),
            }
        });
    }

    fn reduce_axes(axes: &[Axis<2>], dy: &[f32], dx: &mut [f32]) {
        let Some((last, outer)) = axes.split_last() else {
            return;
        };
        let n = last.size;
        for_each_run(outer, #[inline(always)] |[from, to]| {
            let run = &dy[from..from + n];
            if last.strides[1] == 0 {
                dx[to] += crate::row_reduce::add_lanes(run);
                return;
            }
            for (dx, &dy) in dx[to..to + n].iter_mut().zip(run) {
                *dx += dy;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::testing::on_every_isa;
    use crate::testing::{assert_close, noise};

    /// Index into an operand for a flat index of the full shape.
    fn index(full: &[usize], shape: &[usize], at: usize) -> usize {
        let (full_strides, own) = (strides(full), strides(shape));
        let skipped = full.len() - shape.len();
        (0..shape.len())
            .map(|i| {
                if shape[i] == 1 {
                    0
                } else {
                    at / full_strides[i + skipped] % full[i + skipped] * own[i]
                }
            })
            .sum()
    }

    const CASES: [(&[usize], &[usize], &[usize]); 12] = [
        (&[], &[], &[]),
        (&[3, 4], &[3, 4], &[3, 4]),
        (&[3, 4], &[], &[3, 4]),
        (&[1], &[2, 17], &[2, 17]),
        (&[5, 33], &[33], &[5, 33]),
        (&[5, 1], &[5, 33], &[5, 33]),
        (&[5, 1], &[1, 7], &[5, 7]),
        (&[2, 3, 4], &[3, 1], &[2, 3, 4]),
        (&[2, 1, 4, 1], &[3, 1, 5], &[2, 3, 4, 5]),
        (&[0, 4], &[4], &[0, 4]),
        (&[1, 6, 1, 1], &[4, 6, 5, 5], &[4, 6, 5, 5]),
        (&[2, 1], &[1, 1], &[2, 1]),
    ];

    #[test]
    fn operands_repeat_as_in_numpy() {
        on_every_isa(|_| {
            for (a_shape, b_shape, y_shape) in CASES {
                let a = noise(a_shape.iter().product(), 1);
                let b = noise(b_shape.iter().product(), 2);
                let mut y = vec![9.0; y_shape.iter().product()];
                broadcast_zip(&a, a_shape, &b, b_shape, &mut y, y_shape, |a, b| {
                    a - 2.0 * b
                });
                for (at, &got) in y.iter().enumerate() {
                    let want =
                        a[index(y_shape, a_shape, at)] - 2.0 * b[index(y_shape, b_shape, at)];
                    assert_eq!(got, want, "{a_shape:?} {b_shape:?} at {at}");
                }
            }
        });
    }

    #[test]
    fn the_gradient_sums_over_repeats() {
        on_every_isa(|isa| {
            for (a_shape, b_shape, y_shape) in CASES {
                for shape in [a_shape, b_shape] {
                    let dy = noise(y_shape.iter().product(), 1);
                    let mut dx = vec![9.0; shape.iter().product()];
                    reduce_to(&dy, y_shape, &mut dx, shape);
                    let mut want = vec![0.0; dx.len()];
                    for (at, &dy) in dy.iter().enumerate() {
                        want[index(y_shape, shape, at)] += f64::from(dy);
                    }
                    assert_close(
                        &dx,
                        &want,
                        2e-6,
                        &format!("{isa:?} {y_shape:?} to {shape:?}"),
                    );
                }
            }
        });
    }

    #[test]
    fn marked_axes_are_summed() {
        let x: Vec<f32> = (0..24u8).map(f32::from).collect();
        let mut y = [0.0; 3];
        sum_axes(&x, &[2, 3, 4], &[true, false, true], &mut y);
        assert_eq!(y, [60.0, 92.0, 124.0]);
        let mut all = [0.0];
        sum_axes(&x, &[2, 3, 4], &[true; 3], &mut all);
        assert_eq!(all, [276.0]);
    }

    #[test]
    #[should_panic(expected = "b of shape [3] does not broadcast to [2, 4]")]
    fn shapes_that_do_not_fit_are_named() {
        broadcast_zip(
            &[0.0; 8],
            &[2, 4],
            &[0.0; 3],
            &[3],
            &mut [0.0; 8],
            &[2, 4],
            |a, b| a + b,
        );
    }
}
