//! Samples and atoms as small pictures: a sheet of grey images, or bars if they are not images.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use ssdl::Real;

use crate::Result;

/// Maximum side of a tile in the page; larger images are shrunk.
const LARGEST_SIDE: usize = 32;
/// Minimum side to which images are shrunk to save space.
const SMALLEST_SIDE: usize = 14;
/// Maximum size of a sheet in bytes; beyond it, its tiles are shrunk.
const LARGEST_SHEET: usize = 100_000;
/// Maximum number of bars in a tile; more features share bars.
const MOST_BARS: usize = 64;
/// Grey levels: enough for the eye, few enough to compress well.
const LEVELS: f64 = 31.0;
/// One letter for each height of a bar, from the lowest to the highest; the middle one is zero.
const LETTERS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-";

/// Pictures of one kind, as stored in the page.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Pictures {
    /// Tiles of a sheet, row after row.
    Image {
        width: usize,
        height: usize,
        columns: usize,
        count: usize,
        /// The sheet as a PNG in a `data:` address; it is stored in the style of the page.
        #[serde(skip)]
        sheet: String,
    },
    /// One letter for each bar.
    Bars { tiles: Vec<String> },
    /// There is nothing to show.
    None,
}

/// How values become greys or heights.
#[derive(Clone, Copy)]
pub(crate) enum Scale<'a> {
    /// Zero in the middle, the largest value of each tile at the end.
    Signed,
    /// From the lowest to the highest.
    Range(f64, f64),
    /// Mean and standard deviation of each feature.
    Standard(&'a [(f64, f64)]),
}

/// Draws columns as tiles.
pub(crate) fn pictures<T: Real>(
    columns: &[(&[T], Scale<'_>)],
    image: Option<[usize; 2]>,
) -> Result<Pictures> {
    let Some([height, width]) = image else {
        let tiles = columns.iter().map(|(values, scale)| bars(values, *scale)).collect();
        return Ok(Pictures::Bars { tiles });
    };
    let first = height.max(width).div_ceil(LARGEST_SIDE).max(1);
    // Photographs compress badly: many of them are shown smaller.
    let smallest = (height.max(width) / SMALLEST_SIDE).max(first);
    let mut sheet = Sheet::draw(columns, [height, width], first)?;
    for factor in first + 1..=smallest {
        if sheet.bytes.len() <= LARGEST_SHEET {
            break;
        }
        sheet = Sheet::draw(columns, [height, width], factor)?;
    }
    let Sheet { tile: [height, width], across, bytes } = sheet;
    let address = format!("data:image/png;base64,{}", STANDARD.encode(bytes));
    let (columns, count) = (across, columns.len());
    Ok(Pictures::Image { width, height, columns, count, sheet: address })
}

/// Tiles on a sheet, as a PNG.
struct Sheet {
    /// Height and width of a tile.
    tile: [usize; 2],
    /// Tiles of a row.
    across: usize,
    bytes: Vec<u8>,
}

impl Sheet {
    /// Draws tiles, shrunk by `factor`.
    fn draw<T: Real>(
        columns: &[(&[T], Scale<'_>)],
        [height, width]: [usize; 2],
        factor: usize,
    ) -> Result<Self> {
        let (tall, wide) = (height.div_ceil(factor), width.div_ceil(factor));
        let across = ((columns.len() * tall) as f64 / wide as f64).sqrt().ceil().max(1.0) as usize;
        let down = columns.len().div_ceil(across).max(1);
        let mut sheet = Canvas::new(down * tall, across * wide, 0);
        for (at, (values, scale)) in columns.iter().enumerate() {
            let small = shrunk(values, [height, width], factor);
            let corner = (at / across * tall, at % across * wide);
            sheet.draw(&greys(&small, *scale), wide, 1, corner);
        }
        Ok(Self { tile: [tall, wide], across, bytes: sheet.png()? })
    }
}

/// Means of blocks of pixels.
fn shrunk<T: Real>(values: &[T], [height, width]: [usize; 2], factor: usize) -> Vec<f64> {
    let mean = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
        let count = (rows.len() * columns.len()) as f64;
        let pixels = rows.flat_map(|y| columns.clone().map(move |x| y * width + x));
        pixels.map(|at| values[at].wide()).sum::<f64>() / count
    };
    let blocks =
        |size: usize| (0..size).step_by(factor).map(move |from| from..(from + factor).min(size));
    blocks(height)
        .flat_map(|rows| blocks(width).map(move |cols| mean(rows.clone(), cols)))
        .collect()
}

fn largest(values: &[f64]) -> f64 {
    let size = values.iter().fold(0.0, |size: f64, value| size.max(value.abs()));
    if size > 0.0 { size } else { 1.0 }
}

/// Values as a few levels of grey.
pub(crate) fn greys(values: &[f64], scale: Scale<'_>) -> Vec<u8> {
    let shares: Vec<f64> = match scale {
        Scale::Range(low, high) if high > low => {
            values.iter().map(|value| (value - low) / (high - low)).collect()
        }
        _ => {
            let size = largest(values);
            values.iter().map(|value| 0.5 + 0.5 * value / size).collect()
        }
    };
    let grey = |share: f64| ((share.clamp(0.0, 1.0) * LEVELS).round() * 255.0 / LEVELS).round();
    shares.into_iter().map(|share| grey(share) as u8).collect()
}

/// One letter per bar; features that share a bar are shown by the largest.
fn bars<T: Real>(values: &[T], scale: Scale<'_>) -> String {
    let heights = heights(values, scale);
    let middle = (LETTERS.len() / 2) as f64;
    let letter = |height: f64| LETTERS[(middle + height * middle).round() as usize] as char;
    heights.into_iter().map(letter).collect()
}

/// Heights of the bars of a tile, from -1 to 1.
pub(crate) fn heights<T: Real>(values: &[T], scale: Scale<'_>) -> Vec<f64> {
    let wide: Vec<f64> = match scale {
        Scale::Standard(each) => {
            let far = |(value, (mean, spread)): (&T, &(f64, f64))| {
                if *spread > 0.0 { (value.wide() - mean) / spread / 3.0 } else { 0.0 }
            };
            values.iter().zip(each).map(far).collect()
        }
        _ => values.iter().map(|value| value.wide()).collect(),
    };
    let size = if matches!(scale, Scale::Standard(_)) { 1.0 } else { largest(&wide) };
    let together = wide.len().div_ceil(MOST_BARS).max(1);
    let largest_of = |part: &[f64]| {
        let largest = part.iter().copied().reduce(|a, b| if b.abs() > a.abs() { b } else { a });
        (largest.unwrap_or(0.0) / size).clamp(-1.0, 1.0)
    };
    wide.chunks(together).map(largest_of).collect()
}

/// A grey picture.
pub(crate) struct Canvas {
    width: usize,
    height: usize,
    greys: Vec<u8>,
}

/// From the lowest to the highest of these values.
pub(crate) fn range<'a, T: Real>(values: &[T]) -> Scale<'a> {
    let all = values.iter().map(|value| value.wide());
    let (low, high) =
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    Scale::Range(low, high)
}

impl Canvas {
    pub(crate) fn new(height: usize, width: usize, ground: u8) -> Self {
        Self { width, height, greys: vec![ground; height * width] }
    }

    /// Draws a tile of this width at a corner (from the top, from the left), each pixel `zoom` wide.
    pub(crate) fn draw(&mut self, greys: &[u8], width: usize, zoom: usize, corner: (usize, usize)) {
        for (at, &grey) in greys.iter().enumerate() {
            let place = (corner.0 + at / width * zoom, corner.1 + at % width * zoom);
            self.fill(place, (zoom, zoom), grey);
        }
    }

    /// Fills a rectangle of (height, width).
    pub(crate) fn fill(&mut self, (top, left): (usize, usize), size: (usize, usize), grey: u8) {
        for line in top..top + size.0 {
            self.greys[line * self.width + left..][..size.1].fill(grey);
        }
    }

    /// Pastes another picture at a corner.
    pub(crate) fn paste(&mut self, other: &Self, (top, left): (usize, usize)) {
        for (line, greys) in other.greys.chunks(other.width).enumerate() {
            self.greys[(top + line) * self.width + left..][..other.width].copy_from_slice(greys);
        }
    }

    pub(crate) fn png(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        encoder.write_header()?.write_image_data(&self.greys)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_zero_in_the_middle_and_the_largest_at_the_end() {
        let middle = LETTERS[LETTERS.len() / 2] as char;
        let drawn = bars(&[0.0, 2.0, -2.0], Scale::Signed);
        assert_eq!(drawn, format!("{middle}-0"));
        assert_eq!(bars(&[0.0; 3], Scale::Signed), middle.to_string().repeat(3));
        assert_eq!(bars(&vec![1.0; 1000], Scale::Signed).len(), 63);
        let each = [(1.0, 1.0), (5.0, 0.0)];
        assert_eq!(bars(&[4.0, 9.0], Scale::Standard(&each)), format!("-{middle}"));
    }

    #[test]
    fn large_images_become_means_of_blocks() {
        let values: Vec<f64> = (0..12).map(f64::from).collect();
        assert_eq!(shrunk(&values, [3, 4], 2), [2.5, 4.5, 8.5, 10.5]);
        assert_eq!(shrunk(&values, [3, 4], 1), values);
    }

    #[test]
    fn sheets_of_many_photographs_are_shrunk_and_those_of_few_are_not() {
        // Noise does not compress at all.
        let noise = |at: usize| {
            let mixed = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            ((mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64
        };
        let samples: Vec<Vec<f64>> =
            (0..400).map(|j| (0..1024).map(|i| noise(1024 * j + i)).collect()).collect();
        let width = |count: usize| {
            let tiles: Vec<_> = samples[..count].iter().map(|s| (s.as_slice(), range(s))).collect();
            match pictures(&tiles, Some([32, 32])).expect("drawn") {
                Pictures::Image { width, sheet, count: drawn, .. } => {
                    assert!(sheet.len() < 2 * LARGEST_SHEET && drawn == count, "{}", sheet.len());
                    width
                }
                _ => 0,
            }
        };
        assert_eq!(width(20), 32);
        assert!((SMALLEST_SIDE..=16).contains(&width(400)), "{}", width(400));
    }

    #[test]
    fn greys_span_the_requested_range() {
        assert_eq!(greys(&[0.0, 8.0, 16.0], Scale::Range(0.0, 16.0)), [0, 132, 255]);
        assert_eq!(greys(&[-1.0, 1.0], Scale::Signed), [0, 255]);
        assert_eq!(greys(&[0.0, 0.0], Scale::Range(0.0, 0.0)), [132, 132]);
    }
}
