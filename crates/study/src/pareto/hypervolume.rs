//! Hypervolume: the part of the space of objectives that a set dominates.

/// The volume between `losses` and `reference` that at least one of them dominates. Items that are not better than the
/// reference in every objective count for nothing.
///
/// Exact for any number of objectives: a sweep for two, the WFG algorithm (While, Bradstreet and Barone, 2012) for
/// more.
pub fn hypervolume(losses: &[Vec<f64>], reference: &[f64]) -> f64 {
    let is_inside = |item: &&Vec<f64>| item.iter().zip(reference).all(|(l, r)| l < r);
    let mut inside: Vec<Vec<f64>> = losses.iter().filter(is_inside).cloned().collect();
    inside.sort_by(|a, b| a[0].total_cmp(&b[0]));
    volume(&mut inside, reference)
}

/// The volume of items that are inside and in ascending order of the first objective.
fn volume(items: &mut Vec<Vec<f64>>, reference: &[f64]) -> f64 {
    match reference.len() {
        1 => items.first().map_or(0.0, |best| reference[0] - best[0]),
        2 => area(items, reference),
        _ => by_exclusion(items, reference),
    }
}

fn area(items: &[Vec<f64>], reference: &[f64]) -> f64 {
    let (mut sum, mut ceiling) = (0.0, reference[1]);
    for item in items {
        if item[1] < ceiling {
            sum += (reference[0] - item[0]) * (ceiling - item[1]);
            ceiling = item[1];
        }
    }
    sum
}

/// Each item adds its box less what those after it dominate of that box.
fn by_exclusion(items: &mut Vec<Vec<f64>>, reference: &[f64]) -> f64 {
    without_dominated(items);
    let mut sum = 0.0;
    for (place, item) in items.iter().enumerate() {
        let mut limited: Vec<Vec<f64>> = items[place + 1..]
            .iter()
            .map(|other| other.iter().zip(item).map(|(o, i)| o.max(*i)).collect())
            .collect();
        let own: f64 = item.iter().zip(reference).map(|(i, r)| r - i).product();
        sum += own - volume(&mut limited, reference);
    }
    sum
}

/// Drops items that another is nowhere worse than; one of several equal ones stays.
fn without_dominated(items: &mut Vec<Vec<f64>>) {
    let mut kept: Vec<Vec<f64>> = Vec::with_capacity(items.len());
    for item in items.drain(..) {
        let covers = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a <= b);
        if kept.iter().any(|other| covers(other, &item)) {
            continue;
        }
        kept.retain(|other| !covers(&item, other));
        kept.push(item);
    }
    *items = kept;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Counts the unit cells of a small grid that some item dominates.
    fn by_counting(losses: &[Vec<f64>], size: usize) -> f64 {
        let objectives = losses.first().map_or(0, Vec::len);
        let cells = if losses.is_empty() {
            0
        } else {
            size.pow(objectives as u32)
        };
        let is_dominated = |cell: usize| {
            let corner: Vec<f64> = (0..objectives)
                .map(|axis| (cell / size.pow(axis as u32) % size) as f64)
                .collect();
            losses
                .iter()
                .any(|l| l.iter().zip(&corner).all(|(l, c)| l <= c))
        };
        (0..cells).filter(|&cell| is_dominated(cell)).count() as f64
    }

    proptest! {
        #[test]
        fn volume_is_the_number_of_dominated_cells(
            losses in (1..5_usize).prop_flat_map(|objectives| {
                let value = (0..7_i32).prop_map(f64::from);
                proptest::collection::vec(proptest::collection::vec(value, objectives), 0..10)
            })
        ) {
            let objectives = losses.first().map_or(2, Vec::len);
            let reference = vec![6.0; objectives];
            prop_assert_eq!(hypervolume(&losses, &reference), by_counting(&losses, 6));
        }
    }
}
