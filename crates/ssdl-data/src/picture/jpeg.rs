//! JPEG, by the crate `zune-jpeg`.

use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::{Encoded, MAX_SIDE};

/// Reads the header; whatever is not grey becomes red, green and blue.
pub(super) fn open(bytes: &[u8]) -> Result<Encoded<'_>, String> {
    let sides = MAX_SIDE as usize;
    // Many cameras' files deviate a little from the standard, and are read everywhere.
    let options = DecoderOptions::default().set_strict_mode(false);
    let options = options.set_max_width(sides).set_max_height(sides);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|error| error.to_string())?;
    let info = decoder.info().ok_or("its header is not complete")?;
    let is_grey = decoder.input_colorspace() == Some(ColorSpace::Luma);
    let wanted = if is_grey { ColorSpace::Luma } else { ColorSpace::RGB };
    decoder.set_options(options.jpeg_set_out_colorspace(wanted));
    Ok(Encoded {
        height: info.height.into(),
        width: info.width.into(),
        channels: if is_grey { 1 } else { 3 },
        white: 255,
        exif: decoder.exif().cloned(),
        decode: Box::new(move || decoder.decode().map_err(|error| error.to_string())),
    })
}
