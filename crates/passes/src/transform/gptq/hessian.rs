//! H = 2·Xᵀ·X/n of the inputs that a layer multiplies with its weights, one for each group of channels.

use super::factor::Square;
use ir::Op;
use ir::ops::conv::Conv;
use kernels::conv::ConvShape;
use kernels::gemm::{Init, gemm};

/// The kind of a layer whose inputs are multiplied by weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Rows of features.
    Linear {
        /// Elements of a row.
        features: usize,
    },
    /// Windows of an image; the batch and the size of the image are those of the values.
    Conv(ConvShape),
}

impl Layer {
    /// The layer that an operator is, if its weights multiply its input.
    pub fn of(op: &Op) -> Option<Self> {
        Some(match op {
            Op::Linear(op) => Self::Linear {
                features: op.in_features,
            },
            Op::Conv1d(op) => Self::Conv(shape(op, |v, other| [other, v[0]])),
            Op::Conv2d(op) => Self::Conv(shape(op, |v, _| v)),
            _ => return None,
        })
    }

    /// Groups of output channels that see inputs of their own.
    pub fn groups(&self) -> usize {
        match self {
            Self::Linear { .. } => 1,
            Self::Conv(conv) => conv.groups,
        }
    }

    /// Weights of one output channel.
    pub fn columns(&self) -> usize {
        match self {
            Self::Linear { features } => *features,
            Self::Conv(conv) => conv.in_channels / conv.groups * conv.kernel[0] * conv.kernel[1],
        }
    }
}

fn shape<const K: usize>(
    op: &Conv<K>,
    plane: impl Fn([usize; K], usize) -> [usize; 2],
) -> ConvShape {
    ConvShape {
        batch: 1,
        in_channels: op.in_channels,
        out_channels: op.out_channels,
        groups: op.groups,
        input: [1, 1],
        kernel: plane(op.kernel_size, 1),
        stride: plane(op.stride, 1),
        padding: plane(op.padding, 0),
        dilation: plane(op.dilation, 1),
    }
}

/// Floats of windows that are unfolded at a time.
const MAX_UNFOLDED: usize = 1 << 18;

/// The sums over all inputs seen so far.
pub struct Sums {
    layer: Layer,
    /// Σ Xᵀ·X of each group.
    groups: Vec<Square>,
    /// Rows of X.
    count: usize,
    /// The product of the latest inputs, in single precision.
    product: Vec<f32>,
    windows: Vec<f32>,
}

impl Sums {
    /// Nothing seen yet.
    pub fn new(layer: Layer) -> Self {
        let columns = layer.columns();
        Self {
            layer,
            groups: vec![Square::zero(columns); layer.groups()],
            count: 0,
            product: vec![0.0; columns * columns],
            windows: Vec::new(),
        }
    }

    /// Adds the inputs of some rows.
    pub fn add(&mut self, shape: &[usize], values: &[f32]) {
        match self.layer {
            Layer::Linear { features } => {
                let rows = (MAX_UNFOLDED / features).max(1);
                for part in values.chunks(rows * features) {
                    self.count += part.len() / features;
                    self.add_product(0, part);
                }
            }
            Layer::Conv(conv) => {
                let [.., width] = *shape else { return };
                let image = conv.in_channels * width;
                let height = if shape.len() == 4 { shape[2] } else { 1 };
                let conv = ConvShape {
                    input: [height, width],
                    ..conv
                };
                self.add_images(&conv, values, image * height);
            }
        }
    }

    fn add_images(&mut self, conv: &ConvShape, values: &[f32], image: usize) {
        let positions: usize = conv.output().iter().product();
        let per_image = positions * self.layer.columns();
        let images = (MAX_UNFOLDED / per_image.max(1)).max(1);
        for part in values.chunks(images * image) {
            self.count += part.len() / image * positions;
            for group in 0..conv.groups {
                let mut windows = std::mem::take(&mut self.windows);
                windows.clear();
                for image in part.chunks_exact(image) {
                    unfold(conv, group, image, &mut windows);
                }
                self.add_product(group, &windows);
                self.windows = windows;
            }
        }
    }

    /// Adds Xᵀ·X: the product in single precision, over a bounded number of rows, the sum in double.
    fn add_product(&mut self, group: usize, x: &[f32]) {
        let n = self.layer.columns();
        let rows = x.len() / n;
        gemm(n, rows, n, x, 1, n, x, n, &mut self.product, n, Init::Zero);
        let sums = self.groups[group].values.iter_mut();
        for (sum, &product) in sums.zip(&self.product) {
            *sum += f64::from(product);
        }
    }

    /// H of each group.
    pub fn finish(mut self) -> Vec<Square> {
        let scale = 2.0 / self.count.max(1) as f64;
        for h in &mut self.groups {
            h.values.iter_mut().for_each(|x| *x *= scale);
        }
        self.groups
    }
}

/// Appends the window of every output position, its elements in the order of the weights.
fn unfold(conv: &ConvShape, group: usize, image: &[f32], windows: &mut Vec<f32>) {
    let [height, width] = conv.input;
    let channels = conv.in_channels / conv.groups;
    let image = &image[group * channels * height * width..];
    let inside = |axis: usize, window: usize, element: usize| {
        let at = window * conv.stride[axis] + element * conv.dilation[axis];
        let at = at.checked_sub(conv.padding[axis])?;
        (at < conv.input[axis]).then_some(at)
    };
    let [rows, columns] = conv.output();
    for (oy, ox) in (0..rows).flat_map(|oy| (0..columns).map(move |ox| (oy, ox))) {
        for plane in image.chunks_exact(height * width).take(channels) {
            for ky in 0..conv.kernel[0] {
                let Some(y) = inside(0, oy, ky) else {
                    windows.resize(windows.len() + conv.kernel[1], 0.0);
                    continue;
                };
                let row = &plane[y * width..][..width];
                let element = |kx: usize| inside(1, ox, kx).map_or(0.0, |x| row[x]);
                windows.extend((0..conv.kernel[1]).map(element));
            }
        }
    }
}
