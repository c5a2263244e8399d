//! The original's `.mz`: a pickle of the metadata of every node, which no weights are in. They stand in the `.pt` file of
//! the same name, a state dict, that `MaseGraph.export` writes with it.

use crate::error::Problem;
use crate::torch;
use std::path::Path;

/// Keys of a node's metadata, as they stand in a pickle.
const KEYS: [&[u8]; 2] = [b"common", b"mase_op"];

/// True for a bare pickle with the keys of metadata.
pub fn is_metadata(bytes: &[u8]) -> bool {
    let has = |key: &&[u8]| bytes.windows(key.len()).any(|window| window == *key);
    torch::starts_like_pickle(bytes) && KEYS.iter().all(has)
}

/// The problem of such a file whose name is not known.
pub fn problem() -> Problem {
    Problem::Metadata {
        weights: "the .pt file of the same name, which has them".to_owned(),
    }
}

/// The problem with the file to load instead. A pickle that is called `.mz` and is no checkpoint is metadata too: that of a
/// graph without nodes, or of another year's version.
pub fn name_weights(problem: Problem, path: &Path, bytes: &[u8]) -> Problem {
    let is_mz = path.extension().is_some_and(|extension| extension == "mz");
    let is_unread = matches!(problem, Problem::NoTensors(_) | Problem::Pickle { .. });
    let is_pickle = is_mz && is_unread && torch::starts_like_pickle(bytes);
    if !is_pickle && !matches!(problem, Problem::Metadata { .. }) {
        return problem;
    }
    let beside = path.with_extension("pt");
    let shown = beside.display();
    let weights = if beside.is_file() {
        format!("{shown}, which has them")
    } else {
        format!("{shown}, which has them and is not there")
    };
    Problem::Metadata { weights }
}
