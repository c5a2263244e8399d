//! Laws over the table of settings.

use super::*;

fn config(file: &[(&'static str, &str)], manual: &[(&'static str, &str)]) -> Config {
    let map =
        |pairs: &[(&'static str, &str)]| pairs.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
    Config {
        file: map(file),
        manual: map(manual),
        without_effect: Vec::new(),
        document: Document::default(),
    }
}

/// For every setting: default < file < command line, also when the typed value equals the default.
#[test]
fn the_command_line_wins_over_the_file_and_the_file_over_the_default() {
    for setting in SETTINGS {
        let default = Some(setting.default).filter(|text| !text.is_empty());
        assert_eq!(
            config(&[], &[]).text(setting.key),
            default,
            "{}",
            setting.key
        );
        assert_eq!(
            config(&[(setting.key, "a")], &[]).text(setting.key),
            Some("a")
        );
        let both = config(&[(setting.key, "a")], &[(setting.key, setting.default)]);
        assert_eq!(
            both.text(setting.key),
            Some(setting.default),
            "{}",
            setting.key
        );
    }
}

#[test]
fn every_default_is_a_value_its_setting_accepts() {
    for setting in SETTINGS
        .iter()
        .filter(|setting| !setting.default.is_empty())
    {
        assert_eq!(
            setting.kind.problem(setting.default),
            None,
            "{}",
            setting.key
        );
    }
}
