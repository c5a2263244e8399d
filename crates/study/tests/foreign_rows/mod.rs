//! Rows that another program has left in the tables: trials that wait to be run, and what makes no trial.

use super::server::Server;
use super::{python, toy};
use postgres::{Client, NoTls};
use serde_json::json;
use study::storage::{Postgres, Storage};
use study::{Next, Point, State};

/// Joins the study of this name.
fn join(server: &Server, name: &str) -> Postgres {
    Postgres::create_or_join(&address(server, name), &toy::info(), &mut |_| ()).unwrap()
}

fn address(server: &Server, name: &str) -> String {
    format!("{}?study={name}", server.url)
}

fn client(server: &Server) -> Client {
    Client::connect(&server.url, NoTls).unwrap()
}

/// Rows that no trial can be read from are an error that names the study and the trial.
#[test]
fn what_makes_no_trial_is_named() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut client = client(&server);
    let statement = "ALTER TYPE trialstate ADD VALUE 'DREAMING'";
    drop(join(&server, "first"));
    client.batch_execute(statement).unwrap();
    let cases = [
        (
            "UPDATE trials SET state = 'DREAMING'",
            "trial 0 has the unknown state 'DREAMING'",
        ),
        ("UPDATE trials SET number = -4", "has the number -4"),
        ("UPDATE trials SET number = NULL", "column 'number' is NULL"),
        (
            "UPDATE trial_params SET param_name = NULL",
            "trial 0: column 'param_name' is NULL",
        ),
        (
            "UPDATE trial_params SET param_value = NULL",
            "trial 0: column 'param_value' is NULL",
        ),
        (
            "UPDATE trial_params SET distribution_json = NULL",
            "trial 0: column 'distribution_json' is NULL",
        ),
        (
            "UPDATE trial_user_attributes SET key = NULL",
            "trial 0: column 'key' is NULL",
        ),
        (
            "UPDATE trial_user_attributes SET value_json = NULL",
            "trial 0: column 'value_json' is NULL",
        ),
        (
            "UPDATE trial_values SET value = NULL",
            "trial 0: column 'value' is NULL",
        ),
    ];
    for (place, (statement, expected)) in cases.into_iter().enumerate() {
        let name = format!("rows_{place}");
        let (storage, mut study) = (join(&server, &name), toy::study("random", 30));
        toy::run(&storage, &mut study, 5).unwrap();
        let query = "SELECT t.trial_id FROM trials t JOIN studies s USING (study_id) \
            WHERE s.study_name = $1 AND t.number = 0";
        let trial: i32 = client.query_one(query, &[&name]).unwrap().get(0);
        let spoil = format!("{statement} WHERE trial_id = {trial}");
        client.batch_execute(&spoil).unwrap();
        let error = join(&server, &name).poll().unwrap_err().to_string();
        assert!(
            error.contains(&format!("study '{name}'")),
            "{statement}: {error}"
        );
        assert!(error.contains(expected), "{statement}: {error}");
    }
    let spoil = "UPDATE study_user_attributes SET value_json = NULL";
    client.batch_execute(spoil).unwrap();
    let joined = Postgres::create_or_join(&address(&server, "first"), &toy::info(), &mut |_| ());
    let error = joined.err().unwrap().to_string();
    assert!(
        error.contains("study 'first': column 'value_json' is NULL"),
        "{error}"
    );
}

/// Enqueues a trial as Optuna's `enqueue_trial` does.
fn enqueue(client: &mut Client, study: &str, number: i32, fixed: &serde_json::Value) {
    let query = "WITH t AS (INSERT INTO trials (number, study_id, state) \
            SELECT $2, study_id, 'WAITING' FROM studies WHERE study_name = $1 RETURNING trial_id) \
        INSERT INTO trial_system_attributes (trial_id, key, value_json) SELECT trial_id, 'fixed_params', $3 FROM t";
    let fixed = fixed.to_string();
    client.execute(query, &[&study, &number, &fixed]).unwrap();
}

/// The point that a study asks to be tried, which must be the one of this number.
fn asked(study: &mut study::Study, expected: u64) -> Point {
    let Next::Trial { number, point } = study.ask() else {
        panic!("the study has ended");
    };
    assert_eq!(number, expected);
    point
}

/// An enqueued trial is begun once, with the values that are fixed and the others as asked; one that fits no space fails.
#[test]
fn enqueued_trials_are_run_once() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut workers = [join(&server, "queue"), join(&server, "queue")];
    let mut client = client(&server);
    enqueue(
        &mut client,
        "queue",
        0,
        &json!({ "kind": null, "width": 5 }),
    );
    enqueue(&mut client, "queue", 1, &json!({ "depth": 3 }));
    enqueue(&mut client, "queue", 2, &json!({ "width": 65 }));
    let (space, mut study) = (toy::space(), toy::study("random", 10));
    let points = [0, 1, 2].map(|number| asked(&mut study, number));
    let mut begun = Vec::new();
    for worker in &mut workers {
        assert!(worker.poll().unwrap().is_empty());
    }
    for (place, worker) in workers.iter_mut().enumerate() {
        for (number, point) in (0..).zip(&points) {
            assert!(
                !worker.claim(number, point).unwrap(),
                "trial {number} is there"
            );
            let taken = worker.take_over(number, point).unwrap();
            begun.extend(taken.map(|point| (place, number, point)));
        }
    }
    let [(0, 0, point)] = begun.as_slice() else {
        panic!("the first worker begins the first trial: {begun:?}");
    };
    let (named, sampled) = (space.named(point), space.named(&points[0]));
    assert_eq!((&named["kind"], &named["width"]), (&json!(null), &json!(5)));
    assert_eq!(named["rate"], sampled["rate"]);
    let (trial, attributes) = toy::stored(&space, 0, point);
    workers[0].finish(&trial, &attributes).unwrap();
    let ended = workers[1].poll().unwrap();
    assert_eq!(ended[0], (trial, attributes));
    for (number, (trial, _)) in (1..).zip(&ended[1..]) {
        assert_eq!((trial.number, trial.outcome.state), (number, State::Failed));
        let note = trial.note.as_deref().unwrap();
        assert!(
            note.starts_with("was enqueued with values that do not fit"),
            "{note}"
        );
    }
    assert_eq!(ended.len(), 3);
}

/// A trial that Optuna itself enqueues is begun here, and Optuna shows its result.
#[test]
fn a_trial_that_optuna_enqueues_is_run() {
    let Some(server) = Server::start() else {
        return;
    };
    let storage = join(&server, "toy");
    let fixed = json!({ "width": 7, "kind": "[1,16]" }).to_string();
    let Some(shown) = python::optuna(&["enqueue", &server.url, &fixed]) else {
        return;
    };
    assert_eq!(shown["trials"][0]["state"], "WAITING");
    assert!(storage.poll().unwrap().is_empty());
    let point = asked(&mut toy::study("random", 10), 0);
    let point = storage.take_over(0, &point).unwrap().unwrap();
    let (trial, attributes) = toy::stored(&toy::space(), 0, &point);
    storage.finish(&trial, &attributes).unwrap();
    let shown = python::optuna(&["show", &server.url]).unwrap();
    python::assert_shown(&shown, &[(trial, attributes)]);
    assert_eq!(shown["trials"][0]["params"]["width"], 7);
    assert_eq!(shown["trials"][0]["params"]["kind"], "[1,16]");
}
