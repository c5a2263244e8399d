//! From the description of a tensor to its values.

use super::container::Source;
use super::{Dense, legacy};
use crate::Budget;
use crate::dtype::DType;
use crate::error::Problem;
use crate::pickle::{Node, View};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// NumPy's limit too.
const MAX_RANK: usize = 64;
/// Elements that may be made beyond one for each byte of the file: small views of small storages.
const SPARE_ELEMENTS: u64 = 1 << 20;
/// Bytes of a tensor besides its elements: axes, name, places in lists.
const TENSOR_BYTES: u64 = 256;
/// Wrappers around a tensor: a parameter of a subclass is two.
const MAX_WRAPPERS: usize = 8;

/// Turns descriptions into tensors.
pub struct Tensors<'a> {
    source: Source<'a>,
    storages: BTreeMap<String, Cow<'a, [u8]>>,
    /// Storages inside the pickle, by their place in it, with the key and type of each.
    inner: BTreeMap<u32, (String, Option<DType>)>,
    /// Elements that may still be made: a view of one element can claim to have any number.
    left: u64,
    budget: &'a Budget,
}

/// A reference to a storage: `('storage', torch.FloatStorage, '0', 'cpu', 16)`.
pub struct Reference {
    /// The name of the storage in the container.
    pub key: String,
    /// The type of its elements; `None` for bytes, whose tensors have types of their own.
    pub dtype: Option<DType>,
}

/// A strided view of a storage.
pub struct Layout {
    offset: usize,
    shape: Vec<usize>,
    strides: Vec<usize>,
}

impl Reference {
    /// The reference in a persistent id.
    pub fn read(id: View, budget: &Budget) -> Result<Self, Problem> {
        let bad = || Problem::part("storage", "a reference that PyTorch does not write");
        let key = id.element(2).and_then(View::text).ok_or_else(bad)?;
        let (module, class) = id.element(1).and_then(View::global).ok_or_else(bad)?;
        if id.element(5).is_some_and(|view| *view.node() != Node::None) {
            return Err(Problem::part(
                format!("storage {key}"),
                "views of storages are not read",
            ));
        }
        // A long key may be shared by many references.
        budget.take(key.len() as u64)?;
        let dtype = DType::of_storage(class);
        if dtype.is_none() && class != "UntypedStorage" {
            return Err(Problem::part(
                format!("storage {key}"),
                format!("elements of {module}.{class} are not read"),
            ));
        }
        Ok(Self {
            key: key.to_owned(),
            dtype,
        })
    }
}

impl<'a> Tensors<'a> {
    /// Tensors of a file with this budget.
    pub(super) fn new(
        source: Source<'a>,
        storages: BTreeMap<String, Cow<'a, [u8]>>,
        budget: &'a Budget,
    ) -> Self {
        Self {
            source,
            storages,
            inner: BTreeMap::new(),
            left: budget.size().saturating_add(SPARE_ELEMENTS),
            budget,
        }
    }

    /// The budget of the file.
    pub fn budget(&self) -> &'a Budget {
        self.budget
    }

    /// The tensor that a value describes, or `None` when it describes something else.
    pub fn read(&mut self, value: View) -> Result<Option<Dense>, Problem> {
        match value.call() {
            Some((callable, args)) => self.call(callable, args, MAX_WRAPPERS),
            None => Ok(None),
        }
    }

    fn call(&mut self, callable: View, args: View, depth: usize) -> Result<Option<Dense>, Problem> {
        let Some(depth) = depth.checked_sub(1) else {
            return Ok(None);
        };
        let wrapped = match callable.global() {
            Some(("torch._utils", "_rebuild_tensor" | "_rebuild_tensor_v2")) => {
                return self.rebuild(args, None).map(Some);
            }
            Some(("torch._utils", "_rebuild_tensor_v3")) => {
                let dtype = args
                    .element(6)
                    .and_then(View::global)
                    .map_or("", |(_, name)| name);
                let known = DType::of_torch(dtype);
                let known = known.ok_or_else(|| {
                    Problem::part("tensor", format!("elements of torch.{dtype} are not read"))
                });
                return self.rebuild(args, Some(known?)).map(Some);
            }
            Some(("torch._utils", "_rebuild_parameter" | "_rebuild_parameter_with_state")) => {
                args.element(0).and_then(View::call)
            }
            Some(("torch._tensor", "_rebuild_from_type_v2")) => {
                args.element(0).zip(args.element(2))
            }
            _ => None,
        };
        match wrapped {
            Some((callable, args)) => self.call(callable, args, depth),
            None => Ok(None),
        }
    }

    /// `_rebuild_tensor_v2(storage, offset, size, stride, …)`.
    fn rebuild(&mut self, args: View, dtype: Option<DType>) -> Result<Dense, Problem> {
        let bad = || Problem::part("tensor", "a description that PyTorch does not write");
        let layout = Layout::read(args).ok_or_else(bad)?;
        let (key, stored) = self.storage(args.element(0).ok_or_else(bad)?)?;
        let dtype = dtype.or(stored).ok_or_else(bad)?;
        let data = &self.storages[&key];
        let numel = layout.numel(data.len() / dtype.size());
        let numel = numel.map_err(|message| Problem::part(format!("storage {key}"), message))?;
        let left = self.left.checked_sub(numel as u64);
        self.left = left.ok_or_else(|| {
            Problem::part(
                format!("storage {key}"),
                "its views have far more elements than the file",
            )
        })?;
        self.budget.take(TENSOR_BYTES)?;
        self.budget.take_array(numel, size_of::<f32>())?;
        let values = layout.gather(data, dtype, numel);
        Ok(Dense {
            shape: layout.shape,
            values,
        })
    }

    /// Makes sure that a storage is in memory; its key and the type of its elements.
    fn storage(&mut self, value: View) -> Result<(String, Option<DType>), Problem> {
        if let Some(id) = value.persistent() {
            let reference = Reference::read(id, self.budget)?;
            self.load(&reference.key)?;
            return Ok((reference.key, reference.dtype));
        }
        let inner = value.call().and_then(|(callable, args)| {
            let bytes = args.element(0)?;
            (callable.global() == Some(("torch.storage", "_load_from_bytes"))).then_some(bytes)
        });
        let not_read = || format!("is {}, which is not read", value.describe());
        let inner = inner.ok_or_else(|| Problem::part("storage", not_read()))?;
        if let Some(known) = self.inner.get(&inner.place()) {
            return Ok(known.clone());
        }
        let bytes = inner
            .bytes()
            .ok_or_else(|| Problem::part("storage", not_read()))?;
        // The bytes, and the copy that is made of them.
        self.budget.take_array(bytes.len(), 2)?;
        let found = self.inner_storage(inner, &bytes)?;
        self.inner.insert(inner.place(), found.clone());
        Ok(found)
    }

    fn load(&mut self, key: &str) -> Result<(), Problem> {
        if self.storages.contains_key(key) {
            return Ok(());
        }
        let Source::Zip { archive, prefix } = &mut self.source else {
            return Err(Problem::part(
                format!("storage {key}"),
                "is not in the file",
            ));
        };
        let data = archive.read(&format!("{prefix}data/{key}"))?;
        self.storages.insert(key.to_owned(), Cow::Owned(data));
        Ok(())
    }

    /// A storage that a plain pickle holds as the bytes of a file of its own.
    fn inner_storage(
        &mut self,
        value: View,
        bytes: &[u8],
    ) -> Result<(String, Option<DType>), Problem> {
        let bad = || Problem::part("storage", "bytes that PyTorch does not write");
        let (pickle, mut storages) = legacy::open(bytes, self.budget)?.ok_or_else(bad)?;
        let reference = Reference::read(pickle.root().persistent().ok_or_else(bad)?, self.budget)?;
        let data = storages.remove(&reference.key).ok_or_else(bad)?;
        // Keys of different inner files may be equal; the place in the pickle is not.
        let key = format!("{} of value {}", reference.key, value.place());
        self.storages.insert(key.clone(), Cow::Owned(data.to_vec()));
        Ok((key, reference.dtype))
    }
}

impl Layout {
    fn read(args: View) -> Option<Self> {
        let sizes = |view: View| -> Option<Vec<usize>> {
            let elements = view.elements()?;
            elements
                .map(|size| usize::try_from(size.int()?).ok())
                .collect()
        };
        let offset = usize::try_from(args.element(1)?.int()?).ok()?;
        Self::new(offset, sizes(args.element(2)?)?, sizes(args.element(3)?)?)
    }

    /// A view; `None` when strides and axes differ in number or are too many.
    pub fn new(offset: usize, shape: Vec<usize>, mut strides: Vec<usize>) -> Option<Self> {
        // No step is ever made along an axis of one element, so that its stride may be any number.
        for (stride, &size) in strides.iter_mut().zip(&shape) {
            *stride *= usize::from(size != 1);
        }
        let fits = shape.len() == strides.len() && shape.len() <= MAX_RANK;
        fits.then_some(Self {
            offset,
            shape,
            strides,
        })
    }

    /// The number of elements, all of which lie in a storage of `stored` elements.
    fn numel(&self, stored: usize) -> Result<usize, String> {
        let too_large = || format!("a view of shape {:?} is larger than memory", self.shape);
        let numel = self
            .shape
            .iter()
            .try_fold(1_usize, |n, &size| n.checked_mul(size));
        let numel = numel.ok_or_else(too_large)?;
        if numel == 0 {
            return Ok(0);
        }
        let last = self
            .shape
            .iter()
            .zip(&self.strides)
            .try_fold(self.offset, |at, (&size, &stride)| {
                at.checked_add((size - 1).checked_mul(stride)?)
            });
        match last {
            Some(last) if last < stored => Ok(numel),
            _ => Err(format!(
                "a view of shape {:?}, strides {:?} and offset {} lies outside its {stored} elements",
                self.shape, self.strides, self.offset
            )),
        }
    }

    /// The elements that it shows of a storage.
    pub fn values(&self, data: &[u8], dtype: DType, budget: &Budget) -> Result<Vec<f32>, Problem> {
        let numel = self.numel(data.len() / dtype.size());
        let numel = numel.map_err(|message| Problem::part("tensor", message))?;
        budget.take_array(numel, size_of::<f32>())?;
        Ok(self.gather(data, dtype, numel))
    }

    fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        self.shape
            .iter()
            .zip(&self.strides)
            .rev()
            .all(|(&size, &stride)| {
                let fits = size == 1 || stride == expected;
                expected *= size;
                fits
            })
    }

    fn gather(&self, data: &[u8], dtype: DType, numel: usize) -> Vec<f32> {
        let size = dtype.size();
        if numel == 0 {
            return Vec::new();
        }
        if self.is_contiguous() {
            return dtype.values(&data[self.offset * size..(self.offset + numel) * size]);
        }
        let mut index = vec![0; self.shape.len()];
        let mut at = self.offset;
        let mut values = Vec::with_capacity(numel);
        loop {
            values.push(dtype.value(&data[at * size..]));
            // The next index, like an odometer: the last axis turns fastest.
            let turning = (0..index.len()).rev().find(|&axis| {
                index[axis] += 1;
                at += self.strides[axis];
                let turns = index[axis] < self.shape[axis];
                if !turns {
                    at -= index[axis] * self.strides[axis];
                    index[axis] = 0;
                }
                turns
            });
            if turning.is_none() {
                return values;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stride_that_is_never_used_may_be_any_number() {
        let bytes: Vec<u8> = [1.0_f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat();
        // Transposed, so that the elements are gathered one by one.
        let layout = Layout::new(0, vec![2, 1, 2], vec![1, usize::MAX, 2]).unwrap();
        assert_eq!(layout.numel(4), Ok(4));
        let values = layout.gather(&bytes, DType::F32, 4);
        assert_eq!(values, [1.0, 3.0, 2.0, 4.0]);
    }

    /// Every view of six elements with up to two axes, read one by one.
    #[test]
    fn a_view_has_the_elements_that_its_strides_reach() {
        let stored: Vec<f32> = (0..6_u8).map(f32::from).collect();
        let bytes: Vec<u8> = stored
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let budget = Budget::of_size(100);
        let (mut inside, mut outside) = (0, 0);
        for offset in 0..3 {
            for rows in 0..4 {
                for columns in 0..4 {
                    for (a, b) in [(0, 1), (1, 0), (1, 1), (1, 2), (2, 1), (3, 1), (4, 1)] {
                        let places = (0..rows).flat_map(|row| {
                            (0..columns).map(move |column| offset + a * row + b * column)
                        });
                        let expected: Option<Vec<f32>> =
                            places.map(|place| stored.get(place).copied()).collect();
                        let layout = Layout::new(offset, vec![rows, columns], vec![a, b]).unwrap();
                        let found = layout.values(&bytes, DType::F32, &budget).ok();
                        assert_eq!(found, expected, "{offset} [{rows}, {columns}] by {a}, {b}");
                        inside += usize::from(found.is_some());
                        outside += usize::from(found.is_none());
                    }
                }
            }
        }
        assert!(inside > 200 && outside > 40, "{inside} {outside}");
        // A single number has no axis.
        let number = Layout::new(5, Vec::new(), Vec::new()).unwrap();
        assert_eq!(number.values(&bytes, DType::F32, &budget).unwrap(), [5.0]);
        let behind = Layout::new(6, Vec::new(), Vec::new()).unwrap();
        let error = behind.values(&bytes, DType::F32, &budget).unwrap_err();
        assert_eq!(
            error.to_string(),
            "tensor: a view of shape [], strides [] and offset 6 lies outside its 6 elements"
        );
    }

    #[test]
    fn a_view_has_a_stride_for_each_of_at_most_so_many_axes() {
        assert!(Layout::new(0, vec![2], vec![1, 1]).is_none());
        assert!(Layout::new(0, vec![1; MAX_RANK], vec![1; MAX_RANK]).is_some());
        assert!(Layout::new(0, vec![1; MAX_RANK + 1], vec![1; MAX_RANK + 1]).is_none());
        let huge = Layout::new(0, vec![usize::MAX, 3], vec![0, 0]).unwrap();
        let error = huge.numel(1).unwrap_err();
        assert!(error.ends_with("is larger than memory"), "{error}");
        let far = Layout::new(usize::MAX, vec![2], vec![1]).unwrap();
        assert!(far.numel(usize::MAX).is_err());
    }
}
