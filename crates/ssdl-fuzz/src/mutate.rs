//! Sound inputs made unsound.

/// Numbers that follow from a seed: splitmix64.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The numbers of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`; 0 if that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.roll() % limit as u64) as usize }
    }

    /// One of these.
    pub fn of<'a, T>(&mut self, these: &'a [T]) -> Option<&'a T> {
        these.get(self.below(these.len()))
    }
}

/// Pieces of text that readers stumble over.
const PIECES: [&str; 24] = [
    "nan",
    "inf",
    "-1",
    "1e999",
    "1e-400",
    "99999999999999999999",
    "4294967296",
    "-0",
    "0x10",
    "\"",
    "\"\"",
    ",",
    ";",
    "\t",
    "\n",
    "\r\n",
    "\0",
    "\u{1b}[31m",
    "\u{202e}",
    "\u{feff}",
    "[",
    "}",
    "=",
    "1,5",
];
/// Whole numbers at which sizes overflow.
const SIZES: [u64; 12] = [
    0,
    1,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    0x1_0000_0000,
    1 << 40,
    i64::MAX as u64,
    u64::MAX,
];
/// Inputs do not grow beyond this.
const LONGEST: usize = 1 << 16;

/// One of the sound inputs with a few changes.
#[must_use]
pub fn mutated(sound: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = dice.of(sound).cloned().unwrap_or_default();
    // One in fifty is not changed: everything behind the first checks is reached.
    let changes = if dice.below(50) == 0 { 0 } else { 1 + dice.below(6) };
    for _ in 0..changes {
        change(&mut bytes, sound, dice);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(bytes: &mut Vec<u8>, sound: &[Vec<u8>], dice: &mut Dice) {
    let at = dice.below(bytes.len());
    match dice.below(10) {
        0 => bytes.truncate(at),
        1 => put(bytes, at, PIECES[dice.below(PIECES.len())].as_bytes()),
        2 => {
            let (size, width) = (SIZES[dice.below(SIZES.len())], [1, 2, 4, 8][dice.below(4)]);
            let mut size = size.to_le_bytes()[..width].to_vec();
            if dice.below(2) == 0 {
                size.reverse();
            }
            overwrite(bytes, at, &size);
        }
        3 => {
            let end = (at + dice.below(64)).min(bytes.len());
            bytes.drain(at..end);
        }
        4 => {
            let piece = bytes[at..(at + dice.below(256)).min(bytes.len())].to_vec();
            put(bytes, dice.below(bytes.len()), &piece);
        }
        5 => {
            let other = dice.of(sound).cloned().unwrap_or_default();
            let from = dice.below(other.len());
            bytes.truncate(at);
            bytes.extend(&other[from..]);
        }
        6 => overwrite(bytes, at, PIECES[dice.below(PIECES.len())].as_bytes()),
        7 => {
            let noise: Vec<u8> = (0..dice.below(16)).map(|_| dice.roll() as u8).collect();
            overwrite(bytes, at, &noise);
        }
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << dice.below(8);
            }
        }
    }
}

fn put(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    let at = at.min(bytes.len());
    bytes.splice(at..at, piece.iter().copied());
}

fn overwrite(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    let end = (at + piece.len()).min(bytes.len());
    bytes.splice(at.min(end)..end, piece.iter().copied());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_inputs_and_another_gives_others() {
        let sound = [b"one,two\n1,2\n".to_vec(), vec![0; 40]];
        let of = |seed| {
            let mut dice = Dice::new(seed);
            (0..200).map(|_| mutated(&sound, &mut dice)).collect::<Vec<_>>()
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert!(of(3).iter().any(|input| !sound.contains(input)));
        assert!(mutated(&[], &mut Dice::new(1)).len() <= LONGEST);
    }
}
