//! The rows of a product's left operand: those of a value, or the windows of a convolution.

use super::buffer::Code;

/// The source of the rows of the left operand.
pub(crate) enum Rows {
    /// The operand's own rows.
    Dense { count: usize },
    /// The windows of a convolution.
    Windows(Windows),
}

/// The windows of a convolution over pictures `[images, channels, height, width]`.
pub(crate) struct Windows {
    pub images: usize,
    pub channels: usize,
    pub groups: usize,
    /// Elements of a channel of the input.
    pub plane: usize,
    /// Elements of a row of the input.
    pub width: usize,
    /// Per window of each axis, the positions of its elements; none in the padding.
    pub rows: Vec<Vec<Option<usize>>>,
    pub columns: Vec<Vec<Option<usize>>>,
}

impl Rows {
    /// True when zeros stand where the operand has no element.
    pub fn has_padding(&self) -> bool {
        match self {
            Self::Dense { .. } => false,
            Self::Windows(windows) => {
                let mut axes = windows.rows.iter().chain(&windows.columns);
                axes.any(|taps| taps.contains(&None))
            }
        }
    }
}

impl Windows {
    /// Windows of one picture.
    pub fn per_image(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    /// The elements of window `at` of a picture and a group, padding as zeros.
    pub fn gather<T: Code, U: Code>(
        &self,
        x: &[T],
        image: usize,
        group: usize,
        at: usize,
        row: &mut [U],
    ) {
        let rows = &self.rows[at / self.columns.len()];
        let columns = &self.columns[at % self.columns.len()];
        let channels = self.channels / self.groups;
        let first = image * self.channels + group * channels;
        let planes = x[first * self.plane..]
            .chunks(self.plane.max(1))
            .take(channels);
        let places = rows
            .iter()
            .flat_map(|row| columns.iter().map(move |column| (row, column)));
        let elements = planes.flat_map(|plane| {
            places
                .clone()
                .map(move |(row, column)| match (row, column) {
                    (Some(row), Some(column)) => plane[row * self.width + column].widen(),
                    _ => 0,
                })
        });
        for (to, element) in row.iter_mut().zip(elements) {
            *to = U::narrow(element);
        }
    }
}
