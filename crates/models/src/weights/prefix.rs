//! Prefixes that wrappers put before every name of a state dict.

use interop::checkpoint::NamedTensor;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The names of attributes and wrappers that hold a network: a Lightning module or a model of `transformers`, BERT's base
/// model, `DataParallel`, `torch.compile`.
const WRAPPERS: &[&str] = &["model.", "bert.", "module.", "_orig_mod."];
/// Wrappers around wrappers beyond this depth are taken for names.
const MAX_DEPTH: usize = 4;

/// The tensors without the wrappers' prefix under which most of the wanted names are found, and that prefix; the tensors
/// themselves where no prefix finds more. Names without the prefix stay.
pub(super) fn without_prefix<'a>(
    tensors: &'a [NamedTensor],
    wanted: &BTreeSet<&str>,
) -> (Vec<Cow<'a, NamedTensor>>, Option<String>) {
    let candidates = candidates(tensors);
    let mut best = ("", coverage(tensors, "", wanted));
    for (prefix, unambiguous) in &candidates {
        let covered = coverage(tensors, prefix, wanted);
        if *unambiguous && covered > best.1 {
            best = (prefix, covered);
        }
    }
    let (prefix, _) = best;
    let strip = |tensor: &'a NamedTensor| match tensor.name.strip_prefix(prefix) {
        Some(name) if !prefix.is_empty() => Cow::Owned(NamedTensor {
            name: name.to_owned(),
            ..tensor.clone()
        }),
        _ => Cow::Borrowed(tensor),
    };
    let found = (!prefix.is_empty()).then(|| prefix.to_owned());
    (tensors.iter().map(strip).collect(), found)
}

/// Every chain of wrappers that a name starts with, and true where no two names become one without it.
fn candidates(tensors: &[NamedTensor]) -> BTreeMap<&str, bool> {
    let names: BTreeSet<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    let mut found = BTreeMap::new();
    for name in &names {
        let mut end = 0;
        for _ in 0..MAX_DEPTH {
            let wrapper = WRAPPERS.iter().find(|word| name[end..].starts_with(**word));
            let Some(wrapper) = wrapper else { break };
            end += wrapper.len();
            let free = !names.contains(&name[end..]);
            *found.entry(&name[..end]).or_insert(true) &= free;
        }
    }
    found
}

/// The number of wanted names among the names without a prefix. A parameter that PyTorch prunes is there by its original.
fn coverage(tensors: &[NamedTensor], prefix: &str, wanted: &BTreeSet<&str>) -> usize {
    let is_wanted = |tensor: &&NamedTensor| {
        let name = tensor.name.strip_prefix(prefix).unwrap_or(&tensor.name);
        wanted.contains(name.strip_suffix("_orig").unwrap_or(name))
    };
    tensors.iter().filter(is_wanted).count()
}
