//! Pools over one or two axes; one axis is a picture of height one.

use super::Site;
use super::activation::mask_by_relu;
use crate::order::Order;
use crate::step::{Memory, Step, Wires};
use ir::ops::Window;
use kernels::bounds;
use kernels::pool::{self as kernel, AdaptiveShape, PoolShape};

/// The reduction of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Max,
    /// The mean, counting the zeros of the padding or not.
    Average {
        counts_padding: bool,
    },
}

/// The average kind.
pub(crate) fn average(counts_padding: bool) -> Kind {
    Kind::Average { counts_padding }
}

/// A pool with a moving window.
pub(crate) struct WindowPool {
    kind: Kind,
    shape: PoolShape,
    /// The result ends with a relu.
    relu: bool,
}

pub(crate) fn window_pool<const K: usize>(
    kind: Kind,
    window: &Window<K>,
    site: &Site,
) -> WindowPool {
    let (planes, channels, input) = picture(&site.inputs[0], K, site.order);
    let (_, _, output) = picture(&site.outputs[0], K, site.order);
    let mut shape = PoolShape {
        planes,
        channels,
        input,
        kernel: two(&window.kernel_size, 1),
        stride: two(&window.stride, 1),
        padding: two(&window.padding, 0),
        dilation: two(&window.dilation, 1),
        overhang: [0; 2],
    };
    shape.overhang = shape.overhang_of(output);
    WindowPool {
        kind,
        shape,
        relu: site.fusion.relu,
    }
}

/// Planes, channels of a pixel and size of a picture whose last `spatial` axes are space.
fn picture(shape: &[usize], spatial: usize, order: Order) -> (usize, usize, [usize; 2]) {
    let (planes, space) = shape.split_at(shape.len() - spatial);
    let planes: usize = planes.iter().product();
    let channels = match order {
        Order::Planes => 1,
        Order::Pixels => shape[1],
    };
    (planes / channels.max(1), channels, two(space, 1))
}

/// One or two sizes as two.
fn two(sizes: &[usize], missing: usize) -> [usize; 2] {
    match sizes {
        [height, width] => [*height, *width],
        [width] => [missing, *width],
        _ => [missing, missing],
    }
}

impl Step for WindowPool {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        match self.kind {
            Kind::Max => kernel::max_pool_forward(&self.shape, x, y),
            Kind::Average { counts_padding } => {
                kernel::avg_pool_forward(&self.shape, counts_padding, x, y);
            }
        }
        if self.relu {
            bounds::clamp(y, 0.0, f32::INFINITY);
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        if self.relu {
            mask_by_relu(wires, memory);
        }
        let [x, y, dy, dx] = memory.split([wires.x(0), wires.y(), wires.dy(), target]);
        match self.kind {
            Kind::Max => kernel::max_pool_backward(&self.shape, x, y, dy, dx),
            Kind::Average { counts_padding } => {
                kernel::avg_pool_backward(&self.shape, counts_padding, dy, dx);
            }
        }
        memory.commit_grad(wires, 0);
    }
}

/// A pool whose windows follow from the size of the result.
pub(crate) struct AdaptivePool {
    is_max: bool,
    shape: AdaptiveShape,
}

pub(crate) fn adaptive_pool(is_max: bool, site: &Site) -> AdaptivePool {
    let one_axis = site.node.op.name().ends_with("1d");
    let spatial = if one_axis { 1 } else { 2 };
    let (planes, channels, input) = picture(&site.inputs[0], spatial, site.order);
    let (_, _, output) = picture(&site.outputs[0], spatial, site.order);
    let shape = AdaptiveShape {
        planes,
        channels,
        input,
        output,
    };
    AdaptivePool { is_max, shape }
}

impl Step for AdaptivePool {
    fn forward(&self, wires: &Wires, memory: &mut Memory) {
        let [x, y] = memory.split([wires.x(0), wires.y()]);
        if self.is_max {
            kernel::adaptive_max_forward(&self.shape, x, y);
        } else {
            kernel::adaptive_avg_forward(&self.shape, x, y);
        }
    }

    fn backward(&self, wires: &Wires, memory: &mut Memory) {
        let Some(target) = wires.grad_target(0) else {
            return;
        };
        let [x, y, dy, dx] = memory.split([wires.x(0), wires.y(), wires.dy(), target]);
        if self.is_max {
            kernel::adaptive_max_backward(&self.shape, x, y, dy, dx);
        } else {
            kernel::adaptive_avg_backward(&self.shape, dy, dx);
        }
        memory.commit_grad(wires, 0);
    }
}

/// Pools in exact integers.
pub(crate) mod integer {
    use crate::integer::buffer::{Buffer, Code, with_buffer};
    use crate::integer::error::Refusal;
    use crate::integer::{Lowered, Site, Source};
    use crate::ops::reduce::integer::mean_range;
    use ir::ops::Window;

    pub(crate) fn max<const K: usize>(window: &Window<K>, site: &Site) -> Result<Lowered, Refusal> {
        let windows = moving_windows(window, site);
        // Dilated taps can all miss a small input; the largest of no elements is −∞.
        if windows.iter().flatten().any(Vec::is_empty) {
            let why = "a window lies wholly in the padding, and the largest of no elements is not a number";
            return Err(Refusal::NoForm(why.to_owned()));
        }
        Ok(largest(windows, site))
    }

    pub(crate) fn adaptive_max(spatial: usize, site: &Site) -> Lowered {
        largest(adaptive_windows(spatial, site), site)
    }

    pub(crate) fn average<const K: usize>(
        window: &Window<K>,
        counts_padding: bool,
        site: &Site,
    ) -> Result<Lowered, Refusal> {
        if window.ceil_mode {
            let why = "its windows have different numbers of elements, because ceil_mode is true";
            return Err(Refusal::NoForm(why.to_owned()));
        }
        if window.padding != [0; K] && !counts_padding {
            let why = "its windows have different numbers of elements, because count_include_pad is false";
            return Err(Refusal::NoForm(why.to_owned()));
        }
        let count = window.kernel_size.iter().product();
        mean(moving_windows(window, site), count, site)
    }

    pub(crate) fn adaptive_average(spatial: usize, site: &Site) -> Result<Lowered, Refusal> {
        let windows = adaptive_windows(spatial, site);
        let sizes = windows.each_ref().map(|axis| axis.iter().map(Vec::len));
        let count: Option<usize> = sizes
            .into_iter()
            .map(|mut sizes| {
                let first = sizes.next()?;
                sizes.all(|size| size == first).then_some(first)
            })
            .product();
        let uneven =
            || Refusal::NoForm("its windows have different numbers of elements".to_owned());
        mean(windows, count.ok_or_else(uneven)?, site)
    }

    fn mean(windows: [Positions; 2], count: usize, site: &Site) -> Result<Lowered, Refusal> {
        let range = mean_range(site.operands[0].range, count)?;
        let source = pool(windows, false, site);
        Ok(Lowered::step(source, range))
    }

    fn largest(windows: [Positions; 2], site: &Site) -> Lowered {
        let source = pool(windows, true, site);
        Lowered::step(source, site.operands[0].range)
    }

    fn pool(windows: [Positions; 2], is_max: bool, site: &Site) -> Source {
        let shape = &site.operands[0].shape;
        let plane = match shape[2..] {
            [height, width] => [height, width],
            _ => [1, shape[2..].iter().product()],
        };
        Source::Pool {
            windows,
            plane,
            is_max,
        }
    }

    /// Per window of an axis, the positions of its elements; padding is left out.
    pub(crate) type Positions = Vec<Vec<usize>>;

    fn moving_windows<const K: usize>(window: &Window<K>, site: &Site) -> [Positions; 2] {
        let (input, output) = (&site.operands[0].shape, &site.outputs[0]);
        let axis = |k: usize| {
            let (size, count) = (input[input.len() - K + k], output[output.len() - K + k]);
            let taps = taps(window, k, size, count);
            taps.into_iter()
                .map(|taps| taps.into_iter().flatten().collect())
                .collect()
        };
        two_axes(K, axis)
    }

    /// Per window of axis `k` of space, the positions of its elements in an input of this size; none in the padding.
    pub(crate) fn taps<const K: usize>(
        window: &Window<K>,
        k: usize,
        size: usize,
        count: usize,
    ) -> Vec<Vec<Option<usize>>> {
        let tap = |i: usize, t: usize| {
            let at = i * window.stride[k] + t * window.dilation[k];
            at.checked_sub(window.padding[k]).filter(|&at| at < size)
        };
        (0..count)
            .map(|i| (0..window.kernel_size[k]).map(|t| tap(i, t)).collect())
            .collect()
    }

    /// Along an axis of size n, window i of o spans `⌊i·n/o⌋ .. ⌈(i + 1)·n/o⌉`.
    fn adaptive_windows(spatial: usize, site: &Site) -> [Positions; 2] {
        let (input, output) = (&site.operands[0].shape, &site.outputs[0]);
        let axis = |k: usize| {
            let (n, o) = (
                input[input.len() - spatial + k],
                output[output.len() - spatial + k],
            );
            (0..o)
                .map(|i| (i * n / o..((i + 1) * n).div_ceil(o)).collect())
                .collect()
        };
        two_axes(spatial, axis)
    }

    /// The windows of two axes, or of one under an axis of a single position.
    fn two_axes(spatial: usize, axis: impl Fn(usize) -> Positions) -> [Positions; 2] {
        match spatial {
            1 => [vec![vec![0]], axis(0)],
            _ => [axis(0), axis(1)],
        }
    }

    /// The largest element, or the sum, of every window.
    pub(crate) struct Pool {
        windows: [Positions; 2],
        /// The places of a window's columns after its first one, when all windows have the same.
        offsets: Option<Vec<usize>>,
        /// Elements of a row of the input.
        line: usize,
        /// Elements of a plane, or of a picture of pixels.
        block: usize,
        /// Elements of a position: the channels of a pixel.
        inner: usize,
    }

    impl Pool {
        /// Windows over planes of this size whose positions have `inner` elements.
        pub(crate) fn new(
            windows: [Positions; 2],
            [height, width]: [usize; 2],
            inner: usize,
        ) -> Self {
            Self {
                offsets: common_offsets(&windows[1]),
                windows,
                line: width * inner,
                block: height * width * inner,
                inner,
            }
        }

        /// True when the elements of a position are its channels: a map by place is then one by channel.
        pub(crate) fn has_pixels(&self) -> bool {
            self.inner > 1
        }

        /// The largest codes of all windows; both values are stored alike.
        pub(crate) fn largest(&self, x: &Buffer, y: &mut Buffer) {
            with_buffer!(x, x => if let Some(y) = y.codes_mut() {
                self.join(x, y, Ord::max);
            });
        }

        /// Joins the elements of every window: its rows first, over all columns at once, then the columns.
        pub(crate) fn join<T: Code>(&self, x: &[T], y: &mut [T], pair: impl Fn(T, T) -> T + Copy) {
            let [rows, columns] = &self.windows;
            let [mut joined, mut all] = [(); 2].map(|()| vec![T::default(); self.line]);
            let per_row = columns.len() * self.inner;
            let pictures = y.chunks_exact_mut((rows.len() * per_row).max(1));
            for (x, y) in x.chunks_exact(self.block.max(1)).zip(pictures) {
                for (own, y) in rows.iter().zip(y.chunks_exact_mut(per_row.max(1))) {
                    join_runs(x, own, &mut joined, pair);
                    match &self.offsets {
                        Some(offsets) => {
                            self.join_all_columns(&joined, offsets, &mut all, pair);
                            self.pick(&all, y);
                        }
                        None => {
                            for (own, y) in columns.iter().zip(y.chunks_exact_mut(self.inner)) {
                                join_runs(&joined, own, y, pair);
                            }
                        }
                    }
                }
            }
        }

        /// Joins every element of a row with those that follow it in a window.
        fn join_all_columns<T: Code>(
            &self,
            row: &[T],
            offsets: &[usize],
            joined: &mut [T],
            pair: impl Fn(T, T) -> T,
        ) {
            let later = |offset: &usize| &row[offset * self.inner..];
            let Some((first, rest)) = offsets.split_first() else {
                return joined.copy_from_slice(row);
            };
            for (joined, (&x, &later)) in joined.iter_mut().zip(row.iter().zip(later(first))) {
                *joined = pair(x, later);
            }
            for offset in rest {
                joined
                    .iter_mut()
                    .zip(later(offset))
                    .for_each(|(joined, &later)| *joined = pair(*joined, later));
            }
        }

        /// The first element of every window. Short runs are copied with what follows them: the next window writes that anew.
        fn pick<T: Code>(&self, row: &[T], y: &mut [T]) {
            for (window, own) in self.windows[1].iter().enumerate() {
                let (from, to) = (own[0] * self.inner, window * self.inner);
                let short = (
                    row[from..].first_chunk(),
                    y[to..].first_chunk_mut::<SHORT>(),
                );
                match short {
                    (Some(run), Some(y)) if self.inner < SHORT => *y = *run,
                    _ => y[to..to + self.inner].copy_from_slice(&row[from..from + self.inner]),
                }
            }
        }
    }

    /// Elements of a run that is copied whole, however short.
    const SHORT: usize = 8;

    /// The places of all elements of a window after its first, relative to it, when all windows have the same.
    fn common_offsets(windows: &Positions) -> Option<Vec<usize>> {
        let offsets = |own: &Vec<usize>| -> Option<Vec<usize>> {
            let (first, rest) = own.split_first()?;
            Some(rest.iter().map(|place| place - first).collect())
        };
        let first = offsets(windows.first()?)?;
        let is_common = windows
            .iter()
            .all(|own| offsets(own).as_ref() == Some(&first));
        is_common.then_some(first)
    }

    /// Joins runs of elements at these places, counted in runs; zeros where there are none.
    fn join_runs<T: Code>(x: &[T], places: &[usize], y: &mut [T], pair: impl Fn(T, T) -> T) {
        let len = y.len();
        let run = |place: usize| &x[place * len..][..len];
        let rest = match *places {
            [] => return y.fill(T::default()),
            [one] => return y.copy_from_slice(run(one)),
            [first, second, ref rest @ ..] => {
                for (y, (&a, &b)) in y.iter_mut().zip(run(first).iter().zip(run(second))) {
                    *y = pair(a, b);
                }
                rest
            }
        };
        for &place in rest {
            y.iter_mut()
                .zip(run(place))
                .for_each(|(y, &x)| *y = pair(*y, x));
        }
    }
}
