//! Pictures that a browser takes of pages, and how far two of them are apart.

use crate::browser::{Browser, part};
use std::path::Path;

/// The share by which two pictures differ, in blocks of pixels.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// The mean difference of the blocks' luminance, of 255.
    pub mean: f64,
    /// The share of blocks that differ by more than a tenth.
    pub far: f64,
}

/// The program of a page that measures its pictures pair by pair, in blocks.
const MEASURE: &str = r#"<script>
const blocksOf = image => {
  const canvas = document.createElement("canvas");
  const size = [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight].map(all => Math.round(all / 12));
  const pen = canvas.getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, 0, 0, ...size);
  const { data } = pen.getImageData(0, 0, ...size);
  return Array.from({ length: data.length / 4 }, (_, k) => 0.3 * data[4 * k] + 0.59 * data[4 * k + 1] + 0.11 * data[4 * k + 2]);
};
onload = () => {
  const blocks = [...document.images].map(blocksOf);
  document.title = JSON.stringify(blocks.flatMap((a, k) => {
    const b = blocks[k + 1];
    if (k % 2) return [];
    const by = a.length === b.length ? a.map((value, at) => Math.abs(value - b[at])) : [255];
    return [[by.reduce((sum, value) => sum + value, 0) / by.length, by.filter(value => value > 25).length / by.length]];
  }));
};
</script>"#;

/// A picture of a page at an address of it, as PNG, with files beside the page.
pub fn picture(
    browser: &Browser,
    page: &str,
    address: &str,
    flags: &str,
    beside: &[(&str, &[u8])],
) -> Vec<u8> {
    let flags = format!("--hide-scrollbars --screenshot=shot.png {flags}");
    let read = |folder: &Path| std::fs::read(folder.join("shot.png")).unwrap();
    browser.run(page, address, &flags, beside, read).1
}

/// The differences of pairs of pictures.
pub fn differences(browser: &Browser, pairs: &[[Vec<u8>; 2]]) -> Vec<Difference> {
    let flags = "--allow-file-access-from-files --dump-dom";
    let pictures: Vec<(String, &[u8])> = pairs
        .iter()
        .flatten()
        .enumerate()
        .map(|(place, bytes)| (format!("{place}.png"), bytes.as_slice()))
        .collect();
    let images = pictures
        .iter()
        .map(|(name, _)| format!("<img src=\"{name}\">"));
    let page = format!("<!doctype html>{}{MEASURE}", images.collect::<String>());
    let beside: Vec<(&str, &[u8])> = pictures
        .iter()
        .map(|(name, bytes)| (name.as_str(), *bytes))
        .collect();
    let (dom, ()) = browser.run(&page, "", flags, &beside, |_| ());
    let measured: Vec<[f64; 2]> = serde_json::from_str(part(&dom, "<title>", "</title>")).unwrap();
    measured
        .into_iter()
        .map(|[mean, far]| Difference { mean, far })
        .collect()
}
