//! Augmentation of images: what training sees of a row is moved and mirrored anew in every epoch.
//!
//! The change of a row follows from the seed, the epoch and the number of the row alone. It depends neither on threads nor on
//! batches, and a run that goes on has nothing to remember of it. Validation and tests see the rows as they are.

use crate::TrainError;
use data::{Dataset, Split};
use engine::{Input, gather};
use ir::Elements;
use random::{Draws, Random};
use std::fmt;
use std::str::FromStr;

/// The random changes of an image in training. In words `none`, or `crop(N)` and `flip` joined by `+`; `crop-flip` stands for
/// `crop(4)+flip`, which is usual for CIFAR.
///
/// ```
/// use train::Augment;
///
/// let augment: Augment = "crop-flip".parse()?;
/// assert_eq!(augment, Augment { crop: 4, flip: true });
/// assert_eq!(augment.to_string(), "crop(4)+flip");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Augment {
    /// Zeros around the image, out of which a window of its size is cut at a random place: it moves by as many pixels.
    pub crop: usize,
    /// True to mirror left and right, with probability one half.
    pub flip: bool,
}

impl Augment {
    /// No change.
    pub const NONE: Self = Self {
        crop: 0,
        flip: false,
    };

    /// The values that a text may have.
    pub const FORM: &'static str = "none, crop-flip, or crop(N) and flip joined by +";

    const CROP_FLIP: Self = Self {
        crop: 4,
        flip: true,
    };

    /// Refuses rows that are not images, and a crop that may leave nothing of them.
    ///
    /// # Errors
    /// With the shape of a row.
    pub fn check(self, data: &Dataset) -> Result<(), TrainError> {
        if self == Self::NONE {
            return Ok(());
        }
        let refuse = |reason: String| TrainError::Augment {
            augment: self,
            reason,
        };
        let name = &data.info.name;
        let [_, height, width] = image_axes(data).map_err(|rows| {
            refuse(format!(
                "needs images, channels by height by width, but a row of {name} is {rows}; leave it out"
            ))
        })?;
        let max = height.min(width).saturating_sub(1);
        if self.crop > max {
            return Err(refuse(format!(
                "can move the images of {name}, {height} by {width} pixels, out of sight; crop by at most {max}"
            )));
        }
        Ok(())
    }
}

/// Channels, height and width of rows that are images; of other rows, what each is.
fn image_axes(data: &Dataset) -> Result<[usize; 3], String> {
    let n_arrays = data.train.arrays().map_or(1, <[_]>::len);
    match (&data.info.sample_shape[..], floats(&data.train)) {
        _ if n_arrays != 1 => Err(format!("{n_arrays} arrays")),
        (_, None) => Err("an array of integers".to_owned()),
        (&[channels, height, width], Some(_)) => Ok([channels, height, width]),
        (shape, Some(_)) => Err(format!("an array of shape {shape:?}")),
    }
}

/// The values of rows that are one array of floats.
fn floats(split: &Split) -> Option<&[f32]> {
    match split.elements().next()? {
        Elements::F32(values) => Some(values),
        Elements::I64(_) => None,
    }
}

impl fmt::Display for Augment {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match (self.crop, self.flip) {
            (0, false) => f.write_str("none"),
            (0, true) => f.write_str("flip"),
            (crop, false) => write!(f, "crop({crop})"),
            (crop, true) => write!(f, "crop({crop})+flip"),
        }
    }
}

impl FromStr for Augment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => return Ok(Self::NONE),
            "crop-flip" => return Ok(Self::CROP_FLIP),
            _ => {}
        }
        let mut augment = Self::NONE;
        for word in text.split('+').map(str::trim) {
            let is_again = if word == "flip" {
                std::mem::replace(&mut augment.flip, true)
            } else {
                let pixels = word.strip_prefix("crop(");
                let pixels = pixels.and_then(|rest| rest.strip_suffix(')'));
                let pixels = pixels.and_then(|pixels| pixels.trim().parse().ok());
                let Some(pixels) = pixels else {
                    return Err(format!("'{word}' is not {}", Self::FORM));
                };
                if pixels == 0 {
                    return Err("crop(0) moves nothing; crop by 1 pixel or more".to_owned());
                }
                std::mem::replace(&mut augment.crop, pixels) > 0
            };
            if is_again {
                return Err(format!(
                    "'{text}' has {word} after another one; give each once"
                ));
            }
        }
        Ok(augment)
    }
}

/// The rows of a training, as its network gets them.
pub(crate) struct TrainingRows<'a> {
    split: &'a Split,
    /// Changes of images with the axes of one and the random numbers of the run; none for rows as they are.
    augmented: Option<(Augment, [usize; 3], Random)>,
    /// The images of a batch, changed.
    images: Vec<f32>,
}

impl<'a> TrainingRows<'a> {
    /// The rows of a dataset that [`Augment::check`] has let pass.
    pub fn new(data: &'a Dataset, augment: Augment, seed: u64) -> Self {
        let shape = image_axes(data).ok();
        let shape = shape.filter(|_| augment != Augment::NONE);
        let random = Random::new(seed, "augment");
        Self {
            split: &data.train,
            augmented: shape.map(|shape| (augment, shape, random)),
            images: Vec::new(),
        }
    }

    /// The inputs of a batch of rows in an epoch.
    pub fn inputs<'b>(&'b mut self, rows: &'b [u32], epoch: u64) -> Vec<Input<'b>> {
        let (Some((augment, shape, random)), Some(values)) = (self.augmented, floats(self.split))
        else {
            return gather(self.split.elements(), rows);
        };
        let width = shape.iter().product();
        // All is overwritten: only what an earlier batch did not have is cleared.
        self.images.resize(rows.len() * width, 0.0);
        for (&row, changed) in rows.iter().zip(self.images.chunks_exact_mut(width)) {
            let image = &values[row as usize * width..][..width];
            let draws = Draws::new(random.at(epoch).at(u64::from(row)));
            Change::draw(augment, draws).apply(shape, image, changed);
        }
        vec![Input::F32(&self.images)]
    }
}

/// The change of one image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    /// Pixels by which the window lies below and to the right of the image.
    down: isize,
    right: isize,
    /// True to mirror the window.
    flip: bool,
}

impl Change {
    fn draw(augment: Augment, mut draws: Draws) -> Self {
        let crop = augment.crop.cast_signed();
        let mut shift = || draws.below(2 * augment.crop + 1).cast_signed() - crop;
        let (down, right) = (shift(), shift());
        Self {
            down,
            right,
            flip: augment.flip && draws.below(2) == 1,
        }
    }

    /// Writes the window, with zeros where it lies beside the image.
    fn apply(self, [_, height, width]: [usize; 3], image: &[f32], changed: &mut [f32]) {
        let planes = image.chunks_exact(height * width);
        let lines = changed.chunks_exact_mut(height * width).zip(planes);
        // The columns of the image in the window, and the zeros on both sides of them.
        let from = self.right.max(0).unsigned_abs();
        let to = width - (-self.right).max(0).unsigned_abs();
        let before = (-self.right).max(0).unsigned_abs();
        for (changed, plane) in lines {
            for (y, line) in changed.chunks_exact_mut(width).enumerate() {
                let source = y.checked_add_signed(self.down);
                let Some(source) = source.filter(|&source| source < height) else {
                    line.fill(0.0);
                    continue;
                };
                line[..before].fill(0.0);
                line[before..][..to - from].copy_from_slice(&plane[source * width..][from..to]);
                line[before + to - from..].fill(0.0);
                if self.flip {
                    line.reverse();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
