//! A gradient votes for one orientation of one cell, as in scikit-image.

use super::{Knobs, LANES, Row, Scratch};

#[derive(Debug)]
pub(super) struct Sharp {
    knobs: Knobs,
    /// Rows and columns of cells.
    cells: [usize; 2],
    /// Cosine and sine of the angles between one range and the next.
    borders: Vec<[f32; 2]>,
    /// Where the histogram of each pixel's cell starts within its row of cells; whole lanes.
    starts: Vec<u32>,
}

impl Sharp {
    pub fn new(width: usize, cells: [usize; 2], knobs: Knobs) -> Self {
        let n = knobs.orientations;
        let border = |k: usize| {
            // Exact where the border is upright, so that upright gradients fall on one side.
            let angle = std::f64::consts::PI * k as f64 / n as f64;
            let cosine = if 2 * k == n { 0.0 } else { angle.cos() };
            [cosine as f32, angle.sin() as f32]
        };
        let used = cells[1] * knobs.cell;
        let starts = (0..width.next_multiple_of(LANES))
            .map(|x| if x < used { (x / knobs.cell * n) as u32 } else { 0 });
        Self { knobs, cells, borders: (1..n).map(border).collect(), starts: starts.collect() }
    }

    /// Adds the magnitudes of row `y`; cells that the image cuts off are omitted.
    #[inline(always)]
    pub fn vote(&self, y: usize, row: &mut Row, scratch: &mut Scratch, histograms: &mut [f32]) {
        let (line, used) =
            (self.cells[1] * self.knobs.orientations, self.cells[1] * self.knobs.cell);
        let Some(cells) = histograms.chunks_exact_mut(line).nth(y / self.knobs.cell) else {
            return;
        };
        self.find_places(&mut row.across, &row.down, &mut scratch.places);
        for (&place, &magnitude) in scratch.places[..used].iter().zip(&row.across) {
            cells[place as usize] += magnitude;
        }
    }

    /// Turns gradients into magnitudes (in `across`) and the places they belong to within a row of
    /// cells.
    #[inline(always)]
    fn find_places(&self, across: &mut [f32], down: &[f32], places: &mut [u32]) {
        let lanes = across.chunks_exact_mut(LANES).zip(down.chunks_exact(LANES));
        let places = places.chunks_exact_mut(LANES).zip(self.starts.chunks_exact(LANES));
        for ((across, down), (places, starts)) in lanes.zip(places) {
            let ([mut dx, mut dy], mut place) = ([[0f32; LANES]; 2], [0u32; LANES]);
            for i in 0..LANES {
                // Opposite gradients are the same line: all are turned to angles of 0 to 180.
                let opposite = down[i] < 0.0 || (down[i] == 0.0 && across[i] < 0.0);
                let sign = if opposite { -1.0 } else { 1.0 };
                dx[i] = sign * across[i];
                dy[i] = sign * down[i];
                place[i] = starts[i];
            }
            // An angle is beyond as many borders as its range has before it.
            for &[cosine, sine] in &self.borders {
                for i in 0..LANES {
                    place[i] += u32::from(cosine * dy[i] - sine * dx[i] >= 0.0);
                }
            }
            for i in 0..LANES {
                across[i] = (dx[i] * dx[i] + dy[i] * dy[i]).sqrt();
            }
            places.copy_from_slice(&place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Voting;
    use super::*;

    #[test]
    fn ranges_begin_at_their_lower_border() {
        let knobs = Knobs { orientations: 8, cell: 4, block: 1, voting: Voting::Sharp };
        let gradients = Sharp::new(4, [1, 1], knobs);
        let cases = [
            ((1.0, 0.0), 0),
            ((-1.0, 0.0), 0),
            ((1.0, 1.0), 2),
            ((-3.0, -3.0), 2),
            ((0.0, 5.0), 4),
            ((0.0, -5.0), 4),
            ((-2.0, 2.0), 6),
            ((-9.0, 1e-3), 7),
            ((9.0, -1e-3), 7),
        ];
        for ((dx, dy), range) in cases {
            let (mut across, mut down, mut places) = ([0.0; LANES], [0.0; LANES], [0; LANES]);
            (across[1], down[1]) = (dx, dy);
            gradients.find_places(&mut across, &down, &mut places);
            assert_eq!(places[1], range, "({dx}, {dy})");
            assert!((across[1] - f32::hypot(dx, dy)).abs() < 1e-6);
        }
    }
}
