//! A network in integers with rows and their results, which all sides read from the same file.

use anyhow::{Context, Result, bail};
use engine::State;
use engine::integer::Program;
use interop::npy::{Numbers, Values};
use ir::{Graph, Tensor, verify};
use std::fmt::Write;
use std::path::Path;

/// A network in integers, with rows and their results.
pub struct Network {
    graph: Graph,
    /// The codes of all rows.
    pub x: Vec<i64>,
    /// The codes of their results, where the file's are those of this rounding.
    y: Option<Vec<i64>>,
    /// Elements of a row.
    pub inputs: usize,
}

impl Network {
    /// The network of a file. Hidden layers round to the nearest with ties up, as the file's results do, or with ties to the even
    /// neighbour.
    pub fn read(file: &Path, ties_up: bool) -> Result<Self> {
        let arrays = interop::npz::read_arrays(file, None)?.arrays;
        let get = |name: &str| {
            let found = arrays.iter().find(|(own, _)| own == name);
            let (_, numbers) =
                found.with_context(|| format!("{}: no array {name}", file.display()))?;
            Ok::<_, anyhow::Error>((numbers.shape.clone(), whole(numbers)))
        };
        let layers = arrays
            .iter()
            .filter(|(name, _)| name.starts_with('W'))
            .count();
        let shifts = get("shifts")?.1;
        let rounding = if ties_up {
            "nearest_up"
        } else {
            "nearest_even"
        };
        let mut text = "graph \"jets\" {\n x: f32[N, 16] = placeholder\n".to_owned();
        let mut from = "x: integer(8, 0)".to_owned();
        let mut frac = 0;
        let mut params = Vec::new();
        for layer in 0..layers {
            let (shape, weights) = get(&format!("W{layer}"))?;
            let bias = get(&format!("B{layer}"))?.1;
            let [outputs, inputs] = shape[..] else {
                bail!("{}: W{layer} is no matrix", file.display());
            };
            writeln!(
                text,
                " fc{layer} = linear({from}) {{ target = \"fc{layer}\", in_features = {inputs}, out_features = {outputs}, \
                 weight: integer(6, 0), bias: integer(20, {frac}) }}"
            )?;
            let weights = weights.iter().map(|&code| code as f32).collect();
            let step = 2_f32.powi(-frac);
            let bias: Vec<f32> = bias.iter().map(|&code| code as f32 * step).collect();
            params.push((
                Tensor::new(vec![outputs, inputs], weights).context("weights")?,
                Tensor::new(vec![outputs], bias).context("biases")?,
            ));
            if let Some(shift) = shifts.get(layer) {
                frac -= *shift as i32;
                writeln!(text, " r{layer} = relu(fc{layer})")?;
                from =
                    format!("r{layer}: integer(6, {frac}, signed = false, rounding = {rounding})");
            }
        }
        writeln!(text, " return fc{}\n}}", layers - 1)?;
        let mut graph = Graph::parse(&text)?;
        for (layer, (weight, bias)) in params.into_iter().enumerate() {
            let id = graph.find(&format!("fc{layer}")).context("a layer")?;
            let own = &mut graph.node_mut(id).params;
            own.insert("weight".into(), weight);
            own.insert("bias".into(), bias);
        }
        let (shape, x) = get("x")?;
        Ok(Self {
            graph,
            x,
            y: if ties_up { Some(get("y")?.1) } else { None },
            inputs: shape[1],
        })
    }

    /// The integer program of one row.
    pub fn program(&self) -> Result<Program> {
        let verified = verify(&self.graph)?;
        let state = State::new(&verified)?;
        Ok(Program::of(&verified, &state, 1)?)
    }

    /// The codes of the results of all rows: those of the file, or those that the program's interpreter computes.
    pub fn results(&self, program: &Program) -> Vec<i64> {
        if let Some(y) = &self.y {
            return y.clone();
        }
        let rows = self.x.chunks(self.inputs);
        let results = rows.flat_map(|row| {
            let floats = row.iter().map(|&code| code as f32).collect();
            program.interpret(&[floats]).into_iter().flatten()
        });
        results.collect()
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.x.len() / self.inputs
    }
}

/// The numbers of an array of integers.
fn whole(numbers: &Numbers) -> Vec<i64> {
    match &numbers.values {
        Values::I64(values) => values.clone(),
        Values::F32(values) => values.iter().map(|&value| value as i64).collect(),
    }
}
