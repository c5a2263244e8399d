//! The journal: what is written is read back, whatever is cut off or broken.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod files;
mod toy;

use serde_json::json;
use std::fs;
use std::path::Path;
use study::storage::{Attributes, Journal, Storage, StorageError};
use study::{Direction, State, Trial};

const TRIALS: u64 = 30;

/// A journal of a whole study, as bytes.
fn whole(name: &str, n_trials: u64) -> Vec<u8> {
    let path = files::path(name);
    let journal = Journal::create(&path, &toy::info()).unwrap();
    toy::run(&journal, &mut toy::study("random", n_trials), usize::MAX).unwrap();
    fs::read(path).unwrap()
}

fn open(path: &Path) -> Result<Vec<(Trial, Attributes)>, StorageError> {
    Journal::open(path, &toy::info())?.poll()
}

#[test]
fn everything_reads_back_to_the_last_bit() {
    whole("round", TRIALS);
    let trials = open(&files::path("other").with_file_name("round")).unwrap();
    files::assert_same(&trials, &toy::expected("random", TRIALS));
    let states: Vec<State> = trials
        .iter()
        .map(|(trial, _)| trial.outcome.state)
        .collect();
    for state in [State::Complete, State::Pruned, State::Failed] {
        assert!(states.contains(&state), "{state:?}");
    }
    let is_infinite =
        |(trial, _): &(Trial, Attributes)| trial.outcome.values.contains(&f64::INFINITY);
    assert!(trials.iter().any(is_infinite));
    assert!(
        trials
            .iter()
            .any(|(trial, _)| toy::space().named(&trial.point)["kind"].is_array())
    );
}

/// A cut at any byte leaves a journal that opens with all trials that had ended before it.
#[test]
fn a_journal_that_was_cut_off_anywhere_goes_on() {
    let bytes = whole("cut_whole", 8);
    let trials = toy::expected("random", 8);
    let path = files::path("cut");
    let (mut ended, mut line) = (0, 0);
    for (end, byte) in bytes.iter().enumerate() {
        fs::write(&path, &bytes[..end]).unwrap();
        files::assert_same(&open(&path).unwrap(), &trials[..ended]);
        if *byte == b'\n' {
            ended += usize::from(bytes[line..end].starts_with(b"{\"op_code\":6,"));
            line = end + 1;
        }
    }
    assert_eq!(ended, trials.len());
}

/// Whatever was lost, the study ends as if nothing had happened, and Optuna's lines are complete.
#[test]
fn a_study_that_stops_after_any_operation_ends_the_same() {
    for sampler in ["random", "tpe"] {
        let trials = toy::expected(sampler, TRIALS);
        for operations in 1..=2 * trials.len() {
            let path = files::path(sampler);
            let journal = Journal::create(&path, &toy::info()).unwrap();
            toy::run(&journal, &mut toy::study(sampler, TRIALS), operations).unwrap();
            drop(journal);
            let journal = Journal::open(&path, &toy::info()).unwrap();
            toy::run(&journal, &mut toy::study(sampler, TRIALS), usize::MAX).unwrap();
            drop(journal);
            files::assert_same(&open(&path).unwrap(), &trials);
        }
    }
}

/// A journal that was cut off in its head gets what is missing.
#[test]
fn the_head_is_completed() {
    let bytes = whole("head_whole", 1);
    let path = files::path("head");
    for lines in 0..3 {
        let mut ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let end = if lines == 0 {
            0
        } else {
            ends.nth(lines - 1).unwrap().0 + 1
        };
        fs::write(&path, &bytes[..end]).unwrap();
        open(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        for part in ["\"study_name\"", "\"mase\"", "study:metric_names"] {
            assert_eq!(text.matches(part).count(), 1, "{lines} lines: {part}");
        }
    }
}

/// A flipped bit is refused with its line or trial, or changes a number; it never panics and never makes trials.
#[test]
fn flipped_bits_never_panic() {
    let bytes = whole("flip_whole", 5);
    let path = files::path("flip");
    let mut refused = 0;
    for place in (0..bytes.len()).step_by(3) {
        for bit in [0, 5, 7] {
            let mut broken = bytes.clone();
            broken[place] ^= 1 << bit;
            fs::write(&path, broken).unwrap();
            match open(&path) {
                Ok(trials) => assert!(trials.len() <= 5),
                Err(error) => {
                    let text = error.to_string();
                    let places = ["flip:", "trial "].map(|begin| text.split(begin).nth(1));
                    let number = |rest: &str| rest.split([':', ',']).next()?.parse::<usize>().ok();
                    let mut places = places.into_iter().flatten();
                    assert!(places.any(|rest| number(rest).is_some()), "{text}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > bytes.len() / 10, "{refused}");
}

#[test]
fn another_study_is_refused_with_its_line() {
    let bytes = whole("foreign", 2);
    let path = files::path("x").with_file_name("foreign");
    let said = |change: &dyn Fn(&mut study::storage::StudyInfo)| {
        let mut info = toy::info();
        change(&mut info);
        let text = Journal::open(&path, &info).err().unwrap().to_string();
        text.rsplit_once('/').unwrap().1.to_owned()
    };
    let name = said(&|info| info.name = "other".to_owned());
    assert_eq!(name, "foreign:1: holds the study 'toy', not 'other'");
    let directions = said(&|info| info.directions = vec![Direction::Maximize]);
    assert_eq!(directions, "foreign:1: has the directions [1,2], not [2]");
    let facts = said(&|info| {
        info.facts.insert("seed".to_owned(), json!(2));
    });
    assert_eq!(
        facts,
        "foreign:2: was made with seed = 1, now it is 2; begin a new study instead"
    );
    let inside = said(&|info| {
        info.facts.insert(
            "space".to_owned(),
            json!({ "relu": { "width": [3], "name": ["é"] } }),
        );
    });
    assert_eq!(
        inside,
        "foreign:2: was made with space.relu.width = [4], now it is [3]; begin a new study instead"
    );
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap();
    let text = [&bytes[..], first, b"\n"].concat();
    let lines = text.split(|byte| *byte == b'\n').count() - 1;
    fs::write(&path, text).unwrap();
    let second = said(&|_| {});
    assert_eq!(
        second,
        format!("foreign:{lines}: begins a second study; a journal of ours holds one")
    );
}

/// A file without a line end might be a journal that was cut off in its first line, or somebody's notes.
#[test]
fn a_file_that_is_no_journal_is_left_alone() {
    let path = files::path("notes.txt");
    for text in [
        "my only copy of an important note",
        "{\"a\":1}",
        "\0\0",
        "{\"op_cade\":0",
    ] {
        fs::write(&path, text).unwrap();
        let error = Journal::open(&path, &toy::info()).err().unwrap();
        assert!(
            error
                .to_string()
                .ends_with("notes.txt:1: is not a line of a journal"),
            "{error}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    for text in ["", "{\"op_c", "{\"op_code\":0,\"work"] {
        fs::write(&path, text).unwrap();
        assert!(Journal::open(&path, &toy::info()).is_ok(), "{text}");
    }
}

#[test]
fn one_program_writes_at_a_time() {
    let path = files::path("shared");
    let journal = Journal::create(&path, &toy::info()).unwrap();
    let second = Journal::open(&path, &toy::info())
        .err()
        .unwrap()
        .to_string();
    assert!(second.ends_with("another search is writing it"), "{second}");
    let again = Journal::create(&path, &toy::info())
        .err()
        .unwrap()
        .to_string();
    assert!(again.contains("shared: "), "{again}");
    // A program that knows nothing of the lock is noticed.
    let mut text = fs::read(&path).unwrap();
    text.extend(b"{}\n");
    fs::write(&path, &text).unwrap();
    let run = toy::run(&journal, &mut toy::study("random", 3), usize::MAX);
    let noticed = run.unwrap_err().to_string();
    assert!(
        noticed.contains("another program has changed it"),
        "{noticed}"
    );
    assert_eq!(fs::read(&path).unwrap(), text);
}

/// A trial that was begun elsewhere than now would not be the same trial.
#[test]
fn a_trial_that_was_begun_at_another_point_is_refused() {
    let path = files::path("begun");
    let journal = Journal::create(&path, &toy::info()).unwrap();
    toy::run(&journal, &mut toy::study("random", TRIALS), 2).unwrap();
    drop(journal);
    let journal = Journal::open(&path, &toy::info()).unwrap();
    let run = toy::run(&journal, &mut toy::study("qmc", TRIALS), usize::MAX);
    let text = run.unwrap_err().to_string();
    assert!(text.contains("trial 0 was begun as {"), "{text}");
}

#[test]
fn an_address_is_a_file_or_a_database() {
    let path = files::path("address.journal");
    let address = path.to_str().unwrap();
    let mut study = toy::study("random", 4);
    toy::run(
        &*study::storage::open(address, &toy::info(), &mut |_| ()).unwrap(),
        &mut study,
        usize::MAX,
    )
    .unwrap();
    let again = study::storage::open(address, &toy::info(), &mut |_| ()).unwrap();
    assert_eq!(again.poll().unwrap().len(), 4);
    let said = |address: &str| {
        study::storage::open(address, &toy::info(), &mut |_| ())
            .err()
            .unwrap()
            .to_string()
    };
    assert_eq!(
        said("mysql://ada:secret@db/x"),
        "--storage: knows postgresql:// and files, not mysql://"
    );
    assert_eq!(
        said("postgresql:/db/x"),
        "--storage: an address begins with postgresql://, with two slashes"
    );
    assert_eq!(
        said(""),
        "--storage: is empty; name a journal or postgresql://…"
    );
    assert_eq!(
        said("postgresql://db/x?study="),
        "--storage: study has no name"
    );
    let said = said("postgresql://ada:secret@127.0.0.1:1/x");
    assert!(
        said.contains("127.0.0.1:1") && !said.contains("secret"),
        "{said}"
    );
}

#[test]
fn what_is_not_a_number_is_kept_as_a_failure() {
    let path = files::path("nan");
    let journal = Journal::create(&path, &toy::info()).unwrap();
    let (mut trial, attributes) = toy::expected("random", 1).remove(0);
    journal.claim(0, &trial.point).unwrap();
    trial.outcome.values[1] = f64::NAN;
    journal.finish(&trial, &attributes).unwrap();
    drop(journal);
    let kept = &open(&path).unwrap()[0].0.outcome;
    assert_eq!((kept.state, kept.values.len()), (State::Failed, 0));
    // Another program may have written it as a result.
    let text = fs::read_to_string(&path).unwrap();
    let complete = text.replace(
        "\"state\":3,\"values\":null",
        "\"state\":1,\"values\":[NaN, 1.0]",
    );
    assert_ne!(text, complete);
    fs::write(&path, complete).unwrap();
    let kept = &open(&path).unwrap()[0].0.outcome;
    assert_eq!((kept.state, kept.values.len()), (State::Failed, 0));
}
