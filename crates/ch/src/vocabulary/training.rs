//! The metrics of training, and the files of a run.

/// Every metric.
pub static METRICS: &[(&str, &str)] = &[
    (
        "train_loss_step",
        "cross-entropy of one training batch, before its update; logged every --log-every-n-steps updates",
    ),
    (
        "train_acc_step",
        "share of the rows of one training batch that are right, before its update",
    ),
    (
        "train_loss",
        "mean cross-entropy over the batches of an epoch, as they were learned",
    ),
    (
        "train_acc",
        "share of the training rows that are right, as they were learned",
    ),
    (
        "val_loss_epoch",
        "mean cross-entropy on the validation rows after an epoch; the lowest one decides what best.ckpt is",
    ),
    (
        "val_acc_epoch",
        "share of the validation rows that are right after an epoch",
    ),
    ("test_loss_epoch", "mean cross-entropy on the test rows"),
    ("test_acc_epoch", "share of the test rows that are right"),
    ("lr", "learning rate of an epoch, from the cosine schedule"),
];

/// Every file of a run's folder.
pub static FILES: &[(&str, &str)] = &[
    (
        "best.ckpt",
        "training_ckpts/best.ckpt: the weights with the lowest val_loss_epoch, in a file that PyTorch opens",
    ),
    (
        "last.ckpt",
        "training_ckpts/last.ckpt: weights, optimiser and place of the last save; --resume goes on from it",
    ),
    (
        "metrics.csv",
        "a line for every logged step and every epoch: epoch, step, learning rate, losses and accuracies",
    ),
    (
        "curves.svg",
        "loss on training and validation rows over the epochs, the best one marked; accuracy.svg is the same for accuracy",
    ),
    (
        "run.json",
        "the settings, version, seed, times, result, and hashes of data and weights of a run",
    ),
    (
        "profile.json",
        "the time of every node in training (--profile), and the events of some batches for Perfetto or chrome://tracing",
    ),
    (
        "tensorboard",
        "tensorboard/version_0: the same metrics as event files, for `tensorboard --logdir`",
    ),
    (
        "best.mz",
        "training_ckpts/best.mz: the best weights with their graph, when it has formats or masks of its own",
    ),
    (
        "graph.mz",
        "transform/transformed_ckpt/graph.mz: the graph after all passes, with weights, formats, masks and statistics",
    ),
    (
        "quantize_table.csv",
        "transform/quantize: every node before and after quantising, and why it is as it is",
    ),
    (
        "quantize_histogram.csv",
        "transform/quantize: how many nodes of every type were changed",
    ),
    (
        "study.journal",
        "search_ckpts/study.journal: every trial of a search as it happened; Optuna opens it, --resume goes on from it",
    ),
    (
        "log.json",
        "search_ckpts/log.json: a row for every trial of a search; trials.csv has the same in columns",
    ),
    (
        "best.json",
        "search_ckpts/best.json: the best trial, or the front; best/ has each as TOML and as a graph",
    ),
    (
        "front.svg",
        "search_ckpts/front.svg: the trials and their front as a chart",
    ),
    (
        "report.html",
        "search_ckpts/report.html: a page with the front, the history, the importances and the best network, for any browser, offline",
    ),
    (
        "sweep.csv",
        "the table of a sweep for spreadsheets; sweep.md is the same in Markdown",
    ),
    (
        "sweep.svg",
        "the chart of a sweep: validation loss over the first setting that was varied",
    ),
];
