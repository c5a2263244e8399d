//! The table of passes, with the names by which files of the original know them.

use crate::{PassEntry, analysis, interface, transform};
use config::{Sort, did_you_mean, is_same_name, not_here};

/// Every pass, in reading order.
pub static PASSES: &[PassEntry] = &[
    // analysis: the graph
    PassEntry::analysis::<analysis::InitMetadata>().with_aliases(&[
        "init_metadata_analysis_pass",
        "add_common_metadata",
        "add_common_metadata_analysis_pass",
        "add_software_metadata",
        "add_software_metadata_analysis_pass",
        "add_hardware_metadata",
        "add_hardware_metadata_analysis_pass",
        "metadata_value_type_cast",
        "metadata_value_type_cast_transform_pass",
    ]),
    PassEntry::analysis::<analysis::ReportGraph>()
        .with_aliases(&["report_graph_analysis_pass", "report"]),
    PassEntry::analysis::<analysis::ReportNodeType>()
        .with_aliases(&["report_node_type_analysis_pass"]),
    PassEntry::analysis::<analysis::ReportNodeShape>()
        .with_aliases(&["report_node_shape_analysis_pass"]),
    PassEntry::analysis::<analysis::ReportNodeMetaParam>()
        .with_aliases(&["report_node_meta_param_analysis_pass"]),
    PassEntry::analysis::<analysis::Verify>().with_aliases(&[
        "verify_analysis_pass",
        "verify_common_metadata",
        "verify_common_metadata_analysis_pass",
    ]),
    PassEntry::analysis::<analysis::ProfileStatistics>()
        .with_aliases(&["profile_statistics_analysis_pass"]),
    // analysis: costs
    PassEntry::analysis::<analysis::CountFlops>()
        .with_aliases(&["count_flops_analysis_pass", "calculate_flops_pass"]),
    PassEntry::analysis::<analysis::CountBitops>().with_aliases(&["count_bitops_analysis_pass"]),
    PassEntry::analysis::<analysis::CalculateAvgBits>().with_aliases(&[
        "calculate_avg_bits_mg_analysis_pass",
        "calculate_avg_bits_analysis_pass",
    ]),
    PassEntry::analysis::<analysis::RuntimeAnalysis>()
        .with_aliases(&["runtime_analysis_pass", "runtime_analysis_analysis_pass"]),
    // analysis: quantisation
    PassEntry::analysis::<analysis::SummarizeQuantization>()
        .with_aliases(&["summarize_quantization_analysis_pass", "summarize"]),
    PassEntry::analysis::<analysis::CheckQuantization>()
        .with_aliases(&["check_quantization_analysis_pass"]),
    // analysis: pruning
    PassEntry::analysis::<analysis::AddPruningMetadata>()
        .with_aliases(&["add_pruning_metadata_analysis_pass"]),
    PassEntry::analysis::<analysis::AddNaturalSparsity>().with_aliases(&[
        "add_natural_sparsity_metadata_analysis_pass",
        "add_natural_sparsity_analysis_pass",
    ]),
    // transform
    PassEntry::transform::<transform::Quantize>().with_aliases(&["quantize_transform_pass"]),
    PassEntry::transform::<transform::QuantizeRest>(),
    PassEntry::transform::<transform::Calibrate>().with_aliases(&["calibrate_transform_pass"]),
    PassEntry::transform::<transform::Gptq>().with_aliases(&["gptq_transform_pass"]),
    PassEntry::transform::<transform::CorrectBias>().with_aliases(&["bias_correction"]),
    PassEntry::transform::<transform::Prune>().with_aliases(&["prune_transform_pass"]),
    PassEntry::transform::<transform::RemovePruneWrappers>().with_aliases(&[
        "remove_prune_wrappers_transform_pass",
        "prune_detach_hook",
        "prune_detach_hook_transform_pass",
    ]),
    PassEntry::transform::<transform::FuseBatchNorm>().with_aliases(&[
        "conv_bn_fusion",
        "conv_bn_fusion_transform_pass",
        "fuse_bn",
    ]),
    PassEntry::transform::<transform::InsertLoraAdapter>()
        .with_aliases(&["insert_lora_adapter_transform_pass"]),
    PassEntry::transform::<transform::FuseLoraWeights>()
        .with_aliases(&["fuse_lora_weights_transform_pass"]),
    PassEntry::transform::<transform::RedefineChannels>().with_aliases(&[
        "redefine_channels_transform_pass",
        "redefine_linear_transform_pass",
        "redefine_linear",
        "redefine_transform_pass",
        "channel_modifier",
    ]),
    // files
    PassEntry::interface::<interface::SaveMaseGraph>().with_aliases(&[
        "save_mase_graph_interface_pass",
        "save_mase_graph_transform_pass",
    ]),
    PassEntry::interface::<interface::LoadMaseGraph>().with_aliases(&[
        "load_mase_graph_interface_pass",
        "load_mase_graph_transform_pass",
    ]),
    PassEntry::interface::<interface::ExportOnnx>(),
    PassEntry::interface::<interface::SaveNodeMetaParam>().with_aliases(&[
        "save_node_meta_param_interface_pass",
        "save_node_meta_param_transform_pass",
    ]),
    PassEntry::interface::<interface::LoadNodeMetaParam>().with_aliases(&[
        "load_node_meta_param_interface_pass",
        "load_node_meta_param_transform_pass",
    ]),
];

/// The pass of a key: its name or an alias, and `_2`, `_3` … behind it to run a pass again.
pub fn find(key: &str) -> Result<&'static PassEntry, String> {
    find_run(key).map(|(entry, _)| entry)
}

/// The pass of a key, and the number behind its name.
pub(crate) fn find_run(key: &str) -> Result<(&'static PassEntry, Option<&str>), String> {
    let named = |name: &str| {
        PASSES.iter().find(|entry| {
            let names = [entry.name].into_iter();
            let mut names = names.chain(entry.aliases.iter().copied());
            names.any(|known| is_same_name(known, name))
        })
    };
    let again = || {
        let (name, number) = key.rsplit_once('_')?;
        let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        let entry = named(name).filter(|_| is_number)?;
        Some((entry, Some(number)))
    };
    let first = named(key).map(|entry| (entry, None));
    first.or_else(again).ok_or_else(|| {
        if let Some(reason) = not_here(Sort::Pass, key) {
            return reason;
        }
        let names = PASSES.iter().flat_map(|entry| {
            let names = [entry.name].into_iter();
            names.chain(entry.aliases.iter().copied())
        });
        let close = did_you_mean(key, names);
        let hint = if close.is_empty() {
            "; `ch list passes` names all".to_owned()
        } else {
            close
        };
        format!("unknown pass '{key}'{hint}")
    })
}
