//! Samples in cells, so that a new sample is compared with those of the nearest cells only.

use super::measure::squared;
use super::sketch::{Sketcher, Sketches};
use crate::matrix::{Matrix, View, squared_distance, squared_norm};
use crate::random::place;
use crate::threads::Loops;
use crate::wide::wide;
use crate::{Real, order, stop};

/// Cells per square root of the number of samples.
const CELLS: f64 = 3.0;
/// Passes that move the centres of the cells to their samples.
const PASSES: usize = 4;
/// A new sample is compared with one in so many samples, and with no fewer than this.
const ONE_IN: usize = 32;
const LEAST: usize = 1500;
/// Samples measured in full for each neighbour, and beyond.
const MEASURED: usize = 2;
const SPARE: usize = 12;
/// New samples whose distances to the centres are one product.
const WIDTH: usize = 32;
/// Pairs from which the share of a distance that sketches do not see is learnt.
const COMPARED: usize = 512;

/// An index of samples (columns of a matrix that is not kept): sketches, cell by cell.
pub(in super::super) struct Cells {
    sketcher: Sketcher,
    centres: Matrix<f32>,
    /// Squared lengths of the centres.
    lengths: Vec<f32>,
    /// Where each cell begins.
    starts: Vec<u32>,
    /// The samples, cell by cell.
    order: Vec<u32>,
    /// Their sketches, and the squared lengths with the expected part outside the sketch.
    values: Matrix<f32>,
    own: Vec<f32>,
    n_samples: usize,
}

impl Cells {
    /// Cost $O(nN)$ for the sketches and $O(N^{1.5})$ with a small factor for the cells.
    pub fn new<T: Real>(samples: &Matrix<T>) -> Self {
        let n_samples = samples.columns();
        let sketcher = Sketcher::new(samples);
        let sketches = sketcher.sketch(samples);
        let n_cells = ((n_samples as f64).sqrt() * CELLS) as usize;
        let n_cells = if n_samples > 2 * LEAST { n_cells } else { 1 };
        let (centres, cell) = divide(&sketches, n_cells);
        let mut starts = vec![0u32; n_cells + 1];
        cell.iter().for_each(|&c| starts[c as usize + 1] += 1);
        for c in 0..n_cells {
            starts[c + 1] += starts[c];
        }
        let mut order: Vec<u32> = (0..n_samples as u32).collect();
        order.sort_by_key(|&i| cell[i as usize]);
        let chosen: Vec<usize> = order.iter().map(|&i| i as usize).collect();
        let share = if sketcher.is_whole() { 0.0 } else { share(samples, &sketcher, &sketches) };
        let own = chosen.iter().map(|&i| sketches.length[i] + share * sketches.rest[i]).collect();
        let lengths = centres.iter_columns().map(|c| squared_norm(c) as f32).collect();
        let values = sketches.values.select_columns(&chosen);
        Self { sketcher, centres, lengths, starts, order, values, own, n_samples }
    }

    /// For each new sample those of `samples` that are nearest, with their squared distances, nearest
    /// first, ties by index: at least `k` of them, the same number for all. No sample influences
    /// another.
    pub fn nearest<T: Real>(
        &self,
        samples: &Matrix<T>,
        new: &Matrix<T>,
        k: usize,
    ) -> (usize, Vec<(f64, u32)>) {
        let kept = (MEASURED * k + SPARE).min(self.n_samples);
        let sketches = self.sketcher.sketch(new);
        let m = sketches.values.rows();
        let order = self.visiting_order(&sketches.values);
        let stop = stop::armed();
        let tile = |chosen: &[u32]| {
            let mut found = vec![(0.0, 0); chosen.len() * kept];
            if stop.is_set() {
                return found;
            }
            // One width for all products: a sample gets the same bits alone and among others.
            let mut block = vec![0.0; m * WIDTH];
            for (out, &i) in block.chunks_mut(m.max(1)).zip(chosen) {
                out.copy_from_slice(sketches.values.column(i as usize));
            }
            let mut products = Matrix::zeros(self.centres.columns(), WIDTH);
            let queries = View::of_columns(&block, m, WIDTH);
            products.set_product_here(self.centres.transposed(), queries);
            let mut room = Room::default();
            for ((at, &i), out) in chosen.iter().enumerate().zip(found.chunks_mut(kept)) {
                let x = sketches.values.column(i as usize);
                if x.iter().all(|v| v.is_finite()) {
                    self.scan(x, products.column(at), kept, &mut room);
                } else {
                    // Too far away for single precision: any sample may be the nearest.
                    room.best.clear();
                    room.best.extend((0..self.n_samples as u32).map(|i| (0.0, i)));
                }
                measure(samples, new.column(i as usize), &mut room, out);
            }
            found
        };
        let tiles: Vec<Vec<(f64, u32)>> = order.chunks(WIDTH).gather(tile);
        let mut out = vec![(0.0, 0); new.columns() * kept];
        for (chosen, found) in order.chunks(WIDTH).zip(&tiles) {
            for (&i, found) in chosen.iter().zip(found.chunks(kept.max(1))) {
                out[i as usize * kept..][..kept].copy_from_slice(found);
            }
        }
        (kept, out)
    }

    /// New samples of one cell after another: what one has read is still in cache for the next.
    fn visiting_order(&self, values: &Matrix<f32>) -> Vec<u32> {
        let mut order: Vec<u32> = (0..values.columns() as u32).collect();
        if values.columns() > WIDTH && self.centres.columns() > 1 {
            let mut cell = vec![0u32; values.columns()];
            assign(values, &self.centres, &mut cell);
            order.sort_by_key(|&i| cell[i as usize]);
        }
        order
    }

    /// The samples of the nearest cells with the least estimates.
    fn scan(&self, x: &[f32], products: &[f32], kept: usize, room: &mut Room) {
        let Room { best, cells, .. } = room;
        let distances = self.lengths.iter().zip(products).enumerate();
        cells.clear();
        cells.extend(distances.map(|(c, (length, product))| (length - 2.0 * product, c as u32)));
        let nearer = |a: &(f32, u32), b: &(f32, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let enough = (self.n_samples / ONE_IN).max(LEAST).max(2 * kept);
        best.clear();
        let mut seen = 0;
        // Only the nearest cells are visited, so only they are sorted.
        let mean = self.n_samples.div_ceil(cells.len()).max(1);
        let mut sorted = (2 * enough / mean).min(cells.len());
        if sorted < cells.len() {
            cells.select_nth_unstable_by(sorted, nearer);
        }
        cells[..sorted].sort_unstable_by(nearer);
        wide(
            #[inline(always)]
            || {
                let mut limit = f32::INFINITY;
                for at in 0..cells.len() {
                    if at == sorted {
                        sorted = cells.len();
                        cells[at..].sort_unstable_by(nearer);
                    }
                    let c = cells[at].1;
                    let members = self.starts[c as usize]..self.starts[c as usize + 1];
                    seen += members.len();
                    for at in members {
                        let at = at as usize;
                        let estimate = self.own[at] - 2.0 * product(self.values.column(at), x);
                        if estimate < limit {
                            limit = enter(best, kept, (estimate, self.order[at]));
                        }
                    }
                    if seen >= enough {
                        break;
                    }
                }
            },
        );
    }
}

/// Room for the search of one new sample, used again for the next.
#[derive(Default)]
struct Room {
    /// Samples with the least estimates, least first.
    best: Vec<(f32, u32)>,
    /// Cells and their distances.
    cells: Vec<(f32, u32)>,
    exact: Vec<(f64, u32)>,
}

/// Enters a candidate in a list of at most `kept`; returns the limit for the next.
#[inline(always)]
fn enter(best: &mut Vec<(f32, u32)>, kept: usize, new: (f32, u32)) -> f32 {
    if best.len() == kept {
        best.pop();
    }
    let at = best.partition_point(|known| *known < new);
    best.insert(at, new);
    if best.len() == kept {
        best.last().map_or(f32::INFINITY, |last| last.0)
    } else {
        f32::INFINITY
    }
}

/// The candidates measured in full, nearest first, ties by index.
fn measure<T: Real>(samples: &Matrix<T>, x: &[T], room: &mut Room, out: &mut [(f64, u32)]) {
    let Room { best, exact, .. } = room;
    exact.clear();
    wide(
        #[inline(always)]
        || {
            for (_, j) in &*best {
                exact.push((squared_distance(samples.column(*j as usize), x), *j));
            }
        },
    );
    order::nearest_first(exact);
    out.copy_from_slice(&exact[..out.len()]);
}

#[inline(always)]
fn product(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 16];
    let (xs, x_tail) = a.as_chunks::<16>();
    let (ys, y_tail) = b.as_chunks::<16>();
    for at in 0..xs.len().min(ys.len()) {
        for lane in 0..16 {
            lanes[lane] += xs[at][lane] * ys[at][lane];
        }
    }
    for lane in 0..x_tail.len().min(y_tail.len()) {
        lanes[lane] += x_tail[lane] * y_tail[lane];
    }
    for width in [8, 4, 2, 1] {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
    }
    lanes[0]
}

/// Centres of cells, and the cell of every sample: a few passes of k-means from samples drawn at random.
fn divide(sketches: &Sketches, n_cells: usize) -> (Matrix<f32>, Vec<u32>) {
    let Sketches { values, .. } = sketches;
    let count = values.columns();
    let drawn: Vec<usize> =
        (0..n_cells).map(|c| (place(6, c as u64, 0) % count as u64) as usize).collect();
    let mut centres = values.select_columns(&drawn);
    let mut cell = vec![0u32; count];
    if n_cells == 1 {
        return (centres, cell);
    }
    for pass in 0..=PASSES {
        assign(values, &centres, &mut cell);
        if pass < PASSES {
            move_centres(values, &cell, &mut centres);
        }
    }
    (centres, cell)
}

/// The nearest centre of every sample, the first of those that tie.
fn assign(values: &Matrix<f32>, centres: &Matrix<f32>, cell: &mut [u32]) {
    /// Samples whose distances to the centres are one product.
    const BLOCK: usize = 256;
    let m = values.rows();
    let lengths: Vec<f32> = centres.iter_columns().map(|c| squared_norm(c) as f32).collect();
    let stop = stop::armed();
    cell.chunks_mut(BLOCK).enumerate().each(|(block, cell)| {
        if stop.is_set() {
            return;
        }
        let start = block * BLOCK * m;
        let part = &values.as_slice()[start..start + cell.len() * m];
        let mut products = Matrix::zeros(centres.columns(), cell.len());
        let part = View::of_columns(part, m, cell.len());
        products.set_product_here(centres.transposed(), part);
        for (at, cell) in cell.iter_mut().enumerate() {
            let mut best = (f32::INFINITY, 0);
            for (c, (length, product)) in lengths.iter().zip(products.column(at)).enumerate() {
                let distance = length - 2.0 * product;
                if distance < best.0 {
                    best = (distance, c as u32);
                }
            }
            *cell = best.1;
        }
    });
}

/// Every centre to the mean of its samples; one without samples stays.
fn move_centres(values: &Matrix<f32>, cell: &[u32], centres: &mut Matrix<f32>) {
    let mut sums = Matrix::<f64>::zeros(centres.rows(), centres.columns());
    let mut counts = vec![0usize; centres.columns()];
    for (x, &c) in values.iter_columns().zip(cell) {
        counts[c as usize] += 1;
        let sum = sums.column_mut(c as usize).iter_mut().zip(x);
        sum.for_each(|(sum, &v)| *sum += f64::from(v));
    }
    for (c, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let centre = centres.column_mut(c).iter_mut().zip(sums.column(c));
        centre.for_each(|(centre, sum)| *centre = (sum / count as f64) as f32);
    }
}

/// The median share of $\rho_x+\rho_y$ between a sample and the nearest of some others.
fn share<T: Real>(samples: &Matrix<T>, sketcher: &Sketcher, sketches: &Sketches) -> f32 {
    let count = samples.columns();
    let chosen: Vec<usize> =
        (0..COMPARED.min(count)).map(|at| at * count / COMPARED.min(count)).collect();
    let Sketches { values, rest, .. } = sketches;
    let scale = T::of(sketcher.single.scale);
    let shares = chosen.iter().gather(|&i| {
        wide(
            #[inline(always)]
            || {
                let mut nearest = (f32::INFINITY, None);
                for &j in chosen.iter().filter(|j| **j != i) {
                    let distance = squared(values.column(i), values.column(j), 1.0);
                    // Places rise: of those that tie, the first stays.
                    if distance < nearest.0 {
                        nearest = (distance, Some(j));
                    }
                }
                let j = nearest.1?;
                let between = squared(samples.column(i), samples.column(j), scale) - nearest.0;
                let share = between.max(0.0) / (rest[i] + rest[j]);
                share.is_finite().then_some(share)
            },
        )
    });
    let mut shares: Vec<f32> = shares.into_iter().flatten().collect();
    shares.sort_unstable_by(f32::total_cmp);
    shares.get(shares.len() / 2).copied().unwrap_or(0.0)
}
