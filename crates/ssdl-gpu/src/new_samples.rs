//! Codes of new samples, pulled to those of training samples.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use ssdl::codes::Pull;
use ssdl::device::{Found, Mixture, NewSamples, Ties};
use ssdl::{Matrix, Result};

use super::arrays::{Rows, plain, turned};
use super::card::{Argument, Card, Grid, int, long};
use super::engine::{Coding, visit};
use super::mixtures;
use super::neighbours::References;
use super::number::Multiplied;

/// New samples coded at once: the next ones are copied meanwhile.
const BLOCK: usize = 1 << 16;

pub(crate) fn code<T: Multiplied>(
    card: &Arc<Card>,
    problem: &NewSamples<'_, T>,
    meanwhile: &mut dyn FnMut(&[T]),
) -> Result<Found<T>> {
    let NewSamples { samples, atoms, sparsity, solver, .. } = *problem;
    let (n, p, count) = (atoms.rows(), atoms.columns(), samples.columns());
    let (on_card, gram) = (card.matrix(atoms)?, card.matrix(&atoms.gram())?);
    let pulling = Pulling::new(card, &problem.ties, p)?;
    let mut out = Matrix::zeros(p, count);
    let mut places = out.as_mut_slice().chunks_mut(BLOCK * p);
    let (mut lists, mut weights) = (Vec::new(), Vec::new());
    let mut blocks = samples.as_slice().chunks(BLOCK * n);
    // One block is coded while the other one is filled.
    let size = n * BLOCK.min(count);
    let (mut block, mut other) = (card.zeros::<T>(size)?, card.zeros::<T>(size)?);
    card.wait()?;
    if let Some(first) = blocks.next() {
        card.overwrite(first, &mut block)?;
    }
    let mut last: Option<&mut [T]> = None;
    for first in (0..count).step_by(BLOCK) {
        let some = BLOCK.min(count - first);
        let mut rhs = card.zeros::<T>(p * some)?;
        let factors = (turned(&on_card, n, p), plain(&block, n, some));
        card.multiply(T::one(), factors.0, factors.1, T::zero(), &mut rhs)?;
        let codes = card.zeros::<T>(p * some)?;
        let pull = pulling.of((first, some), &block)?;
        if let Some(pull) = &pull {
            let threshold = T::of(0.5 * sparsity);
            pull.start(card, (p, some), pulling.codes(), threshold, (&codes, &rhs))?;
        }
        let coding = Coding {
            gram: card.pointer(&gram),
            rhs: card.pointer(&rhs),
            shifts: pull.as_ref().map_or(0, |pull| card.pointer(&pull.strengths)),
            codes: card.pointer(&codes),
            sparsity: T::of(sparsity),
            ..Coding::new(p, solver, solver.sweeps + 1)
        };
        visit(card, &coding, None, some)?;
        // While the card codes; the other block is that of samples whose codes are here.
        if let Some(next) = blocks.next() {
            card.overwrite(next, &mut other)?;
        }
        if let Some(codes) = last.take() {
            meanwhile(codes);
        }
        if let Some(place) = places.next() {
            card.download_into(&codes, place)?;
            last = Some(place);
        }
        if let Some(Pulled { rows, .. }) = pull.filter(|_| pulling.is_told()) {
            lists.extend(card.download(&rows.others)?);
            weights.extend(card.download(&rows.values)?);
        }
        std::mem::swap(&mut block, &mut other);
    }
    if let Some(codes) = last {
        meanwhile(codes);
    }
    Ok(Found { codes: out, mixtures: pulling.is_told().then_some((lists, weights)) })
}

/// What pulls new samples, on the card.
enum Pulling<'a, T> {
    Nothing,
    Known(Anchored<'a, T>),
    Mixture {
        card: &'a Arc<Card>,
        it: Mixture<'a, T>,
        references: Box<References<T>>,
        codes: CudaSlice<T>,
    },
}

impl<'a, T: Multiplied> Pulling<'a, T> {
    fn new(card: &'a Arc<Card>, ties: &Ties<'a, T>, p: usize) -> Result<Self> {
        Ok(match *ties {
            Ties::None => Self::Nothing,
            Ties::Known(pull) => Self::Known(Anchored::new(card, pull)?),
            Ties::Mixture(it) => {
                debug_assert_eq!(it.codes.rows(), p);
                let references = Box::new(References::new(card, it.training)?);
                Self::Mixture { card, it, references, codes: card.matrix(it.codes)? }
            }
        })
    }

    /// Whether the training samples are told.
    fn is_told(&self) -> bool {
        matches!(self, Self::Mixture { it, .. } if it.is_told)
    }

    /// The codes that new samples are pulled to.
    fn codes(&self) -> Argument {
        match self {
            Self::Nothing => super::card::NONE,
            Self::Known(anchored) => anchored.card.at(&anchored.codes),
            Self::Mixture { card, codes, .. } => card.at(codes),
        }
    }

    /// What pulls a block of new samples.
    fn of(&self, (first, some): (usize, usize), block: &CudaSlice<T>) -> Result<Option<Pulled<T>>> {
        match self {
            Self::Nothing => Ok(None),
            Self::Known(anchored) => anchored.of(first, some).map(Some),
            Self::Mixture { card, it, references, .. } => {
                let k = it.n_neighbors;
                let others = references.nearest(Some((block, some)), k)?;
                let queries = (Some(block), some);
                let values = mixtures::weights(card, references, queries, &others, k)?;
                let starts: Vec<i64> = (0..=some).map(|j| (j * k) as i64).collect();
                let rows = Rows { starts: card.upload(&starts)?, others, values, count: some };
                Ok(Some(Pulled { rows, strengths: card.upload(&vec![it.strength; some])? }))
            }
        }
    }
}

/// The training samples of a block of new ones.
struct Pulled<T> {
    rows: Rows<T>,
    /// κ.
    strengths: CudaSlice<T>,
}

impl<T: Multiplied> Pulled<T> {
    /// Starts codes at the means of the training samples, and adds these to the right-hand sides.
    fn start(
        &self,
        card: &Card,
        (p, some): (usize, usize),
        known: Argument,
        threshold: T,
        (codes, rhs): (&CudaSlice<T>, &CudaSlice<T>),
    ) -> Result<()> {
        let [starts, others, values] = self.rows.arguments(card);
        let arguments = [int(p), long(some), starts, others, values, known, card.at(codes)];
        card.launch::<T>("combine", Grid::warps(some), &arguments)?;
        let arguments = [
            int(p),
            long(some),
            card.at(&self.strengths),
            threshold.argument(),
            card.at(codes),
            card.at(rhs),
        ];
        card.launch::<T>("start_at_means", Grid::entries(p * some), &arguments)
    }
}

/// The training samples that new ones are tied to, and their codes on the card.
struct Anchored<'a, T> {
    card: &'a Card,
    pull: Pull<'a, T>,
    /// The codes that any new sample is pulled to.
    codes: CudaSlice<T>,
    /// Where each training sample is among them.
    place: Vec<u32>,
}

impl<'a, T: Multiplied> Anchored<'a, T> {
    fn new(card: &'a Card, pull: Pull<'a, T>) -> Result<Self> {
        let mut is_used = vec![false; pull.codes().columns()];
        let (_, others, _) = pull.anchors.weights().parts();
        others.iter().for_each(|&i| is_used[i as usize] = true);
        let used: Vec<usize> = (0..is_used.len()).filter(|&i| is_used[i]).collect();
        let mut place = vec![0; is_used.len()];
        used.iter().enumerate().for_each(|(at, &i)| place[i] = at as u32);
        let codes = match used.is_empty() {
            true => card.zeros(1)?,
            false => card.matrix(&pull.codes().select_columns(&used))?,
        };
        Ok(Self { card, pull, codes, place })
    }

    fn of(&self, first: usize, some: usize) -> Result<Pulled<T>> {
        let anchors = self.pull.anchors;
        let (starts, others, values) = anchors.weights().parts();
        let (starts, inside) = (&starts[first..=first + some], starts[first]..starts[first + some]);
        let starts: Vec<i64> = starts.iter().map(|start| (start - inside.start) as i64).collect();
        let others: Vec<u32> =
            others[inside.clone()].iter().map(|i| self.place[*i as usize]).collect();
        let rows = Rows::of_arrays(self.card, &starts, &others, &values[inside])?;
        let strength = |j: usize| T::of(self.pull.manifold) * anchors.strength(j);
        let strengths: Vec<T> = (first..first + some).map(strength).collect();
        Ok(Pulled { rows, strengths: self.card.upload(&strengths)? })
    }
}
