//! Random networks 16-64-32-32-10 with few weights: stand-ins of the same sparsity for published ones that cannot be had. A network
//! that was trained to be sparse reads few inputs in few neurons; so do these.

use anyhow::Result;
use interop::npy::{Numbers, Values};
use random::Random;
use std::path::Path;

/// Weights that are not 0, as many as the published networks have.
pub const WEIGHTS: [usize; 5] = [56, 145, 216, 460, 725];

const SIZES: [usize; 5] = [16, 64, 32, 32, 10];
const SHIFTS: [u32; 3] = [3, 3, 3];
const ROWS: usize = 2000;

/// Numbers drawn one after the other.
struct Draws(Random, u64);

impl Draws {
    fn below(&mut self, end: usize) -> usize {
        self.1 += 1;
        (self.0.bits(self.1) % end as u64) as usize
    }

    /// A weight of four bits that is not 0.
    fn weight(&mut self) -> i64 {
        let magnitude = 1 + self.below(7) as i64;
        if self.below(2) == 0 {
            magnitude
        } else {
            -magnitude
        }
    }
}

/// Writes the network with so many weights, random rows and their results.
pub fn write(file: &Path, weights: usize) -> Result<()> {
    let mut draws = Draws(Random::new(weights as u64, "sparse networks"), 0);
    // Neurons that are alive, in each hidden layer, so that every one reads more where there are more weights.
    let fan_in = (weights as f64).sqrt() / 3.6;
    let last = SIZES[SIZES.len() - 1];
    let hidden = ((weights as f64 / fan_in - last as f64) / 3.0).round() as usize;
    let alive = [SIZES[0], hidden, hidden, hidden, last];
    let neurons = 3 * hidden + last;
    let mut arrays = Vec::new();
    let mut layers = Vec::new();
    let mut neuron = 0;
    for layer in 0..4 {
        let (inputs, outputs) = (SIZES[layer], SIZES[layer + 1]);
        let mut matrix = vec![0; inputs * outputs];
        let mut unread: Vec<usize> = (0..alive[layer]).collect();
        for output in 0..alive[layer + 1] {
            let count = weights / neurons + usize::from(neuron < weights % neurons);
            neuron += 1;
            let mut open = count.min(alive[layer]);
            while open > 0 {
                let input = unread.pop().unwrap_or_else(|| draws.below(alive[layer]));
                let place = &mut matrix[output * inputs + input];
                if *place == 0 {
                    *place = draws.weight();
                    open -= 1;
                }
            }
        }
        let biases: Vec<i64> = (0..outputs)
            .map(|output| {
                let bias = draws.below(64) as i64 - 32;
                if output < alive[layer + 1] { bias } else { 0 }
            })
            .collect();
        arrays.push((format!("W{layer}"), vec![outputs, inputs], matrix.clone()));
        arrays.push((format!("B{layer}"), vec![outputs], biases.clone()));
        layers.push((inputs, matrix, biases));
    }
    let x: Vec<i64> = (0..ROWS * SIZES[0])
        .map(|_| draws.below(256) as i64 - 128)
        .collect();
    let y = x.chunks(SIZES[0]).flat_map(|row| results(&layers, row));
    let y: Vec<i64> = y.collect();
    arrays.push(("x".to_owned(), vec![ROWS, SIZES[0]], x));
    arrays.push(("y".to_owned(), vec![ROWS, last], y));
    let shifts = SHIFTS.map(i64::from).to_vec();
    arrays.push(("shifts".to_owned(), vec![SHIFTS.len()], shifts));
    let arrays = arrays.into_iter().map(|(name, shape, values)| {
        let values = Values::I64(values);
        (name, Numbers { shape, values })
    });
    let bytes = interop::npz::encode(&arrays.collect::<Vec<_>>())?;
    Ok(interop::write_file(file, &bytes)?)
}

/// The results of a row: products, and between layers half a step up, down to six bits.
fn results(layers: &[(usize, Vec<i64>, Vec<i64>)], row: &[i64]) -> Vec<i64> {
    let mut values = row.to_vec();
    for (layer, (inputs, matrix, biases)) in layers.iter().enumerate() {
        let sums = matrix.chunks(*inputs).zip(biases).map(|(weights, bias)| {
            let products = weights.iter().zip(&values).map(|(w, x)| w * x);
            products.sum::<i64>() + bias
        });
        values = match SHIFTS.get(layer) {
            Some(shift) => sums
                .map(|sum| ((sum + (1 << (shift - 1))) >> shift).clamp(0, 63))
                .collect(),
            None => sums.collect(),
        };
    }
    values
}
