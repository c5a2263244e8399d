//! The values that the weights of a layer may take while they are chosen one column after another.
//!
//! A format whose elements share scales takes them from the largest magnitude of each block. Here the scales are frozen at
//! those of the original weights: the largest element of a block keeps its rounded value, and the others stay below what
//! would change the scale. So the format finds the same scales, and rounds nothing, when it meets the result.

use format::{FieldValue, Format};
use ir::Tensor;

/// The values that each element may take.
pub struct Grid {
    columns: usize,
    /// Rounds an element by itself, or in a pair behind what sets its scale.
    rule: Format,
    /// The magnitude that sets the scale of each element, row by row; empty when elements stand alone.
    leaders: Vec<f32>,
    /// The format of each element, row by row, where stored fields make them differ; empty otherwise.
    own: Vec<Format>,
    /// Elements that have their value already, row by row; NaN for all others.
    fixed: Vec<f32>,
}

impl Grid {
    /// The grid of a format around weights; masked elements are zero. `Err` is the reason why the format cannot be used.
    pub fn new(format: &Format, weight: &Tensor, mask: Option<&Tensor>) -> Result<Self, String> {
        let (shape, values) = (weight.shape(), weight.values());
        let rows = shape.first().map_or(1, |&rows| rows.max(1));
        let mut grid = Self {
            columns: values.len() / rows,
            rule: format.clone(),
            leaders: Vec::new(),
            own: format.of_elements(shape).unwrap_or_default(),
            fixed: vec![f32::NAN; values.len()],
        };
        if !format.rounds_alone() && grid.own.is_empty() {
            let why = "takes its scale from all weights of a channel, which rounding them one by one would change";
            grid.rule = in_pairs(format).ok_or_else(|| format!("weight: {format} {why}"))?;
            grid.freeze(format, shape, values);
        }
        let keep = mask.map_or(&[][..], Tensor::values);
        for (fixed, _) in grid.fixed.iter_mut().zip(keep).filter(|(_, k)| **k == 0.0) {
            *fixed = 0.0;
        }
        Ok(grid)
    }

    /// Finds what sets the scale of each element, and fixes those that do.
    fn freeze(&mut self, format: &Format, shape: &[usize], values: &[f32]) {
        let mut rounded = vec![0.0; values.len()];
        kernels::quantize::quantize(format, values, shape, &mut rounded);
        let blocks = block_of_each(&format.block_extents(shape), shape);
        let n_blocks = blocks.iter().max().map_or(0, |last| last + 1);
        let mut largest = vec![0; n_blocks];
        for (index, &block) in blocks.iter().enumerate().rev() {
            let current = largest[block];
            if blocks[current] != block || values[index].abs() >= values[current].abs() {
                largest[block] = index;
            }
        }
        for &index in &largest {
            self.fixed[index] = rounded[index];
        }
        let leaders: Vec<f32> = largest
            .iter()
            .map(|&index| format.scale_ceiling(values[index].abs()))
            .collect();
        self.leaders = blocks.iter().map(|&block| leaders[block]).collect();
    }

    /// The values nearest to the given ones in the rows from `first` on of a column.
    pub fn round(&self, first: usize, column: usize, wanted: &[f64], rounded: &mut [f32]) {
        let rows = wanted.len();
        let places = (first..first + rows).map(|row| row * self.columns + column);
        if !self.own.is_empty() {
            for ((rounded, place), &x) in rounded.iter_mut().zip(places.clone()).zip(wanted) {
                let rounded = std::slice::from_mut(rounded);
                self.own[place].quantize(&[x as f32], &[1], rounded);
            }
        } else if self.leaders.is_empty() {
            let wanted: Vec<f32> = wanted.iter().map(|&x| x as f32).collect();
            kernels::quantize::quantize(&self.rule, &wanted, &[rows], rounded);
        } else {
            let pair = |(place, &x): (usize, &f64)| {
                let leader = self.leaders[place];
                [leader, (x as f32).clamp(-leader, leader)]
            };
            let pairs: Vec<f32> = places.clone().zip(wanted).flat_map(pair).collect();
            let mut both = vec![0.0; pairs.len()];
            kernels::quantize::quantize(&self.rule, &pairs, &[rows, 2], &mut both);
            for (rounded, pair) in rounded.iter_mut().zip(both.chunks_exact(2)) {
                *rounded = pair[1];
            }
        }
        for (rounded, place) in rounded.iter_mut().zip(places) {
            if !self.fixed[place].is_nan() {
                *rounded = self.fixed[place];
            }
        }
    }
}

/// The format for pairs of a leader and an element that share a scale; nothing where more than the largest sets it.
fn in_pairs(format: &Format) -> Option<Format> {
    let by_row = format.with_field("granularity", "row".into());
    by_row.or_else(|| {
        let in_twos = format.with_field("block_size", FieldValue::Int(2))?;
        in_twos.with_field("skip_first_dim", FieldValue::Bool(false))
    })
}

/// The number of the block that each element is in.
fn block_of_each(extents: &[usize], shape: &[usize]) -> Vec<usize> {
    let mut blocks = vec![0];
    for (&dim, &extent) in shape.iter().zip(extents) {
        let per_axis = dim.div_ceil(extent.max(1));
        let next = |&outer: &usize| (0..dim).map(move |i| outer * per_axis + i / extent.max(1));
        blocks = blocks.iter().flat_map(next).collect();
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: [&str; 12] = [
        "scale_integer(4)",
        "scale_integer(4, granularity = channel)",
        "scale_integer(3, granularity = row)",
        "block_fp(4, 8, block_size = 4)",
        "block_fp(4, 3, block_size = [2, 3])",
        "block_minifloat(6, 3, 8, block_size = 5)",
        "block_log(4, 8, block_size = [-1, 2])",
        "mxint(4)",
        "mxint(2, block_size = 3)",
        "mxfp(2, 1, block_size = 8)",
        "mxfp(4, 3)",
        "mxint(4, block_size = [2], skip_first_dim = true)",
    ];

    const ALONE: [&str; 8] = [
        "integer(4, 2)",
        "affine(4, 0.3, 2)",
        "bipolar(0.5)",
        "float8(e4m3fn)",
        "float4(e2m1)",
        "log(4)",
        "minifloat_ieee(6, 3)",
        "minifloat_denorm(6, 3)",
    ];

    /// Formats whose scale is a mean.
    const REFUSED: [&str; 2] = ["ternary(2)", "binary(1, bipolar = false)"];

    #[test]
    fn every_format_is_here() {
        let specs = SHARED.iter().chain(&ALONE).chain(&REFUSED);
        let names: Vec<&str> = specs.map(|s| Format::parse(s).unwrap().name()).collect();
        for entry in Format::TABLE {
            assert!(names.contains(&entry.name), "{}", entry.name);
        }
    }

    fn weight(shape: &[usize], seed: u64) -> Tensor {
        let random = random::Random::new(seed, "weights");
        let values = (0..shape.iter().product::<usize>())
            .map(|k| random.normal(k as u64))
            .collect();
        Tensor::new(shape.to_vec(), values).unwrap()
    }

    fn rounded(grid: &Grid, wanted: impl Fn(usize) -> f64) -> Vec<f32> {
        let mut all = vec![0.0; grid.fixed.len()];
        for column in 0..grid.columns {
            let places = (column..all.len()).step_by(grid.columns);
            let wanted: Vec<f64> = places.map(&wanted).collect();
            let mut values = vec![0.0; wanted.len()];
            grid.round(0, column, &wanted, &mut values);
            for (row, value) in values.into_iter().enumerate() {
                all[row * grid.columns + column] = value;
            }
        }
        all
    }

    fn by_format(format: &Format, values: &[f32], shape: &[usize]) -> Vec<f32> {
        let mut rounded = vec![0.0; values.len()];
        format.quantize(values, shape, &mut rounded);
        rounded
    }

    #[test]
    fn stored_fields_round_every_element_by_its_own() {
        let (weight, wanted) = (weight(&[5, 7], 5), weight(&[5, 7], 6));
        for (spec, shape) in [
            ("affine(4, stored, axis = 0)", vec![5]),
            ("affine(3, stored)", vec![5, 7]),
        ] {
            let values = (1..=shape.iter().product()).map(|k: usize| 0.05 * k as f32);
            let array = format::StoredArray {
                values: values.collect(),
                shape,
            };
            let format = Format::parse(spec)
                .unwrap()
                .with_stored("scale", array)
                .unwrap();
            let grid = Grid::new(&format, &weight, None).unwrap();
            let got = rounded(&grid, |at| wanted.values()[at].into());
            assert_eq!(got, by_format(&format, wanted.values(), &[5, 7]), "{spec}");
        }
    }

    #[test]
    fn the_original_weights_are_rounded_as_the_format_does() {
        for spec in SHARED.iter().chain(&ALONE) {
            let format = Format::parse(spec).unwrap();
            for shape in [&[5, 7][..], &[3, 2, 3, 4]] {
                let weight = weight(shape, 5);
                let grid = Grid::new(&format, &weight, None).unwrap();
                let got = rounded(&grid, |at| weight.values()[at].into());
                assert_eq!(got, by_format(&format, weight.values(), shape), "{spec}");
            }
        }
    }

    #[test]
    fn whatever_is_wanted_the_format_keeps_what_the_grid_gives() {
        for spec in SHARED {
            let format = Format::parse(spec).unwrap();
            let (weight, wanted) = (weight(&[6, 9], 6), weight(&[6, 9], 7));
            let grid = Grid::new(&format, &weight, None).unwrap();
            for factor in [0.01, 1.0, 30.0] {
                let got = rounded(&grid, |at| factor * f64::from(wanted.values()[at]));
                assert_eq!(by_format(&format, &got, &[6, 9]), got, "{spec}");
            }
        }
    }

    #[test]
    fn blocks_are_those_of_the_format() {
        for spec in SHARED {
            let format = Format::parse(spec).unwrap();
            for shape in [&[5, 7][..], &[3, 2, 3, 4]] {
                let values = weight(shape, 5);
                let codes = format.encode(values.values(), shape);
                let blocks = block_of_each(&format.block_extents(shape), shape);
                let count = blocks.iter().max().unwrap() + 1;
                assert_eq!(count, codes.shared.len(), "{spec}");
            }
        }
    }

    #[test]
    fn masked_elements_are_zero_and_means_are_refused() {
        let weight = Tensor::new(vec![1, 3], vec![1.0, 0.0, -2.0]).unwrap();
        let mask = Tensor::new(vec![1, 3], vec![1.0, 0.0, 1.0]).unwrap();
        let format = Format::parse("scale_integer(4)").unwrap();
        let grid = Grid::new(&format, &weight, Some(&mask)).unwrap();
        assert_eq!(rounded(&grid, |_| 2.0), [2.0, 0.0, -2.0]);
        for spec in REFUSED {
            let format = Format::parse(spec).unwrap();
            let why = Grid::new(&format, &weight, None).err().unwrap();
            assert!(why.contains(&format.to_string()), "{why}");
        }
    }
}
