//! The exact best of a separable model under a limit, by dynamic programming over the units.

/// Steps of the limit.
const BINS: usize = 256;

/// How much the costs may sum up to.
#[derive(Clone, Copy)]
pub(super) enum Limit {
    /// A share of the way from the least to the largest sum.
    Share(f64),
    /// A sum.
    Sum(f64),
}

/// For each unit the option, so that the sum of losses is least while the sum of costs keeps the limit; nothing when no
/// choice does. Costs are rounded up to one of [`BINS`] steps, so that the limit holds.
pub(super) fn select(losses: &[Vec<f64>], costs: &[Vec<f64>], limit: Limit) -> Option<Vec<usize>> {
    let least = |costs: &Vec<f64>| costs.iter().copied().fold(f64::MAX, f64::min);
    let most = |costs: &Vec<f64>| costs.iter().copied().fold(f64::MIN, f64::max);
    let (low, high): (f64, f64) = (costs.iter().map(least).sum(), costs.iter().map(most).sum());
    let room = match limit {
        Limit::Share(share) => share * (high - low),
        Limit::Sum(sum) => sum - low,
    };
    if room < 0.0 {
        return None;
    }
    let step = (room / BINS as f64).max(f64::MIN_POSITIVE);
    // table[bins] = (least loss with at most this many bins used, the option taken by the last unit)
    let mut tables: Vec<Vec<(f64, usize)>> = Vec::with_capacity(losses.len());
    let mut before = vec![0.0; BINS + 1];
    for (losses, costs) in losses.iter().zip(costs) {
        let start = least(costs);
        let mut table = vec![(f64::INFINITY, 0); BINS + 1];
        for (option, (&loss, &cost)) in losses.iter().zip(costs).enumerate() {
            let used = ((cost - start) / step - 1e-9).ceil().max(0.0);
            if used > BINS as f64 {
                continue;
            }
            for bins in used as usize..=BINS {
                let sum = before[bins - used as usize] + loss;
                if sum < table[bins].0 {
                    table[bins] = (sum, option);
                }
            }
        }
        before = table.iter().map(|entry| entry.0).collect();
        tables.push(table);
    }
    let mut bins = BINS;
    let mut choices = vec![0; losses.len()];
    for unit in (0..losses.len()).rev() {
        let option = tables[unit][bins].1;
        let used = ((costs[unit][option] - least(&costs[unit])) / step - 1e-9)
            .ceil()
            .max(0.0);
        choices[unit] = option;
        bins -= used as usize;
    }
    Some(choices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ir::Random;

    /// Every choice under the limit, by trying them all.
    fn best(losses: &[Vec<f64>], costs: &[Vec<f64>], limit: f64) -> Option<f64> {
        let count = losses[0].len();
        let all = (0..count.pow(losses.len() as u32)).filter_map(|mut n| {
            let (mut loss, mut cost) = (0.0, 0.0);
            for unit in 0..losses.len() {
                loss += losses[unit][n % count];
                cost += costs[unit][n % count];
                n /= count;
            }
            (cost <= limit + 1e-9).then_some(loss)
        });
        all.min_by(f64::total_cmp)
    }

    #[test]
    fn selection_is_exact_on_costs_that_fall_on_the_steps() {
        let random = Random::new(1, "select");
        for case in 0..200 {
            let stream = random.at(case);
            let whole = |k: u64| (stream.bits(k) % 8) as f64;
            let losses: Vec<Vec<f64>> = (0..5)
                .map(|u| {
                    (0..4)
                        .map(|o| f64::from(stream.uniform(100 + u * 4 + o)))
                        .collect()
                })
                .collect();
            let mut costs: Vec<Vec<f64>> = (0..5)
                .map(|u| (0..4).map(|o| whole(u * 4 + o)).collect())
                .collect();
            for unit in &mut costs {
                unit[0] = 0.0;
            }
            let limit = 16.0;
            let choices = select(&losses, &costs, Limit::Sum(limit)).unwrap();
            let loss: f64 = choices
                .iter()
                .enumerate()
                .map(|(unit, &option)| losses[unit][option])
                .sum();
            let cost: f64 = choices
                .iter()
                .enumerate()
                .map(|(unit, &option)| costs[unit][option])
                .sum();
            assert!(cost <= limit);
            assert!(
                (loss - best(&losses, &costs, limit).unwrap()).abs() < 1e-9,
                "case {case}"
            );
        }
    }

    #[test]
    fn a_limit_that_nothing_keeps_selects_nothing() {
        assert_eq!(
            select(&[vec![0.0, 1.0]], &[vec![2.0, 3.0]], Limit::Sum(1.0)),
            None
        );
    }
}
