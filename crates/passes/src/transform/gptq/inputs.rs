//! The inputs that a layer multiplies with its weights: rows of features, or the windows of images.

use ir::Op;
use ir::ops::conv::Conv;
use kernels::conv::ConvShape;
use kernels::gemm::K_BLOCK;

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

/// Floats of inputs that are multiplied at a time, and fewest rows of them: each product is added to sums in double
/// precision, which takes as long as some ten rows.
const MAX_FLOATS: usize = 1 << 18;
const MIN_ROWS: usize = K_BLOCK;

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

    /// Calls `read` with the number of a group and a matrix of its inputs, [`Layer::columns`] wide, part after part.
    pub fn for_each_part(
        &self,
        shape: &[usize],
        values: &[f32],
        mut read: impl FnMut(usize, &[f32]),
    ) {
        match *self {
            Self::Linear { features } => {
                let rows = (MAX_FLOATS / features).max(MIN_ROWS);
                values
                    .chunks(rows * features)
                    .for_each(|part| read(0, part));
            }
            Self::Conv(conv) => {
                let [.., width] = *shape else { return };
                let height = if shape.len() == 4 { shape[2] } else { 1 };
                let input = [height, width];
                self.for_each_windows(&ConvShape { input, ..conv }, values, read);
            }
        }
    }

    fn for_each_windows(
        &self,
        conv: &ConvShape,
        values: &[f32],
        mut read: impl FnMut(usize, &[f32]),
    ) {
        let image = conv.in_channels * conv.input.iter().product::<usize>();
        let positions = conv.output().iter().product::<usize>().max(1);
        let rows = (MAX_FLOATS / self.columns().max(1)).max(MIN_ROWS);
        let images = (rows / positions).max(1);
        let mut windows = Vec::new();
        for part in values.chunks(images * image) {
            for group in 0..conv.groups {
                windows.clear();
                for image in part.chunks_exact(image) {
                    unfold(conv, group, image, &mut windows);
                }
                read(group, &windows);
            }
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
