//! All statistics of one port, collected in one pass over its values.

use super::accumulator::{Accumulator, Needs};
use super::groups::Groups;
use super::summary::{Seen, Summary};
use super::{Statistic, StatisticError};

/// Values that are regrouped together: a part of the second cache.
const TILE: usize = 1 << 16;

/// Collects the statistics of a port. The results are the same to the last bit however the samples come: in batches of
/// any size, or in several profiles that are merged in the order of their samples.
#[derive(Clone, Debug)]
pub struct Profile {
    statistics: Vec<Statistic>,
    /// For each statistic, its view.
    view_of: Vec<usize>,
    views: Vec<View>,
    sample: Vec<usize>,
    rows: usize,
    keeps_values: bool,
    /// All samples in order; empty if nobody wants them.
    values: Vec<f32>,
    not_finite: Option<StatisticError>,
}

/// The state shared by statistics of equal groups.
#[derive(Clone, Debug)]
struct View {
    groups: Groups,
    needs: Needs,
    accumulators: Vec<Accumulator>,
}

impl Profile {
    /// Collects `statistics` of samples of this shape.
    pub fn new(statistics: &[Statistic], sample: &[usize]) -> Result<Self, StatisticError> {
        let mut views: Vec<View> = Vec::new();
        let mut view_of = Vec::new();
        for statistic in statistics {
            let groups = Groups::new(statistic.dims(), sample)?;
            let known = views.iter().position(|view| view.groups == groups);
            view_of.push(known.unwrap_or(views.len()));
            match known {
                Some(at) => views[at].needs = views[at].needs.and(statistic.needs()),
                None => views.push(View {
                    accumulators: vec![Accumulator::EMPTY; groups.count()],
                    needs: statistic.needs(),
                    groups,
                }),
            }
        }
        let keeps_values = views.iter().any(|view| view.needs.values);
        Ok(Self {
            statistics: statistics.to_vec(),
            view_of,
            views,
            sample: sample.to_vec(),
            rows: 0,
            keeps_values,
            values: Vec::new(),
            not_finite: None,
        })
    }

    /// Makes room for samples to come.
    pub fn reserve(&mut self, rows: usize) {
        if self.keeps_values {
            let width: usize = self.sample.iter().product();
            self.values.reserve_exact(rows * width);
        }
    }

    /// Adds samples, row-major.
    ///
    /// # Panics
    /// If the samples are not whole.
    pub fn add(&mut self, rows: &[f32]) {
        let width: usize = self.sample.iter().product();
        let count = rows.len().checked_div(width).unwrap_or(0);
        assert_eq!(rows.len(), count * width, "samples of {:?}", self.sample);
        let is_finite = self.views.iter_mut().all(|view| view.add(rows, width));
        if !is_finite && self.not_finite.is_none() {
            self.not_finite = StatisticError::not_finite(rows, &self.sample, self.rows);
        }
        if self.keeps_values {
            self.values.extend_from_slice(rows);
        }
        self.rows += count;
    }

    /// Adds what another profile of the same statistics has seen of later samples.
    ///
    /// # Panics
    /// If the other was made for something else.
    pub fn merge(&mut self, mut later: Self) {
        self.append(&mut later);
    }

    /// Moves what another profile of the same statistics has seen of later samples into this one. The other is left as
    /// new, with the memory it has.
    ///
    /// # Panics
    /// If the other was made for something else.
    pub fn append(&mut self, later: &mut Self) {
        assert!(
            self.statistics == later.statistics && self.sample == later.sample,
            "profiles of different statistics or samples"
        );
        for (view, more) in self.views.iter_mut().zip(&mut later.views) {
            for (group, more) in view.accumulators.iter_mut().zip(&mut more.accumulators) {
                group.merge(more);
                *more = Accumulator::EMPTY;
            }
        }
        let not_finite = later.not_finite.take();
        if self.not_finite.is_none() {
            self.not_finite = not_finite.map(|error| error.after(self.rows));
        }
        self.values.append(&mut later.values);
        self.rows += std::mem::take(&mut later.rows);
    }

    /// The results of the statistics, in their order.
    pub fn finish(mut self) -> Result<Vec<Summary>, StatisticError> {
        if let Some(error) = self.not_finite {
            return Err(error);
        }
        if self.rows == 0 || self.sample.contains(&0) {
            return Err(StatisticError::Empty {
                rows: self.rows,
                shape: self.sample,
            });
        }
        let with_views = self.statistics.iter().zip(&self.view_of);
        let mut summaries: Vec<Summary> = with_views
            .map(|(statistic, &view)| statistic.summarize(&self.seen(view)))
            .collect();
        let values = std::mem::take(&mut self.values);
        self.hand_over(values, &mut summaries);
        Ok(summaries)
    }

    fn seen(&self, view: usize) -> Seen<'_> {
        Seen {
            rows: self.rows,
            groups: &self.views[view].groups,
            accumulators: &self.views[view].accumulators,
            values: &self.values,
        }
    }

    /// Gives the values to `record`, which is seldom there and seldom more than once.
    fn hand_over(&self, data: Vec<f32>, summaries: &mut [Summary]) {
        let records = self.statistics.iter().zip(summaries);
        let mut records = records.filter_map(|(statistic, summary)| match statistic {
            Statistic::Record(record) => Some((record, summary)),
            _ => None,
        });
        let Some((first, summary)) = records.next() else {
            return;
        };
        for (record, summary) in records {
            let shape = record.shape(self.rows, &self.sample);
            summary.data = Some((shape, data.clone()));
        }
        summary.data = Some((first.shape(self.rows, &self.sample), data));
    }
}

impl View {
    /// Adds whole samples; false if a value is not finite.
    fn add(&mut self, rows: &[f32], width: usize) -> bool {
        if let [all] = self.accumulators.as_mut_slice() {
            return all.add(rows, self.needs);
        }
        let tile = (TILE / width.max(1)).max(1) * width;
        let mut scratch = Vec::new();
        rows.chunks(tile.max(1)).all(|rows| {
            scratch.clear();
            self.groups
                .gather(rows, 0, self.groups.count(), &mut scratch);
            let size = scratch.len() / self.accumulators.len();
            let mut groups = self.accumulators.iter_mut().zip(scratch.chunks(size));
            groups.all(|(group, values)| group.add(values, self.needs))
        })
    }
}
