//! `gradients=ORIENTATIONS/CELL/BLOCK[/soft|/signed]`: histograms of oriented gradients.
//!
//! This file has cells, blocks and their normalisation; `sharp` and `soft` let the gradients vote.

mod sharp;
mod soft;

use rand::Rng;

use super::layout::map_images;
use super::{Description, Layout, PreparationStep, StepChoice, Tensors};
use crate::matrix::dot;
use crate::wide::wide;
use crate::{Matrix, Real, Result};
use sharp::Sharp;
use soft::Soft;

pub(super) const DESCRIPTION: Description = Description {
    name: "gradients",
    usage: "gradients[=O/C/B[/VOTES]]",
    sentence: "histograms of gradients in O orientations, cells of C pixels, normalised in blocks of \
               B cells; VOTES soft: shared between neighbouring orientations and cells, signed: soft, \
               with opposite directions apart; 9/4/2 by default",
    check: |plan| Knobs::read(plan).map(drop),
};

/// Where block-normalised values are cut off.
const CLIP: f32 = 0.2;
/// Added to squared lengths, so that blocks without gradients stay 0.
const SQUARED_EPSILON: f32 = 1e-10;
/// Pixels processed side by side.
const LANES: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Knobs {
    orientations: usize,
    cell: usize,
    block: usize,
    voting: Voting,
}

/// Which histograms a gradient adds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Voting {
    /// One orientation of one cell.
    Sharp,
    /// The two nearest orientations of the four nearest cells.
    Soft,
    /// As `Soft`, with orientations all around.
    Signed,
}

impl Knobs {
    const DEFAULT: Self = Self { orientations: 9, cell: 4, block: 2, voting: Voting::Sharp };

    fn read(plan: &StepChoice) -> Result<Self> {
        let Some(text) = plan.argument() else { return Ok(Self::DEFAULT) };
        let mut words: Vec<&str> = text.split('/').map(str::trim).collect();
        let voting = match words.last() {
            Some(&"soft") => Voting::Soft,
            Some(&"signed") => Voting::Signed,
            _ => Voting::Sharp,
        };
        if voting != Voting::Sharp {
            words.pop();
        }
        let numbers: Option<Vec<usize>> = words.iter().map(|word| word.parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[orientations @ 1..=180, cell, block]) if cell.min(block) >= 1 => {
                Ok(Self { orientations, cell, block, voting })
            }
            _ => Err(plan.refuse(
                "three whole numbers (orientations, cell, block) such as 9/4/2, then optionally /soft or \
                 /signed: 1 to 180 orientations, at least 1 pixel per cell and 1 cell per block",
            )),
        }
    }
}

/// Histograms of oriented gradients.
///
/// Central differences (0 along the border) give each pixel a magnitude and an unsigned angle. Sharp
/// histograms are those of scikit-image: the magnitude goes whole to one of the equal ranges of angle,
/// within its cell. Soft ones share it, linearly, between the two nearest orientations and the four
/// nearest cells, as Dalal and Triggs do: a stroke that moves by a pixel or leans by a degree changes
/// little. A last cell that would reach beyond the image is omitted. Each block of cells is scaled to
/// unit length, cut off at 0.2 and scaled again (L2-Hys, 1e-5); blocks move by one cell. Out come, block
/// by block and row by row within a block, the histograms. Nothing is learnt from the training samples.
#[derive(Debug)]
pub(super) struct Gradients {
    plan: StepChoice,
    image: [usize; 2],
    /// Rows and columns of cells.
    cells: [usize; 2],
    knobs: Knobs,
    votes: Votes,
}

#[derive(Debug)]
enum Votes {
    Sharp(Sharp),
    Soft(Soft),
}

impl Gradients {
    fn new(plan: &StepChoice, layout: Layout) -> Result<Self> {
        let knobs = Knobs::read(plan)?;
        let image = layout.pixels(plan)?;
        let cells = image.map(|side| side / knobs.cell);
        if cells[0].min(cells[1]) < knobs.block {
            let [height, width] = image;
            return Err(plan.refuse(format!(
                "a block that fits the image: {height}x{width} pixels hold {}x{} cells of {}, but a \
                 block needs {}x{}",
                cells[0], cells[1], knobs.cell, knobs.block, knobs.block
            )));
        }
        let votes = match knobs.voting {
            Voting::Sharp => Votes::Sharp(Sharp::new(image[1], cells, knobs)),
            Voting::Soft | Voting::Signed => Votes::Soft(Soft::new(image, cells, knobs)),
        };
        Ok(Self { plan: plan.clone(), image, cells, knobs, votes })
    }

    fn blocks(&self) -> [usize; 2] {
        self.cells.map(|cells| cells - self.knobs.block + 1)
    }

    fn buffers(&self) -> Buffers {
        let (padded, line) =
            (self.image[1].next_multiple_of(LANES), self.cells[1] * self.knobs.orientations);
        let row = Row { across: vec![0.0; padded], down: vec![0.0; padded] };
        let scratch = Scratch { places: vec![0; padded], line: vec![0.0; line] };
        Buffers { row, scratch, histograms: vec![0.0; self.cells[0] * line] }
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
        let Buffers { row, scratch, histograms } = buffers;
        histograms.fill(0.0);
        for y in 0..self.image[0] {
            row.differentiate(image, self.image, y);
            match &self.votes {
                Votes::Sharp(sharp) => sharp.vote(y, row, scratch, histograms),
                Votes::Soft(soft) => soft.vote(y, row, scratch, histograms),
            }
        }
        let share = 1.0 / (self.knobs.cell * self.knobs.cell) as f32;
        histograms.iter_mut().for_each(|sum| *sum *= share);
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
                let length = (dot(out, out) + SQUARED_EPSILON).sqrt();
                for value in out.iter_mut() {
                    let share = *value / length;
                    // Not `min`, which would hide a NaN.
                    *value = if share > CLIP { CLIP } else { share };
                }
                let length = (dot(out, out) + SQUARED_EPSILON).sqrt();
                out.iter_mut().for_each(|value| *value /= length);
            }
        }
    }
}

struct Buffers {
    row: Row,
    scratch: Scratch,
    histograms: Vec<f32>,
}

/// The gradients of a row of pixels, padded to whole lanes by zeros.
struct Row {
    across: Vec<f32>,
    down: Vec<f32>,
}

/// Buffers for the votes, between pixels and histograms.
struct Scratch {
    /// Places within a row of cells, one a pixel.
    places: Vec<u32>,
    /// The histograms of a row of cells.
    line: Vec<f32>,
}

impl Row {
    /// Central differences of row `y`, 0 along the border.
    #[inline(always)]
    fn differentiate(&mut self, image: &[f32], [height, width]: [usize; 2], y: usize) {
        let row = |y: usize| &image[y * width..][..width];
        let (middle, across) = (row(y), &mut self.across[..width]);
        if let Some(inner) = across.get_mut(1..width.saturating_sub(1)) {
            for ((d, left), right) in inner.iter_mut().zip(middle).zip(&middle[2..]) {
                *d = right - left;
            }
        }
        (across[0], across[width - 1]) = (0.0, 0.0);
        // A row minus itself: no gradient across the upper and lower border.
        let inside = y > 0 && y + 1 < height;
        let (above, below) = if inside { (row(y - 1), row(y + 1)) } else { (middle, middle) };
        for ((d, a), b) in self.down[..width].iter_mut().zip(above).zip(below) {
            *d = b - a;
        }
    }
}

impl<T: Real> PreparationStep<T> for Gradients {
    fn fit(plan: &StepChoice, _: &Matrix<T>, layout: Layout, _: &mut dyn Rng) -> Result<Self> {
        Self::new(plan, layout)
    }

    fn restore(plan: &StepChoice, layout: Layout, _: &mut Tensors<'_, T>) -> Result<Self> {
        Self::new(plan, layout)
    }

    fn plan(&self) -> &StepChoice {
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

    fn map(&self, features: Matrix<T>) -> Matrix<T> {
        let n_out = PreparationStep::<T>::n_out(self);
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
    fn sizes_follow_cells_and_blocks() -> Result<()> {
        let cases = [
            ("gradients", [28, 28], 6 * 6 * 4 * 9),
            ("gradients=9/4/3", [28, 28], 5 * 5 * 9 * 9),
            ("gradients=8/3/2", [16, 16], 4 * 4 * 4 * 8),
            ("gradients=1/5/1", [9, 23], 4),
            ("gradients=180/1/1", [1, 1], 180),
        ];
        for (text, image, n_out) in cases {
            assert_eq!(PreparationStep::<f32>::n_out(&step(text, image)?), n_out, "{text}");
        }
        Ok(())
    }

    #[test]
    fn blocks_that_do_not_fit_are_named() {
        let error = step("gradients=9/40/2", [16, 12]).expect_err("40 pixels").to_string();
        assert_eq!(
            error,
            "knob `gradients` is 9/40/2; allowed: a block that fits the image: 16x12 pixels hold \
             0x0 cells of 40, but a block needs 2x2"
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
