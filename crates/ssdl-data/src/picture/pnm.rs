//! PNM: bits, grey or colours, as text (`P1` to `P3`) or bytes (`P4` to `P6`).

use super::Encoded;

/// What is left of the file while it is read.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    /// Leaves out white space, and comments from `#` to the end of their line.
    fn skip_space(&mut self) {
        loop {
            self.0 = self.0.trim_ascii_start();
            if self.0.first() != Some(&b'#') {
                return;
            }
            let end = self.0.iter().position(|byte| *byte == b'\n').unwrap_or(self.0.len());
            self.0 = &self.0[end..];
        }
    }

    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    /// The next whole number.
    fn number(&mut self, what: &str) -> Result<u32, String> {
        self.skip_space();
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = std::str::from_utf8(self.take(digits)).unwrap_or_default();
        text.parse().map_err(|_| format!("{what} is missing or too large"))
    }

    /// The next bit as text; bits need no space between them.
    fn bit(&mut self) -> Result<u32, String> {
        self.skip_space();
        match self.0.first() {
            Some(b'0' | b'1') => Ok(u32::from(self.take(1)[0] - b'0')),
            _ => Err("a pixel is missing".into()),
        }
    }
}

/// Reads the header.
pub(super) fn open(bytes: &[u8]) -> Result<Encoded<'_>, String> {
    let kind = bytes[1];
    let (is_bits, is_text) = (matches!(kind, b'1' | b'4'), kind < b'4');
    let mut rest = Rest(&bytes[2..]);
    let (width, height) = (rest.number("its width")?, rest.number("its height")?);
    let white = if is_bits { 1 } else { rest.number("its largest number")? };
    let white = u16::try_from(white).ok().filter(|white| *white > 0);
    let white = white.ok_or("its largest number must be 1 to 65535")?;
    if height == 0 || width == 0 {
        return Err("it has no pixels".into());
    }
    let channels = if matches!(kind, b'3' | b'6') { 3 } else { 1 };
    let count = (u64::from(height) * u64::from(width)).saturating_mul(channels as u64);
    let decode: Box<dyn FnOnce() -> Result<Vec<u8>, String>> = match (is_text, is_bits) {
        (true, _) => Box::new(move || text(rest, count as usize, white, is_bits)),
        (false, true) => Box::new(move || bits(after_space(rest)?, width, height)),
        (false, false) => Box::new(move || {
            let size = (count as usize).saturating_mul(if white > 255 { 2 } else { 1 });
            let numbers = after_space(rest)?;
            Ok(numbers.get(..size).ok_or("it ends too early")?.to_vec())
        }),
    };
    Ok(Encoded { height, width, channels, white, exif: None, decode })
}

/// One white space ends the header of a file of bytes; what looks like space after it is a pixel.
fn after_space(rest: Rest<'_>) -> Result<&[u8], String> {
    match rest.0.split_first() {
        Some((space, numbers)) if space.is_ascii_whitespace() => Ok(numbers),
        _ => Err("it ends after its header".into()),
    }
}

fn text(mut rest: Rest<'_>, count: usize, white: u16, is_bits: bool) -> Result<Vec<u8>, String> {
    let mut numbers = Vec::new();
    for _ in 0..count {
        let number = if is_bits { 1 - rest.bit()? } else { rest.number("a pixel")? };
        if number > u32::from(white) {
            return Err(format!("a pixel is {number}, above the largest number, {white}"));
        }
        let bytes = (number as u16).to_be_bytes();
        numbers.extend_from_slice(if white > 255 { &bytes } else { &bytes[1..] });
    }
    Ok(numbers)
}

/// Eight pixels a byte, each row from a byte of its own; 1 is black.
fn bits(packed: &[u8], width: u32, height: u32) -> Result<Vec<u8>, String> {
    let (width, height) = (width as usize, height as usize);
    let row_bytes = width.div_ceil(8);
    let packed = packed.get(..row_bytes * height).ok_or("it ends too early")?;
    let row = |row: &[u8]| (0..width).map(|x| 1 - (row[x / 8] >> (7 - x % 8) & 1)).collect();
    Ok(packed.chunks_exact(row_bytes).flat_map::<Vec<u8>, _>(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> Result<(u32, u32, Vec<u8>), String> {
        let encoded = open(bytes)?;
        Ok((encoded.height, encoded.width, (encoded.decode)()?))
    }

    #[test]
    fn every_kind_by_hand() {
        let grey = Ok((1, 3, vec![0, 7, 255]));
        assert_eq!(decoded(b"P2\n# by hand\n3 1 # wide\n255\n0 7\n255"), grey);
        assert_eq!(decoded(b"P5 3 1 255\n\x00\x07\xff"), grey);
        assert_eq!(decoded(b"P3 1 1 9 1 2 9"), Ok((1, 1, vec![1, 2, 9])));
        assert_eq!(decoded(b"P6 1 1 255\n \n\x01"), Ok((1, 1, vec![b' ', b'\n', 1])));
        assert_eq!(decoded(b"P2 2 1 1000 3 1000"), Ok((1, 2, vec![0, 3, 3, 232])));
        assert_eq!(decoded(b"P1 3 2\n101 0 1\n0"), Ok((2, 3, vec![0, 1, 0, 1, 0, 1])));
        let packed = b"P4 9 2\n\x80\x80\x00\x00";
        assert_eq!(
            decoded(packed),
            Ok((2, 9, [vec![0], vec![1; 7], vec![0], vec![1; 9]].concat()))
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (bytes, reason) in [
            (&b"P5"[..], "its width is missing"),
            (b"P5 3", "its height is missing"),
            (b"P5 3 0 255\n", "no pixels"),
            (b"P5 3 1 0\n", "1 to 65535"),
            (b"P5 3 1 70000\n", "1 to 65535"),
            (b"P5 99999999999 1 255\n", "too large"),
            (b"P5 3 1 255", "ends after its header"),
            (b"P6 4294967295 4294967295 65535\n\x01", "ends too early"),
            (b"P5 3 1 255\n\x01", "ends too early"),
            (b"P4 9 2\n\x01", "ends too early"),
            (b"P2 2 1 9 1", "a pixel is missing"),
            (b"P2 2 1 9 1 10", "above the largest number, 9"),
            (b"P1 2 1 12", "a pixel is missing"),
        ] {
            let error = decoded(bytes).expect_err(reason);
            assert!(error.contains(reason), "`{reason}` is not in `{error}`");
        }
    }
}
