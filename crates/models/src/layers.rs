//! Layers with PyTorch's defaults, so that models read like their published lists.

use ir::ops::reshape::AxisSize;
use ir::ops::{activation, batch_norm, conv, layer_norm, linear, permute, pool, reshape};
use ir::{Dim, Op};

/// `Linear(i, o)`.
pub fn linear(in_features: usize, out_features: usize) -> Op {
    let bias = true;
    linear::Linear {
        in_features,
        out_features,
        bias,
    }
    .into()
}

/// `ReLU(inplace=True)`.
pub fn relu() -> Op {
    activation::Relu { inplace: true }.into()
}

/// `BatchNorm1d(n)`.
pub fn batch_norm1d(num_features: usize) -> Op {
    let (eps, momentum) = (1e-5, 0.1);
    batch_norm::BatchNorm1d {
        num_features,
        eps,
        momentum,
    }
    .into()
}

/// `BatchNorm2d(n)`.
pub fn batch_norm2d(num_features: usize) -> batch_norm::BatchNorm2d {
    let (eps, momentum) = (1e-5, 0.1);
    batch_norm::BatchNorm2d {
        num_features,
        eps,
        momentum,
    }
}

/// A convolution with a square window of size `kernel`, stride 1, no padding, a bias.
pub fn conv<const K: usize>(i: usize, o: usize, kernel: usize) -> conv::Conv<K> {
    conv::Conv {
        in_channels: i,
        out_channels: o,
        kernel_size: [kernel; K],
        stride: [1; K],
        padding: [0; K],
        dilation: [1; K],
        groups: 1,
        bias: true,
    }
}

/// A convolution with a window of 3 that keeps the size.
pub fn conv3<const K: usize>(i: usize, o: usize) -> conv::Conv<K> {
    conv::Conv {
        padding: [1; K],
        ..conv(i, o, 3)
    }
}

/// A convolution without bias that keeps the size but for its stride.
pub fn plain_conv2d(i: usize, o: usize, kernel: usize, stride: usize) -> conv::Conv2d {
    conv::Conv2d {
        stride: [stride; 2],
        padding: [kernel / 2; 2],
        bias: false,
        ..conv(i, o, kernel)
    }
}

/// `MaxPool2d(2, 2)`.
pub fn max_pool2d() -> Op {
    pool::MaxPool2d {
        kernel_size: [2, 2],
        stride: [2, 2],
        padding: [0, 0],
        dilation: [1, 1],
        ceil_mode: false,
    }
    .into()
}

/// `LayerNorm(n)`.
pub fn layer_norm(features: usize, eps: f64) -> Op {
    layer_norm::LayerNorm {
        normalized_shape: vec![features],
        eps,
        elementwise_affine: true,
    }
    .into()
}

/// `torch.flatten(x, 1)`.
pub fn flatten() -> Op {
    reshape::Flatten {
        start_dim: 1,
        end_dim: -1,
    }
    .into()
}

/// `x.view(x.size(0), sizes…)`; one size may be `None`, which stands for what is left.
pub fn view(sizes: &[Option<usize>]) -> Op {
    let batch = AxisSize::Dim(Dim::symbol("N"));
    let sizes = sizes
        .iter()
        .map(|size| size.map_or(AxisSize::Infer, |size| AxisSize::Dim(size.into())));
    reshape::View {
        shape: [batch].into_iter().chain(sizes).collect(),
    }
    .into()
}

/// `x.permute(dims…)`.
pub fn permute(dims: &[i64]) -> Op {
    permute::Permute {
        dims: dims.to_vec(),
    }
    .into()
}
