//! One training with its files: the loop, and `run.json` before and after it.

use super::curves;
use super::profile::{self, ProfileReport};
use super::progress::Progress;
use crate::output::{Console, calendar, json_text};
use crate::pipeline;
use crate::settings::Settings;
use anyhow::{Context, Result};
use data::{Dataset, Preparation};
use engine::Network;
use serde_json::{Value as Json, json};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use train::{Ending, Event, Learner, Outcome};

/// One training.
pub struct TrainRun<'a> {
    /// All settings.
    pub settings: &'a Settings,
    /// The rows to train on.
    pub data: &'a Dataset,
    /// The folder of the files.
    pub folder: &'a Path,
}

/// The result of one training.
pub struct Trained {
    /// The outcome of the loop.
    pub outcome: Outcome,
    /// The content of `run.json`.
    pub facts: Json,
    /// True when the run was finished before, so that nothing was done.
    pub was_finished: bool,
    /// The table of its profile, if one was asked for.
    pub profile: Option<String>,
}

impl TrainRun<'_> {
    /// Trains and writes `run.json` before and after; a run that is finished is left as it is.
    pub fn fit(
        &self,
        learner: &Learner,
        stop: &AtomicBool,
        console: &mut Console,
    ) -> Result<Trained> {
        self.fit_observed(learner, stop, console, &mut |_| {})
    }

    /// The same; `on_event` also sees every event of the loop.
    pub fn fit_observed(
        &self,
        learner: &Learner,
        stop: &AtomicBool,
        console: &mut Console,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<Trained> {
        let mut network = pipeline::open_learner(self.settings, learner)?;
        let mut fit = pipeline::fit_config(self.settings, self.folder)?;
        if pipeline::has_adapters(network.graph()) {
            let train_base = json!(self.settings.train_base);
            fit.fixed.insert("train_base".to_owned(), train_base);
        }
        let preparation = Preparation::of(&self.data.info);
        fit.hyper_parameters.extend(preparation.to_map());
        if self.data.train.arrays().is_some() {
            let shape = json!(self.data.info.sample_shape);
            fit.hyper_parameters
                .insert("sample_shape".to_owned(), shape);
        }
        // Before any file of the run is touched.
        if let Some(outcome) = train::finished(&network, self.data, &fit)?
            && let Some(facts) = self.recorded().filter(|facts| facts["ending"] == "done")
        {
            return Ok(Trained {
                outcome,
                facts,
                was_finished: true,
                profile: None,
            });
        }
        // The mark of a training that can be resumed, from its beginning if need be.
        let checkpoints = self.folder.join(train::CHECKPOINTS);
        std::fs::create_dir_all(&checkpoints)
            .with_context(|| format!("cannot make the folder {}", checkpoints.display()))?;
        let state = network.state();
        if state.base_is_frozen() {
            console.note(&format!(
                "only the low-rank adapters are trained, {} of {} parameters; --train-base trains all of them",
                state.trainable_len(),
                state.trained_len()
            ));
        }
        let started = calendar::now();
        self.write(&self.facts(&network, &started), console)?;
        if self.settings.profile {
            network.start_profile();
        }
        let mut progress = Progress::new(console);
        let outcome = train::fit(&mut network, self.data, &fit, stop, &mut |event| {
            progress.on_event(event);
            on_event(event);
        })?;
        let seconds = progress.start.elapsed().as_secs_f64();
        curves::write(self.folder, console)?;
        let mut facts = self.facts(&network, &started);
        add_outcome(&mut facts, &outcome, seconds);
        let profile = self.report_profile(&mut network, &mut facts, console)?;
        self.write(&facts, console)?;
        Ok(Trained {
            outcome,
            facts,
            was_finished: false,
            profile,
        })
    }

    /// The table of the network's profile, if there is one, whose file is written.
    fn report_profile(
        &self,
        network: &mut Network,
        facts: &mut Json,
        console: &mut Console,
    ) -> Result<Option<String>> {
        let Some(profile) = network.take_profile() else {
            return Ok(None);
        };
        facts["profile"] = json!(self.folder.join(profile::FILE));
        let report = ProfileReport {
            profile: &profile,
            optimizer: self.settings.training_optimizer.word(),
        };
        report.write(self.folder, console).map(Some)
    }

    /// The content of `run.json`, if there is one.
    fn recorded(&self) -> Option<Json> {
        let text = std::fs::read_to_string(self.folder.join("run.json")).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// The facts of a run that are known at any time.
    fn facts(&self, network: &Network, started: &str) -> Json {
        let info = &self.data.info;
        json!({
            "config": self.settings.effective(),
            "version": env!("CARGO_PKG_VERSION"),
            "machine": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            "seed": self.settings.seed,
            "dataset": { "name": info.name, "source": info.source, "hash": format!("{:016x}", info.hash) },
            "parameters": network.state().trained_len(),
            "weights_hash": format!("{:016x}", train::weights_hash(network.state())),
            "started": started,
            "ending": null,
        })
    }

    fn write(&self, facts: &Json, console: &mut Console) -> Result<()> {
        let path = self.folder.join("run.json");
        interop::write_file(&path, json_text(facts)?.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
        console.debug(&format!("wrote {}", path.display()));
        Ok(())
    }
}

fn add_outcome(facts: &mut Json, outcome: &Outcome, seconds: f64) {
    facts["ended"] = calendar::now().into();
    facts["seconds"] = seconds.into();
    facts["ending"] = ending(outcome.ending).into();
    facts["steps"] = outcome.steps.into();
    facts["epochs"] = outcome.epochs.into();
    facts["val_loss_epoch"] = outcome.best_loss.into();
    facts["best"] = json!(outcome.best);
    facts["last"] = json!(outcome.last);
}

/// The ending of a training as a word.
pub fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Done => "done",
        Ending::Stopped => "stopped",
        Ending::Diverged => "diverged",
    }
}
