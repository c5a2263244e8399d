//! The combinations of choices that make a format, found by making them all.

use super::choices::{Choice, Choices, KeyChoices};
use super::joined;
use passes::transform::quantize::{Entry, NodeRule, Operand, Slot, is_na};
use study::Row;

/// Combinations of one operand's choices under one name that are tried; of more, none are, and all count as possible.
const MAX_COMBINATIONS: usize = 1 << 14;

/// The formats of one operand, tried out.
pub(super) struct TriedOperand<'a> {
    /// The operand's word.
    pub word: &'static str,
    /// The key that names the format.
    pub decider: String,
    /// By choice of the decider.
    pub names: Vec<TriedName<'a>>,
}

/// The formats of one operand under one name, tried out.
pub(super) struct TriedName<'a> {
    /// The name.
    pub name: &'a Choice,
    /// The keys that hold under it.
    pub keys: Vec<&'a KeyChoices>,
    /// For every combination of the keys' choices the fault it has, if any; nothing when they are too many.
    pub faults: Option<Vec<Option<String>>>,
}

/// Tries all formats of all operands that keys speak of.
pub(super) fn tried(choices: &Choices) -> Vec<TriedOperand<'_>> {
    let words = Operand::WORDS.iter().map(|(word, _)| *word);
    words
        .map(|word| {
            let decider = choices.decider(&format!("{word}_name"));
            let names = choices.get(&decider).unwrap_or_default().iter();
            TriedOperand {
                word,
                names: names
                    .map(|name| TriedName::new(choices, word, &decider, name))
                    .collect(),
                decider,
            }
        })
        .collect()
}

impl TriedOperand<'_> {
    /// The possible choices of some of the operand's keys, for every choice of the decider; all in one list, behind the
    /// choice of the name, when the decider is the operand's own. Nothing where every combination is possible.
    pub fn rows(&self, chosen: &[&KeyChoices]) -> Option<Vec<Vec<Row>>> {
        let mut faults = self.names.iter().map(|tried| tried.faults.as_ref());
        let is_all_known = faults.clone().all(|faults| faults.is_some());
        let is_faulty =
            faults.any(|faults| faults.is_some_and(|all| all.iter().any(Option::is_some)));
        if !is_all_known || !is_faulty {
            return None;
        }
        let lists = self.names.iter().map(|tried| tried.rows(chosen));
        if self.decider == "name" {
            return Some(lists.collect());
        }
        let has_choice = self.names.len() > 1;
        let named = lists.enumerate().flat_map(|(name, rows)| {
            let prefix: Row = has_choice.then_some(Some(name)).into_iter().collect();
            rows.into_iter()
                .map(move |row| [prefix.clone(), row].concat())
        });
        Some(vec![named.collect()])
    }
}

impl<'a> TriedName<'a> {
    fn new(choices: &'a Choices, word: &str, decider: &str, name: &'a Choice) -> Self {
        let keys: Vec<&KeyChoices> = choices
            .of_operand(word)
            .filter(|own| choices.holds(own, &name.value))
            .collect();
        let count = keys
            .iter()
            .try_fold(1_usize, |count, own| count.checked_mul(own.choices.len()));
        let mut tried = Self {
            name,
            keys,
            faults: None,
        };
        if let Some(count) = count.filter(|count| *count <= MAX_COMBINATIONS) {
            let faults = (0..count).map(|index| tried.fault(decider, &tried.combination(index)));
            tried.faults = Some(faults.collect());
        }
        tried
    }

    /// The combination of this number, the last key changing fastest: each key with its choice.
    pub fn combination(&self, index: usize) -> Vec<(&'a KeyChoices, &'a Choice)> {
        let indices = self.indices(index);
        let keys = self.keys.iter().zip(indices);
        keys.map(|(own, choice)| (*own, &own.choices[choice]))
            .collect()
    }

    fn indices(&self, mut index: usize) -> Vec<usize> {
        let mut indices: Vec<usize> = self
            .keys
            .iter()
            .rev()
            .map(|own| {
                let choice = index % own.choices.len();
                index /= own.choices.len();
                choice
            })
            .collect();
        indices.reverse();
        indices
    }

    /// The fault of a combination. An operand without a value is left alone, unless its format has a name of its own.
    pub fn fault(&self, decider: &str, picked: &[(&KeyChoices, &Choice)]) -> Option<String> {
        let is_left_alone = picked.iter().all(|(_, choice)| is_na(&choice.value));
        if is_na(&self.name.value) || (decider == "name" && is_left_alone) {
            return None;
        }
        make(decider, self.name, picked).err()
    }

    /// Every possible combination as the choices of some keys; nothing for those that do not hold.
    fn rows(&self, chosen: &[&KeyChoices]) -> Vec<Row> {
        let places: Vec<Option<usize>> = chosen
            .iter()
            .map(|wanted| self.keys.iter().position(|own| std::ptr::eq(*own, *wanted)))
            .collect();
        let faults = self.faults.iter().flatten().enumerate();
        faults
            .filter(|(_, fault)| fault.is_none())
            .map(|(index, _)| {
                let indices = self.indices(index);
                let places = places.iter();
                places.map(|place| place.map(|at| indices[at])).collect()
            })
            .collect()
    }
}

/// Makes the formats that keys and their values stand for.
pub(super) fn make(
    decider: &str,
    name: &Choice,
    picked: &[(&KeyChoices, &Choice)],
) -> Result<NodeRule, String> {
    NodeRule::of(&entries(decider, name, picked)).map_err(joined)
}

/// The entries of a rule that keys and their values stand for.
fn entries(decider: &str, name: &Choice, picked: &[(&KeyChoices, &Choice)]) -> Vec<Entry> {
    let mut entries = vec![(Slot::Name, name.value.clone())];
    if let Some(own) = Slot::parse(decider).filter(|own| *own != Slot::Name) {
        entries.push((own, name.value.clone()));
    }
    let others = picked.iter();
    entries.extend(
        others
            .filter_map(|(own, choice)| Some((Slot::parse(&own.key.name)?, choice.value.clone()))),
    );
    entries
}
