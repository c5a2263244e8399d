//! What a study in PostgreSQL must hold.

use super::server::Server;
use super::{python, toy};
use serde_json::json;
use std::thread;
use std::time::{Duration, Instant};
use study::storage::{Attributes, Postgres, Storage, StudyInfo};
use study::{Next, State, Study, Trial};

const TRIALS: u64 = 30;

/// The server of `MASE_POSTGRES_URL` if there is one, else one of our own.
fn find() -> Option<Server> {
    match std::env::var("MASE_POSTGRES_URL") {
        Ok(url) => Some(Server { folder: None, url }),
        Err(_) => Server::start(),
    }
}

/// The address of a study of its own.
fn address(server: &Server, name: &str, more: &str) -> String {
    format!("{}?study={name}_{}{more}", server.url, std::process::id())
}

fn join(url: &str) -> Postgres {
    Postgres::create_or_join(url, &toy::info(), &mut |_| ()).unwrap()
}

/// The error of a study that cannot be joined.
fn refusal(url: &str, info: &StudyInfo) -> String {
    let joined = Postgres::create_or_join(url, info, &mut |_| ());
    joined.err().unwrap().to_string()
}

fn finished(url: &str) -> Vec<(Trial, Attributes)> {
    join(url).poll().unwrap()
}

/// Claims the next trial of a study, and those of others before it.
fn claim(storage: &Postgres, study: &mut Study) -> Option<(Trial, Attributes)> {
    let space = toy::space();
    loop {
        let Next::Trial { number, point } = study.ask() else {
            return None;
        };
        if storage.claim(number, &point).unwrap() {
            return Some(toy::stored(&space, number, &point));
        }
    }
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(
            started.elapsed() < Duration::from_mins(1),
            "nothing happens"
        );
        thread::yield_now();
    }
}

#[test]
fn everything_reads_back_to_the_last_bit() {
    let Some(server) = find() else { return };
    let url = address(&server, "round", "");
    toy::run(&join(&url), &mut toy::study("random", TRIALS), usize::MAX).unwrap();
    assert_eq!(finished(&url), toy::expected("random", TRIALS));
}

#[test]
fn a_study_with_other_facts_is_refused() {
    let Some(server) = find() else { return };
    let url = address(&server, "facts", "");
    join(&url);
    let mut other = toy::info();
    other.facts.insert("seed".to_owned(), json!(2));
    let said = refusal(&url, &other);
    assert!(
        said.ends_with("was made with seed = 1, now it is 2; begin a new study instead"),
        "{said}"
    );
    let mut other = toy::info();
    other.directions.pop();
    let said = refusal(&url, &other);
    assert!(
        said.ends_with("has the directions MINIMIZE, MAXIMIZE, not MINIMIZE"),
        "{said}"
    );
}

/// Every number is claimed by one of the workers, and all hear of all.
#[test]
fn workers_share_a_study() {
    let Some(server) = find() else { return };
    let url = address(&server, "share", "");
    let ran: Vec<Vec<u64>> = thread::scope(|scope| {
        let worker = || {
            let (storage, mut study) = (join(&url), toy::study("random", 200));
            let mut numbers = Vec::new();
            while let Some((trial, attributes)) = claim(&storage, &mut study) {
                storage.finish(&trial, &attributes).unwrap();
                numbers.push(trial.number);
            }
            let mut heard = numbers.len();
            wait_until(|| {
                heard += storage.poll().unwrap().len();
                heard == 200
            });
            numbers
        };
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    let mut numbers = ran.concat();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..200).collect::<Vec<_>>());
    assert_eq!(finished(&url), toy::expected("random", 200));
}

/// A worker that dies is noticed after the grace period and not before, one that lives never, and one other takes over.
#[test]
fn the_trials_of_the_dead_are_taken_over_once() {
    let Some(server) = find() else { return };
    let url = address(&server, "dead", "&grace=0.5");
    let (dying, mut study) = (join(&url), toy::study("random", TRIALS));
    let (trial, attributes) = claim(&dying, &mut study).unwrap();
    let living = join(&url);
    let (second, _) = claim(&living, &mut toy::study("random", TRIALS)).unwrap();
    assert_eq!((trial.number, second.number), (0, 1));
    assert_eq!(living.take_over(0, &trial.point).unwrap(), None);
    drop(dying);
    let mut others = [join(&url), join(&url)];
    let mut taken = Vec::new();
    wait_until(|| {
        let takes = |at: &usize| others[*at].take_over(0, &trial.point).unwrap().is_some();
        taken.extend((0..2).filter(takes));
        !taken.is_empty()
    });
    // The living worker has been silent for as long, but its heart beats.
    for other in &mut others {
        assert_eq!(other.take_over(1, &second.point).unwrap(), None);
    }
    let late = others[1 - taken[0]].take_over(0, &trial.point);
    assert_eq!(late.unwrap(), None);
    others[taken[0]].finish(&trial, &attributes).unwrap();
    assert_eq!(living.poll().unwrap(), [(trial, attributes)]);
}

/// The first of two results of one trial counts, and nobody hears of it twice.
#[test]
fn the_first_result_counts() {
    let Some(server) = find() else { return };
    let url = address(&server, "first", "&grace=0.3");
    let slow = join(&url);
    let (trial, attributes) = claim(&slow, &mut toy::study("random", TRIALS)).unwrap();
    let other = Trial {
        outcome: study::Outcome::failed(),
        ..trial.clone()
    };
    slow.finish(&trial, &attributes).unwrap();
    slow.finish(&other, &attributes).unwrap();
    assert_eq!(finished(&url), [(trial, attributes)]);
    assert!(slow.poll().unwrap().is_empty());
}

/// The server crashes and comes back in the middle of a study: it goes on, and nothing is lost or done twice.
#[test]
fn a_server_that_comes_back_is_waited_for() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = address(&server, "back", "&reconnect=20");
    let (storage, mut study) = (join(&url), toy::study("random", TRIALS));
    let mut count = 0;
    while let Some((trial, attributes)) = claim(&storage, &mut study) {
        count += 1;
        if count % 10 == 5 {
            server.down();
            thread::scope(|scope| {
                scope.spawn(|| server.up());
                storage.finish(&trial, &attributes).unwrap();
            });
        } else {
            storage.finish(&trial, &attributes).unwrap();
        }
    }
    assert_eq!(finished(&url), toy::expected("random", TRIALS));
}

/// A server that stays away is an error that names it, without the password; what was finished is there later.
#[test]
fn a_server_that_stays_away_is_an_error_and_nothing_is_lost() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = address(&server, "away", "&reconnect=0.3").replace("mase@", "mase:secret@");
    let (storage, mut study) = (join(&url), toy::study("random", TRIALS));
    toy::run(&storage, &mut study, 21).unwrap();
    server.down();
    let said = storage.poll().unwrap_err().to_string();
    assert!(said.contains("postgresql://mase@127.0.0.1:"), "{said}");
    assert!(said.contains("give the same command again"), "{said}");
    assert!(!said.contains("secret"), "{said}");
    let said = refusal(&url, &toy::info());
    assert!(
        said.contains("error connecting to server") && !said.contains("secret"),
        "{said}"
    );
    server.up();
    assert_eq!(finished(&url), toy::expected("random", 10));
}

/// Optuna shows the study, runs trials of it beside us, and leaves one behind, which is written off.
#[test]
fn optuna_joins_the_study() {
    let Some(server) = Server::start() else {
        return;
    };
    let url = format!("{}?grace=3", server.url);
    let (storage, mut study) = (join(&url), toy::study("random", TRIALS));
    toy::run(&storage, &mut study, 21).unwrap();
    let Some(shown) = python::optuna(&["show", &url]) else {
        return;
    };
    python::assert_shown(&shown, &toy::expected("random", 10));
    let shown = python::optuna(&["go_on", &url, "10"]).unwrap();
    let trials = storage.poll().unwrap();
    assert_eq!(trials.len(), 10);
    for ((trial, attributes), row) in trials
        .iter()
        .zip(&shown["trials"].as_array().unwrap()[10..])
    {
        assert_eq!(row["number"], trial.number);
        assert_eq!(row["state"], trial.outcome.state.name());
        assert_eq!(
            row["params"].as_object().unwrap().len(),
            toy::space().named(&trial.point).len()
        );
        assert_eq!(attributes["where"], "python");
    }
    python::optuna(&["leave", &url]);
    let (trial, attributes) = claim(&storage, &mut toy::study("random", TRIALS)).unwrap();
    assert_eq!(trial.number, 21, "0 to 19 are done, 20 is left behind");
    storage.finish(&trial, &attributes).unwrap();
    let mut left = Vec::new();
    wait_until(|| {
        let taken = storage.take_over(20, &trial.point).unwrap();
        assert_eq!(taken, None, "its point is not ours");
        left.extend(storage.poll().unwrap());
        !left.is_empty()
    });
    assert_eq!(
        (left[0].0.number, left[0].0.outcome.state),
        (20, State::Failed)
    );
    let shown = python::optuna(&["go_on", &url, "1"]).unwrap();
    assert_eq!(shown["trials"].as_array().unwrap().len(), 23);
    let studies = python::optuna(&["dashboard", &url]).unwrap();
    assert!(studies.is_null() || studies["study_summaries"][0]["study_name"] == "toy");
}

/// A worker of Optuna's and one of ours at the same time: numbers are given out once, and each hears of the other's.
#[test]
fn optuna_works_beside_us() {
    let Some(server) = Server::start() else {
        return;
    };
    let (storage, mut study) = (join(&server.url), toy::study("random", 300));
    let mut ours = Vec::new();
    let shown = thread::scope(|scope| {
        let python = scope.spawn(|| python::optuna(&["worker", &server.url, "15", "0.01"]));
        while let Some((trial, attributes)) = claim(&storage, &mut study) {
            let number = trial.number;
            storage.finish(&trial, &attributes).unwrap();
            study.finish(trial).unwrap();
            ours.push(number);
            // Ours would be done before Python has begun.
            wait_until(|| {
                number < 20 || python.is_finished() || finished(&server.url).len() > ours.len()
            });
        }
        python.join().unwrap()
    });
    if shown.is_none() {
        return;
    }
    let theirs = storage.poll().unwrap();
    assert_eq!(theirs.len(), 15);
    let mut numbers: Vec<u64> = theirs
        .iter()
        .map(|(trial, _)| trial.number)
        .chain(ours)
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    let theirs = theirs.into_iter().map(|(trial, _)| trial);
    for trial in theirs.filter(|trial| trial.number < 300) {
        study.finish(trial.clone()).unwrap();
        let stored = study.history().trials().get(trial.number as usize);
        assert!(
            stored.is_none_or(|stored| stored.point == trial.point),
            "the point that was tried is stored"
        );
    }
    assert_eq!(study.history().len(), 300);
}
