//! Convolutions and pools of the oracle: every window written out.

use super::{Exact, index, mean, param, positions, with_bias};
use ir::{Node, Op};
use serde_json::Value as Json;

/// An attribute with one number per axis of space, as a picture of two axes.
fn per_axis(node: &Node, name: &str, spatial: usize, missing: usize, default: usize) -> [usize; 2] {
    let attributes = node.op.attributes();
    let number = |json: &Json| json.as_u64().unwrap() as usize;
    let sizes = match attributes.get(name) {
        Some(Json::Array(sizes)) => sizes.iter().map(number).collect(),
        Some(size) => vec![number(size); spatial],
        None => vec![default; spatial],
    };
    if spatial == 1 {
        [missing, sizes[0]]
    } else {
        [sizes[0], sizes[1]]
    }
}

/// A shape `[N, C, …]` as `[N, C, H, W]`.
fn picture(shape: &[usize]) -> [usize; 4] {
    match shape {
        [n, c, w] => [*n, *c, 1, *w],
        [n, c, h, w] => [*n, *c, *h, *w],
        _ => panic!("not a picture: {shape:?}"),
    }
}

struct Geometry {
    kernel: [usize; 2],
    stride: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
}

impl Geometry {
    fn of(node: &Node, spatial: usize) -> Self {
        let kernel = per_axis(node, "kernel_size", spatial, 1, 1);
        Self {
            kernel,
            stride: per_axis(node, "stride", spatial, 1, 1),
            padding: per_axis(node, "padding", spatial, 0, 0),
            dilation: per_axis(node, "dilation", spatial, 1, 1),
        }
    }

    /// The place that tap `t` of window `i` reads, unless it is padding.
    fn place(&self, i: [usize; 2], t: [usize; 2], size: [usize; 2]) -> Option<[usize; 2]> {
        let at = |a: usize| {
            let at =
                (i[a] * self.stride[a] + t[a] * self.dilation[a]) as i64 - self.padding[a] as i64;
            (0..size[a] as i64).contains(&at).then_some(at as usize)
        };
        Some([at(0)?, at(1)?])
    }
}

pub fn conv(node: &Node, x: &Exact, shape: &[usize]) -> Exact {
    let weight = param(node, "weight");
    let geometry = Geometry::of(node, shape.len() - 2);
    let groups = node
        .op
        .attributes()
        .get("groups")
        .map_or(1, |g| g.as_u64().unwrap() as usize);
    let ([_, channels, height, width], [_, outputs, ..]) = (picture(&x.shape), picture(shape));
    let own = channels / groups;
    let [kernel_h, kernel_w] = geometry.kernel;
    let entry = |p: &Vec<usize>| {
        let group = p[1] / (outputs / groups);
        let taps = positions(&[own, kernel_h, kernel_w]);
        let term = |t: &Vec<usize>| {
            let place = geometry.place([p[2], p[3]], [t[1], t[2]], [height, width]);
            let weight = weight.codes[index(
                &[outputs, own, kernel_h, kernel_w],
                &[p[1], t[0], t[1], t[2]],
            )];
            place.map_or(0, |[r, c]| {
                weight * x.codes[index(&picture(&x.shape), &[p[0], group * own + t[0], r, c])]
            })
        };
        taps.iter().map(term).sum()
    };
    let codes = positions(&picture(shape)).iter().map(entry).collect();
    let y = Exact {
        shape: shape.to_vec(),
        codes,
        frac: x.frac + weight.frac,
    };
    with_bias(node, y, |shape| {
        let mut axes = vec![1; shape.len() - 1];
        axes[0] = shape[1];
        axes
    })
}

/// Max, average and adaptive pools.
pub fn pool(node: &Node, x: &Exact, shape: &[usize]) -> Exact {
    let spatial = shape.len() - 2;
    let ([.., height, width], [_, _, out_h, out_w]) = (picture(&x.shape), picture(shape));
    let adaptive = node.op.name().starts_with("adaptive");
    let geometry = Geometry::of(node, spatial);
    let windows = positions(&picture(shape)).into_iter().map(|p| {
        let places: Vec<[usize; 2]> = if adaptive {
            let span = |i: usize, n: usize, o: usize| i * n / o..((i + 1) * n).div_ceil(o);
            let columns = || span(p[3], width, out_w);
            span(p[2], height, out_h)
                .flat_map(|r| columns().map(move |c| [r, c]))
                .collect()
        } else {
            let taps = positions(&geometry.kernel);
            taps.iter()
                .filter_map(|t| geometry.place([p[2], p[3]], [t[0], t[1]], [height, width]))
                .collect()
        };
        places
            .iter()
            .map(|[r, c]| index(&picture(&x.shape), &[p[0], p[1], *r, *c]))
            .collect::<Vec<usize>>()
    });
    let windows: Vec<Vec<usize>> = windows.collect();
    let is_max = matches!(
        node.op,
        Op::MaxPool1d(_) | Op::MaxPool2d(_) | Op::AdaptiveMaxPool1d(_) | Op::AdaptiveMaxPool2d(_)
    );
    if is_max {
        let largest = |window: &Vec<usize>| window.iter().map(|&at| x.codes[at]).max().unwrap();
        return Exact {
            shape: shape.to_vec(),
            codes: windows.iter().map(largest).collect(),
            frac: x.frac,
        };
    }
    let count = if adaptive {
        windows[0].len()
    } else {
        geometry.kernel.iter().product()
    };
    mean(x, shape, count, &windows)
}
