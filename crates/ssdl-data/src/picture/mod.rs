//! One image file as brightness: PNG, JPEG or PNM, told apart by its first bytes.

mod jpeg;
mod png;
mod pnm;
mod turn;

use std::fs;
use std::path::Path;

use ssdl::files;
use ssdl::samples::prepare::resized;

use crate::{Error, Result};

/// Maximum height or width of an image.
const MAX_SIDE: u32 = 65_536;
/// Maximum number of bytes that one image may take on its way to numbers.
const MAX_BYTES: u64 = 1 << 30;
/// Shares of red, green and blue in brightness (Rec. 709), in ten thousandths: whole numbers, so that white is 1.
const BRIGHTNESS: [u64; 3] = [2126, 7152, 722];

/// An image whose header has been read.
struct Encoded<'a> {
    height: u32,
    width: u32,
    /// Numbers a pixel: 1 (grey), 2 (grey and opacity), 3 (red, green, blue), 4 (and opacity).
    channels: usize,
    /// The number that means white, or opaque; above 255 a number takes two bytes, the larger first.
    white: u16,
    /// What the camera noted.
    exif: Option<Vec<u8>>,
    /// Gives the numbers, row by row.
    decode: Box<dyn FnOnce() -> std::result::Result<Vec<u8>, String> + 'a>,
}

impl Encoded<'_> {
    fn pixels(&self) -> u64 {
        u64::from(self.height) * u64::from(self.width)
    }

    fn bytes_a_number(&self) -> usize {
        if self.white > 255 { 2 } else { 1 }
    }

    /// Number of bytes that `decode` gives.
    fn bytes(&self) -> u64 {
        self.pixels().saturating_mul((self.channels * self.bytes_a_number()) as u64)
    }
}

/// One image as brightness from 0 to 1, row by row, with its height and width: turned as the camera noted, then
/// resized if a size is given. Transparent pixels become 0.
pub(crate) fn grey(path: &Path, size: Option<[usize; 2]>) -> Result<(Vec<f64>, [usize; 2])> {
    let size = size.map(|size| check_sides(path, size)).transpose()?;
    let bytes = contents(path)?;
    let broken = |reason: String| Error::corrupt(path, "image", reason);
    let encoded = open(&bytes).map_err(broken)?;
    check_size(path, &encoded, size)?;
    let (exif, sides) = (encoded.exif.clone(), [encoded.height as usize, encoded.width as usize]);
    let pixels = brightness(encoded).map_err(broken)?;
    let (pixels, from) = match exif.as_deref().and_then(turn::orientation) {
        Some(orientation) => turn::turned(pixels, sides, orientation),
        None => (pixels, sides),
    };
    match size {
        Some(to) if to != from => {
            let pixels: Vec<f32> = pixels.into_iter().map(|value| value as f32).collect();
            let pixels = resized(&pixels, from, to).into_iter().map(f64::from).collect();
            Ok((pixels, to))
        }
        _ => Ok((pixels, from)),
    }
}

/// The bytes of the file, unless there are more than an image may take.
fn contents(path: &Path) -> Result<Vec<u8>> {
    let refuse = |source| Error::read(path, source);
    let length = files::length(path).map_err(refuse)?;
    if length > MAX_BYTES {
        let reason = format!("{length} bytes, more than the limit of {MAX_BYTES} for an image");
        return Err(Error::unsupported(path, reason));
    }
    fs::read(path).map_err(refuse)
}

fn open(bytes: &[u8]) -> std::result::Result<Encoded<'_>, String> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => png::open(bytes),
        [0xff, 0xd8, ..] => jpeg::open(bytes),
        [b'P', b'1'..=b'6', ..] => pnm::open(bytes),
        [] => Err("it is empty".into()),
        _ => Err("it does not begin as PNG, JPEG and PNM files do".into()),
    }
}

/// Height and width to resize to.
fn check_sides(path: &Path, [height, width]: [usize; 2]) -> Result<[usize; 2]> {
    if [height, width].iter().all(|side| (1..=MAX_SIDE as usize).contains(side)) {
        return Ok([height, width]);
    }
    let reason = format!("cannot be resized to {height}x{width}; sides must be 1 to {MAX_SIDE}");
    Err(Error::unsupported(path, reason))
}

/// Refuses an image by the sizes in its header, before anything is decoded: what is decoded, as numbers, turned and
/// resized must fit into [`MAX_BYTES`].
fn check_size(path: &Path, encoded: &Encoded<'_>, size: Option<[usize; 2]>) -> Result<()> {
    let (height, width) = (encoded.height, encoded.width);
    if height.max(width) > MAX_SIDE {
        let reason = format!("{height}x{width} pixels; sides must be at most {MAX_SIDE}");
        return Err(Error::unsupported(path, reason));
    }
    let mut needed = encoded.bytes().saturating_add(encoded.pixels().saturating_mul(2 * 8));
    let mut target = String::new();
    if let Some([to_height, to_width]) = size {
        let (rows, columns) = (to_height as u64, to_width as u64);
        let between = rows.saturating_mul(u64::from(width.max(height))).saturating_mul(4);
        let resized = rows.saturating_mul(columns).saturating_mul(4 + 8);
        needed = needed.saturating_add(between).saturating_add(resized);
        target = format!(", resized to {to_height}x{to_width}");
    }
    if needed <= MAX_BYTES {
        return Ok(());
    }
    Err(Error::unsupported(
        path,
        format!(
            "{height}x{width} pixels{target} take {needed} bytes, more than the limit of {MAX_BYTES}; \
             make the image smaller, or choose a smaller --image HEIGHTxWIDTH"
        ),
    ))
}

/// Decodes, and gives each pixel's brightness times its opacity.
fn brightness(encoded: Encoded<'_>) -> std::result::Result<Vec<f64>, String> {
    let (channels, white) = (encoded.channels, encoded.white);
    let (width, expected) = (encoded.bytes_a_number(), encoded.bytes());
    let numbers = (encoded.decode)()?;
    if numbers.len() as u64 != expected {
        return Err(format!("{} bytes where its header promises {expected}", numbers.len()));
    }
    let number = |pixel: &[u8], channel: usize| match width {
        1 => u16::from(pixel[channel]),
        _ => u16::from_be_bytes([pixel[2 * channel], pixel[2 * channel + 1]]),
    };
    let white = f64::from(white);
    let one = |pixel: &[u8]| {
        let grey = match channels {
            1 | 2 => f64::from(number(pixel, 0)) / white,
            _ => {
                let parts = BRIGHTNESS.iter().enumerate();
                let sum: u64 = parts.map(|(k, share)| share * u64::from(number(pixel, k))).sum();
                sum as f64 / (white * 1e4)
            }
        };
        let opacity = match channels {
            2 | 4 => f64::from(number(pixel, channels - 1)) / white,
            _ => 1.0,
        };
        grey * opacity
    };
    Ok(numbers.chunks_exact(channels * width).map(one).collect())
}
