//! Subset selection: the few items of a front that stand best for all of it.

use super::hypervolume;
use std::cmp::Ordering;

/// `count` of the items whose common hypervolume is large, in ascending order of their indices.
///
/// Taking the item that adds most, one after the other, reaches at least 1 - 1/e of the best possible (Guerreiro,
/// Fonseca and Paquete, 2016). What an item adds can only shrink as others are taken, so what it added earlier is a
/// bound that spares most of the computing. Repetitions add nothing; they come last, in their order, as does everything
/// else once nothing adds to the volume any more.
pub fn largest_subset(losses: &[Vec<f64>], count: usize, reference: &[f64]) -> Vec<usize> {
    let mut left = first_of_equals(losses);
    let mut bounds = vec![f64::INFINITY; losses.len()];
    let (mut taken, mut chosen, mut volume) = (Vec::new(), Vec::new(), 0.0);
    while taken.len() < count && !left.is_empty() {
        let place = best(&left, &mut bounds, losses, &mut chosen, volume, reference);
        let item = left.remove(place);
        if bounds[item] <= 0.0 {
            break;
        }
        chosen.push(losses[item].clone());
        volume += bounds[item];
        taken.push(item);
    }
    let missing = count.saturating_sub(taken.len());
    let others: Vec<usize> = (0..losses.len())
        .filter(|item| !taken.contains(item))
        .take(missing)
        .collect();
    taken.extend(others);
    taken.sort_unstable();
    taken
}

/// The first index of every different item.
fn first_of_equals(losses: &[Vec<f64>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..losses.len()).collect();
    let compare = |&a: &usize, &b: &usize| {
        let pairs = losses[a].iter().zip(&losses[b]);
        let axes = pairs.map(|(a, b)| a.total_cmp(b));
        axes.fold(Ordering::Equal, Ordering::then)
    };
    order.sort_by(compare);
    order.dedup_by(|b, a| compare(a, b) == Ordering::Equal);
    order.sort_unstable();
    order
}

/// The place in `left` of the item that adds most to `chosen`; the first of equal ones. Tightens the bounds it meets.
fn best(
    left: &[usize],
    bounds: &mut [f64],
    losses: &[Vec<f64>],
    chosen: &mut Vec<Vec<f64>>,
    volume: f64,
    reference: &[f64],
) -> usize {
    let mut places: Vec<usize> = (0..left.len()).collect();
    places.sort_by(|&a, &b| bounds[left[b]].total_cmp(&bounds[left[a]]));
    let (mut best, mut max) = (usize::MAX, f64::NEG_INFINITY);
    for place in places {
        let item = left[place];
        if bounds[item] < max {
            break;
        }
        chosen.push(losses[item].clone());
        let added = hypervolume(chosen, reference) - volume;
        // Nothing adds to what is infinite already.
        bounds[item] = if added.is_nan() { 0.0 } else { added };
        chosen.pop();
        if bounds[item] > max || (bounds[item] == max && place < best) {
            (best, max) = (place, bounds[item]);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_line_comes_first_and_repetitions_last() {
        let line: Vec<Vec<f64>> = (0..9)
            .map(|k| vec![f64::from(k), 8.0 - f64::from(k)])
            .collect();
        assert_eq!(largest_subset(&line, 1, &[9.0, 9.0]), [4]);
        let twice = vec![vec![0.0, 1.0], vec![0.0, 1.0], vec![1.0, 0.0]];
        assert_eq!(largest_subset(&twice, 2, &[2.0, 2.0]), [0, 2]);
        assert_eq!(largest_subset(&twice, 3, &[2.0, 2.0]), [0, 1, 2]);
        assert_eq!(
            largest_subset(&[vec![1.0, 1.0], vec![1.0, 1.0]], 2, &[1.0, 1.0]),
            [0, 1]
        );
        let infinite = [
            vec![0.0, 1.0],
            vec![f64::NEG_INFINITY, 2.0],
            vec![f64::NEG_INFINITY, 0.0],
        ];
        assert_eq!(largest_subset(&infinite, 2, &[9.0, 9.0]).len(), 2);
    }

    #[test]
    fn bounds_do_not_change_the_choice() {
        let losses: Vec<Vec<f64>> = (0..12_i32)
            .map(|k| {
                vec![
                    f64::from(k * 7 % 12),
                    f64::from(k * 5 % 12),
                    f64::from(k * k % 11),
                ]
            })
            .collect();
        let reference = [13.0; 3];
        let mut chosen: Vec<usize> = Vec::new();
        for _ in 0..5 {
            let with = |item: usize| {
                let set: Vec<Vec<f64>> = chosen
                    .iter()
                    .chain([&item])
                    .map(|&i| losses[i].clone())
                    .collect();
                hypervolume(&set, &reference)
            };
            let all = (0..12).filter(|item| !chosen.contains(item));
            let best = all.fold(None, |best: Option<(usize, f64)>, item| match best {
                Some((_, volume)) if volume >= with(item) => best,
                _ => Some((item, with(item))),
            });
            chosen.push(best.unwrap().0);
        }
        chosen.sort_unstable();
        assert_eq!(largest_subset(&losses, 5, &reference), chosen);
    }
}
