//! The weights of the convolution that gives the data's gradient.

use super::ConvShape;

/// `flipped[ic, oc, ky, kx] = w[oc, ic, kh − 1 − ky, kw − 1 − kx]` within each group.
pub(super) fn flip_weights(s: &ConvShape, w: &[f32], flipped: &mut [f32]) {
    let (inputs, outputs, window) = (s.group_inputs(), s.group_outputs(), s.window());
    for group in 0..s.groups {
        for input in 0..inputs {
            for output in 0..outputs {
                let from = ((group * outputs + output) * inputs + input) * window;
                let to = ((group * inputs + input) * outputs + output) * window;
                for (out, &w) in flipped[to..to + window]
                    .iter_mut()
                    .zip(w[from..from + window].iter().rev())
                {
                    *out = w;
                }
            }
        }
    }
}
