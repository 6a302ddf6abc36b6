//! A gradient votes for the two nearest orientations of the four nearest cells, as in Dalal and Triggs.

use std::f32::consts::PI;

use super::{Knobs, Row, Scratch, Voting};

#[derive(Debug)]
pub(super) struct Soft {
    orientations: usize,
    /// The angle after which orientations repeat.
    period: f32,
    /// The cells that share a pixel, for each row and each column of pixels.
    rows: Vec<[Share; 2]>,
    columns: Vec<[Share; 2]>,
}

/// A cell, by its place along one side, and what it gets of a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share {
    cell: usize,
    weight: f32,
}

impl Soft {
    pub fn new(image: [usize; 2], cells: [usize; 2], knobs: Knobs) -> Self {
        let [rows, columns] = [0, 1].map(|side| shares(image[side], cells[side], knobs.cell));
        let period = if knobs.voting == Voting::Signed { 2.0 * PI } else { PI };
        Self { orientations: knobs.orientations, period, rows, columns }
    }

    /// Adds the magnitudes of row `y`: first to the histograms of one row of cells, then from there to
    /// the two rows of cells around it.
    #[inline(always)]
    pub fn vote(&self, y: usize, row: &Row, scratch: &mut Scratch, histograms: &mut [f32]) {
        let (n, line) = (self.orientations, &mut scratch.line);
        line.fill(0.0);
        for ((dx, dy), columns) in row.across.iter().zip(&row.down).zip(&self.columns) {
            let magnitude = (dx * dx + dy * dy).sqrt();
            if magnitude == 0.0 {
                continue;
            }
            let [lower, upper] = self.orientations_of(*dx, *dy);
            for share in columns {
                let part = magnitude * share.weight;
                line[share.cell * n + lower.cell] += part * lower.weight;
                line[share.cell * n + upper.cell] += part * upper.weight;
            }
        }
        for share in &self.rows[y] {
            let cells = &mut histograms[share.cell * line.len()..][..line.len()];
            cells.iter_mut().zip(line.iter()).for_each(|(sum, part)| *sum += share.weight * part);
        }
    }

    /// The two nearest of the orientations at 0, one period over their number, and so on.
    #[inline(always)]
    fn orientations_of(&self, dx: f32, dy: f32) -> [Share; 2] {
        let n = self.orientations;
        let turns = dy.atan2(dx).rem_euclid(self.period) / self.period * n as f32;
        let part = turns - turns.floor();
        // A remainder may round up to the whole period.
        let lower = turns as usize % n;
        [Share { cell: lower, weight: 1.0 - part }, Share { cell: (lower + 1) % n, weight: part }]
    }
}

/// The two cells whose centres are nearest to each pixel of a side, weighted linearly by distance; the
/// cells lie in the middle of the side. Beyond the outer centres one cell gets the pixels near enough.
fn shares(side: usize, cells: usize, cell: usize) -> Vec<[Share; 2]> {
    let margin = (side - cells * cell) as f32 / 2.0;
    let one = |pixel: usize| {
        let at = (pixel as f32 + 0.5 - margin) / cell as f32 - 0.5;
        let lower = at.floor();
        [(lower, 1.0 - (at - lower)), (lower + 1.0, at - lower)].map(|(place, weight)| {
            let is_inside = place >= 0.0 && place < cells as f32;
            Share {
                cell: if is_inside { place as usize } else { 0 },
                weight: if is_inside { weight } else { 0.0 },
            }
        })
    };
    (0..side).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soft(orientations: usize, voting: Voting) -> Soft {
        Soft::new([4, 4], [2, 2], Knobs { orientations, cell: 2, block: 1, voting })
    }

    #[test]
    fn pixels_are_shared_by_distance() {
        let share = |cell, weight| Share { cell, weight };
        assert_eq!(
            shares(4, 2, 2),
            [
                [share(0, 0.0), share(0, 0.75)],
                [share(0, 0.75), share(1, 0.25)],
                [share(0, 0.25), share(1, 0.75)],
                [share(1, 0.75), share(0, 0.0)],
            ]
        );
        // One pixel is left over: the cells move by half a pixel.
        assert_eq!(shares(5, 2, 2)[2], [share(0, 0.5), share(1, 0.5)]);
        assert_eq!(shares(1, 1, 1), [[share(0, 1.0), share(0, 0.0)]]);
    }

    #[test]
    fn angles_are_shared_between_the_nearest_orientations() {
        let close = |found: [Share; 2], expected: [(usize, f32); 2]| {
            for (share, (cell, weight)) in found.iter().zip(expected) {
                assert!(share.cell == cell && (share.weight - weight).abs() < 1e-5, "{found:?}");
            }
        };
        let unsigned = soft(4, Voting::Soft);
        close(unsigned.orientations_of(1.0, 0.0), [(0, 1.0), (1, 0.0)]);
        close(unsigned.orientations_of(-1.0, 1.0), [(3, 1.0), (0, 0.0)]);
        close(unsigned.orientations_of(1.0, -1.0), [(3, 1.0), (0, 0.0)]);
        let half = (PI / 8.0).tan();
        close(unsigned.orientations_of(1.0, half), [(0, 0.5), (1, 0.5)]);
        close(unsigned.orientations_of(-1.0, half), [(3, 0.5), (0, 0.5)]);
        let signed = soft(4, Voting::Signed);
        close(signed.orientations_of(-1.0, 0.0), [(2, 1.0), (3, 0.0)]);
        close(signed.orientations_of(1.0, -1.0), [(3, 0.5), (0, 0.5)]);
        for voting in [Voting::Soft, Voting::Signed] {
            let one = soft(1, voting).orientations_of(0.3, -1e-30);
            assert!(one.iter().all(|share| share.cell == 0 && (0.0..=1.0).contains(&share.weight)));
        }
    }

    #[test]
    fn a_row_votes_by_hand() {
        let soft = soft(2, Voting::Soft);
        let mut row = Row { across: vec![0.0; 16], down: vec![0.0; 16] };
        (row.across[1], row.down[1]) = (0.0, -4.0);
        let mut scratch = Scratch { places: vec![0; 16], line: vec![9.0; 4] };
        let mut histograms = vec![0.0; 8];
        soft.vote(2, &row, &mut scratch, &mut histograms);
        // Upright: the second orientation; three quarters to the left, three quarters below.
        let by_hand = [0.0, 0.75, 0.0, 0.25, 0.0, 2.25, 0.0, 0.75];
        for (found, expected) in histograms.iter().zip(by_hand) {
            assert!((found - expected).abs() < 1e-5, "{histograms:?}");
        }
    }
}
