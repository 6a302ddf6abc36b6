//! Cuts that divide samples into parts of about the same size, so that near samples are mostly in one part.

use super::wire::{Reader, Writer, damaged};
use crate::matrix::{Matrix, dot};
use crate::random::place;
use crate::{Real, Result};

/// Samples of a node from which its direction is found.
const ENOUGH: usize = 4096;
/// Steps of the power method; a rough direction divides as well as an exact one.
const STEPS: usize = 15;

/// A tree of cuts, each across a direction in which the samples of its node spread.
#[derive(Clone, Debug, PartialEq)]
pub struct Cuts<T> {
    /// In the order of a walk that goes left first: node after node.
    nodes: Vec<Node<T>>,
    n_parts: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Node<T> {
    normal: Vec<T>,
    /// What lies below goes left.
    middle: T,
    /// Parts on the left, and on the right.
    sizes: (usize, usize),
}

/// The direction of a node: from its samples, and its number.
type Direction<'a, T> = dyn Fn(&[usize], usize) -> Vec<T> + 'a;

impl<T: Real> Cuts<T> {
    /// Cuts into `n_parts` that have about as many of these samples each, across the directions in which they spread
    /// most. Cost $O(nN\log P)$ with a factor of about thirty for the directions.
    #[must_use]
    #[inline(never)]
    pub fn new(samples: &Matrix<T>, n_parts: usize) -> Self {
        Self::grown(samples, n_parts, &|chosen, _| main_direction(samples, chosen))
    }

    /// The same across directions between two samples drawn at random, others in each `tree`: near samples that one
    /// tree separates are mostly together in another.
    #[must_use]
    #[inline(never)]
    pub fn at_random(samples: &Matrix<T>, n_parts: usize, tree: u64) -> Self {
        Self::grown(samples, n_parts, &|chosen, node| {
            let draw = |which| {
                let drawn = place(7, tree << 32 | node as u64, which) as usize;
                samples.column(chosen[drawn % chosen.len()])
            };
            // Twins have no direction between them.
            let ends = (1..16).map(|which| (draw(0), draw(which)));
            let ends = ends.into_iter().find(|(a, b)| a != b).unwrap_or((draw(0), draw(0)));
            ends.0.iter().zip(ends.1).map(|(a, b)| *a - *b).collect()
        })
    }

    fn grown(samples: &Matrix<T>, n_parts: usize, direction: &Direction<'_, T>) -> Self {
        let mut cuts = Self { nodes: Vec::new(), n_parts };
        let all = (0..samples.columns()).collect();
        cuts.grow((samples, direction), all, n_parts);
        cuts
    }

    fn grow(
        &mut self,
        given: (&Matrix<T>, &Direction<'_, T>),
        mut chosen: Vec<usize>,
        n_parts: usize,
    ) {
        if n_parts < 2 {
            return;
        }
        let (samples, direction) = given;
        let sizes = (n_parts / 2, n_parts - n_parts / 2);
        let normal = match chosen.is_empty() {
            true => vec![T::zero(); samples.rows()],
            false => direction(&chosen, self.nodes.len()),
        };
        let mut placed: Vec<(T, usize)> =
            chosen.iter().map(|&j| (dot(&normal, samples.column(j)), j)).collect();
        placed.sort_by(|a, b| a.0.wide().total_cmp(&b.0.wide()).then(a.1.cmp(&b.1)));
        let half = chosen.len() * sizes.0 / n_parts;
        let middle = placed.get(half).map_or(T::zero(), |(along, _)| *along);
        chosen.clear();
        chosen.extend(placed.iter().map(|(_, j)| *j));
        let right = chosen.split_off(half);
        self.nodes.push(Node { normal, middle, sizes });
        self.grow(given, chosen, sizes.0);
        self.grow(given, right, sizes.1);
    }

    /// The part of each sample.
    #[must_use]
    #[inline(never)]
    pub fn parts_of(&self, samples: &Matrix<T>) -> Vec<usize> {
        samples.iter_columns().map(|sample| self.part_of(sample)).collect()
    }

    fn part_of(&self, sample: &[T]) -> usize {
        let (mut node, mut part, mut count) = (0, 0, self.n_parts);
        while count > 1 {
            let Node { normal, middle, sizes } = &self.nodes[node];
            if dot(normal, sample) < *middle {
                (node, count) = (node + 1, sizes.0);
            } else {
                // A tree of that many parts has one node less.
                (node, part, count) = (node + sizes.0, part + sizes.0, sizes.1);
            }
        }
        part
    }

    /// As bytes.
    #[must_use]
    #[inline(never)]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.count(self.n_parts);
        for Node { normal, middle, .. } in &self.nodes {
            out.list(normal);
            out.list(&[*middle]);
        }
        out.into_bytes()
    }

    /// From bytes.
    ///
    /// # Errors
    /// If they are no cuts.
    #[inline(never)]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes);
        let n_parts = from.count()?;
        let mut cuts = Self { nodes: Vec::new(), n_parts };
        cuts.read(&mut from, n_parts)?;
        Ok(cuts)
    }

    fn read(&mut self, from: &mut Reader<'_>, n_parts: usize) -> Result<()> {
        if n_parts < 2 {
            return Ok(());
        }
        let sizes = (n_parts / 2, n_parts - n_parts / 2);
        let normal = from.list()?;
        let middle: Vec<T> = from.list()?;
        let middle = *middle.first().ok_or_else(damaged)?;
        self.nodes.push(Node { normal, middle, sizes });
        self.read(from, sizes.0)?;
        self.read(from, sizes.1)
    }
}

/// The direction in which the chosen samples spread most, roughly.
fn main_direction<T: Real>(samples: &Matrix<T>, chosen: &[usize]) -> Vec<T> {
    let step = chosen.len().div_ceil(ENOUGH).max(1);
    let some: Vec<usize> = chosen.iter().copied().step_by(step).collect();
    let mut some = samples.select_columns(&some);
    let (n, count) = (some.rows(), some.columns().max(1));
    let mut mean = vec![T::zero(); n];
    some.iter_columns().for_each(|x| crate::matrix::axpy(T::one(), x, &mut mean));
    mean.iter_mut().for_each(|value| *value /= T::of(count as f64));
    for j in 0..some.columns() {
        crate::matrix::axpy(-T::one(), &mean, some.column_mut(j));
    }
    // Any start that is unlikely to be across the direction; the same for all.
    let mut direction = Matrix::from_fn(n, 1, |i, _| T::of(1.0 + (i * 7 % 11) as f64 / 11.0));
    for _ in 0..STEPS {
        let along = Matrix::of_product(some.transposed(), direction.view());
        let next = Matrix::of_product(some.view(), along.view());
        let length = next.squared_norm().sqrt();
        if length <= 0.0 || !length.is_finite() {
            break;
        }
        direction = next;
        direction.as_mut_slice().iter_mut().for_each(|value| *value /= T::of(length));
    }
    direction.into_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_even_and_near_samples_stay_together() -> Result<()> {
        let samples =
            Matrix::from_fn(4, 600, |i, j| (j / 100 * 10) as f64 + ((j * (i + 3)) % 7) as f64);
        for n_parts in [1, 2, 3, 5, 6] {
            let cuts = Cuts::new(&samples, n_parts);
            assert_eq!(Cuts::from_bytes(&cuts.to_bytes())?, cuts);
            let parts = cuts.parts_of(&samples);
            let sizes: Vec<usize> =
                (0..n_parts).map(|part| parts.iter().filter(|p| **p == part).count()).collect();
            let even = 600 / n_parts;
            assert!(sizes.iter().all(|size| size.abs_diff(even) <= even / 4), "{sizes:?}");
        }
        let parts = Cuts::new(&samples, 6).parts_of(&samples);
        let together = (0..599).filter(|&j| parts[j] == parts[j + 1]).count();
        assert!(together > 550, "{together}");
        let forest: Vec<Cuts<f64>> =
            (0..8).map(|tree| Cuts::at_random(&samples, 5, tree)).collect();
        assert_eq!(Cuts::from_bytes(&forest[0].to_bytes())?, forest[0]);
        assert_eq!(Cuts::at_random(&samples, 5, 0), forest[0]);
        let parts: Vec<Vec<usize>> = forest.iter().map(|cuts| cuts.parts_of(&samples)).collect();
        let separated = |trees: usize| {
            let apart = |j: &usize| parts[..trees].iter().all(|parts| parts[*j] != parts[j + 1]);
            (0..599).filter(apart).count()
        };
        assert!(separated(2) < separated(1) && 2 * separated(8) < separated(2));
        assert!(Cuts::<f64>::from_bytes(&[9, 0, 0]).is_err());
        Ok(())
    }

    #[test]
    fn twins_go_somewhere() {
        let samples = Matrix::from_fn(3, 50, |_, _| 2.0f32);
        for cuts in [Cuts::new(&samples, 4), Cuts::at_random(&samples, 4, 9)] {
            assert!(cuts.parts_of(&samples).iter().all(|part| *part < 4));
        }
        // More parts than samples.
        assert!(Cuts::at_random(&samples, 80, 1).parts_of(&samples).iter().all(|part| *part < 80));
    }
}
