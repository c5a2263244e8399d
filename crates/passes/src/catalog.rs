//! The table of passes.

use crate::{PassEntry, analysis, interface, transform};
use config::did_you_mean;

/// Every pass, in reading order.
pub static PASSES: &[PassEntry] = &[
    // analysis: the graph
    PassEntry::of::<analysis::InitMetadata>(),
    PassEntry::of::<analysis::ReportGraph>(),
    PassEntry::of::<analysis::ReportNodeType>(),
    PassEntry::of::<analysis::ReportNodeShape>(),
    PassEntry::of::<analysis::ReportNodeMetaParam>(),
    PassEntry::of::<analysis::Verify>(),
    PassEntry::of::<analysis::ProfileStatistics>(),
    // analysis: costs
    PassEntry::of::<analysis::CountFlops>(),
    PassEntry::of::<analysis::CountBitops>(),
    PassEntry::of::<analysis::CalculateAvgBits>(),
    // analysis: quantisation
    PassEntry::of::<analysis::SummarizeQuantization>(),
    PassEntry::of::<analysis::CheckQuantization>(),
    // analysis: pruning
    PassEntry::of::<analysis::AddPruningMetadata>(),
    PassEntry::of::<analysis::AddNaturalSparsity>(),
    // transform
    PassEntry::of::<transform::Quantize>(),
    PassEntry::of::<transform::Calibrate>(),
    PassEntry::of::<transform::Gptq>(),
    PassEntry::of::<transform::CorrectBias>(),
    PassEntry::of::<transform::Prune>(),
    PassEntry::of::<transform::RemovePruneWrappers>(),
    PassEntry::of::<transform::FuseBatchNorm>(),
    PassEntry::of::<transform::InsertLoraAdapter>(),
    PassEntry::of::<transform::FuseLoraWeights>(),
    // files
    PassEntry::of::<interface::SaveMaseGraph>(),
    PassEntry::of::<interface::LoadMaseGraph>(),
    PassEntry::of::<interface::SaveNodeMetaParam>(),
    PassEntry::of::<interface::LoadNodeMetaParam>(),
];

/// The pass of a key: its name or an alias, and `_2`, `_3` … behind it to run a pass again.
pub fn find(key: &str) -> Result<&'static PassEntry, String> {
    find_run(key).map(|(entry, _)| entry)
}

/// The pass of a key, and the number behind its name.
pub(crate) fn find_run(key: &str) -> Result<(&'static PassEntry, Option<&str>), String> {
    let named = |name: &str| {
        PASSES
            .iter()
            .find(|entry| entry.name == name || entry.aliases.contains(&name))
    };
    let again = || {
        let (name, number) = key.rsplit_once('_')?;
        let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        let entry = named(name).filter(|_| is_number)?;
        Some((entry, Some(number)))
    };
    let first = named(key).map(|entry| (entry, None));
    first.or_else(again).ok_or_else(|| {
        let names = PASSES
            .iter()
            .flat_map(|entry| [&[entry.name], entry.aliases].concat());
        let close = did_you_mean(key, names);
        let hint = if close.is_empty() {
            "; `ch list passes` names all".to_owned()
        } else {
            close
        };
        format!("unknown pass '{key}'{hint}")
    })
}
