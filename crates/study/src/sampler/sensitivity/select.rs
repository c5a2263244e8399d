//! The best choices of a separable model: for every cost the least loss, under a limit that holds exactly.
//!
//! Partial choices are extended unit by unit. One that is nowhere better than another is dropped, and so is one that no
//! completion brings below the limit; sums are never rounded, so that what is kept keeps the limit.

/// Partial choices that are kept after a unit; of more, the best for each of as many parts of the costs.
const MAX_LABELS: usize = 512;
/// Difference of sums that means nothing.
const SLACK: f64 = 1e-9;

/// The contribution of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Item {
    /// The sum to be minimized.
    pub loss: f64,
    /// The sum whose limit is swept.
    pub cost: f64,
    /// The sum that must not exceed the budget.
    pub burden: f64,
}

/// A choice for every unit, with its sums.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Selection {
    /// The sums.
    pub sum: Item,
    /// By unit, the option.
    pub options: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Label {
    sum: Item,
    parent: usize,
    option: usize,
}

/// The selections under the limit on burdens that no other beats in loss and cost, the cheapest first; none when no
/// choice keeps the limit.
pub(super) fn select(units: &[Vec<Item>], limit: f64) -> Vec<Selection> {
    let mut rests = Rests::of(units);
    let mut layers: Vec<Vec<Label>> = Vec::with_capacity(units.len());
    let mut last = vec![Label {
        sum: Item {
            loss: 0.0,
            cost: 0.0,
            burden: 0.0,
        },
        parent: 0,
        option: 0,
    }];
    for items in units {
        rests.pass(items);
        let items = undominated(items);
        let mut next = Vec::with_capacity(last.len() * items.len());
        for (parent, label) in last.iter().enumerate() {
            for &(option, item) in &items {
                let sum = label.sum.plus(&item);
                if let Some(burden) = rests.weigh(sum.burden, limit) {
                    let sum = Item { burden, ..sum };
                    next.push(Label {
                        sum,
                        parent,
                        option,
                    });
                }
            }
        }
        last = thinned(best(next));
        layers.push(last.clone());
    }
    (0..last.len()).map(|end| trace(&layers, end)).collect()
}

/// The burden that the units still to come add.
struct Rests {
    min: f64,
    max: f64,
}

impl Rests {
    fn of(units: &[Vec<Item>]) -> Self {
        let (mut min, mut max) = (0.0, 0.0);
        for (low, high) in units.iter().map(|items| range(items)) {
            min += low;
            max += high;
        }
        Self { min, max }
    }

    fn pass(&mut self, items: &[Item]) {
        let (low, high) = range(items);
        self.min -= low;
        self.max -= high;
    }

    /// Nothing if the limit is out of reach; a burden that can never matter is none.
    fn weigh(&self, burden: f64, limit: f64) -> Option<f64> {
        let slack = SLACK * (1.0 + limit.abs());
        if burden + self.min > limit + slack {
            return None;
        }
        let is_safe = burden + self.max <= limit + slack;
        Some(if is_safe { f64::NEG_INFINITY } else { burden })
    }
}

impl Item {
    fn plus(&self, other: &Self) -> Self {
        Self {
            loss: self.loss + other.loss,
            cost: self.cost + other.cost,
            burden: self.burden + other.burden,
        }
    }
}

fn range(items: &[Item]) -> (f64, f64) {
    let burdens = || items.iter().map(|item| item.burden);
    (
        burdens().fold(f64::INFINITY, f64::min),
        burdens().fold(f64::NEG_INFINITY, f64::max),
    )
}

/// The options that no other is better than in everything.
fn undominated(items: &[Item]) -> Vec<(usize, Item)> {
    let label = |(option, item): (usize, &Item)| Label {
        sum: *item,
        parent: 0,
        option,
    };
    let labels = best(items.iter().enumerate().map(label).collect());
    labels
        .iter()
        .map(|label| (label.option, label.sum))
        .collect()
}

/// The labels that no other is better than in everything, the cheapest first.
fn best(mut labels: Vec<Label>) -> Vec<Label> {
    let key = |label: &Label| (label.sum.cost, label.sum.loss, label.sum.burden);
    labels.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        let costs = a.0.total_cmp(&b.0);
        costs.then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
    });
    // Losses rise and burdens fall along the steps: what is cheaper than the label at hand and not beaten so far.
    let mut steps: Vec<(f64, f64)> = Vec::new();
    labels.retain(|label| {
        let (loss, burden) = (label.sum.loss, label.sum.burden);
        let above = steps.partition_point(|step| step.0 <= loss);
        if above > 0 && steps[above - 1].1 <= burden {
            return false;
        }
        let beaten = steps[above..].iter().take_while(|step| step.1 >= burden);
        let end = above + beaten.count();
        steps.splice(above..end, [(loss, burden)]);
        true
    });
    labels
}

/// At most [`MAX_LABELS`] labels: those of least loss and of least burden in each part of the costs.
fn thinned(labels: Vec<Label>) -> Vec<Label> {
    let (Some(first), Some(last)) = (labels.first(), labels.last()) else {
        return labels;
    };
    if labels.len() <= MAX_LABELS {
        return labels;
    }
    let (low, width) = (first.sum.cost, last.sum.cost - first.sum.cost);
    let part =
        |label: &Label| (((label.sum.cost - low) / width) * (MAX_LABELS / 2 - 1) as f64) as usize;
    let parts = if width > 0.0 {
        labels.chunk_by(|a, b| part(a) == part(b)).collect()
    } else {
        labels
            .chunks(labels.len().div_ceil(MAX_LABELS / 2))
            .collect::<Vec<_>>()
    };
    let min = |labels: &[Label], key: fn(&Item) -> f64| {
        let min =
            (0..labels.len()).min_by(|&a, &b| key(&labels[a].sum).total_cmp(&key(&labels[b].sum)));
        min.unwrap_or(0)
    };
    let mut kept = Vec::with_capacity(MAX_LABELS);
    for part in parts {
        let (loss, burden) = (min(part, |s| s.loss), min(part, |s| s.burden));
        kept.push(part[loss.min(burden)]);
        if loss != burden {
            kept.push(part[loss.max(burden)]);
        }
    }
    kept
}

fn trace(layers: &[Vec<Label>], end: usize) -> Selection {
    let mut options = vec![0; layers.len()];
    let (mut at, mut sum) = (end, None);
    for (unit, layer) in layers.iter().enumerate().rev() {
        sum = sum.or(Some(layer[at].sum));
        options[unit] = layer[at].option;
        at = layer[at].parent;
    }
    Selection {
        sum: sum.unwrap_or(Item {
            loss: 0.0,
            cost: 0.0,
            burden: 0.0,
        }),
        options,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::Random;

    const UNITS: usize = 5;
    const OPTIONS: usize = 4;

    fn problem(stream: Random) -> Vec<Vec<Item>> {
        let number = |k: usize| f64::from(stream.uniform(k as u64));
        let item = |k: usize| Item {
            loss: number(3 * k),
            cost: number(3 * k + 1),
            burden: number(3 * k + 2) - 0.5,
        };
        (0..UNITS)
            .map(|unit| {
                (0..OPTIONS)
                    .map(|option| item(unit * OPTIONS + option))
                    .collect()
            })
            .collect()
    }

    fn sum(units: &[Vec<Item>], options: &[usize]) -> Item {
        let items = units
            .iter()
            .zip(options)
            .map(|(items, &option)| items[option]);
        items.fold(
            Item {
                loss: 0.0,
                cost: 0.0,
                burden: 0.0,
            },
            |sum, item| sum.plus(&item),
        )
    }

    /// Every choice there is.
    fn all(units: &[Vec<Item>]) -> Vec<Item> {
        let count = OPTIONS.pow(UNITS as u32);
        let options = |n: usize| {
            (0..UNITS)
                .map(|u| n / OPTIONS.pow(u as u32) % OPTIONS)
                .collect()
        };
        (0..count)
            .map(|n| {
                sum(units, &{
                    let o: Vec<usize> = options(n);
                    o
                })
            })
            .collect()
    }

    #[test]
    fn selections_are_the_front_of_all_choices_under_the_limit() {
        let random = Random::new(1, "select");
        for case in 0..100 {
            let units = problem(random.at(case));
            let limit = (case as f64 - 50.0) / 50.0;
            let allowed: Vec<Item> = all(&units)
                .into_iter()
                .filter(|s| s.burden <= limit)
                .collect();
            let is_beaten = |item: &Item| {
                let beats = |other: &&Item| {
                    other.loss <= item.loss
                        && other.cost <= item.cost
                        && (other.loss, other.cost) != (item.loss, item.cost)
                };
                allowed.iter().any(|other| beats(&other))
            };
            let front = allowed.iter().filter(|item| !is_beaten(item)).count();
            let found = select(&units, limit);
            assert_eq!(found.len(), front, "case {case}");
            for selection in &found {
                let sum = sum(&units, &selection.options);
                assert!(sum.burden <= limit, "case {case}: {sum:?} over {limit}");
                assert!(!is_beaten(&sum), "case {case}: {sum:?}");
            }
        }
    }

    /// Of a thousand labels of nearly the same cost some are kept, of a few that cost much more all.
    #[test]
    fn labels_are_thinned_by_parts_of_the_costs() {
        let label = |option: usize| {
            let near = option as f64 / 1000.0;
            let cost = if option < 1000 { near } else { near * 100.0 };
            Label {
                sum: Item {
                    loss: -cost,
                    cost,
                    burden: 0.0,
                },
                parent: 0,
                option,
            }
        };
        let kept = |count: usize| -> Vec<usize> {
            let kept = thinned((0..count).map(label).collect());
            kept.iter().map(|label| label.option).collect()
        };
        // Costs up to 102.3 in 255 parts: the last of three parts has the least loss there, the first the least burden.
        let found = kept(1024);
        let (near, far): (Vec<usize>, Vec<usize>) =
            found.iter().partition(|option| **option < 1000);
        assert_eq!(near, [0, 401, 402, 802, 803, 999]);
        assert!(far.len() >= 6, "{far:?}");
        assert_eq!(kept(MAX_LABELS), (0..MAX_LABELS).collect::<Vec<_>>());
        // All of one cost: parts of as many labels.
        let same = |option| Label {
            sum: Item {
                loss: option as f64,
                cost: 1.0,
                burden: -(option as f64),
            },
            parent: 0,
            option,
        };
        let found = thinned((0..1024).map(same).collect());
        assert_eq!(found.len(), MAX_LABELS);
        assert_eq!([0, 1, 2, 3].map(|k| found[k].option), [0, 3, 4, 7]);
    }

    /// Small whole numbers, so that ties are frequent.
    #[test]
    fn the_best_labels_are_those_that_no_other_beats() {
        let random = Random::new(3, "select");
        for case in 0..200 {
            let stream = random.at(case);
            let number = |k: u64| (stream.uniform(k) * 4.0).floor().into();
            let label = |option: usize| {
                let k = 3 * option as u64;
                let (loss, cost, burden) = (number(k), number(k + 1), number(k + 2));
                Label {
                    sum: Item { loss, cost, burden },
                    parent: 0,
                    option,
                }
            };
            let labels: Vec<Label> = (0..12).map(label).collect();
            let triple = |label: &Label| [label.sum.cost, label.sum.loss, label.sum.burden];
            let beats = |a: [f64; 3], b: [f64; 3]| a != b && (0..3).all(|k| a[k] <= b[k]);
            let mut all: Vec<[f64; 3]> = labels.iter().map(triple).collect();
            all.sort_by(|a, b| a.partial_cmp(b).unwrap());
            all.dedup();
            let unbeaten = all.iter().filter(|b| !all.iter().any(|a| beats(*a, **b)));
            let unbeaten: Vec<[f64; 3]> = unbeaten.copied().collect();
            let found: Vec<[f64; 3]> = best(labels).iter().map(triple).collect();
            assert_eq!(found, unbeaten, "case {case}");
        }
    }

    #[test]
    fn a_limit_that_nothing_keeps_selects_nothing() {
        let item = |burden| Item {
            loss: 0.0,
            cost: 0.0,
            burden,
        };
        assert_eq!(select(&[vec![item(2.0), item(3.0)]], 1.0), []);
    }

    /// Sixteen units of real costs have far more choices worth keeping than are kept; the limit holds all the same.
    #[test]
    fn a_limit_holds_where_choices_are_thinned() {
        let random = Random::new(2, "select");
        let units: Vec<Vec<Item>> = (0..4).flat_map(|k| problem(random.at(k))).collect();
        let found = select(&units, -4.0);
        assert!(!found.is_empty() && found.len() <= MAX_LABELS);
        for selection in &found {
            assert!(sum(&units, &selection.options).burden <= -4.0 + 1e-6);
        }
    }
}
