//! The formats of a network whose scales training is to learn.

use engine::LearnScales;
use format::{Affine, Format, Rounding};
use ir::Graph;

/// The elements of a weight that share a learned scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScalesPer {
    /// All.
    #[default]
    Tensor,
    /// Those of one output channel.
    Channel,
}

/// The graph with formats whose scales can be learned. What is learnt from there on is the engine's.
pub(crate) fn learnable(mut graph: Graph, learn: LearnScales, per: ScalesPer) -> Graph {
    if learn == LearnScales::Fixed {
        return graph;
    }
    let ids: Vec<_> = graph.iter().map(|(id, _)| id).collect();
    for id in ids {
        let node = graph.node_mut(id);
        for (port, format) in &mut node.formats {
            if learn == LearnScales::Real {
                *format = with_real_scale(format);
            }
            let weight = node.params.get(port).filter(|w| w.shape().len() > 1);
            if let (ScalesPer::Channel, Some(weight)) = (per, weight) {
                let fitted = format.fitted_to_rows(weight.values(), weight.shape());
                *format = fitted.unwrap_or_else(|| format.clone());
            }
        }
    }
    graph
}

fn with_real_scale(format: &Format) -> Format {
    match format {
        Format::Integer(integer) if integer.rounding == Rounding::NearestEven => {
            let scale = 0.5f32.powi(integer.frac_width);
            let affine = Affine::new(integer.width, scale, integer.signed);
            // Beyond 32 bits, or where no float holds the step, fixed point it stays.
            let fits = integer.width <= 32 && scale.is_normal();
            if fits { affine.into() } else { format.clone() }
        }
        other => other.clone(),
    }
}
