//! Runs of small graphs on a batch of normal numbers, for laws over the table of operators.

use engine::{Input, PlanOptions, Pool, State, compile};
use ir::{DType, Graph, NodeId, verify};
use random::Random;

/// The rows of a batch.
pub const ROWS: usize = 4;

/// An input as floats, indices included.
#[derive(Clone, Debug)]
pub struct Feed {
    pub values: Vec<f32>,
    pub dtype: DType,
}

fn normals(len: usize, stream: u64) -> Vec<f32> {
    let random = Random::new(stream, "values");
    (0..len).map(|k| random.normal(k as u64)).collect()
}

/// Inputs of a graph.
pub fn inputs(graph: &Graph) -> Vec<Feed> {
    let verified = verify(graph).unwrap();
    let input = |(k, id): (usize, NodeId)| {
        let ty = verified.ty(id.into());
        let shape = ty.shape.bind(ROWS).unwrap();
        let mut values = normals(shape.iter().product(), k as u64);
        for v in &mut values {
            *v = match ty.dtype {
                DType::F32 => *v,
                DType::I64 => v.abs().floor().min(2.0),
                DType::Bool => f32::from(u8::from(*v > 0.0)),
            };
        }
        Feed {
            values,
            dtype: ty.dtype,
        }
    };
    let placeholders = verified.placeholders().into_iter().enumerate();
    placeholders.map(input).collect()
}

/// All results, one after the other.
pub fn run(graph: &Graph, inputs: &[Feed]) -> Vec<f32> {
    let verified = verify(graph).unwrap();
    let mut state = State::new(&verified).unwrap();
    let mut plan = compile(&verified, &state, PlanOptions::eval(ROWS)).unwrap();
    let whole = |x: &[f32]| x.iter().map(|&v| v as i64).collect::<Vec<i64>>();
    let integers: Vec<Vec<i64>> = inputs.iter().map(|x| whole(&x.values)).collect();
    let given: Vec<Input> = inputs
        .iter()
        .zip(&integers)
        .map(|(x, i)| match x.dtype {
            DType::I64 => Input::I64(i),
            _ => Input::F32(&x.values),
        })
        .collect();
    plan.forward(&mut state, &given, &Pool::new(1)).unwrap();
    (0..verified.output_values().len())
        .flat_map(|k| plan.output(k))
        .collect()
}
