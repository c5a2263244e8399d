//! Batch normalisation: statistics of the whole batch in training, a fixed affine map in evaluation.

mod coefficients;
mod eval;
pub(crate) mod integer;
mod train;

use super::{Lowered, Site};
use crate::EngineError;
use crate::options::Mode;
use crate::order::Order;
pub(crate) use coefficients::NormCoefficients;
use eval::EvalNorm;
use kernels::batch_norm::{self as kernel, ChannelLayout};
use train::TrainNorm;

/// The step of a batch norm in the mode of the plan.
pub(crate) fn lower(momentum: f64, site: &Site) -> Result<Lowered, EngineError> {
    let shape = &site.inputs[0];
    let space: usize = shape[2..].iter().product();
    let (batch, inner) = match site.order {
        Order::Planes => (shape[0], space),
        Order::Pixels => (shape[0] * space, 1),
    };
    let layout = ChannelLayout {
        batch,
        channels: shape[1],
        inner,
    };
    let norm = Norm {
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
    let lacking_bias = site
        .fusion
        .lacks_bias_of
        .map_or(0..0, |id| site.param_of(id, "bias"));
    Ok(TrainNorm {
        norm,
        momentum,
        samples_per_row,
        samples,
        lacking_bias,
    }
    .into())
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
