//! Every setting of a run, in one table. A line makes the field of [`Settings`], the key of the file, the argument of the
//! command line, the row of the table that a run prints, the entry of `run.json` and the text of `ch explain`.

use super::setting::Group::{Logging, Machine, Output, Run, Training};
use super::setting::{Setting, option, position, switch};
use super::value::{
    Accelerator, BatchAxis, Epochs, FolderName, LearnScales, Limit, LoadType, LogLevel, Optimizer,
    Precision, ReportTo, Resume, ScalesPer, Standardize, Task, TrainNorms, ValSplit, Value,
};
use serde_json::Value as Json;
use std::num::NonZero;
use std::path::PathBuf;
use train::Augment;

/// A value with the text that it was read from.
#[derive(Clone, Debug)]
pub struct Given<T> {
    /// The text in the file or on the command line.
    pub text: String,
    /// The value.
    pub value: T,
}

impl<T: Value> Given<T> {
    fn parse(text: &str) -> Result<Self, String> {
        let value = T::parse(text)?;
        let text = text.to_owned();
        Ok(Self { text, value })
    }
}

/// The sources of settings; the command line wins over the file.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// The settings of the file.
    pub file: Layer,
    /// The settings that were typed.
    pub command_line: Layer,
}

impl Layers {
    /// The value that wins, if one is given.
    pub fn get<T: Clone>(&self, field: impl Fn(&Layer) -> &Option<Given<T>>) -> Option<T> {
        let given = field(&self.command_line).as_ref();
        let given = given.or_else(|| field(&self.file).as_ref());
        given.map(|given| given.value.clone())
    }
}

/// Makes the types and the table of settings: `key: Type = "default", argument, Group, "about";`, without a default an
/// optional field.
macro_rules! settings {
    ($($key:ident: $type:ty $(= $default:literal)?, $argument:expr, $group:ident, $about:literal;)*) => {
        /// The effective settings of a run.
        #[derive(Clone, Debug)]
        pub struct Settings {
            $(#[doc = concat!("The setting `", stringify!($key), "`.")] pub $key: settings!(@type $type $(, $default)?),)*
            /// The sources of the values.
            pub(super) layers: Layers,
        }

        /// The settings that one source gives.
        #[derive(Clone, Debug, Default)]
        pub struct Layer {
            $(pub $key: Option<Given<$type>>,)*
        }

        /// The table, in the order it is printed.
        pub static SETTINGS: &[Setting] = &[$(Setting {
            key: stringify!($key),
            argument: $argument,
            accepts: <$type as Value>::ACCEPTS,
            group: $group,
            default: settings!(@default $($default)?),
            about: $about,
            set: |layer, text| {
                layer.$key = Some(Given::parse(text)?);
                Ok(())
            },
            text: |layer| layer.$key.as_ref().map(|given| given.text.as_str()),
            json: |settings| settings!(@json settings.$key $(, $default)?),
        }),*];

        impl From<Layers> for Settings {
            fn from(layers: Layers) -> Self {
                Self {
                    $($key: settings!(@value layers.get(|layer| &layer.$key) $(, $default)?),)*
                    layers,
                }
            }
        }
    };
    (@type $type:ty) => { Option<$type> };
    (@type $type:ty, $default:literal) => { $type };
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
    (@json $field:expr) => { $field.as_ref().map_or(Json::Null, Value::to_json) };
    (@json $field:expr, $default:literal) => { $field.to_json() };
    (@value $given:expr) => { $given };
    (@value $given:expr, $default:literal) => {
        $given.unwrap_or_else(|| Value::parse($default).expect("a default is a value of its setting"))
    };
}

settings! {
    // what to run
    model: String, position("MODEL").swept(), Run, "a model of `ch list models`, or a file (.mg, .mz, .onnx, .pt2)";
    batch_axis: BatchAxis = "none", option("batch-axis", "AXIS"), Run, "the axis of the inputs of an .onnx or .pt2 network that is the batch though the file gives it a size: 0, or none";
    dataset: String, position("DATASET"), Run, "a dataset of `ch data list`, or FILE:LABEL for a CSV, TSV, NPZ or Parquet file";
    data_dir: PathBuf, option("data-dir", "FOLDER"), Run, "folder with datasets; $MASE_DATA if not given";
    offline: bool = "false", switch("offline"), Run, "fetch nothing; a dataset whose files are not there is an error. $MASE_OFFLINE=1 does the same";
    val_split: ValSplit = "held-out", option("val-split", "WORD"), Run, "validate on held-out rows, or on the training rows as the original does";
    standardize: Standardize = "auto", option("standardize", "WORD"), Run, "standardise a table by its training part, or not; auto does as the checkpoint did, and by the training part to train";
    task: Task = "classification", option("task", "WORD"), Run, "what the network learns";
    load_name: PathBuf, option("load", "FILE").alias("load-name").swept(), Run, "checkpoint to start from: .ckpt, .pt, .safetensors or .mz, or the folder of a run for its best one";
    load_type: LoadType = "auto", option("load-type", "WORD"), Run, "kind of the checkpoint; auto looks at its content";
    strict: bool = "false", switch("strict"), Run, "refuse a checkpoint with tensors that the network does not have";
    seed: u64 = "0", option("seed", "N").swept(), Run, "seed of every random choice";
    // training
    batch_size: NonZero<usize> = "128", option("batch-size", "N").swept(), Training, "rows in a batch";
    max_epochs: Epochs = "20", option("max-epochs", "N").swept(), Training, "passes over the training rows; -1 for no limit but max_steps";
    max_steps: Limit = "-1", option("max-steps", "N").swept(), Training, "stop after this many updates; -1 for no limit";
    training_optimizer: Optimizer = "adam", option("training-optimizer", "WORD").swept(), Training, "optimiser";
    learning_rate: f64 = "1e-5", option("learning-rate", "X").swept(), Training, "learning rate at the start";
    weight_decay: f64 = "0", option("weight-decay", "X").swept(), Training, "weight decay";
    t_max: NonZero<u64>, option("t-max", "N").swept(), Training, "epochs of the cosine schedule; all epochs if not given";
    eta_min: f64 = "1e-6", option("eta-min", "X").swept(), Training, "learning rate at the end of the cosine schedule";
    accumulate_grad_batches: NonZero<usize> = "1", option("accumulate-grad-batches", "N").swept(), Training, "batches whose gradients make one update";
    learn_scales: LearnScales = "none", option("learn-scales", "WORD").swept(), Training, "learn the scales of formats too: power-of-two keeps integer formats, real makes them affine";
    train_base: bool = "false", switch("train-base").swept(), Training, "train all weights of a network with low-rank adapters, not the adapters alone";
    scales_per: ScalesPer = "tensor", option("scales-per", "WORD").swept(), Training, "a learned scale for a whole weight, or for each output channel of it";
    train_norms: TrainNorms = "folded", option("train-norms", "WORD").swept(), Training, "normalise layers with rounded weights by the batch while they train: those whose batch norm was folded, all, or none";
    augment: Augment = "none", option("augment", "LIST").swept(), Training, "change images anew in every epoch: crop(N) moves them by up to N pixels, flip mirrors half of them, crop-flip is crop(4)+flip";
    trainer_precision: Precision = "32", option("trainer-precision", "WORD"), Training, "accepted for old files; training is done in 32 bits";
    no_shuffle: bool = "false", switch("no-shuffle").swept(), Training, "take the training rows in their order";
    log_every_n_steps: NonZero<u64> = "50", option("log-every-n-steps", "N").swept(), Training, "updates between two lines of the log";
    save_every_n_steps: NonZero<u64>, option("save-every-n-steps", "N"), Training, "updates between two checkpoints; there is one every 10 seconds in any case";
    report_to: ReportTo = "tensorboard", option("report-to", "WORD").swept(), Training, "log for TensorBoard, or not";
    profile: bool = "false", switch("profile"), Training, "measure the time of every node while training; prints a table and writes profile.json for trace viewers";
    // output
    resume: Resume, option("resume", "FOLDER").when_alone(Resume::LATEST), Output, "go on with the latest run of this name, or with the run in this folder";
    project_dir: PathBuf = "./mase_output", option("project-dir", "FOLDER"), Output, "folder for all output";
    project: FolderName, option("project", "NAME"), Output, "name of this run's folder; made from model, task, dataset and date if not given";
    // machine
    num_workers: usize = "1", option("cpu", "N").alias("num-workers").swept(), Machine, "threads; 0 for all cores. Results do not depend on it";
    accelerator: Accelerator = "auto", option("accelerator", "WORD"), Machine, "the machine to run on; only the CPU is there, whatever a file names";
    gpu: u64 = "0", option("gpu", "N"), Machine, "GPUs to use; there are none, whatever a file says";
    // what is printed
    log_level: LogLevel = "info", option("log-level", "WORD"), Logging, "debug also names every file that is written, warning leaves notes, error only errors";
    debug: bool = "false", switch("debug"), Logging, "the same as --log-level debug";
}
