//! Long short-term memory over one axis of time, in one direction.
//!
//! ```text
//! i, f, g, o = W_ih·x[t] + b_ih + W_hh·h + b_hh, in four parts
//! c = σ(f)·c + σ(i)·tanh(g)        h = σ(o)·tanh(c)        y[t] = h
//! ```

use super::check;
use crate::{
    CodeRange, Cost, FlopFormula, Init, OpError, OperandRanges, Operator, PortSpec, RowCoupling,
    Shape, TorchModule, Type,
};
use serde::{Deserialize, Serialize};

/// Attributes of `lstm`, whose input is `[N, T, input_size]`, and whose results are all h `[N, T, hidden_size]`, the last h and the
/// last c `[N, hidden_size]`. The first h and c may be inputs; else they are zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lstm {
    /// Size of the last axis of the input.
    pub input_size: usize,
    /// Size of h and c.
    pub hidden_size: usize,
    /// Gives the layer b_ih and b_hh.
    #[serde(default = "check::yes", skip_serializing_if = "check::is_yes")]
    pub bias: bool,
    /// Goes from the last time to the first.
    #[serde(default, skip_serializing_if = "check::is_no")]
    pub reverse: bool,
}

impl Lstm {
    /// The names of the weights and the biases, as PyTorch has them.
    pub fn names(&self) -> [&'static str; 4] {
        if self.reverse {
            [
                "weight_ih_l0_reverse",
                "weight_hh_l0_reverse",
                "bias_ih_l0_reverse",
                "bias_hh_l0_reverse",
            ]
        } else {
            ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]
        }
    }
}

impl Operator for Lstm {
    fn ports(&self) -> Vec<PortSpec> {
        let (input, hidden) = (self.input_size, self.hidden_size);
        let gates = hidden.saturating_mul(4);
        let [weight_ih, weight_hh, bias_ih, bias_hh] = self.names();
        let init = Init::FanIn(hidden);
        let mut ports = PortSpec::data(1);
        ports.push(PortSpec::MoreData);
        ports.push(PortSpec::param(weight_ih, &[gates, input], init));
        ports.push(PortSpec::param(weight_hh, &[gates, hidden], init));
        if self.bias {
            ports.push(PortSpec::param(bias_ih, &[gates], init));
            ports.push(PortSpec::param(bias_hh, &[gates], init));
        }
        ports
    }

    fn infer(&self, inputs: &[Type]) -> Result<Vec<Type>, OpError> {
        check::positive("input_size", self.input_size)?;
        check::positive("hidden_size", self.hidden_size)?;
        let shape = check::f32_input(inputs, 0)?;
        let expected = || {
            let size = self.input_size;
            OpError::input(0, format!("f32[N, T, {size}] with a fixed T"), &inputs[0])
        };
        let [rows, steps, features] = &shape.0[..] else {
            return Err(expected());
        };
        if steps.fixed().is_none() || features.fixed() != Some(self.input_size) {
            return Err(expected());
        }
        let state = Type::f32(Shape(vec![rows.clone(), self.hidden_size.into()]));
        if inputs.len() == 2 {
            return Err(OpError::missing_input(2));
        }
        for (index, input) in inputs.iter().enumerate().skip(1) {
            if *input != state || index > 2 {
                return Err(OpError::input(index, state.to_string(), input));
            }
        }
        let all = vec![rows.clone(), steps.clone(), self.hidden_size.into()];
        Ok(vec![Type::f32(Shape(all)), state.clone(), state])
    }

    fn cost(&self, inputs: &[&[usize]], outputs: &[&[usize]]) -> Cost {
        let n_out = outputs[0].iter().product::<usize>() as u64;
        let per_element = 4 * (inputs[0][2] + self.hidden_size) as u64;
        let formula = FlopFormula::PerResultTimes("4·(input_size + hidden_size)");
        Cost::product(n_out.saturating_mul(per_element), formula)
    }

    fn row_coupling(&self, _inputs: &[Type]) -> RowCoupling {
        RowCoupling::Independent
    }

    fn exact_range(&self, _inputs: &[Type], _operands: &OperandRanges) -> Option<CodeRange> {
        None
    }

    fn torch_module(&self) -> Option<TorchModule> {
        None
    }
}
