//! `gradients=ORIENTATIONS/CELL/BLOCK`: histograms of oriented gradients.

use rand::Rng;

use super::layout::map_images;
use super::{Description, Layout, Plan, Step, Tensors};
use crate::matrix::dot;
use crate::wide::wide;
use crate::{Matrix, Real, Result};

pub(super) const DESCRIPTION: Description = Description {
    name: "gradients",
    usage: "gradients[=ORIENTATIONS/CELL/BLOCK]",
    sentence: "histograms of oriented gradients: cells of CELL pixels, normalised in blocks of \
               BLOCK cells; 9/4/2 if nothing is said",
    check: |plan| Knobs::read(plan).map(drop),
};

/// Where block-normalised values are cut off.
const CLIP: f32 = 0.2;
/// What is added to squared lengths, so that blocks without gradients stay 0.
const SQUARED_LEAST: f32 = 1e-10;
/// Pixels that are handled side by side.
const LANES: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Knobs {
    orientations: usize,
    cell: usize,
    block: usize,
}

impl Knobs {
    const DEFAULT: Self = Self { orientations: 9, cell: 4, block: 2 };

    fn read(plan: &Plan) -> Result<Self> {
        let Some(text) = plan.argument() else { return Ok(Self::DEFAULT) };
        let numbers: Option<Vec<usize>> =
            text.split('/').map(|number| number.trim().parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[orientations @ 1..=180, cell, block]) if cell.min(block) >= 1 => {
                Ok(Self { orientations, cell, block })
            }
            _ => Err(plan.refuse(
                "three whole numbers ORIENTATIONS/CELL/BLOCK such as 9/4/2: 1 to 180 orientations, \
                 at least 1 pixel a cell and 1 cell a block",
            )),
        }
    }
}

/// Histograms of oriented gradients, as scikit-image defines them.
///
/// Central differences (0 along the border) give each pixel a magnitude, which goes whole to one of
/// the equal ranges of unsigned angle, within its cell; cells that the image cuts off are left away.
/// Each block of cells is scaled to unit length, cut off at 0.2 and scaled again (L2-Hys, 1e-5);
/// blocks move by one cell. Out come, block by block and row by row within a block, the histograms.
/// Nothing is learnt from the training samples.
#[derive(Debug)]
pub(super) struct Gradients {
    plan: Plan,
    image: [usize; 2],
    /// Rows and columns of cells.
    cells: [usize; 2],
    knobs: Knobs,
    /// Cosine and sine of the angles between one range and the next.
    borders: Vec<[f32; 2]>,
    /// Where the histogram of each pixel's cell starts within its row of cells; whole lanes.
    starts: Vec<u32>,
}

impl Gradients {
    fn new(plan: &Plan, layout: Layout) -> Result<Self> {
        let knobs = Knobs::read(plan)?;
        let image = layout.pixels(plan)?;
        let cells = image.map(|side| side / knobs.cell);
        if cells[0].min(cells[1]) < knobs.block {
            let [height, width] = image;
            return Err(plan.refuse(format!(
                "a block that fits the image: {height}x{width} pixels hold {}x{} cells of {}, a \
                 block takes {}x{}",
                cells[0], cells[1], knobs.cell, knobs.block, knobs.block
            )));
        }
        let n = knobs.orientations;
        let border = |k: usize| {
            // Exact where the border is upright, so that upright gradients fall on one side.
            let angle = std::f64::consts::PI * k as f64 / n as f64;
            let cosine = if 2 * k == n { 0.0 } else { angle.cos() };
            [cosine as f32, angle.sin() as f32]
        };
        let used = cells[1] * knobs.cell;
        let starts = (0..used.next_multiple_of(LANES))
            .map(|x| if x < used { (x / knobs.cell * n) as u32 } else { 0 });
        Ok(Self {
            plan: plan.clone(),
            image,
            cells,
            knobs,
            borders: (1..n).map(border).collect(),
            starts: starts.collect(),
        })
    }

    fn blocks(&self) -> [usize; 2] {
        self.cells.map(|cells| cells - self.knobs.block + 1)
    }

    fn buffers(&self) -> Buffers {
        let padded = self.starts.len();
        Buffers {
            across: vec![0.0; padded],
            down: vec![0.0; padded],
            places: vec![0; padded],
            histograms: vec![0.0; self.cells[0] * self.cells[1] * self.knobs.orientations],
        }
    }

    fn describe(&self, buffers: &mut Buffers, image: &[f32], out: &mut [f32]) {
        wide(
            #[inline(always)]
            || {
                self.fill_histograms(buffers, image);
                self.normalise_blocks(&buffers.histograms, out);
            },
        );
    }

    #[inline(always)]
    fn fill_histograms(&self, buffers: &mut Buffers, image: &[f32]) {
        let ([height, width], n) = (self.image, self.knobs.orientations);
        let used = self.cells[1] * self.knobs.cell;
        let Buffers { across, down, places, histograms } = buffers;
        histograms.fill(0.0);
        let row = |y: usize| &image[y * width..][..width];
        for (i, cells) in histograms.chunks_exact_mut(self.cells[1] * n).enumerate() {
            for y in i * self.knobs.cell..(i + 1) * self.knobs.cell {
                // A row minus itself: no gradient across the upper and lower border.
                let inside = y > 0 && y + 1 < height;
                let (above, below) =
                    if inside { (row(y - 1), row(y + 1)) } else { (row(y), row(y)) };
                differences(row(y), &mut across[..used]);
                for ((d, a), b) in down[..used].iter_mut().zip(above).zip(below) {
                    *d = b - a;
                }
                self.find_places(across, down, places);
                for (&place, &magnitude) in places[..used].iter().zip(across.iter()) {
                    cells[place as usize] += magnitude;
                }
            }
        }
        let share = 1.0 / (self.knobs.cell * self.knobs.cell) as f32;
        histograms.iter_mut().for_each(|sum| *sum *= share);
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

    #[inline(always)]
    fn normalise_blocks(&self, histograms: &[f32], out: &mut [f32]) {
        let ([down, across], n) = (self.blocks(), self.knobs.orientations);
        let (line, block) = (self.cells[1] * n, self.knobs.block);
        let mut blocks = out.chunks_exact_mut(block * block * n);
        for top in 0..down {
            for (left, out) in (0..across).zip(&mut blocks) {
                for (row, part) in out.chunks_exact_mut(block * n).enumerate() {
                    part.copy_from_slice(&histograms[(top + row) * line + left * n..][..block * n]);
                }
                let length = (dot(out, out) + SQUARED_LEAST).sqrt();
                for value in out.iter_mut() {
                    let share = *value / length;
                    // Not `min`, which would hide a NaN.
                    *value = if share > CLIP { CLIP } else { share };
                }
                let length = (dot(out, out) + SQUARED_LEAST).sqrt();
                out.iter_mut().for_each(|value| *value /= length);
            }
        }
    }
}

/// Central differences along a row, 0 at its ends.
#[inline(always)]
fn differences(row: &[f32], out: &mut [f32]) {
    let inner = out.len().min(row.len().saturating_sub(1));
    if let Some(out) = out.get_mut(1..inner) {
        for ((d, left), right) in out.iter_mut().zip(row).zip(&row[2..]) {
            *d = right - left;
        }
    }
    out[0] = 0.0;
    if out.len() == row.len() {
        out[row.len() - 1] = 0.0;
    }
}

struct Buffers {
    across: Vec<f32>,
    down: Vec<f32>,
    places: Vec<u32>,
    histograms: Vec<f32>,
}

impl<T: Real> Step<T> for Gradients {
    fn fit(plan: &Plan, _: &Matrix<T>, layout: Layout, _: &mut dyn Rng) -> Result<Self> {
        Self::new(plan, layout)
    }

    fn restore(plan: &Plan, layout: Layout, _: &mut Tensors<'_, T>) -> Result<Self> {
        Self::new(plan, layout)
    }

    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn n_in(&self) -> usize {
        self.image[0] * self.image[1]
    }

    fn n_out(&self) -> usize {
        let Knobs { orientations, block, .. } = self.knobs;
        let [down, across] = self.blocks();
        // Within the range of the sides allowed, but blocks of blocks may leave that of the type.
        [across, block, block, orientations].into_iter().fold(down, usize::saturating_mul)
    }

    fn tensors(&self) -> Vec<(String, Matrix<T>)> {
        Vec::new()
    }

    fn map(&self, features: Matrix<T>) -> Matrix<T> {
        let n_out = Step::<T>::n_out(self);
        let work = |buffers: &mut Buffers, image: &[f32], out: &mut [f32]| {
            self.describe(buffers, image, out);
        };
        map_images(&features, n_out, || self.buffers(), work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::prepare::fixed_cases;
    use proptest::prelude::*;

    fn step(text: &str, image: [usize; 2]) -> Result<Gradients> {
        let layout = Layout::new(image[0] * image[1], Some(image))?;
        Gradients::new(&text.parse()?, layout)
    }

    fn described(text: &str, [height, width]: [usize; 2], pixels: Vec<f32>) -> Vec<f32> {
        let step = step(text, [height, width]).expect("a plan that fits");
        let features = Matrix::from_columns(height * width, 1, pixels).expect("length");
        step.map(features).into_vec()
    }

    #[test]
    fn a_ramp_has_one_orientation() {
        // Rows rise by 1: central differences are (0, 2) inside, nothing along the border rows.
        let ramp: Vec<f32> = (0..16).map(|i| (i / 4) as f32).collect();
        let out = described("gradients=2/4/1", [4, 4], ramp);
        // All in the upper range of 90 to 180 degrees; L2-Hys makes the only value 1.
        assert_eq!(out[0], 0.0);
        assert!((out[1] - 1.0).abs() < 1e-6, "{out:?}");
    }

    #[test]
    fn ranges_begin_at_their_lower_border() {
        let gradients = step("gradients=8/4/1", [4, 4]).expect("fits");
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

    #[test]
    fn sizes_follow_cells_and_blocks() -> Result<()> {
        let cases = [
            ("gradients", [28, 28], 6 * 6 * 4 * 9),
            ("gradients=9/4/3", [28, 28], 5 * 5 * 9 * 9),
            ("gradients=8/3/2", [16, 16], 4 * 4 * 4 * 8),
            ("gradients=1/5/1", [9, 23], 4),
            ("gradients=180/1/1", [1, 1], 180),
        ];
        for (text, image, n_out) in cases {
            assert_eq!(Step::<f32>::n_out(&step(text, image)?), n_out, "{text}");
        }
        Ok(())
    }

    #[test]
    fn blocks_that_do_not_fit_are_named() {
        let error = step("gradients=9/40/2", [16, 12]).expect_err("40 pixels").to_string();
        assert_eq!(
            error,
            "knob `gradients` is 9/40/2; allowed: a block that fits the image: 16x12 pixels hold \
             0x0 cells of 40, a block takes 2x2"
        );
        assert!(step("gradients=9/4/4", [16, 12]).is_err());
        assert!(step("gradients=9/4/3", [16, 12]).is_ok());
    }

    #[test]
    fn images_without_gradients_are_zero() {
        for value in [0.0, 7.0, -1e20] {
            let out = described("gradients=9/4/2", [9, 10], vec![value; 90]);
            assert!(out.iter().all(|&v| v == 0.0), "{value}");
        }
    }

    proptest! {
        #![proptest_config(fixed_cases(64))]

        #[test]
        fn blocks_have_at_most_unit_length_and_offsets_do_not_matter(
            pixels in prop::collection::vec(0u8..=255, 13 * 11), offset in 0u8..100
        ) {
            let plain: Vec<f32> = pixels.iter().map(|&v| f32::from(v)).collect();
            let moved = plain.iter().map(|v| v + f32::from(offset)).collect();
            let out = described("gradients=9/3/2", [13, 11], plain);
            for block in out.chunks_exact(36) {
                prop_assert!(dot(block, block) < 1.0 + 1e-5);
                prop_assert!(block.iter().all(|&v| v >= 0.0));
            }
            prop_assert_eq!(described("gradients=9/3/2", [13, 11], moved), out);
        }
    }
}
