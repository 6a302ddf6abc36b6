//! The loop's samples on the card.

use std::cell::RefCell;
use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaView};
use ssdl::classifier::margin::{self, Points, Pull};
use ssdl::classifier::{ActivePoints, Ballot, LinearClassifier};
use ssdl::codes::Coordinate;
use ssdl::dictionary::Statistics;
use ssdl::fit::{CodesUpdate, FIRST_CODES, FirstCodes, Global, Holder, Holding, MOMENTUM, Weights};
use ssdl::samples::Held;
use ssdl::{Error, Matrix, Result};

use super::arrays::{CHUNK, Sums, plain, turned};
use super::card::{Argument, Card, Grid, failed, int, long};
use super::engine::{Coding, visit, visit_into};
use super::number::Multiplied;
use super::tied::Tied;
use super::votes::Votes;

/// Share of the free memory that samples may take; where they need more they stay with the processor and
/// come block by block.
const SHARE_OF_SAMPLES: f64 = 0.5;

/// Samples, codes, scores and votes on the card.
pub(crate) struct OnCard<'a, T> {
    card: Arc<Card>,
    samples: Held<'a, T>,
    /// $X$; `None` where it stays with the processor.
    resident: Option<CudaSlice<T>>,
    energy: f64,
    n_atoms: usize,
    coder: Coordinate,
    graph: Option<Tied<T>>,
    /// $A$, $p\times N$.
    codes: CudaSlice<T>,
    /// Codes at the start of this iteration.
    start: Option<CudaSlice<T>>,
    rhs: CudaSlice<T>,
    votes: Votes<T>,
    failure: RefCell<Option<Error>>,
}

impl<'a, T: Multiplied> OnCard<'a, T> {
    pub fn new(
        card: &Arc<Card>,
        holding: Holding<'a, T>,
        first: FirstCodes<'_, T>,
    ) -> Result<Self> {
        let Holding { samples, energy, labels, laplacian, ballot, solver, .. } = holding;
        if solver.coder != CodesUpdate::Coordinate {
            return Err(Error::Device(format!(
                "the card has no coder `{}`; take `coder=coordinate`, or `device=cpu`",
                solver.coder.name()
            )));
        }
        let (n, count) = (samples.rows(), samples.columns());
        let p = match &first {
            FirstCodes::Given(codes) => codes.rows(),
            FirstCodes::Lasso(atoms) => atoms.columns(),
        };
        let bytes = n * count * size_of::<T>();
        let resident = match samples {
            Held::Memory(matrix) if (bytes as f64) < SHARE_OF_SAMPLES * card.free()? as f64 => {
                Some(card.matrix(matrix)?)
            }
            _ => None,
        };
        let (codes, atoms) = match first {
            FirstCodes::Given(codes) => (card.matrix(&codes)?, None),
            FirstCodes::Lasso(atoms) => (card.zeros(p * count)?, Some(atoms)),
        };
        let mut held = Self {
            card: card.clone(),
            samples,
            resident,
            energy,
            n_atoms: p,
            coder: solver.coordinate(),
            graph: laplacian.map(|laplacian| Tied::new(card, laplacian, p)).transpose()?,
            codes,
            start: None,
            rhs: card.zeros(p * count)?,
            votes: Votes::new(card, labels, ballot, p)?,
            failure: RefCell::new(None),
        };
        if let Some(atoms) = atoms {
            held.correlate(atoms)?;
            let gram = card.matrix(&atoms.gram())?;
            let coding = Coding {
                gram: card.pointer(&gram),
                rhs: card.pointer(&held.rhs),
                codes: card.pointer(&held.codes),
                sparsity: T::of(holding.sparsity),
                ..Coding::new(p, FIRST_CODES, FIRST_CODES.sweeps + 1)
            };
            visit(card, &coding, None, count)?;
            card.wait()?;
        }
        Ok(held)
    }

    fn count(&self) -> usize {
        self.samples.columns()
    }

    /// What the card finds; after a failure, which [`Holder::check`] reports, nothing.
    fn found<R: Default>(&self, step: impl FnOnce() -> Result<R>) -> R {
        if self.failure.borrow().is_some() {
            return R::default();
        }
        step().unwrap_or_else(|error| {
            *self.failure.borrow_mut() = Some(error);
            R::default()
        })
    }

    /// Keeps the first failure.
    fn done(&self, result: Result<()>) {
        if let Err(error) = result {
            self.failure.borrow_mut().get_or_insert(error);
        }
    }

    /// Calls `visit` with blocks of samples on the card, and the place of the first of each.
    fn each_block(
        &self,
        mut visit: impl FnMut(usize, usize, CudaView<'_, T>) -> Result<()>,
    ) -> Result<()> {
        let (n, count) = (self.samples.rows(), self.count());
        if let Some(resident) = &self.resident {
            for first in (0..count).step_by(CHUNK) {
                let some = CHUNK.min(count - first);
                visit(first, some, resident.slice(first * n..(first + some) * n))?;
            }
            return Ok(());
        }
        let mut result = Ok(());
        self.samples.each_block(|first, block| {
            for within in (0..block.columns()).step_by(CHUNK) {
                let some = CHUNK.min(block.columns() - within);
                if result.is_ok() {
                    let values = &block.as_slice()[within * n..(within + some) * n];
                    result = self.card.upload(values).and_then(|some_samples| {
                        visit(first + within, some, some_samples.as_view())
                    });
                }
            }
        });
        result
    }

    /// `rhs = D'X`.
    fn correlate(&mut self, atoms: &Matrix<T>) -> Result<()> {
        let (n, p) = (atoms.rows(), atoms.columns());
        let on_card = self.card.matrix(atoms)?;
        let mut rhs = std::mem::replace(&mut self.rhs, self.card.zeros(1)?);
        let result = self.each_block(|first, some, block| {
            let mut out = rhs.slice_mut(first * p..(first + some) * p);
            let (a, b) = (turned(&on_card, n, p), plain(&block, n, some));
            self.card.multiply(T::one(), a, b, T::zero(), &mut out)
        });
        self.rhs = rhs;
        result
    }

    fn code_once(&mut self, global: &Global<T>, weights: Weights) -> Result<Option<f64>> {
        let (card, p, count) = (self.card.clone(), self.n_atoms, self.count());
        self.correlate(&global.atoms)?;
        let gram = card.matrix(&global.gram)?;
        let w = card.matrix(&global.classifier.weights)?;
        let mut coding = Coding {
            gram: card.pointer(&gram),
            rhs: card.pointer(&self.rhs),
            codes: card.pointer(&self.codes),
            sparsity: T::of(weights.sparsity),
            ..Coding::new(p, self.coder, 1)
        };
        let cross;
        if self.votes.act() {
            let gamma = T::of(weights.discrimination);
            self.votes.add_to(gamma, &global.classifier, &w, &mut self.rhs)?;
            let weights = &global.classifier.weights;
            cross = card.matrix(&Matrix::of_product(weights.view(), weights.transposed()))?;
            (coding.shared, coding.per_class) = self.votes.omega();
            coding.n_classes = weights.columns() as i32;
            coding.gamma = gamma;
            coding.weights = card.pointer(&w);
            coding.cross = card.pointer(&cross);
        }
        let Some(graph) = &self.graph else {
            coding.rounds = self.coder.sweeps as i32 + 1;
            visit(&card, &coding, None, count)?;
            card.wait()?;
            return Ok(None);
        };
        graph.refresh(&card, p, &self.codes)?;
        coding.form = if graph.factor.is_some() { 1 } else { 2 };
        coding.beta = T::of(weights.manifold);
        [coding.starts, coding.others, coding.values] = graph.rows.addresses(&card);
        coding.diagonal = card.pointer(&graph.diagonal);
        coding.residuals = card.pointer(&graph.residuals);
        let (mut steps, mut gap) = (0, f64::INFINITY);
        while steps < self.coder.sweeps && gap > self.coder.tolerance {
            let gaps = card.zeros::<f32>(1)?;
            let mut first = 0;
            for &size in &graph.groups {
                let chosen = card.at(&graph.order.slice(first..first + size));
                visit_into(&card, &coding, Some(chosen), size, &gaps)?;
                first += size;
            }
            gap = f64::from(card.download(&gaps)?[0]);
            steps += 1;
        }
        Ok(Some(graph.energy(&card, p, &self.codes)?))
    }

    fn statistics_found(&self) -> Result<Statistics<T>> {
        let (n, p) = (self.samples.rows(), self.n_atoms);
        let (mut moments, mut cross) = (Sums::new(&self.card, p, p)?, Sums::new(&self.card, n, p)?);
        self.each_block(|first, some, block| {
            let own = self.codes.slice(first * p..(first + some) * p);
            moments.add(plain(&own, p, some), turned(&own, p, some))?;
            cross.add(plain(&block, n, some), turned(&own, p, some))
        })?;
        let (moments, correlations) = (moments.finish()?.cast(), cross.finish()?.cast());
        Ok(Statistics { moments, correlations, energy: self.energy })
    }

    /// $\lVert x_j-Da_j\rVert^2$ of all samples.
    fn squared_residuals(&self, atoms: &Matrix<T>) -> Result<Vec<f64>> {
        let (n, p, card) = (atoms.rows(), self.n_atoms, &self.card);
        let on_card = card.matrix(atoms)?;
        let mut out = Vec::with_capacity(self.count());
        self.each_block(|first, some, block| {
            let own = self.codes.slice(first * p..(first + some) * p);
            let mut mixed = card.zeros::<T>(n * some)?;
            card.multiply(
                T::one(),
                plain(&on_card, n, p),
                plain(&own, p, some),
                T::zero(),
                &mut mixed,
            )?;
            let found = card.zeros::<f64>(some)?;
            let arguments = [int(n), long(some), card.at(&block), card.at(&mixed), card.at(&found)];
            card.launch::<T>("squared_differences", Grid::warps(some), &arguments)?;
            out.extend(card.download(&found)?);
            Ok(())
        })?;
        Ok(out)
    }

    fn gathered(&self, chosen: &[usize]) -> Result<Matrix<T>> {
        let (card, p) = (&self.card, self.n_atoms);
        if chosen.is_empty() {
            return Ok(Matrix::zeros(p, 0));
        }
        let places: Vec<u32> = chosen.iter().map(|place| *place as u32).collect();
        let (places, out) = (card.upload(&places)?, card.zeros::<T>(p * chosen.len())?);
        let arguments =
            [int(p), long(chosen.len()), card.at(&places), card.at(&self.codes), card.at(&out)];
        card.launch::<T>("gather", Grid::entries(p * chosen.len()), &arguments)?;
        card.host(&out, p, chosen.len())
    }

    fn continue_change(&mut self, is_last: bool) -> Result<bool> {
        let card = self.card.clone();
        let copy = card.stream.clone_dtod(&self.codes).map_err(|error| failed("a copy", error))?;
        let previous = self.start.replace(copy).filter(|_| !is_last);
        if let Some(previous) = &previous {
            let count = self.n_atoms * self.count();
            let momentum = T::of(MOMENTUM).argument();
            let arguments = [card.at(&self.codes), card.at(previous), long(count), momentum];
            card.launch::<T>("extrapolate", Grid::entries(count), &arguments)?;
        }
        Ok(previous.is_some())
    }
}

impl<T: Multiplied> Holder<T> for OnCard<'_, T> {
    fn codes_of(&self, chosen: &[usize]) -> Matrix<T> {
        let empty = || Matrix::zeros(self.n_atoms, chosen.len());
        self.found(|| self.gathered(chosen).map(Some)).unwrap_or_else(empty)
    }

    fn begin(&mut self, classifier: &LinearClassifier<T>) {
        let result = self
            .votes
            .score(classifier, &self.codes)
            .and_then(|()| self.votes.share())
            .and_then(|()| self.votes.count_flips());
        self.done(result.map(|_| ()));
    }

    fn vote(&mut self, kind: ActivePoints) {
        let result = self.votes.share().and_then(|()| self.votes.activate(kind));
        self.done(result);
    }

    fn code(&mut self, global: &Global<T>, weights: Weights, passes: usize) -> Option<f64> {
        let mut energy = None;
        for _ in 0..passes {
            match self.code_once(global, weights) {
                Ok(found) => energy = found,
                Err(error) => self.done(Err(error)),
            }
        }
        if self.votes.act() {
            let result = self.votes.score(&global.classifier, &self.codes);
            self.done(result);
        }
        energy
    }

    fn extrapolate(&mut self, is_last: bool) -> bool {
        let result = self.continue_change(is_last);
        result.unwrap_or_else(|error| {
            self.done(Err(error));
            false
        })
    }

    fn go_back(&mut self) {
        if let Some(start) = &self.start {
            let copied = self.card.stream.memcpy_dtod(start, &mut self.codes);
            self.done(copied.map_err(|error| failed("a copy", error)));
        }
    }

    fn statistics(&self) -> Statistics<T> {
        let (n, p) = (self.samples.rows(), self.n_atoms);
        self.found(|| self.statistics_found().map(Some)).unwrap_or_else(|| Statistics::none(n, p))
    }

    fn revive(&self, atoms: &mut Matrix<T>, moments: &Matrix<T>, radius: T) -> (usize, usize) {
        let residuals = |atoms: &Matrix<T>| self.found(|| self.squared_residuals(atoms));
        ssdl::dictionary::revive_by(atoms, (self.samples, self.energy), moments, radius, residuals)
    }

    fn learn_classifier(
        &mut self,
        classifier: &mut LinearClassifier<T>,
        kind: ActivePoints,
        pull: Pull<'_, T>,
    ) -> Result<()> {
        let learnt = match self.votes.act() {
            true => margin::learn(classifier, self, kind, pull, margin::ROUNDS),
            false => Ok(()),
        };
        // After a failure the card's sums are empty, which the classifier would take for what is wrong.
        self.check()?;
        learnt
    }

    fn count_flips(&mut self) -> usize {
        let result = self.votes.count_flips();
        result.unwrap_or_else(|error| {
            self.done(Err(error));
            0
        })
    }

    fn size(&self) -> f64 {
        let (card, entries) = (&self.card, self.n_atoms * self.count());
        self.found(|| {
            let codes = card.at(&self.codes);
            let arguments = |parts| vec![Argument::Int(0), codes, long(entries), parts];
            Ok(card.sums::<T>("entry_sums", (1, entries), arguments)?[0])
        })
    }

    fn graph_energy(&self) -> f64 {
        let Some(graph) = &self.graph else { return 0.0 };
        self.found(|| {
            graph.refresh(&self.card, self.n_atoms, &self.codes)?;
            graph.energy(&self.card, self.n_atoms, &self.codes)
        })
    }

    fn loss(&self) -> f64 {
        self.found(|| self.votes.loss())
    }

    fn quadratic(&self) -> f64 {
        self.found(|| self.votes.quadratic())
    }

    fn check(&self) -> Result<()> {
        self.samples.check()?;
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }

    fn into_parts(self: Box<Self>) -> Result<(Matrix<T>, Ballot<T>)> {
        let codes = self.card.host(&self.codes, self.n_atoms, self.count())?;
        Ok((codes, self.votes.ballot))
    }
}

impl<T: Multiplied> Points<T> for OnCard<'_, T> {
    fn score(&mut self, classifier: &LinearClassifier<T>) {
        let result = self.votes.score(classifier, &self.codes);
        self.done(result);
    }

    fn loss(&self) -> f64 {
        Holder::loss(self)
    }

    fn system(&self, class: Option<usize>, rho: T) -> Option<Matrix<T>> {
        self.found(|| self.votes.system(class, rho, &self.codes))
    }

    fn targets(&self, class: Option<usize>) -> Matrix<T> {
        let shape =
            (self.n_atoms + 1, class.map_or(self.votes.ballot.balance().prior.len(), |_| 1));
        let found = self.found(|| self.votes.targets(class, &self.codes).map(Some));
        found.unwrap_or_else(|| Matrix::zeros(shape.0, shape.1))
    }
}
