//! Every setting of a run, in one table: its key in a file, its option on the command line, its default, what it takes.

use std::num::IntErrorKind;

/// What a setting accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Any text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number, at least the first, at most the second.
    Whole(i64, i64),
    /// A finite number of at least zero.
    Number,
    /// `true` or `false`; an option without a value.
    Switch,
}

/// What a setting is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Model, dataset, weights.
    Run,
    /// How to train.
    Training,
    /// Where files are written.
    Output,
    /// Threads and machines.
    Machine,
    /// How much is said and logged.
    Logging,
}

impl Group {
    /// The heading of its part of the help.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Run => "What to run",
            Self::Training => "Training",
            Self::Output => "Output",
            Self::Machine => "Machine",
            Self::Logging => "What is said",
        }
    }
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The key in a TOML file.
    pub key: &'static str,
    /// The option, without the dashes; empty for what is given by position.
    pub option: &'static str,
    /// Another spelling of the option.
    pub alias: &'static str,
    /// What it accepts.
    pub kind: Kind,
    /// The part of the help it stands in.
    pub group: Group,
    /// The value when nobody gives one; empty for none.
    pub default: &'static str,
    /// One line of help.
    pub about: &'static str,
}

const fn setting(
    key: &'static str,
    option: &'static str,
    kind: Kind,
    group: Group,
    default: &'static str,
    about: &'static str,
) -> Setting {
    Setting {
        key,
        option,
        alias: "",
        kind,
        group,
        default,
        about,
    }
}

const fn with_alias(setting: Setting, alias: &'static str) -> Setting {
    Setting { alias, ..setting }
}

use Group::{Logging, Machine, Output, Run, Training};

const COUNT: Kind = Kind::Whole(1, i64::MAX);
const ANY: Kind = Kind::Whole(0, i64::MAX);

/// The table, in the order it is printed.
#[rustfmt::skip]
pub const SETTINGS: &[Setting] = &[
    // what to run
    setting("model", "", Kind::Text, Run, "", "a model of `ch list models`, or a file in the text form (.mg)"),
    setting("dataset", "", Kind::Text, Run, "", "a dataset of `ch data list`, or FILE:LABEL for a CSV, NPZ or Parquet file"),
    setting("data_dir", "data-dir", Kind::Text, Run, "", "folder with datasets; $MASE_DATA if not given"),
    setting("val_split", "val-split", Kind::Choice(&["held-out", "train"]), Run, "held-out", "validate on held-out rows, or on the training rows as the original does"),
    setting("task", "task", Kind::Choice(&["classification", "cls"]), Run, "classification", "what the network learns"),
    with_alias(setting("load_name", "load", Kind::Text, Run, "", "checkpoint to start from: .ckpt, .pt, .safetensors or .mz"), "load-name"),
    setting("load_type", "load-type", Kind::Choice(&["auto", "pt", "pl", "mz", "safetensors"]), Run, "auto", "kind of the checkpoint; auto looks at its content"),
    setting("seed", "seed", ANY, Run, "0", "seed of every random choice"),
    // training
    setting("batch_size", "batch-size", COUNT, Training, "128", "rows in a batch"),
    setting("max_epochs", "max-epochs", COUNT, Training, "20", "passes over the training rows"),
    setting("max_steps", "max-steps", Kind::Whole(-1, i64::MAX), Training, "-1", "stop after this many updates; -1 for no limit"),
    setting("training_optimizer", "training-optimizer", Kind::Choice(&["adam", "adamw", "sgd"]), Training, "adam", "optimiser"),
    setting("learning_rate", "learning-rate", Kind::Number, Training, "1e-5", "learning rate at the start"),
    setting("weight_decay", "weight-decay", Kind::Number, Training, "0", "weight decay"),
    setting("t_max", "t-max", COUNT, Training, "", "epochs of the cosine schedule; all epochs if not given"),
    setting("eta_min", "eta-min", Kind::Number, Training, "1e-6", "learning rate at the end of the cosine schedule"),
    setting("accumulate_grad_batches", "accumulate-grad-batches", COUNT, Training, "1", "batches whose gradients make one update"),
    setting("trainer_precision", "trainer-precision", Kind::Choice(&["32", "16-mixed", "bf16-mixed", "32-true"]), Training, "32", "accepted for old files; training is done in 32 bits"),
    setting("no_shuffle", "no-shuffle", Kind::Switch, Training, "false", "take the training rows in their order"),
    setting("log_every_n_steps", "log-every-n-steps", COUNT, Training, "50", "updates between two lines of the log"),
    setting("report_to", "report-to", Kind::Choice(&["tensorboard", "none"]), Training, "tensorboard", "log for TensorBoard, or not"),
    // output
    setting("resume", "resume", Kind::Text, Output, "", "go on with the latest run of this name, or with the run in this folder"),
    setting("project_dir", "project-dir", Kind::Text, Output, "./mase_output", "folder for all output"),
    setting("project", "project", Kind::Text, Output, "", "name of this run's folder; made from model, task, dataset and date if not given"),
    // machine
    with_alias(setting("num_workers", "cpu", ANY, Machine, "1", "threads; 0 for all cores. Results do not depend on it"), "num-workers"),
    setting("accelerator", "accelerator", Kind::Choice(&["auto", "cpu", "gpu"]), Machine, "auto", "the machine to run on; gpu is not there yet"),
    setting("gpu", "gpu", ANY, Machine, "0", "GPUs to use; none are supported yet"),
    // what is said
    setting("log_level", "log-level", Kind::Choice(&["debug", "info", "warning", "error", "critical"]), Logging, "info", "debug also names every file that is written, warning leaves notes, error only errors"),
    setting("debug", "debug", Kind::Switch, Logging, "false", "the same as --log-level debug"),
];

/// Keys that files written for the original may have and that change nothing here; each is named in a note.
pub const WITHOUT_EFFECT: &[&str] = &[
    "to_debug",
    "num_devices",
    "num_nodes",
    "strategy",
    "is_to_auto_requeue",
    "github_ci",
    "disable_dataset_cache",
    "target",
    "num_targets",
    "is_pretrained",
    "max_token_len",
    "profile",
    "no_warnings",
];

/// Tables that other actions read.
pub const SECTIONS: &[&str] = &["passes", "search"];

/// The setting with this key.
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

impl Kind {
    /// What is wrong with `value`, if anything.
    pub fn problem(self, value: &str) -> Option<String> {
        match self {
            Self::Text if value.is_empty() => Some("the value is empty".to_owned()),
            Self::Text => None,
            Self::Choice(words) if words.contains(&value) => None,
            Self::Choice(words) => Some(format!(
                "'{value}' is not one of {}{}",
                words.join(", "),
                config::did_you_mean(value, words.iter().copied())
            )),
            Self::Whole(least, most) => match value.parse::<i64>() {
                Ok(number) if (least..=most).contains(&number) => None,
                Ok(number) if number < least => Some(format!("{value} is below {least}")),
                Ok(_) => Some(format!("{value} is above {most}")),
                Err(error) if *error.kind() == IntErrorKind::PosOverflow => {
                    Some(format!("{value} is above {most}"))
                }
                Err(_) => Some(format!("'{value}' is not a whole number")),
            },
            Self::Number => match value.parse::<f64>() {
                Ok(number) if number.is_finite() && number >= 0.0 => None,
                Ok(_) => Some(format!("{value} is not a finite number of at least 0")),
                Err(_) => Some(format!("'{value}' is not a number")),
            },
            Self::Switch => (!["true", "false"].contains(&value))
                .then(|| format!("'{value}' is not true or false")),
        }
    }
}
