//! Locks and failures in the way of a worker: it tells what it waits for, and leaves nothing half made.

use super::server::Server;
use super::toy;
use postgres::{Client, NoTls};
use std::sync::mpsc;
use std::thread;
use study::storage::{Postgres, Storage};
use study::{Next, Point};

fn client(server: &Server) -> Client {
    Client::connect(&server.url, NoTls).unwrap()
}

fn join(server: &Server) -> Postgres {
    Postgres::create_or_join(&server.url, &toy::info(), &mut |_| ()).unwrap()
}

fn first_point() -> Point {
    match toy::study("random", 10).ask() {
        Next::Trial { point, .. } => point,
        other => panic!("{other:?}"),
    }
}

/// The tables and types in the database that are not PostgreSQL's own.
fn objects(client: &mut Client) -> Vec<String> {
    let query = "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S', 'i') \
        UNION ALL SELECT typname::text FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype = 'e' ORDER BY 1";
    let rows = client.query(query, &[]).unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// Whatever stands in the way of one of the tables, none is left, and the next worker makes all of them.
#[test]
fn tables_are_made_whole_or_not_at_all() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut client = client(&server);
    for (place, table) in [
        "study_directions",
        "trials",
        "trial_heartbeats",
        "version_info",
    ]
    .into_iter()
    .enumerate()
    {
        let conflict = format!("CREATE TABLE {table} (other int)");
        client.batch_execute(&conflict).unwrap();
        let before = objects(&mut client);
        let url = format!("{}?study=s{place}", server.url);
        let failed = Postgres::create_or_join(&url, &toy::info(), &mut |_| ());
        let error = failed.err().unwrap().to_string();
        assert!(
            error.contains(&format!("\"{table}\" already exists")),
            "{error}"
        );
        assert_eq!(objects(&mut client), before, "{table}");
        client
            .batch_execute(&format!("DROP TABLE {table}"))
            .unwrap();
    }
    let storage = join(&server);
    let mut study = toy::study("random", 30);
    toy::run(&storage, &mut study, usize::MAX).unwrap();
    assert_eq!(study.history().len(), 30);
}

/// A worker that finds the lock held under which studies are made says who holds it, and goes on when it is free.
#[test]
fn a_wait_for_the_making_of_a_study_is_told() {
    let Some(server) = Server::start() else {
        return;
    };
    let mut holder = client(&server);
    let process: i32 = holder
        .query_one("SELECT pg_backend_pid()", &[])
        .unwrap()
        .get(0);
    let mut work = holder.transaction().unwrap();
    work.batch_execute("SELECT pg_advisory_xact_lock(7308604)")
        .unwrap();
    let mut held = Some(work);
    let mut told = Vec::new();
    Postgres::create_or_join(&server.url, &toy::info(), &mut |line| {
        told.push(line.to_owned());
        drop(held.take());
    })
    .unwrap();
    let [line] = told.as_slice() else {
        panic!("{told:?}");
    };
    let expected = format!("which process {process} at 127.0.0.1 holds");
    assert!(line.contains("still waiting after"), "{line}");
    assert!(
        line.contains("the lock under which studies are made"),
        "{line}"
    );
    assert!(line.contains(&expected), "{line}");
}

/// While a claim waits for the row of the study, the storage names who holds it, and other calls get their answers.
#[test]
fn a_claim_that_waits_for_a_lock_keeps_nothing_else_waiting() {
    let Some(server) = Server::start() else {
        return;
    };
    let (storage, point) = (join(&server), first_point());
    assert!(storage.claim(0, &point).unwrap());
    let mut holder = client(&server);
    let mut work = holder.transaction().unwrap();
    work.batch_execute("SELECT 1 FROM studies FOR UPDATE")
        .unwrap();
    let (sender, claimed) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| sender.send(storage.claim(1, &point)).unwrap());
        let blocked = loop {
            let text = storage.describe_wait(&[]);
            if text.contains("lock") {
                break text;
            }
        };
        assert!(blocked.contains("which process"), "{blocked}");
        let (trial, attributes) = toy::stored(&toy::space(), 0, &point);
        storage.finish(&trial, &attributes).unwrap();
        assert!(storage.poll().unwrap().is_empty(), "its own are known");
        assert!(claimed.try_recv().is_err(), "the lock is held");
        work.rollback().unwrap();
        assert!(claimed.recv().unwrap().unwrap());
    });
}

/// A trial of another worker is named with that worker.
#[test]
fn a_wait_for_another_worker_names_it() {
    let Some(server) = Server::start() else {
        return;
    };
    let (other, storage, point) = (join(&server), join(&server), first_point());
    assert!(other.claim(0, &point).unwrap());
    assert!(!storage.claim(0, &point).unwrap());
    let text = storage.describe_wait(&[0]);
    assert!(text.starts_with("trial 0, which worker "), "{text}");
    assert!(
        text.contains(&format!("-{}-", std::process::id())),
        "{text}"
    );
    assert!(
        text.contains(" began 0 s ago, last heard 0 s ago"),
        "{text}"
    );
    let gap = storage.describe_wait(&[5]);
    assert_eq!(gap, "the result of trial 5, which nobody runs");
    let answer = storage.describe_wait(&[]);
    assert!(answer.starts_with("an answer of postgresql://"), "{answer}");
}
