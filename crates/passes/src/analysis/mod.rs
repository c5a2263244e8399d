//! Passes that look and change nothing but statistics.

pub mod summary;

mod add_natural_sparsity;
mod add_pruning_metadata;
mod calculate_avg_bits;
mod check_quantization;
mod count_bitops;
mod count_flops;
mod init_metadata;
mod profile_statistics;
mod report_graph;
mod report_node_meta_param;
mod report_node_shape;
mod report_node_type;
mod runtime_analysis;
mod summarize_quantization;
mod verify;

pub use add_natural_sparsity::{AddNaturalSparsity, NATURAL_SPARSITY};
pub use add_pruning_metadata::AddPruningMetadata;
pub use calculate_avg_bits::CalculateAvgBits;
pub use check_quantization::CheckQuantization;
pub use count_bitops::CountBitops;
pub use count_flops::CountFlops;
pub use init_metadata::InitMetadata;
pub use profile_statistics::ProfileStatistics;
pub use report_graph::ReportGraph;
pub use report_node_meta_param::ReportNodeMetaParam;
pub use report_node_shape::ReportNodeShape;
pub use report_node_type::ReportNodeType;
pub use runtime_analysis::RuntimeAnalysis;
pub use summarize_quantization::SummarizeQuantization;
pub use verify::Verify;
