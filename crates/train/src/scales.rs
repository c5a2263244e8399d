//! The formats of a network whose scales training is to learn.

use engine::LearnScales;
use format::{Affine, Format, Overflow, Rounding};
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
        Format::Integer(integer)
            if integer.rounding == Rounding::NearestEven
                && integer.overflow == Overflow::Saturate =>
        {
            let scale = 0.5f32.powi(integer.frac_width);
            let affine = Affine::new(integer.width, scale, integer.signed);
            // Beyond 32 bits, or where no float holds the step, fixed point it stays.
            let fits = integer.width <= 32 && scale.is_normal();
            if fits { affine.into() } else { format.clone() }
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::Integer;

    /// A layer with a format on its input, its weight and its bias.
    fn graph() -> Graph {
        let mut graph = Graph::parse(
            r#"graph "net" {
  x: f32[N, 3] = placeholder
  l = linear(x: integer(6, 3)) { target = "l", in_features = 3, out_features = 2, weight: integer(4, 2), bias: integer(8, 4) }
  return l
}"#,
        )
        .unwrap();
        graph.initialize(1);
        graph
    }

    /// The formats of the layer: input, weight, bias.
    fn formats(graph: &Graph) -> [Format; 3] {
        let node = graph.node(graph.find("l").unwrap());
        ["data_in_0", "weight", "bias"].map(|port| node.formats[port].clone())
    }

    #[test]
    fn channels_have_scales_of_their_own_in_weights_alone() {
        let node = graph().node(graph().find("l").unwrap()).clone();
        let weight = &node.params["weight"];
        let per_row = |format: &Format| {
            let fitted = format.fitted_to_rows(weight.values(), weight.shape());
            fitted.unwrap()
        };
        let integers = formats(&graph());
        let affines: [Format; 3] = [(6, 0.125), (4, 0.25), (8, 0.0625)]
            .map(|(width, scale)| Affine::new(width, scale, true).into());
        for (learn, whole) in [
            (LearnScales::PowerOfTwo, integers.clone()),
            (LearnScales::Real, affines),
        ] {
            let found = learnable(graph(), learn, ScalesPer::Tensor);
            assert_eq!(formats(&found), whole, "{learn:?}");
            let found = learnable(graph(), learn, ScalesPer::Channel);
            let [input, weight, bias] = whole;
            assert_eq!(
                formats(&found),
                [input, per_row(&weight), bias],
                "{learn:?}"
            );
        }
        let fixed = learnable(graph(), LearnScales::Fixed, ScalesPer::Channel);
        assert_eq!(formats(&fixed), integers);
    }

    #[test]
    fn fixed_point_that_no_affine_format_holds_stays() {
        let wrapping = Integer {
            overflow: Overflow::Wrap,
            ..Integer::new(8, 4)
        };
        let floor = Integer {
            rounding: Rounding::Floor,
            ..Integer::new(8, 4)
        };
        for (integer, is_affine) in [
            (Integer::new(32, 4), true),
            (Integer::new(33, 4), false),
            (Integer::new(8, 126), true),
            (Integer::new(8, 127), false),
            (floor, false),
            (wrapping, false),
        ] {
            let format = Format::from(integer);
            let found = with_real_scale(&format);
            assert_eq!(matches!(found, Format::Affine(_)), is_affine, "{format}");
            assert!(is_affine || found == format, "{format}");
        }
    }
}
