//! Crowding distances: the room around each item of a front.

/// The crowding distance of each item of one front (Deb et al., 2002): the sum over objectives of the gap between its
/// two neighbors, as a part of the front's width. The ends of each objective are infinitely far from anything.
pub fn crowding(losses: &[Vec<f64>]) -> Vec<f64> {
    let mut distances = vec![0.0; losses.len()];
    let objectives = losses.first().map_or(0, Vec::len);
    for objective in 0..objectives {
        add_gaps(losses, objective, &mut distances);
    }
    distances
}

fn add_gaps(losses: &[Vec<f64>], objective: usize, distances: &mut [f64]) {
    let value = |item: usize| losses[item][objective];
    let mut order: Vec<usize> = (0..losses.len()).collect();
    order.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
    let (first, last) = (order[0], order[order.len() - 1]);
    if value(first) == value(last) {
        return;
    }
    let width = finite_width(order.iter().map(|&item| value(item)));
    for (place, &item) in order.iter().enumerate() {
        let below = place.checked_sub(1).map(|at| value(order[at]));
        let above = order.get(place + 1).map(|&next| value(next));
        distances[item] += match (below, above) {
            (Some(below), Some(above)) if below == above => 0.0,
            (Some(below), Some(above)) => (above - below) / width,
            _ => f64::INFINITY,
        };
    }
}

/// Largest less smallest of what is finite; 1 where that is nothing.
fn finite_width(values: impl Iterator<Item = f64>) -> f64 {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    if high > low { high - low } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_parts_of_the_width() {
        let front = [[0.0, 4.0], [1.0, 2.0], [3.0, 1.0], [4.0, 0.0]].map(|l| l.to_vec());
        let infinite = f64::INFINITY;
        let expected = [
            infinite,
            3.0 / 4.0 + 3.0 / 4.0,
            3.0 / 4.0 + 2.0 / 4.0,
            infinite,
        ];
        assert_eq!(crowding(&front), expected);
        assert_eq!(crowding(&[vec![1.0, 2.0], vec![1.0, 2.0]]), [0.0, 0.0]);
    }
}
