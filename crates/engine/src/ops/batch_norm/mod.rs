//! Batch normalisation: statistics of the whole batch in training, a fixed affine map in evaluation.

mod coefficients;
mod eval;
mod gain;
pub(crate) mod integer;
mod moments;
mod train;

use super::{Lowered, Site};
use crate::EngineError;
use crate::learning::{FoldedInto, FoldedNorm};
use crate::options::Mode;
use crate::order::Order;
use crate::rounding::Rounding;
pub(crate) use coefficients::NormCoefficients;
use eval::EvalNorm;
pub(crate) use gain::Gain;
use kernels::batch_norm::{self as kernel, ChannelLayout};
pub(crate) use moments::Moments;
use train::{Folded, TrainNorm};

/// The step of a batch norm in the mode of the plan.
pub(crate) fn lower(momentum: f64, site: &Site) -> Result<Lowered, EngineError> {
    let layout = channel_layout(&site.inputs[0], site.order);
    let mut norm = Norm {
        layout,
        relu: site.fusion.relu,
        coefficients: NormCoefficients::of(site.id, site.graph(), site.state),
    };
    if site.mode == Mode::Eval {
        return Ok(EvalNorm(norm).into());
    }
    let samples_per_row = layout.per_channel() / site.rows;
    let samples = samples_per_row * site.batch;
    if samples < 2 {
        let (node, op) = (site.node.name.clone(), site.node.op.name());
        return Err(EngineError::TooFewSamples {
            node,
            op,
            got: samples,
        });
    }
    let folded = site.state.folded_norms(site.mode).iter();
    let folded = folded.copied().find(|folded| folded.norm == site.id);
    let lacks = site.fusion.lacks_bias_of;
    let lacks = folded.map_or(lacks, |folded| Some(folded.layer));
    let lacking_bias = lacks.map_or(0..0, |id| site.param_of(id, "bias"));
    let folded = folded.map(|FoldedNorm { layer, norm, into }| Folded {
        gain: (into == FoldedInto::Weight).then(|| Gain::of(norm, site.graph(), site.state)),
        bias: Rounding::of(layer, site.graph().node(layer), "bias", site.state),
    });
    if folded.as_ref().is_some_and(|folded| folded.gain.is_none()) {
        norm.coefficients = norm.coefficients.positive();
    }
    Ok(TrainNorm {
        norm,
        momentum,
        samples_per_row,
        samples,
        lacking_bias,
        folded,
    }
    .into())
}

/// The channels of a value of this shape, along its second axis, in the order in which it lies in memory.
pub(crate) fn channel_layout(shape: &[usize], order: Order) -> ChannelLayout {
    let space: usize = shape[2..].iter().product();
    let (batch, inner) = match order {
        Order::Planes => (shape[0], space),
        Order::Pixels => (shape[0] * space, 1),
    };
    ChannelLayout {
        batch,
        channels: shape[1],
        inner,
    }
}

/// The part that both modes share.
struct Norm {
    layout: ChannelLayout,
    relu: bool,
    coefficients: NormCoefficients,
}

impl Norm {
    fn apply(&self, x: &[f32], scale: &[f32], shift: &[f32], y: &mut [f32]) {
        if self.relu {
            kernel::affine_relu(&self.layout, x, scale, shift, y);
        } else {
            kernel::affine(&self.layout, x, scale, shift, y);
        }
    }
}
