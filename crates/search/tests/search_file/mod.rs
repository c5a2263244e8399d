//! `[search]` of a file: the settings that it gives, what is noted and what is refused.

use crate::fixtures::{read, strategy};
use config::{MISSING, Sort, not_here};
use data::SplitName;
use search::{Budget, Goal, Objective, Side};
use std::time::Duration;
use study::Direction;

#[test]
fn trials_are_scored_on_validation_rows_unless_told_otherwise() {
    for more in [
        "",
        "[strategy.sw_runner]\n",
        "[strategy.sw_runner.basic_evaluation]\n",
    ] {
        let config = read(&strategy("accuracy = {}", more)).unwrap();
        assert_eq!(config.split, SplitName::Val);
    }
}

#[test]
fn keys_that_contradict_each_other_are_noted() {
    let cases = [
        (
            "[strategy.setup]\nsampler = \"tpe\"\n",
            "'sampler' in [search.strategy.setup] has no effect: [search.strategy] says name = \"random\", not tpe",
        ),
        (
            "[strategy.setup]\ndirection = \"minimize\"\n",
            "'direction' in [search.strategy.setup] has no effect: it is that of a sum",
        ),
        (
            "eval_mode = true\n[strategy.sw_runner.basic_train]\nmax_steps = 3\n",
            "[search.strategy.sw_runner.basic_train] has no effect: trials are not trained",
        ),
        (
            "[strategy.sw_runner.basic_train]\nmax_steps = 3\n",
            "[search.strategy.sw_runner.basic_train] has no effect: trials are not trained",
        ),
    ];
    for (more, expected) in cases {
        let notes = read(&strategy("accuracy = {}", more)).unwrap().notes;
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].contains(expected), "{notes:?}");
    }
    let same = "[strategy.setup]\nsampler = \"random\"\nsum_scaled_metrics = true\ndirection = \"minimize\"\n";
    let notes = read(&strategy("accuracy = {}", same)).unwrap().notes;
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn what_is_missing_is_shown_where_the_table_begins() {
    let problems = read("[strategy.metrics]\naccuracy.scale = 1.0\n").unwrap_err();
    assert_eq!(
        problems,
        ["strategy: [search.search_space] is missing; say what may be chosen"]
    );
}

#[test]
fn optuna_is_suggested() {
    let text = strategy("accuracy = {}", "").replace("\"random\"", "\"optunaa\"");
    let problems = read(&text).unwrap_err();
    assert!(problems[0].contains("not one of optuna, "), "{problems:?}");
    assert!(
        problems[0].ends_with("did you mean 'optuna'?"),
        "{problems:?}"
    );
}

/// A name of the original gets the reason why it is not here and nothing else, whatever stands beside it.
#[test]
fn names_of_the_original_are_refused_with_their_reason() {
    for missing in MISSING {
        let name = missing.name.replace('*', "x");
        let reason = not_here(missing.sort, &name).unwrap();
        let metrics = "[strategy.metrics]\naccuracy = {}\n";
        let (text, expected) = match missing.sort {
            Sort::SearchSpace => (
                format!("[search_space]\nname = \"{name}\"\nmystery = 1\n[strategy]\n{metrics}"),
                format!("\"{name}\": name: {reason}"),
            ),
            Sort::Strategy => (
                strategy("", "mystery = 1\n").replace("\"random\"", &format!("\"{name}\"")),
                format!("\"{name}\": name: {reason}"),
            ),
            Sort::Metric => (
                strategy(&format!("accuracy = {{}}\n{name} = {{}}"), ""),
                format!("{name}: {reason}"),
            ),
            Sort::Runner => {
                for key in ["sw_runner", "hw_runner"] {
                    let named = [
                        format!("{key} = \"{name}\"\n"),
                        format!("{key}.{name} = {{}}\n"),
                    ];
                    for more in named {
                        let notes = read(&strategy("accuracy = {}", &more)).unwrap().notes;
                        assert_eq!(notes, [format!("{reason}; it has no effect")], "{more}");
                    }
                }
                continue;
            }
            _ => continue,
        };
        assert_eq!(read(&text).unwrap_err(), [expected], "{text}");
    }
}

#[test]
fn settings_are_those_of_the_file() {
    let more = "eval_mode = false\n[strategy.sw_runner.basic_evaluation]\ndata_loader = \"test_dataloader\"\n\
                num_samples = 300\n[strategy.sw_runner.basic_train]\nmax_steps = 7\n\
                [strategy.hw_runner.average_bitwidth]\ncompare_to = 16\n\
                [strategy.setup]\nn_trials = 33\nn_jobs = 3\ntimeout = 2.5\nsum_scaled_metrics = true\nearly_stop = true\n\
                [strategy.budget]\nmax_average_bitwidth = 4\nmin_accuracy = 0.5\n";
    let metrics = "accuracy = { scale = 2.0 }\nloss.direction = \"maximize\"\nbitops.scale = 0.0";
    let config = read(&strategy(metrics, more)).unwrap();
    assert_eq!(config.sampler.name, "random");
    assert_eq!((config.n_trials, config.n_jobs), (33, Some(3)));
    assert_eq!(config.timeout, Some(Duration::from_millis(2500)));
    assert_eq!(
        (config.split, config.num_samples),
        (SplitName::Test, Some(300))
    );
    assert_eq!((config.compare_to, config.early_stop), (16.0, Some(true)));
    assert_eq!(config.training.unwrap().max_steps, Some(7));
    assert_eq!(config.goals.sum, Some(Direction::Maximize));
    let goal = |objective, scale, direction| Goal {
        objective,
        scale,
        direction,
    };
    assert_eq!(
        config.goals.objectives,
        [
            goal(Objective::Accuracy, 2.0, Direction::Maximize),
            goal(Objective::Loss, 1.0, Direction::Maximize)
        ]
    );
    let budget = |objective, side, limit| Budget {
        objective,
        side,
        limit,
    };
    assert_eq!(
        config.goals.budgets,
        [
            budget(Objective::AverageBitwidth, Side::AtMost, 4.0),
            budget(Objective::Accuracy, Side::AtLeast, 0.5)
        ]
    );
    assert_eq!(config.notes.len(), 1, "{:?}", config.notes);
    assert!(config.notes[0].contains("bitops"), "{:?}", config.notes);
}

#[test]
fn settings_that_are_not_given_have_defaults() {
    for more in [
        "",
        "[strategy.setup]\nn_jobs = -1\n",
        "[strategy.setup]\nn_jobs = 0\n",
    ] {
        let config = read(&strategy("accuracy = {}", more)).unwrap();
        assert_eq!((config.n_trials, config.n_jobs), (20, None));
        assert_eq!((config.timeout, config.num_samples), (None, None));
        assert_eq!((config.compare_to, config.early_stop), (32.0, None));
        assert_eq!((config.training, config.goals.sum), (None, None));
        assert!(config.goals.budgets.is_empty() && config.notes.is_empty());
    }
    // Files of 2023 have the keys of the runner beside its name.
    let old = "sw_runner = \"basic_evaluation\"\nhw_runner = \"average_bitwidth\"\n\
               data_loader = \"train_dataloader\"\nnum_samples = 12\n";
    let config = read(&strategy("accuracy = {}", old)).unwrap();
    assert_eq!(
        (config.split, config.num_samples),
        (SplitName::Train, Some(12))
    );
}

#[test]
fn what_is_no_setting_is_refused_by_name() {
    for (metrics, more, expected) in [
        ("", "", "[search.strategy.metrics] is missing"),
        (
            "accuracy.scale = 0.0",
            "",
            "accuracy: scale is 0, so nothing would be searched for",
        ),
        ("accuracyy = {}", "", "did you mean 'accuracy'?"),
        (
            "accuracy = {}",
            "[strategy.budget]\nbitops = 1\n",
            "a budget is max_METRIC or min_METRIC",
        ),
        (
            "accuracy = {}",
            "[strategy.budget]\nmax_bitops = \"x\"\n",
            "max_bitops: 'x' is not a number",
        ),
        (
            "accuracy = {}",
            "[strategy.budget]\nmax_bitops = inf\n",
            "max_bitops: inf is not a number",
        ),
        (
            "accuracy = {}",
            "sw_runner = \"basic_trainn\"\n",
            "unknown runner 'basic_trainn'; did you mean 'basic_train'?",
        ),
        (
            "accuracy = {}",
            "[strategy.setup]\nsampler = 3\n",
            "sampler: 3 is not a word",
        ),
        (
            "accuracy = {}",
            "[strategy.setup]\nsampler = \"optuna\"\n",
            "sampler: 'optuna' is not one of",
        ),
    ] {
        let problems = read(&strategy(metrics, more)).unwrap_err();
        let [problem] = &problems[..] else {
            panic!("{problems:?}")
        };
        assert!(problem.contains(expected), "{problem}");
    }
}
