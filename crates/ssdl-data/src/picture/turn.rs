//! Photographs turned as the camera was held, by what it noted in the file (Exif).

/// The tag of the orientation, and the type of its value, a number of two bytes.
const ORIENTATION: (u16, u16) = (0x0112, 3);
/// Bytes of an entry: tag, type, count, value.
const ENTRY: usize = 12;

/// How the image must be turned, from 2 to 8 as Exif counts; `None` if it is upright or nothing sensible is noted.
pub(super) fn orientation(exif: &[u8]) -> Option<u8> {
    let is_little = match exif.get(..4)? {
        [b'I', b'I', 42, 0] => true,
        [b'M', b'M', 0, 42] => false,
        _ => return None,
    };
    let short = |at: usize| {
        let bytes = [*exif.get(at)?, *exif.get(at.checked_add(1)?)?];
        Some(if is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    let (low, high) = if is_little { (4, 6) } else { (6, 4) };
    let first = usize::from(short(high)?) << 16 | usize::from(short(low)?);
    let entries = (0..usize::from(short(first)?)).map(|entry| first + 2 + ENTRY * entry);
    let mut found = entries.take_while(|at| at + ENTRY <= exif.len());
    let at = found.find(|&at| short(at).zip(short(at + 2)) == Some(ORIENTATION))?;
    short(at + 8).and_then(|value| u8::try_from(value).ok()).filter(|value| (2..=8).contains(value))
}

/// The pixels of an image, row by row, and its height and width after turning.
pub(super) fn turned(
    pixels: Vec<f64>,
    [height, width]: [usize; 2],
    orientation: u8,
) -> (Vec<f64>, [usize; 2]) {
    let is_on_its_side = orientation >= 5;
    let to = if is_on_its_side { [width, height] } else { [height, width] };
    let from = |row: usize, column: usize| match orientation {
        2 => (row, width - 1 - column),
        3 => (height - 1 - row, width - 1 - column),
        4 => (height - 1 - row, column),
        5 => (column, row),
        6 => (height - 1 - column, row),
        7 => (height - 1 - column, width - 1 - row),
        8 => (column, width - 1 - row),
        _ => (row, column),
    };
    let places = (0..to[0]).flat_map(|row| (0..to[1]).map(move |column| from(row, column)));
    (places.map(|(row, column)| pixels[row * width + column]).collect(), to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_by_hand() {
        // 1 2 3
        // 4 5 6
        let cases: [(u8, [usize; 2], [f64; 6]); 8] = [
            (1, [2, 3], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            (2, [2, 3], [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]),
            (3, [2, 3], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]),
            (4, [2, 3], [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]),
            (5, [3, 2], [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
            (6, [3, 2], [4.0, 1.0, 5.0, 2.0, 6.0, 3.0]),
            (7, [3, 2], [6.0, 3.0, 5.0, 2.0, 4.0, 1.0]),
            (8, [3, 2], [3.0, 6.0, 2.0, 5.0, 1.0, 4.0]),
        ];
        for (orientation, sides, expected) in cases {
            let image = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
            assert_eq!(turned(image, [2, 3], orientation), (expected.to_vec(), sides));
        }
    }

    #[test]
    fn the_note_is_found_in_both_orders_of_bytes_and_nonsense_is_ignored() {
        let little = b"II\x2a\0\x08\0\0\0\x02\0\x00\x01\x03\0\x01\0\0\0\x05\0\0\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0";
        let big = b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0";
        assert_eq!(orientation(little), Some(6));
        assert_eq!(orientation(big), Some(8));
        for length in 0..big.len() {
            assert_eq!(orientation(&big[..length]), None);
        }
        let far = b"MM\0\x2a\xff\xff\xff\xff\0\x01";
        assert_eq!(orientation(far), None);
        let upright = b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x01\0\0";
        assert_eq!(orientation(upright), None);
    }
}
