//! The pages that other commands leave in their folders.

use super::{DATA, chapters, fact, html};
use anyhow::Result;
use data::{Dataset, Split};
use ir::Graph;
use passes::page::{Fact, Page};
use search::results::{BestGraph, Report, page_data};
use serde_json::Value as Json;

/// Multiply-accumulates that the page of a command that does other work may take.
const MAX_MACS: u64 = 2_000_000_000;
/// Rows that it runs at most.
const MAX_ROWS: usize = 512;

/// As many of these rows as a network can be run on without taking long; none where one row would.
fn affordable(rows: &Split, graph: &Graph) -> Result<Option<Split>> {
    let verified = ir::verify(graph)?;
    let macs = verified.graph().iter().map(|(id, _)| {
        let cost = passes::cost::node_cost(&verified, id, 1);
        cost.map_or(0, |cost| cost.macs)
    });
    let count = (MAX_MACS / macs.sum::<u64>().max(1)).min(MAX_ROWS as u64) as usize;
    let rows = rows.head(count);
    Ok((!rows.indices().is_empty()).then_some(rows))
}

/// A page that a command leaves.
struct Left<'a> {
    title: &'a str,
    before: Option<&'a Graph>,
    after: &'a Graph,
    rows: Option<&'a Split>,
    facts: Vec<Fact>,
    search: Option<Json>,
}

impl Left<'_> {
    fn html(self) -> Result<String> {
        let rows = self.rows.map(|rows| affordable(rows, self.after));
        let rows = rows.transpose()?.flatten();
        let page = Page {
            title: self.title,
            network: ("after", self.after),
            against: self.before.map(|graph| ("before", graph)),
            rows: rows.as_ref(),
            is_labelled: true,
            facts: self.facts,
            terms: chapters::terms(self.after),
            training: None,
            search: self.search,
            is_timed: false,
            with_weights: false,
            threads: 1,
        };
        Ok(html(&page.data()?, self.title))
    }
}

/// The page of what a command did to a network; rows are left out where running them would take long.
pub fn of_change(
    name: &str,
    [before, after]: [&Graph; 2],
    data: Option<&Dataset>,
) -> Result<String> {
    let mut facts = vec![fact("network", None, name, "the network of the page")];
    facts.extend(data.map(|data| fact("data", None, data.info.name.as_str(), DATA)));
    let page = Left {
        title: name,
        before: Some(before),
        after,
        rows: data.map(|data| &data.test),
        facts,
        search: None,
    };
    page.html()
}

/// The page of a search: its chapter, and the best trial's network against the one that was searched, on rows of the search.
pub fn of_search(
    title: &str,
    report: &Report,
    best: Option<&BestGraph>,
    data: &Dataset,
) -> Result<String> {
    let search = report.search;
    let network = &*search.network;
    let mut facts = vec![
        fact(
            "network",
            None,
            network.name.as_str(),
            "the network that was searched",
        ),
        fact("data", None, data.info.name.as_str(), DATA),
        fact("seed", None, search.seed, "seed of every random choice"),
        fact(
            "sampler",
            None,
            search.config.sampler.name,
            "proposes the trials",
        ),
    ];
    if let Some(best) = best {
        let about =
            "the best trial, whose network the page compares with the one that was searched";
        facts.push(fact("trial", None, best.trial.number, about));
    }
    let page = Left {
        title,
        before: best.map(|_| network),
        after: best.map_or(network, |best| &best.graph),
        rows: Some(&search.rows),
        facts,
        search: Some(page_data(report)),
    };
    page.html()
}
