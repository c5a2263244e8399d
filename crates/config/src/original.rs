//! Things that the original has and this program does not: one table, so that nobody looks for a typing error.

use crate::plain_name;

/// The sort of a named thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A table of `[passes]`.
    Pass,
    /// A search space.
    SearchSpace,
    /// A strategy of `[search.strategy]`.
    Strategy,
    /// A runner of `[search.strategy]`.
    Runner,
    /// A metric of `[search.strategy.metrics]`.
    Metric,
    /// A model.
    Model,
    /// A dataset.
    Dataset,
    /// A task.
    Task,
    /// A number format.
    Format,
}

impl Sort {
    fn noun(self) -> &'static str {
        match self {
            Self::Pass => "a pass",
            Self::SearchSpace => "a search space",
            Self::Strategy => "a search strategy",
            Self::Runner => "a runner",
            Self::Metric => "a metric",
            Self::Model => "a model",
            Self::Dataset => "a dataset",
            Self::Task => "a task",
            Self::Format => "a number format",
        }
    }
}

/// A thing of the original that is not here.
#[derive(Clone, Copy, Debug)]
pub struct Missing {
    /// Its sort.
    pub sort: Sort,
    /// Its name in plain letters; `*` at an end stands for any letters.
    pub name: &'static str,
    /// The reason, and what to do instead.
    pub reason: &'static str,
}

const TENSORRT: &str =
    "it needs an NVIDIA GPU with TensorRT; use quantize and calibrate for 8-bit integers";
const ONNX: &str = "there is no ONNX Runtime here; use quantize and calibrate";
const HARDWARE: &str = "no hardware is generated from a graph";
const LOOKUP: &str = "layers of lookup tables are not trained; use a format of `ch list formats`";
const ZERO_COST: &str = "zero-cost proxies are not computed; search for accuracy and bits";
const REINFORCEMENT: &str = "there is no reinforcement learning; use name = \"optuna\" with a sampler of `ch list samplers`";
const LANGUAGE: &str = "large language models are not in the zoo; `ch list models` names all";
const DETECTION: &str = "networks here classify; use task = \"classification\"";
const ZOO: &str =
    "it is not in the zoo of `ch list models`; write it as a network of your own in a .mg file";
const TEXT_DATA: &str = "`ch data list` names the datasets that are here";

const fn missing(sort: Sort, name: &'static str, reason: &'static str) -> Missing {
    Missing { sort, name, reason }
}

/// The table.
#[rustfmt::skip]
pub static MISSING: &[Missing] = &[
    // passes
    missing(Sort::Pass, "tensorrt*", TENSORRT),
    missing(Sort::Pass, "sparsityfp16", TENSORRT),
    missing(Sort::Pass, "sparsityint8", TENSORRT),
    missing(Sort::Pass, "onnx*", ONNX),
    missing(Sort::Pass, "emit*", HARDWARE),
    missing(Sort::Pass, "huffman", "weights are not entropy-coded; calculate_avg_bits counts their bits"),
    missing(Sort::Pass, "retrain", "a pass does not train; save the graph and use `ch train --load`"),
    missing(Sort::Pass, "train", "a pass does not train; use `ch train`"),
    missing(Sort::Pass, "lutnet*", LOOKUP),
    missing(Sort::Pass, "logicnets*", LOOKUP),
    missing(Sort::Pass, "ann2snn*", "there are no spiking networks here"),
    missing(Sort::Pass, "autosharding*", "a network runs on one machine"),
    missing(Sort::Pass, "resharding*", "a network runs on one machine"),
    missing(Sort::Pass, "partitiontomultidevice*", "a network runs on one machine"),
    missing(Sort::Pass, "raisegranularity*", "the graph has operators, not modules"),
    // search spaces
    missing(Sort::SearchSpace, "*zerocost*", ZERO_COST),
    missing(Sort::SearchSpace, "*nas*", "architectures are not searched, formats are"),
    missing(Sort::SearchSpace, "*tensorrt*", TENSORRT),
    missing(Sort::SearchSpace, "*prune*", "sparsities are not searched, formats are"),
    missing(Sort::SearchSpace, "*ann2snn*", "there are no spiking networks here"),
    missing(Sort::SearchSpace, "*hardware*", HARDWARE),
    missing(Sort::SearchSpace, "*systolic*", HARDWARE),
    missing(Sort::SearchSpace, "module/*", "networks are graphs; use graph/quantize/mixed_precision"),
    missing(Sort::SearchSpace, "graph/*", "formats are searched, by graph/quantize/mixed_precision"),
    // strategies
    missing(Sort::Strategy, "rl*", REINFORCEMENT),
    missing(Sort::Strategy, "naslib*", ZERO_COST),
    missing(Sort::Strategy, "zerocost*", ZERO_COST),
    missing(Sort::Strategy, "proxy", ZERO_COST),
    missing(Sort::Strategy, "ea", "use name = \"nsgaii\", which is an evolutionary sampler"),
    // runners
    missing(Sort::Runner, "zerocost", ZERO_COST),
    missing(Sort::Runner, "hwdummy", "it measures nothing"),
    missing(Sort::Runner, "basiccomputations", "name bitops or flops under metrics, they are always counted"),
    missing(Sort::Runner, "basicsparsity", "sparsity is not an objective"),
    missing(Sort::Runner, "latency", "the time of a trial is not an objective"),
    missing(Sort::Runner, "runtimeanalysis*", "the time of a trial is not an objective"),
    // metrics
    missing(Sort::Metric, "*latency*", "the time of a trial is not an objective"),
    missing(Sort::Metric, "*energy*", "energy is not measured"),
    missing(Sort::Metric, "*power*", "energy is not measured"),
    missing(Sort::Metric, "*sparsity*", "sparsity is not an objective"),
    missing(Sort::Metric, "perplexity", "language models are not searched; use loss"),
    missing(Sort::Metric, "epenas", ZERO_COST),
    missing(Sort::Metric, "fisher", ZERO_COST),
    missing(Sort::Metric, "gradnorm", ZERO_COST),
    missing(Sort::Metric, "grasp", ZERO_COST),
    missing(Sort::Metric, "jacobcov", ZERO_COST),
    missing(Sort::Metric, "l2norm", ZERO_COST),
    missing(Sort::Metric, "naswot*", ZERO_COST),
    missing(Sort::Metric, "nwot", ZERO_COST),
    missing(Sort::Metric, "plain", ZERO_COST),
    missing(Sort::Metric, "snip", ZERO_COST),
    missing(Sort::Metric, "synflow", ZERO_COST),
    missing(Sort::Metric, "zen", ZERO_COST),
    missing(Sort::Metric, "zerocost*", ZERO_COST),
    // models
    missing(Sort::Model, "jsccustom*", "its class was the user's; write it as a network of your own in a .mg file"),
    missing(Sort::Model, "*/*", LANGUAGE),
    missing(Sort::Model, "opt*", LANGUAGE),
    missing(Sort::Model, "llama*", LANGUAGE),
    missing(Sort::Model, "mistral*", LANGUAGE),
    missing(Sort::Model, "gpt*", LANGUAGE),
    missing(Sort::Model, "bert*", LANGUAGE),
    missing(Sort::Model, "roberta*", LANGUAGE),
    missing(Sort::Model, "t5*", LANGUAGE),
    missing(Sort::Model, "yolo*", DETECTION),
    missing(Sort::Model, "nerf*", DETECTION),
    missing(Sort::Model, "deit*", ZOO),
    missing(Sort::Model, "vit*", ZOO),
    missing(Sort::Model, "pvt*", ZOO),
    missing(Sort::Model, "swin*", ZOO),
    missing(Sort::Model, "cswin*", ZOO),
    missing(Sort::Model, "resnet*", ZOO),
    missing(Sort::Model, "wideresnet*", ZOO),
    missing(Sort::Model, "mobilenet*", ZOO),
    missing(Sort::Model, "efficientnet*", ZOO),
    missing(Sort::Model, "repvgg*", ZOO),
    missing(Sort::Model, "vgg*", ZOO),
    missing(Sort::Model, "cnv*", ZOO),
    // datasets
    missing(Sort::Dataset, "wikitext*", TEXT_DATA),
    missing(Sort::Dataset, "wikipedia*", TEXT_DATA),
    missing(Sort::Dataset, "imdb*", TEXT_DATA),
    missing(Sort::Dataset, "sst2", TEXT_DATA),
    missing(Sort::Dataset, "mnli", TEXT_DATA),
    missing(Sort::Dataset, "qnli", TEXT_DATA),
    missing(Sort::Dataset, "coco*", DETECTION),
    missing(Sort::Dataset, "imagenet*", "it cannot be fetched; `ch data list` names the datasets that are here"),
    // tasks
    missing(Sort::Task, "lm", "networks here classify; use task = \"classification\""),
    missing(Sort::Task, "languagemodeling", "networks here classify; use task = \"classification\""),
    missing(Sort::Task, "translation", "networks here classify; use task = \"classification\""),
    missing(Sort::Task, "detection", DETECTION),
    missing(Sort::Task, "instancesegmentation", DETECTION),
    missing(Sort::Task, "nerf", DETECTION),
    // formats
    missing(Sort::Format, "binaryresidual", "use binary or ternary"),
    missing(Sort::Format, "lutnet", LOOKUP),
    missing(Sort::Format, "logicnets", LOOKUP),
];

/// `tensorrt is a pass of the original that is not here: …` for a name of the table.
pub fn not_here(sort: Sort, name: &str) -> Option<String> {
    let plain = plain_name(name);
    let found = MISSING
        .iter()
        .find(|entry| entry.sort == sort && is_match(entry.name, &plain))?;
    let (noun, reason) = (sort.noun(), found.reason);
    Some(format!(
        "{name} is {noun} of the original that is not here: {reason}"
    ))
}

fn is_match(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_found_by_its_own_name() {
        for entry in MISSING {
            let plain = plain_name(entry.name);
            assert_eq!(plain, entry.name, "a name has plain letters");
            let message = not_here(entry.sort, &entry.name.replace('*', "")).unwrap_or_default();
            assert!(message.contains("of the original"), "{}", entry.name);
            assert!(!message.ends_with('.'), "{message}");
        }
        assert_eq!(not_here(Sort::Pass, "quantize"), None);
    }

    #[test]
    fn spellings_make_no_difference() {
        let found = not_here(Sort::Pass, "tensorrt-Analysis").unwrap_or_default();
        assert!(
            found.starts_with("tensorrt-Analysis is a pass of the original that is not here: "),
            "{found}"
        );
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        for (pattern, matching, other) in [
            ("lm", "lm", "lms"),
            ("vgg*", "vggish", "myvgg"),
            ("*net", "lutnet", "nets"),
            ("*on*", "wikitonic", "wiki"),
        ] {
            assert!(is_match(pattern, matching), "{pattern}: {matching}");
            assert!(!is_match(pattern, other), "{pattern}: {other}");
        }
    }
}
