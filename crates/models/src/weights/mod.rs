//! Weights into a graph and out of it, by PyTorch's dotted names.
//!
//! A module that is called twice has one set of parameters under one name; loading writes both places. Pruning masks
//! go along as `<parameter>_mask` and `<module>.data_in_0_mask`. A prefix that a wrapper put before the names is left out.

use interop::checkpoint::NamedTensor;
use ir::{Graph, NodeId, Tensor};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

mod masks;
mod prefix;
mod stored;

use masks::{Masks, without_originals};
use prefix::without_prefix;
use stored::StoredFields;

/// Every reason why weights do not fit a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct LoadError {
    /// The graph.
    pub graph: String,
    /// Parameters of the graph that the weights lack.
    pub missing: Vec<Missing>,
    /// Names of weights that the graph does not have.
    pub unexpected: Vec<String>,
    /// Names that both have, with different shapes.
    pub shapes: Vec<WrongShape>,
    /// Masks that are not masks, and stored fields that their formats do not take.
    pub values: Vec<BadValue>,
}

/// A tensor with a value that it cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValue {
    /// Its dotted name.
    pub name: String,
    /// The problem.
    pub why: String,
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.why)
    }
}

/// A parameter without weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its dotted name.
    pub name: String,
    /// Names of weights that nothing else uses and that are close to it, nearest first.
    pub candidates: Vec<String>,
}

/// A parameter whose weights have another shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongShape {
    /// Its dotted name.
    pub name: String,
    /// The shape in the graph.
    pub expected: Vec<usize>,
    /// The shape of the weights.
    pub got: Vec<usize>,
}

/// The differences between the weights and the graph that they were loaded into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The prefix of wrappers that the names had.
    pub prefix: Option<String>,
    /// Names of weights that the graph does not have, without that prefix.
    pub left_out: Vec<String>,
}

/// The treatment of weights that the graph does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extra {
    Refuse,
    LeaveOut,
}

/// Names that a state dict has and a graph needs not: counters and constants that no value depends on.
const IGNORED: &[&str] = &["num_batches_tracked", "position_ids", "_extra_state"];

/// The end of the names of scales that a training learns; the formats of its graph hold them too.
const LEARNED: &str = "_log2_step";

/// The node and port of a parameter.
struct Place {
    node: NodeId,
    port: &'static str,
    shape: Vec<usize>,
}

/// Gives every parameter and buffer of the graph its values, and the graph the masks among the weights in place of its
/// own. A masked parameter is zero where its mask is. Nothing is changed when a single tensor does not fit or the graph has
/// no place for it.
///
/// ```
/// let mut graph = models::build("jsc-tiny", &models::ModelInfo::default())?;
/// graph.initialize(1);
/// let mut other = models::build("jsc-tiny", &models::ModelInfo::default())?;
/// other.initialize(2);
/// models::weights::load_into(&mut other, &models::weights::tensors_of(&graph))?;
/// assert_eq!(graph, other);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_into(graph: &mut Graph, tensors: &[NamedTensor]) -> Result<Loaded, LoadError> {
    load(graph, tensors, Extra::Refuse)
}

/// The same, but tensors that the graph has no place for are left out.
///
/// ```
/// let mut graph = models::build("jsc-tiny", &models::ModelInfo::default())?;
/// graph.initialize(1);
/// let mut tensors = models::weights::tensors_of(&graph);
/// tensors.push(interop::checkpoint::NamedTensor { name: "act_scale".into(), shape: vec![], values: vec![0.5] });
/// let loaded = models::weights::load_matching(&mut graph, &tensors)?;
/// assert_eq!(loaded.left_out, ["act_scale"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_matching(graph: &mut Graph, tensors: &[NamedTensor]) -> Result<Loaded, LoadError> {
    load(graph, tensors, Extra::LeaveOut)
}

fn load(graph: &mut Graph, tensors: &[NamedTensor], extra: Extra) -> Result<Loaded, LoadError> {
    let places = places(graph);
    let wanted: BTreeSet<&str> = places.iter().map(|(name, _)| name.as_str()).collect();
    let (tensors, prefix) = without_prefix(tensors, &wanted);
    let tensors = without_originals(tensors, &wanted);
    let given: BTreeMap<&str, &NamedTensor> =
        tensors.iter().map(|t| (t.name.as_str(), &**t)).collect();
    let mut masks = Masks::find(graph, &given);
    let mut stored = StoredFields::find(graph, &given);
    let beside: BTreeSet<&String> = masks.names.union(&stored.names).collect();
    let unexpected = unexpected(&tensors, &wanted, &beside);
    let mut shapes = wrong_shapes(&places, &given);
    shapes.append(&mut masks.shapes);
    shapes.append(&mut stored.shapes);
    let missing_fields = stored.missing.iter().map(String::as_str);
    let needed: BTreeSet<&str> = wanted.iter().copied().chain(missing_fields).collect();
    let error = LoadError {
        graph: graph.name.clone(),
        missing: missing(&needed, &given, &unexpected),
        shapes,
        values: [&mut masks.values, &mut stored.values]
            .into_iter()
            .flat_map(std::mem::take)
            .collect(),
        unexpected,
    };
    if !error.is_empty(extra) {
        return Err(error);
    }
    let mut shared: BTreeMap<&str, Tensor> = BTreeMap::new();
    for (name, place) in &places {
        let tensor = shared.entry(name).or_insert_with(|| {
            let values = given[name.as_str()].values.clone();
            Tensor::new(place.shape.clone(), values).expect("wrong_shapes has compared the sizes")
        });
        let params = &mut graph.node_mut(place.node).params;
        params.insert(place.port.to_owned(), tensor.clone());
    }
    masks.put_into(graph);
    stored.put_into(graph);
    Ok(Loaded {
        prefix,
        left_out: error.unexpected,
    })
}

/// Every parameter, buffer, mask and stored field that is present, each once, in the order of PyTorch's state dict: a module's own tensors
/// before those of its children, children in the order in which they first compute.
pub fn tensors_of(graph: &Graph) -> Vec<NamedTensor> {
    let mut first_seen: BTreeMap<&str, usize> = BTreeMap::new();
    let stored = graph.stored_fields();
    let stored = stored.iter().map(|(name, tensor)| (name.clone(), tensor));
    let own = graph.parameters().chain(graph.masks());
    let parameters: Vec<(String, &Tensor)> = own.chain(stored).collect();
    for (index, (name, _)) in parameters.iter().enumerate() {
        for module in modules_of(name).chain([name.as_str()]) {
            first_seen.entry(module).or_insert(index);
        }
    }
    let own_before_children = |&(index, name, _): &(usize, &str, &Tensor)| {
        let modules = modules_of(name).map(|module| (true, first_seen[module]));
        modules.chain([(false, index)]).collect::<Vec<_>>()
    };
    let mut order: Vec<(usize, &str, &Tensor)> = parameters
        .iter()
        .enumerate()
        .map(|(index, (name, tensor))| (index, name.as_str(), *tensor))
        .filter(|(index, name, _)| first_seen[name] == *index)
        .collect();
    order.sort_by_cached_key(own_before_children);
    let named = |(_, name, tensor): (_, &str, &Tensor)| NamedTensor {
        name: name.to_owned(),
        shape: tensor.shape().to_vec(),
        values: tensor.values().to_vec(),
    };
    order.into_iter().map(named).collect()
}

/// The modules around a parameter, outermost first: `a`, `a.b` for `a.b.weight`.
fn modules_of(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('.').map(|(dot, _)| &name[..dot])
}

fn places(graph: &Graph) -> Vec<(String, Place)> {
    let of_node = |(node, n): (NodeId, &ir::Node)| {
        let place = |(port, shape, ..): (&'static str, Vec<usize>, _, _)| {
            (n.param_path(port), Place { node, port, shape })
        };
        n.param_specs().into_iter().map(place).collect::<Vec<_>>()
    };
    graph.iter().flat_map(of_node).collect()
}

fn unexpected(
    tensors: &[Cow<NamedTensor>],
    wanted: &BTreeSet<&str>,
    beside: &BTreeSet<&String>,
) -> Vec<String> {
    let ignored = |name: &str| {
        IGNORED.contains(&name.rsplit('.').next().unwrap_or(name)) || name.ends_with(LEARNED)
    };
    tensors
        .iter()
        .map(|tensor| tensor.name.as_str())
        .filter(|name| {
            !wanted.contains(name) && !beside.iter().any(|b| b == name) && !ignored(name)
        })
        .map(str::to_owned)
        .collect()
}

fn missing(
    wanted: &BTreeSet<&str>,
    given: &BTreeMap<&str, &NamedTensor>,
    unexpected: &[String],
) -> Vec<Missing> {
    wanted
        .iter()
        .filter(|name| !given.contains_key(*name))
        .map(|name| Missing {
            name: (*name).to_owned(),
            candidates: near(name, unexpected),
        })
        .collect()
}

fn wrong_shapes(
    places: &[(String, Place)],
    given: &BTreeMap<&str, &NamedTensor>,
) -> Vec<WrongShape> {
    let mut wrong = Vec::new();
    for (name, place) in places {
        let Some(tensor) = given.get(name.as_str()) else {
            continue;
        };
        if !fits(tensor, &place.shape) && wrong.iter().all(|w: &WrongShape| w.name != *name) {
            wrong.push(WrongShape {
                name: name.clone(),
                expected: place.shape.clone(),
                got: tensor.shape.clone(),
            });
        }
    }
    wrong
}

fn fits(tensor: &NamedTensor, shape: &[usize]) -> bool {
    let size = shape
        .iter()
        .try_fold(1_usize, |n, &size| n.checked_mul(size));
    tensor.shape == shape && size == Some(tensor.values.len())
}

/// Up to two names that are close, nearest first. A file may have thousands of strange names: not all are measured.
fn near(name: &str, names: &[String]) -> Vec<String> {
    let close = config::nearest(name, names.iter().take(1000).map(String::as_str));
    close.into_iter().take(2).map(str::to_owned).collect()
}

impl LoadError {
    fn is_empty(&self, extra: Extra) -> bool {
        self.missing.is_empty()
            && (extra == Extra::LeaveOut || self.unexpected.is_empty())
            && self.shapes.is_empty()
            && self.values.is_empty()
    }
}

/// One line per problem, at most this many of a sort.
const SHOWN: usize = 20;

impl Loaded {
    /// A sentence for each difference, with the name of the file and of the graph.
    pub fn notes(&self, file: &str, graph: &str) -> Vec<String> {
        let prefix = self.prefix.iter();
        let prefix =
            prefix.map(|prefix| format!("{file}: the prefix '{prefix}' of its names is left out"));
        let mut names = self
            .left_out
            .iter()
            .take(SHOWN)
            .cloned()
            .collect::<Vec<_>>();
        let n = self.left_out.len();
        if n > SHOWN {
            names.push(format!("and {} more", n - SHOWN));
        }
        let plural = if n == 1 { "" } else { "s" };
        let extra = (n > 0).then(|| {
            let names = names.join(", ");
            format!("{file}: {n} tensor{plural} that {graph} does not have left out: {names}")
        });
        prefix.chain(extra).collect()
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let counts = [
            (self.missing.len(), "missing"),
            (self.unexpected.len(), "unexpected"),
            (self.shapes.len(), "of another shape"),
            (self.values.len(), "with values that it cannot have"),
        ];
        let counts: Vec<String> = counts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{n} {what}"))
            .collect();
        write!(
            f,
            "weights do not fit {}: {}",
            self.graph,
            counts.join(", ")
        )?;
        lines(f, &self.missing)?;
        lines(
            f,
            &self
                .unexpected
                .iter()
                .map(|name| format!("unexpected {name}"))
                .collect::<Vec<_>>(),
        )?;
        lines(f, &self.shapes)?;
        lines(f, &self.values)
    }
}

fn lines<T: fmt::Display>(f: &mut fmt::Formatter, problems: &[T]) -> fmt::Result {
    for problem in problems.iter().take(SHOWN) {
        write!(f, "\n  {problem}")?;
    }
    match problems.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => write!(f, "\n  and {more} more"),
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "missing {}", self.name)?;
        match self.candidates.as_slice() {
            [] => Ok(()),
            close => write!(f, "; the weights have {}", close.join(" and ")),
        }
    }
}

impl fmt::Display for WrongShape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "{}: the graph has shape {:?}, the weights {:?}",
            self.name, self.expected, self.got
        )
    }
}
