//! A folder with a trained network, and searches in it.
#![allow(dead_code, reason = "each test binary uses a part")]

use super::folder::Folder;
use super::support::{ch, words};
use serde_json::Value as Json;
use std::fs;
use std::process::{Command, Output};

/// A folder of its own with a trained network.
pub struct Workspace(pub Folder);

impl Workspace {
    pub fn new(name: &str, model: &str) -> Self {
        let path = Folder::new(&format!("search_{name}"));
        let workspace = Self(path);
        let line = format!(
            "train {model} jsc-sim --max-epochs 1 --batch-size 512 --learning-rate 1e-2 --project net --quiet"
        );
        assert!(workspace.run(&line).status.success());
        workspace
    }

    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ch"));
        command.args(words(line)).current_dir(&*self.0);
        command
    }

    pub fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// A search with the present config, in a folder called `project`.
    pub fn search(&self, project: &str, more: &str) -> String {
        assert!(self.0.join("s.toml").exists());
        format!(
            "search --config s.toml --load mase_output/net/software/training_ckpts/best.ckpt --project {project} --quiet {more}"
        )
    }

    /// Runs a search with the present config; it must succeed.
    pub fn searched(&self, project: &str, more: &str) {
        let line = self.search(project, more);
        let output = self.run(&line);
        assert!(output.status.success(), "{line}: {output:?}");
    }

    pub fn config(&self, text: &str) {
        fs::write(self.0.join("s.toml"), text).unwrap();
    }

    pub fn read(&self, project: &str, file: &str) -> Json {
        let path = self.0.join(format!(
            "mase_output/{project}/software/search_ckpts/{file}"
        ));
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }

    /// `log.json` without its times.
    pub fn log(&self, project: &str) -> Json {
        let mut log = self.read(project, "log.json");
        for row in log.as_array_mut().unwrap() {
            for time in ["time_begin", "time_end", "duration"] {
                row.as_object_mut().unwrap().remove(time);
            }
        }
        log
    }

    pub fn error(&self, line: &str) -> String {
        let printed = ch(&words(line), &self.0);
        assert_eq!(printed.code, Some(2), "{line}: {}", printed.stdout);
        printed.stderr
    }
}

pub fn config(model: &str, sampler: &str, trials: u64, rows: u64) -> String {
    format!(
        "model = \"{model}\"\ndataset = \"jsc-sim\"\nseed = 1\n\
         [search.search_space]\nname = \"graph/quantize/mixed_precision_ptq\"\n[search.search_space.setup]\nby = \"type\"\n\
         [search.search_space.seed.default.config]\nname = [\"NA\"]\n\
         [search.search_space.seed.linear.config]\nname = [\"integer\"]\ndata_in_width = [4, 8]\ndata_in_frac_width = [\"NA\"]\n\
         weight_width = [2, 4, 8]\nweight_frac_width = [\"NA\"]\nbias_width = [2, 4, 8]\nbias_frac_width = [\"NA\"]\n\
         [search.strategy]\nname = \"optuna\"\n[search.strategy.sw_runner.basic_evaluation]\ndata_loader = \"val_dataloader\"\nnum_samples = {rows}\n\
         [search.strategy.setup]\nn_trials = {trials}\nsampler = \"{sampler}\"\n\
         [search.strategy.metrics]\naccuracy.scale = 1.0\naverage_bitwidth.scale = 0.2\n"
    )
}
