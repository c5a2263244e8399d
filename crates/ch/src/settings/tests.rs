//! Laws over the table of settings.

use super::*;

/// Two texts that a setting accepts and that differ from its default.
fn texts(setting: &Setting) -> Vec<String> {
    let all: Vec<String> = match setting.accepts {
        Accepts::Text => ["a", "b"].map(str::to_owned).to_vec(),
        Accepts::Choice(words) => words.iter().map(ToString::to_string).collect(),
        Accepts::Whole(_) | Accepts::Number => ["7", "11"].map(str::to_owned).to_vec(),
        Accepts::Form(_, examples) => examples.iter().map(ToString::to_string).collect(),
        Accepts::Switch => vec!["true".to_owned()],
    };
    let is_other = |text: &String| setting.default != Some(text);
    all.into_iter().filter(is_other).collect()
}

fn settings(setting: &'static Setting, file: Option<&str>, typed: Option<&str>) -> Settings {
    let mut layers = Layers::default();
    for (layer, text) in [(&mut layers.file, file), (&mut layers.command_line, typed)] {
        if let Some(text) = text {
            (setting.set)(layer, text).unwrap();
        }
    }
    layers.into()
}

/// For every setting: default < file < command line, also when the typed value equals the default.
#[test]
fn the_command_line_wins_over_the_file_and_the_file_over_the_default() {
    for setting in SETTINGS {
        let value = |file, typed| (setting.json)(&settings(setting, file, typed));
        let texts = texts(setting);
        let (first, last) = (texts[0].as_str(), texts[texts.len() - 1].as_str());
        let default = value(None, None);
        assert_eq!(default == Json::Null, setting.default.is_none());
        assert_ne!(value(Some(first), None), default, "{}", setting.key);
        assert_eq!(value(Some(first), None), value(None, Some(first)));
        let both = value(Some(first), Some(last));
        assert_eq!(both, value(None, Some(last)), "{}", setting.key);
        if let Some(text) = setting.default {
            assert_eq!(value(Some(first), Some(text)), default, "{}", setting.key);
        }
    }
}

#[test]
fn every_default_is_a_value_its_setting_accepts() {
    for setting in SETTINGS {
        let default = setting.default.unwrap_or("1");
        let set = (setting.set)(&mut Layer::default(), default);
        assert_eq!(set, Ok(()), "{}", setting.key);
    }
}

/// A switch is off unless it is typed, so its help has no default to name.
#[test]
fn the_help_of_an_option_with_a_value_ends_in_its_default() {
    let command = <SettingArgs as clap::Args>::augment_args(clap::Command::new("ch"));
    for setting in SETTINGS {
        let mut arguments = command.get_arguments();
        let argument = arguments.find(|argument| argument.get_id() == setting.key);
        let help = argument.and_then(clap::Arg::get_help).unwrap().to_string();
        match setting.default {
            Some(default) if setting.accepts != Accepts::Switch => {
                assert!(help.ends_with(&format!(" [{default}]")), "{help}");
            }
            _ => assert!(!help.ends_with(']'), "{help}"),
        }
    }
}

/// `--resume` reads what a run writes into `run.json`.
#[test]
fn effective_settings_lie_under_those_of_a_later_run() {
    for setting in SETTINGS
        .iter()
        .filter(|setting| setting.key != "resume" && setting.group != Group::Logging)
        .filter(|setting| !["accelerator", "gpu"].contains(&setting.key))
    {
        let texts = texts(setting);
        let earlier = settings(setting, None, Some(&texts[0]));
        let earlier = Json::Object(earlier.effective());
        let json = |settings: &Settings| (setting.json)(settings);
        let resumed = Settings::from(Layers::default())
            .over(earlier.as_object().unwrap())
            .unwrap();
        assert_eq!(json(&resumed), earlier[setting.key], "{}", setting.key);
        let typed = settings(setting, None, texts.last().map(String::as_str));
        let later = typed.over(earlier.as_object().unwrap()).unwrap();
        assert_eq!(json(&later), json(&typed), "{}", setting.key);
    }
}

/// For every setting: a row where it differs from the default, or where one source overrides another.
#[test]
fn the_table_shows_what_differs() {
    let keys = |settings: &Settings, all| -> Vec<String> {
        let table = settings.table(Action::Run, all);
        table
            .rows
            .into_iter()
            .map(|mut row| row.swap_remove(0))
            .collect()
    };
    let defaults = Settings::from(Layers::default());
    assert!(keys(&defaults, false).is_empty());
    assert_eq!(keys(&defaults, true).len(), SETTINGS.len());
    for setting in SETTINGS {
        let other = texts(setting).remove(0);
        let given = settings(setting, Some(&other), None);
        assert_eq!(keys(&given, false), [setting.key]);
        if let Some(default) = setting.default {
            let given = settings(setting, None, Some(default));
            assert!(keys(&given, false).is_empty(), "{}", setting.key);
            let given = settings(setting, Some(&other), Some(default));
            assert_eq!(keys(&given, false), [setting.key]);
        }
    }
}

#[test]
fn the_table_shows_the_threads_that_run() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let setting = SETTINGS.iter().find(|s| s.key == "num_workers").unwrap();
    let used = |typed, action| settings(setting, None, typed).used(setting, action);
    assert_eq!(used(Some("0"), Action::Train), Some(cores.to_string()));
    assert_eq!(used(Some("9999"), Action::Search), Some(cores.to_string()));
    assert_eq!(used(None, Action::Train).as_deref(), Some("1"));
    assert_eq!(used(None, Action::Search).as_deref(), Some("n_jobs"));
}

#[test]
fn a_setting_by_name_has_the_same_checks() {
    let setting = SETTINGS.iter().find(|s| s.key == "learning_rate").unwrap();
    let settings = Settings::from(Layers::default());
    let faster = settings.with(&[(setting, "0.5".to_owned())]).unwrap();
    assert!((faster.learning_rate - 0.5).abs() < f64::EPSILON);
    let error = settings.with(&[(setting, "fast".to_owned())]).unwrap_err();
    assert_eq!(error.to_string(), "--learning-rate: 'fast' is not a number");
}
