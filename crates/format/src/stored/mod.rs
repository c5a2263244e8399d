//! Stored fields: values of a field that differ from place to place, in an array beside the parameters of a node.
//!
//! The text of a format says `stored` where such a field stands, and how the array lies: along `axis`, in blocks along it,
//! or, without an axis, element by element. The array has then the shape of the last axes of what is rounded, so that a
//! parameter has one value for each element, and a batch one for each element of a sample.

mod layout;

use std::fmt;
use std::sync::Arc;

use crate::Format;
use crate::catalog::FormatEntry;
use crate::codes::{Codes, Scale};
use crate::error::FormatError;
use crate::field::{FieldValue, Fields};
use crate::number_format::{ArrayFormat, Element, NumberFormat, Point, check_lengths};
use crate::round::{ColumnRule, Columns, RoundingRule};
use crate::sweep::mask;
use layout::{Layout, Run, Runs};

/// The word that stands for the values of a stored field.
pub(crate) const STORED: &str = "stored";

/// The values of a stored field.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredArray {
    /// The size of every axis.
    pub shape: Vec<usize>,
    /// The values in row-major order.
    pub values: Vec<f32>,
}

/// A format whose fields may be stored.
pub(crate) trait Storable:
    NumberFormat<Element: Element<Rule: ColumnRule>> + Clone + fmt::Debug + PartialEq + Into<Format>
{
    /// The fields that may be, each with a value that the format takes in its place.
    const STORABLE: &'static [(&'static str, FieldValue)];
    /// Bits that a stored value of this field takes, beside the elements.
    fn stored_bits(field: &str) -> u32;
    /// The format with a value of a stored field; the reason why it cannot have it.
    fn with_value(self, field: &str, value: f32) -> Result<Self, String>;
}

/// A format with stored fields.
#[derive(Clone)]
pub struct Stored<F> {
    base: F,
    layout: Layout,
    arrays: Vec<(&'static str, Option<Arc<StoredArray>>)>,
    /// The formats that round, as soon as all arrays are there.
    places: Option<Arc<Places<F>>>,
}

/// The format of every place, and what follows from it for whole rows of places.
struct Places<F> {
    formats: Vec<F>,
    /// Column by column the numbers that rounding needs, where four suffice.
    columns: Option<[Vec<f32>; 4]>,
    /// The smallest and the largest float that do not saturate.
    pass: [Vec<f32>; 2],
}

impl<F: PartialEq> PartialEq for Stored<F> {
    fn eq(&self, other: &Self) -> bool {
        // The places follow from the rest.
        (&self.base, self.layout, &self.arrays) == (&other.base, other.layout, &other.arrays)
    }
}

impl<F: fmt::Debug> fmt::Debug for Stored<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrays = self.arrays.iter().map(|(name, _)| name);
        write!(f, "Stored({:?}, {:?}: ", self.base, self.layout)?;
        f.debug_list().entries(arrays).finish()?;
        write!(f, ")")
    }
}

/// The part of a format that only stored fields need.
pub(crate) trait StoredFields: Sized {
    /// The format whose text says `stored` in some of its fields.
    fn read(fields: &Fields<'_>) -> Result<Self, FormatError>;
    /// The format with the values of one of its stored fields.
    fn with_array(&self, field: &str, array: StoredArray) -> Result<Self, String>;
    /// The format before its stored fields have values.
    fn without_arrays(&self) -> Self;
    /// The stored fields and their values, as far as they are there.
    fn arrays(&self) -> Vec<(&'static str, Option<&StoredArray>)>;
    /// The format of every element of an array of this shape.
    fn of_elements(&self, shape: &[usize]) -> Vec<Format>;
    /// The place of every element of an array of this shape; nothing if it has no such axis.
    fn places_of(&self, shape: &[usize]) -> Option<Vec<usize>>;
    /// The shape of its arrays for an array of this shape; nothing if it has no such axis.
    fn array_shape(&self, shape: &[usize]) -> Option<Vec<usize>>;
}

impl<F: Storable> StoredFields for Stored<F> {
    fn read(fields: &Fields<'_>) -> Result<Self, FormatError> {
        let mut values = fields.values.to_vec();
        let mut arrays = Vec::new();
        for (name, value) in values.iter_mut().filter(|(_, value)| is_stored(value)) {
            let storable = F::STORABLE.iter().find(|(known, _)| known == name);
            let Some((field, stand_in)) = storable else {
                let names: Vec<&str> = F::STORABLE.iter().map(|(name, _)| *name).collect();
                let field = F::ENTRY.fields.iter().find(|field| field.name == name);
                let rule = format!("is only for {}", names.join(" and "));
                return Err(fields.bad_value(field.map_or("", |f| f.name), STORED, rule));
            };
            arrays.push((*field, None));
            *value = stand_in.clone();
        }
        let layout = Layout::read(fields)?;
        values.retain(|(name, _)| name != "axis" && name != "block");
        let base = F::read(&Fields {
            format: fields.format,
            values: &values,
        })?;
        Ok(Self {
            base,
            layout,
            arrays,
            places: None,
        })
    }

    fn with_array(&self, field: &str, array: StoredArray) -> Result<Self, String> {
        let mut with = self.clone();
        let Some((_, slot)) = with.arrays.iter_mut().find(|(name, _)| *name == field) else {
            return Err(format!("the format does not store {field}"));
        };
        *slot = Some(Arc::new(array));
        with.places = None;
        let arrays: Option<Vec<_>> = with
            .arrays
            .iter()
            .map(|(name, array)| Some((*name, array.as_deref()?)))
            .collect();
        if let Some(arrays) = arrays {
            with.places = Some(Arc::new(Places::new(&with.base, &arrays)?));
        }
        Ok(with)
    }

    fn without_arrays(&self) -> Self {
        let mut without = self.clone();
        without
            .arrays
            .iter_mut()
            .for_each(|(_, array)| *array = None);
        without.places = None;
        without
    }

    fn arrays(&self) -> Vec<(&'static str, Option<&StoredArray>)> {
        let arrays = self.arrays.iter();
        arrays
            .map(|(name, array)| (*name, array.as_deref()))
            .collect()
    }

    fn of_elements(&self, shape: &[usize]) -> Vec<Format> {
        let mut formats = Vec::with_capacity(shape.iter().product());
        for_each_place(self, shape, |_, format| formats.push(format.clone().into()));
        formats
    }

    fn places_of(&self, shape: &[usize]) -> Option<Vec<usize>> {
        let n_places = self.array_shape(shape)?.iter().product();
        Some(self.layout.runs(shape, n_places).places())
    }

    fn array_shape(&self, shape: &[usize]) -> Option<Vec<usize>> {
        self.layout.shape_for(shape)
    }
}

impl<F> Stored<F> {
    /// The format at every place; empty before the arrays are there.
    pub fn formats(&self) -> &[F] {
        let places = self.places.as_ref();
        places.map_or(&[], |places| places.formats.as_slice())
    }

    #[inline(always)]
    fn places(&self) -> &Places<F> {
        let places = self.places.as_deref();
        places.expect("a format is used after its stored fields have been given")
    }

    /// The place of every element of an array of this shape.
    pub(crate) fn place_of_each(&self, shape: &[usize]) -> Vec<usize> {
        self.runs(shape).places()
    }

    /// The walk over an array of this shape.
    #[inline(always)]
    fn runs(&self, shape: &[usize]) -> Runs {
        self.layout.runs(shape, self.places().formats.len())
    }
}

impl<F: Storable> Places<F> {
    fn new(base: &F, arrays: &[(&'static str, &StoredArray)]) -> Result<Self, String> {
        let shape = arrays.first().map_or(&[][..], |(_, array)| &array.shape);
        let len = shape.iter().product();
        for (name, array) in arrays {
            if array.shape != shape || array.values.len() != len {
                let (first, _) = arrays[0];
                let other = &array.shape;
                return Err(format!(
                    "{name} has the shape {other:?}, {first} has {shape:?}"
                ));
            }
        }
        let format_at = |place: usize| {
            arrays
                .iter()
                .try_fold(base.clone(), |format, (name, array)| {
                    let value = array.values[place];
                    let with = format.with_value(name, value);
                    with.map_err(|rule| format!("{name} at {place} is {value}, which {rule}"))
                })
        };
        let formats: Vec<F> = (0..len).map(format_at).collect::<Result<_, _>>()?;
        let rules = || formats.iter().map(rule_of);
        let columns: Option<Vec<Columns>> = rules().map(|rule| rule.columns()).collect();
        let column = |k: usize| {
            columns
                .as_ref()
                .map(|all| all.iter().map(|c| c[k]).collect())
        };
        Ok(Self {
            columns: column(0)
                .zip(column(1))
                .zip(column(2).zip(column(3)))
                .map(|((a, b), (c, d))| [a, b, c, d]),
            pass: [
                rules().map(|rule| rule.pass().0).collect(),
                rules().map(|rule| rule.pass().1).collect(),
            ],
            formats,
        })
    }

    /// Rounds a row of elements that have one place each, from `first` on.
    #[inline(always)]
    fn round_row(&self, first: usize, x: &[f32], y: &mut [f32]) {
        let end = first + x.len();
        let Some([a, b, c, d]) = &self.columns else {
            let formats = &self.formats[first..end];
            for ((format, x), y) in formats.iter().zip(x.chunks(1)).zip(y.chunks_mut(1)) {
                rule_of(format).round(x, y);
            }
            return;
        };
        let columns = a[first..end].iter().zip(&b[first..end]);
        let columns = columns.zip(c[first..end].iter().zip(&d[first..end]));
        for ((y, &x), ((&a, &b), (&c, &d))) in y.iter_mut().zip(x).zip(columns) {
            *y = <F::Element as Element>::Rule::round_by([a, b, c, d], x);
        }
    }

    #[inline(always)]
    fn mask_row(&self, first: usize, x: &[f32], grad: &mut [f32]) {
        let [lo, hi] = &self.pass;
        let bounds = lo[first..].iter().zip(&hi[first..]);
        for ((grad, &x), (&lo, &hi)) in grad.iter_mut().zip(x).zip(bounds) {
            *grad = if x < lo || x > hi { 0.0 } else { *grad };
        }
    }
}

/// True for the value that says that a field is stored.
pub(crate) fn is_stored(value: &FieldValue) -> bool {
    matches!(value, FieldValue::Text(word) if word == STORED)
}

impl<F: Storable> ArrayFormat for Stored<F> {
    fn entry(&self) -> &'static FormatEntry {
        const { &F::ENTRY }
    }

    fn fields(&self) -> Vec<(&'static str, FieldValue)> {
        let (axis, block) = self.layout.fields();
        let mut fields = ArrayFormat::fields(&self.base);
        for (name, value) in &mut fields {
            match *name {
                "axis" => *value = axis.clone(),
                "block" => *value = block.clone(),
                _ if self.arrays.iter().any(|(stored, _)| stored == name) => *value = STORED.into(),
                _ => {}
            }
        }
        fields
    }

    fn precision(&self) -> Vec<FieldValue> {
        let shown = NumberFormat::precision(&self.base).len();
        self.fields()
            .into_iter()
            .take(shown)
            .map(|(_, value)| value)
            .collect()
    }

    fn bits(&self, shape: &[usize]) -> f64 {
        let formats = self.formats();
        if formats.is_empty() {
            return f64::from(self.base.width());
        }
        let widths: f64 = formats.iter().map(|f| f64::from(f.width())).sum();
        let stored = self.arrays.iter().map(|(name, _)| F::stored_bits(name));
        let n_elements = shape.iter().product::<usize>().max(1);
        let shared = f64::from(stored.sum::<u32>()) * formats.len() as f64;
        widths / formats.len() as f64 + shared / n_elements as f64
    }

    fn range(&self) -> (f64, f64) {
        let ranges = self.formats().iter().map(NumberFormat::range);
        let wider = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        ranges.reduce(wider).unwrap_or_else(|| self.base.range())
    }

    fn point(&self) -> Point {
        Point::Stored
    }

    #[inline(always)]
    fn quantize(&self, x: &[f32], shape: &[usize], y: &mut [f32]) {
        check_lengths(shape, x.len(), y.len());
        let (places, mut runs) = (self.places(), self.runs(shape));
        while let Some((range, run)) = runs.next() {
            let (x, y) = (&x[range.clone()], &mut y[range]);
            match run {
                Run::Same(place) => rule_of(&places.formats[place]).round(x, y),
                Run::Each(first) => places.round_row(first, x, y),
            }
        }
    }

    #[inline(always)]
    fn straight_through(&self, x: &[f32], shape: &[usize], grad: &mut [f32]) {
        check_lengths(shape, x.len(), grad.len());
        let (places, mut runs) = (self.places(), self.runs(shape));
        while let Some((range, run)) = runs.next() {
            let (x, grad) = (&x[range.clone()], &mut grad[range]);
            match run {
                Run::Each(first) => places.mask_row(first, x, grad),
                Run::Same(place) => {
                    let [lo, hi] = [places.pass[0][place], places.pass[1][place]];
                    mask(x, grad, lo, hi);
                }
            }
        }
    }

    fn encode(&self, x: &[f32], shape: &[usize]) -> Codes {
        let mut y = vec![0.0; x.len()];
        self.quantize(x, shape, &mut y);
        let widths = self.formats().iter().map(NumberFormat::code_width);
        let mut codes = Codes::zeroed(widths.max().unwrap_or(1).max(1), x.len());
        for_each_place(self, shape, |index, format| {
            let element = format.element(Scale::One);
            codes.set(index, element.encode_any(y[index]));
        });
        codes
    }

    fn decode(&self, codes: &Codes, shape: &[usize]) -> Vec<f32> {
        check_lengths(shape, codes.len, codes.len);
        let mut y = vec![0.0; codes.len];
        for_each_place(self, shape, |index, format| {
            y[index] = format.element(Scale::One).decode(codes.get(index));
        });
        y
    }

    fn values(&self) -> Option<Vec<(u64, f32)>> {
        None
    }

    fn is_blocked(&self) -> bool {
        false
    }

    fn rounds_alone(&self) -> bool {
        false
    }

    fn block_extent(&self, _: &[usize], _: usize) -> usize {
        1
    }

    fn keeps_rows_apart(&self, _: &[usize]) -> bool {
        match self.layout {
            Layout::Elements => true,
            Layout::Along(axis) => axis > 0,
            Layout::Blocks { .. } => false,
        }
    }

    /// Stored scales follow no magnitude.
    fn scale_ceiling(&self, _: f32) -> f32 {
        f32::MAX
    }
}

/// Calls `visit` with every element of an array of this shape and its format.
pub(crate) fn for_each_place<F: Storable>(
    stored: &Stored<F>,
    shape: &[usize],
    mut visit: impl FnMut(usize, &F),
) {
    let formats = &stored.places().formats;
    for (index, place) in stored.place_of_each(shape).into_iter().enumerate() {
        visit(index, &formats[place]);
    }
}

/// The rule of a format whose elements share nothing.
#[inline(always)]
pub(crate) fn rule_of<F: Storable>(format: &F) -> <F::Element as Element>::Rule {
    format.element(Scale::One).rule()
}
