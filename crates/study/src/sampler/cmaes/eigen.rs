//! Eigenvalues of a symmetric matrix.

/// A square matrix, row after row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    pub(super) n: usize,
    pub(super) values: Vec<f64>,
}

impl Matrix {
    pub(super) fn identity(n: usize) -> Self {
        let mut values = vec![0.0; n * n];
        values.iter_mut().step_by(n + 1).for_each(|x| *x = 1.0);
        Self { n, values }
    }

    pub(super) fn get(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.n + column]
    }

    pub(super) fn times(&self, vector: &[f64]) -> Vec<f64> {
        let rows = self.values.chunks_exact(self.n);
        rows.map(|row| dot(row, vector)).collect()
    }

    pub(super) fn transposed_times(&self, vector: &[f64]) -> Vec<f64> {
        let column = |c| (0..self.n).map(move |r| (r, c));
        (0..self.n)
            .map(|c| column(c).map(|(r, c)| self.get(r, c) * vector[r]).sum())
            .collect()
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Eigenvalues and, as columns, eigenvectors: Jacobi's method of cyclic rotations, which is exact and simple, and fast
/// enough for the tens of parameters that a search has.
pub(super) fn eigen(matrix: &Matrix) -> (Vec<f64>, Matrix) {
    let n = matrix.n;
    let mut a = matrix.clone();
    let mut vectors = Matrix::identity(n);
    for _sweep in 0..30 {
        let off: f64 = (0..n)
            .flat_map(|p| (p + 1..n).map(move |q| (p, q)))
            .map(|(p, q)| a.get(p, q).powi(2))
            .sum();
        let diagonal: f64 = (0..n).map(|p| a.get(p, p).powi(2)).sum();
        if off <= 1e-30 * diagonal {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut vectors, p, q);
            }
        }
    }
    ((0..n).map(|p| a.get(p, p)).collect(), vectors)
}

/// Makes the element (p, q) zero.
fn rotate(a: &mut Matrix, vectors: &mut Matrix, p: usize, q: usize) {
    let (n, apq) = (a.n, a.get(p, q));
    if apq == 0.0 {
        return;
    }
    let theta = (a.get(q, q) - a.get(p, p)) / (2.0 * apq);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    let turn = |values: &mut [f64], at_p: usize, at_q: usize| {
        let (x, y) = (values[at_p], values[at_q]);
        values[at_p] = c * x - s * y;
        values[at_q] = s * x + c * y;
    };
    for k in 0..n {
        turn(&mut a.values, k * n + p, k * n + q);
        turn(&mut vectors.values, k * n + p, k * n + q);
    }
    for k in 0..n {
        turn(&mut a.values, p * n + k, q * n + k);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::Draws;

    #[test]
    fn the_matrix_comes_back_from_its_eigenvalues() {
        let n = 12;
        let mut draws = Draws::new(random::Random::new(0, "eigen"));
        let mut matrix = Matrix::identity(n);
        for row in 0..n {
            for column in 0..=row {
                let value = draws.normal();
                matrix.values[row * n + column] = value;
                matrix.values[column * n + row] = value;
            }
        }
        let (values, vectors) = eigen(&matrix);
        for row in 0..n {
            for column in 0..n {
                let terms =
                    (0..n).map(|k| vectors.get(row, k) * values[k] * vectors.get(column, k));
                assert!((terms.sum::<f64>() - matrix.get(row, column)).abs() < 1e-12);
            }
        }
    }
}
