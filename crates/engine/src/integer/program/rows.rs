//! The rows of a product's left operand: those of a value, or the windows of a convolution.

use super::super::weights::Weights;
use kernels::conv::ConvShape;

/// The source of the rows of the left operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rows {
    /// The operand's own rows; element `row·n + column` of the result.
    Dense {
        /// The number of rows.
        count: usize,
    },
    /// The windows of a convolution over planes, `[image][channel][y][x]`; so is the result. A weight's row is
    /// `[channel of the group][ky][kx]`.
    Windows(ConvShape),
}

impl Rows {
    /// True when zeros stand where the operand has no element.
    pub fn has_padding(&self) -> bool {
        match self {
            Self::Dense { .. } => false,
            Self::Windows(shape) => shape.padding != [0; 2],
        }
    }

    /// The place of the initial value of a sum in [`Weights::start`]; the sum's weights are row `column` of the codes.
    pub fn column(&self, weights: &Weights, element: usize) -> usize {
        match self {
            Self::Dense { .. } => element % weights.n,
            Self::Windows(shape) => {
                let [height, width] = shape.output();
                element / (height * width) % shape.out_channels
            }
        }
    }

    /// The terms of a sum: the operand's element and the place of its factor in [`Weights::codes`]. Padding has none.
    pub fn terms(&self, weights: &Weights, element: usize) -> Vec<(usize, usize)> {
        let first = self.column(weights, element) * weights.k;
        match self {
            Self::Dense { .. } => {
                let row = element / weights.n * weights.k;
                (0..weights.k).map(|i| (row + i, first + i)).collect()
            }
            Self::Windows(shape) => window(shape, element)
                .into_iter()
                .map(|(operand, tap)| (operand, first + tap))
                .collect(),
        }
    }
}

/// The elements that a window reads, each with its place in the window.
fn window(s: &ConvShape, element: usize) -> Vec<(usize, usize)> {
    let ([out_height, out_width], [height, width]) = (s.output(), s.input);
    let (x, y) = (element % out_width, element / out_width % out_height);
    let channel = element / (out_width * out_height) % s.out_channels;
    let image = element / (out_width * out_height * s.out_channels);
    let depth = s.in_channels / s.groups;
    let group = channel / (s.out_channels / s.groups);
    let inside = |at: usize, tap: usize, axis: usize| {
        let padded = at * s.stride[axis] + tap * s.dilation[axis];
        padded
            .checked_sub(s.padding[axis])
            .filter(|&at| at < s.input[axis])
    };
    let mut terms = Vec::with_capacity(depth * s.kernel[0] * s.kernel[1]);
    for c in 0..depth {
        let plane = (image * s.in_channels + group * depth + c) * height * width;
        for ky in 0..s.kernel[0] {
            for kx in 0..s.kernel[1] {
                if let (Some(row), Some(column)) = (inside(y, ky, 0), inside(x, kx, 1)) {
                    let tap = (c * s.kernel[0] + ky) * s.kernel[1] + kx;
                    terms.push((plane + row * width + column, tap));
                }
            }
        }
    }
    terms
}
