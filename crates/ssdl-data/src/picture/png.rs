//! PNG, by the crate `png`.

use std::io::Cursor;

use png::{BitDepth, ColorType, Decoder, Limits, Transformations};

use super::{Encoded, MAX_BYTES};

/// Reads the header; palettes become colours, and single bits bytes.
pub(super) fn open(bytes: &[u8]) -> Result<Encoded<'_>, String> {
    let limits = Limits { bytes: MAX_BYTES as usize };
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let (colour, depth) = reader.output_color_type();
    let channels = match colour {
        ColorType::Grayscale => 1,
        ColorType::GrayscaleAlpha => 2,
        ColorType::Rgb | ColorType::Indexed => 3,
        ColorType::Rgba => 4,
    };
    let info = reader.info();
    Ok(Encoded {
        height: info.height,
        width: info.width,
        channels,
        white: if depth == BitDepth::Sixteen { u16::MAX } else { 255 },
        exif: info.exif_metadata.as_ref().map(|exif| exif.to_vec()),
        decode: Box::new(move || {
            let size = reader.output_buffer_size().ok_or("its size is not known")?;
            let mut out = vec![0; size];
            let frame = reader.next_frame(&mut out).map_err(|error| error.to_string())?;
            out.truncate(frame.buffer_size());
            Ok(out)
        }),
    })
}
