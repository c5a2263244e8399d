//! Several `ch search` on one study in a real PostgreSQL, some of them killed.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod folder;
#[path = "../../study/tests/server/mod.rs"]
mod server;
mod support;

use folder::Folder;
use serde_json::Value as Json;
use server::Server;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{ch, words};

const TRIALS: usize = 400;

/// A folder of its own with a config in it.
struct Workspace(Folder);

impl Workspace {
    fn new(name: &str) -> Self {
        let path = Folder::new(&format!("workers_{name}"));
        fs::write(path.join("s.toml"), config()).unwrap();
        Self(path)
    }

    fn line(project: &str, more: &str) -> Vec<String> {
        words(&format!(
            "search --config s.toml --project {project} --quiet --cpu 1 {more}"
        ))
    }

    fn spawn(&self, project: &str, more: &str) -> Child {
        Command::new(env!("CARGO_BIN_EXE_ch"))
            .args(Self::line(project, more))
            .current_dir(&*self.0)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// `log.json` without its times.
    fn log(&self, project: &str) -> Json {
        let path = self.0.join(format!(
            "mase_output/{project}/software/search_ckpts/log.json"
        ));
        let mut log: Json = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        for row in log.as_array_mut().unwrap() {
            for time in ["time_begin", "time_end", "duration"] {
                row.as_object_mut().unwrap().remove(time);
            }
        }
        log
    }
}

fn config() -> String {
    format!(
        "model = \"jsc-toy\"\ndataset = \"jsc-sim\"\nseed = 1\n\
         [search.search_space]\nname = \"graph/quantize/mixed_precision_ptq\"\n[search.search_space.setup]\nby = \"name\"\n\
         [search.search_space.seed.default.config]\nname = [\"integer\"]\n\
         data_in_width = [4, 8]\ndata_in_frac_width = [\"NA\"]\n\
         weight_width = [2, 4, 8]\nweight_frac_width = [\"NA\"]\nbias_width = [2, 4, 8]\nbias_frac_width = [\"NA\"]\n\
         [search.strategy]\nname = \"optuna\"\n[search.strategy.sw_runner.basic_evaluation]\ndata_loader = \"val_dataloader\"\n\
         [search.strategy.setup]\nn_trials = {TRIALS}\nsampler = \"random\"\n\
         [search.strategy.metrics]\naccuracy.scale = 1.0\naverage_bitwidth.scale = 0.2\n"
    )
}

fn psql(url: &str, query: &str) -> usize {
    let output = Command::new("psql")
        .args([url, "-Atc", query])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    text.parse().unwrap_or(0)
}

fn finished(url: &str) -> usize {
    psql(url, "SELECT count(*) FROM trials WHERE state <> 'RUNNING'")
}

fn wait_for(url: &str, count: usize) {
    let started = Instant::now();
    while finished(url) < count {
        assert!(
            started.elapsed() < Duration::from_mins(2),
            "the search does not move"
        );
    }
}

fn server() -> Option<Server> {
    if Command::new("psql").arg("--version").output().is_err() {
        eprintln!("skipped: there is no psql to look into the database with");
        return None;
    }
    Server::start()
}

/// Four workers, two of them killed in mid-study, and a crash of the server: the study ends complete, every trial is
/// counted once, nothing that was finished is lost, and all is as one worker alone would have it.
#[test]
fn workers_that_are_killed_change_nothing() {
    let Some(server) = server() else { return };
    let workspace = Workspace::new("kill");
    let alone = ch(&Workspace::line("alone", ""), &workspace.0);
    assert_eq!(alone.code, Some(0), "{}", alone.stderr);
    let more = format!("--storage {}?grace=1", server.url);
    let mut workers: Vec<Child> = (0..4)
        .map(|k| workspace.spawn(&format!("w{k}"), &more))
        .collect();
    for (killed, wanted) in [(0, 30), (1, 80)] {
        wait_for(&server.url, wanted);
        workers[killed].kill().unwrap();
        workers[killed].wait().unwrap();
    }
    let before = finished(&server.url);
    assert!(
        (80..TRIALS).contains(&before),
        "{before} trials before the last kill"
    );
    server.down();
    server.up();
    for (k, worker) in workers.into_iter().enumerate().skip(2) {
        let output = worker.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "w{k}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(
            workspace.log(&format!("w{k}")),
            workspace.log("alone"),
            "w{k}"
        );
    }
    assert_eq!(finished(&server.url), TRIALS);
    assert_eq!(
        psql(&server.url, "SELECT count(DISTINCT number) FROM trials"),
        TRIALS
    );
    let complete = "SELECT count(*) FROM trials WHERE state = 'COMPLETE'";
    assert_eq!(
        psql(&server.url, "SELECT count(*) FROM trial_values"),
        2 * psql(&server.url, complete)
    );
    // Whoever comes later finds it done.
    let late = ch(&Workspace::line("late", &more), &workspace.0);
    assert_eq!(late.code, Some(0), "{}", late.stderr);
    assert_eq!(workspace.log("late"), workspace.log("alone"));
}

/// A server that does not come back ends the search with a sentence; the same command goes on with it later.
#[test]
fn a_search_without_its_server_ends_and_goes_on_later() {
    let Some(server) = server() else { return };
    let workspace = Workspace::new("away");
    let more = format!("--storage {}?grace=0.5&reconnect=0.3", server.url);
    let worker = workspace.spawn("first", &more);
    wait_for(&server.url, 30);
    server.down();
    let output = worker.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("give the same command again when it is back"),
        "{stderr}"
    );
    server.up();
    let kept = finished(&server.url);
    assert!((30..TRIALS).contains(&kept), "{kept}");
    for (project, more) in [("second", more.as_str()), ("alone", "")] {
        let printed = ch(&Workspace::line(project, more), &workspace.0);
        assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    }
    assert_eq!(workspace.log("second"), workspace.log("alone"));
}

#[test]
fn a_journal_can_be_named() {
    let workspace = Workspace::new("journal");
    for project in ["a", "b"] {
        let line = Workspace::line(project, "--storage kept/study.journal --n-trials 20");
        let printed = ch(&line, &workspace.0);
        assert_eq!(printed.code, Some(0), "{}", printed.stderr);
        assert!(
            printed.stdout.starts_with("20 trials, done"),
            "{}",
            printed.stdout
        );
    }
    assert_eq!(workspace.log("a"), workspace.log("b"));
    let text = fs::read_to_string(workspace.0.join("kept/study.journal")).unwrap();
    assert_eq!(
        text.matches("\"op_code\":6").count(),
        20,
        "the second run had nothing to do"
    );
    let wrong = ch(
        &Workspace::line("c", "--storage mysql://ada:secret@db/x"),
        &workspace.0,
    );
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong
            .stderr
            .contains("knows postgresql:// and files, not mysql://"),
        "{}",
        wrong.stderr
    );
    let wrong = ch(
        &Workspace::line("c", "--storage postgresql://ada:secret@127.0.0.1:1/x"),
        &workspace.0,
    );
    assert_eq!(wrong.code, Some(2));
    let stderr = wrong.stderr;
    assert!(
        stderr.contains("127.0.0.1:1") && !stderr.contains("secret"),
        "{stderr}"
    );
    let is_there = workspace.0.join("mase_output/c").exists();
    assert!(!is_there, "a search that never began leaves nothing");
}
