//! Class memberships, active points and the classifier's sums on the card.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, DeviceRepr};
use ssdl::classifier::{ActivePoints, Ballot, LinearClassifier, as_shares};
use ssdl::samples::Labels;
use ssdl::{Matrix, Result};

use super::arrays::{CHUNK, Sums, plain, turned};
use super::card::{Argument, Card, Grid, NONE, int, long};
use super::number::Multiplied;

/// How the samples vote, as the kernels have it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Voters {
    n_classes: i32,
    count: i64,
    labels: u64,
    weights: u64,
    sharpness: f64,
}

// SAFETY: plain numbers and addresses in the order and size of the kernels' struct.
unsafe impl DeviceRepr for Voters {}

/// Everything about classes that has a column for each sample.
pub(crate) struct Votes<T> {
    card: Arc<Card>,
    count: usize,
    n_classes: usize,
    n_atoms: usize,
    pub ballot: Ballot<T>,
    labels: CudaSlice<i32>,
    weights: CudaSlice<T>,
    /// $W^\top A+b$, $C\times N$.
    scores: CudaSlice<T>,
    /// $P$, $C\times N$.
    memberships: CudaSlice<T>,
    /// $u_jP^r$, $C\times N$, and its sums.
    of_class: CudaSlice<T>,
    total: CudaSlice<T>,
    /// $\mathcal G$, $C\times N$.
    target: CudaSlice<T>,
    /// Ω of the frozen quadratic, $C\times N$.
    per_class: Option<CudaSlice<T>>,
    /// The part of the quadratic that does not depend on the scores; `None` while the classes do not act.
    constant: Option<f64>,
    classes: CudaSlice<i32>,
}

impl<T: Multiplied> Votes<T> {
    pub fn new(
        card: &Arc<Card>,
        labels: &Labels,
        ballot: Ballot<T>,
        n_atoms: usize,
    ) -> Result<Self> {
        let (count, n_classes) = (labels.len(), labels.classes().len());
        let known: Vec<i32> =
            labels.assigned().iter().map(|class| class.map_or(-1, |class| class as i32)).collect();
        let each = || card.zeros::<T>(n_classes * count);
        Ok(Self {
            card: card.clone(),
            count,
            n_classes,
            n_atoms,
            labels: card.upload(&known)?,
            weights: card.upload(ballot.weights())?,
            ballot,
            scores: each()?,
            memberships: each()?,
            of_class: each()?,
            total: card.zeros(count)?,
            target: each()?,
            per_class: None,
            constant: None,
            classes: card.zeros(count)?,
        })
    }

    /// Whether the classes act on the codes.
    pub fn act(&self) -> bool {
        self.constant.is_some()
    }

    /// Ω: the same for all classes, or per class, as addresses.
    pub fn omega(&self) -> (u64, u64) {
        match &self.per_class {
            Some(per_class) => (0, self.card.pointer(per_class)),
            None => (self.card.pointer(&self.total), 0),
        }
    }

    /// Scores of the codes.
    pub fn score(&mut self, classifier: &LinearClassifier<T>, codes: &CudaSlice<T>) -> Result<()> {
        let Self { card, count, n_classes, n_atoms, .. } = &*self;
        let (bias, weights) = (card.upload(&classifier.bias)?, card.matrix(&classifier.weights)?);
        let arguments = [int(*n_classes), long(*count), card.at(&bias), card.at(&self.scores)];
        card.launch::<T>("fill_rows", Grid::entries(n_classes * count), &arguments)?;
        let factors = (turned(&weights, *n_atoms, *n_classes), plain(codes, *n_atoms, *count));
        self.card.multiply(T::one(), factors.0, factors.1, T::one(), &mut self.scores)
    }

    /// Class memberships at the current scores.
    pub fn share(&mut self) -> Result<()> {
        let card = &self.card;
        let voters = Voters {
            n_classes: self.n_classes as i32,
            count: self.count as i64,
            labels: card.pointer(&self.labels),
            weights: card.pointer(&self.weights),
            sharpness: self.ballot.sharpness(),
        };
        let each = Grid::entries(self.count);
        let votes = card.at(&self.memberships);
        card.launch_with::<T>("memberships", each, &voters, &[card.at(&self.scores), votes])?;
        let mut failure = None;
        let factors = (self.ballot.balance().strength > 0.0).then(|| {
            self.ballot.balance().factors_of(|factors| {
                let shares = self.class_shares(&voters, factors);
                shares.unwrap_or_else(|error| {
                    failure.get_or_insert(error);
                    vec![0.0; factors.len()]
                })
            })
        });
        if let Some(error) = failure {
            return Err(error);
        }
        let factors = factors.map(|factors| card.upload(&factors)).transpose()?;
        let arguments = [
            votes,
            factors.as_ref().map_or(NONE, |factors| card.at(factors)),
            card.at(&self.of_class),
            card.at(&self.total),
        ];
        card.launch_with::<T>("shares", each, &voters, &arguments)
    }

    /// The share of each class in all votes, once these are scaled.
    fn class_shares(&self, voters: &Voters, factors: &[f64]) -> Result<Vec<f64>> {
        let (card, rows) = (&self.card, self.n_classes);
        let factors = card.upload(factors)?;
        let sums = card.sums_by((rows, rows * self.count), |grid, parts| {
            let arguments = [card.at(&self.memberships), card.at(&factors), parts];
            card.launch_with::<T>("class_shares", grid, voters, &arguments)
        })?;
        Ok(as_shares(sums))
    }

    /// Active points at the current scores and shares.
    pub fn activate(&mut self, kind: ActivePoints) -> Result<()> {
        if kind == ActivePoints::Frozen && self.per_class.is_none() {
            self.per_class = Some(self.card.zeros(self.n_classes * self.count)?);
        }
        self.constant = Some(self.target(kind)?);
        Ok(())
    }

    /// Writes the quadratic's target (and weight), returns its constant.
    fn target(&self, kind: ActivePoints) -> Result<f64> {
        let card = &self.card;
        let arguments = |parts| {
            vec![
                Argument::Int(i32::from(kind == ActivePoints::Frozen)),
                int(self.n_classes),
                long(self.count),
                card.at(&self.scores),
                card.at(&self.of_class),
                card.at(&self.total),
                card.at(&self.target),
                self.per_class.as_ref().map_or(NONE, |weight| card.at(weight)),
                parts,
            ]
        };
        Ok(card.sums::<T>("activate", (1, self.count), arguments)?[0])
    }

    pub fn loss(&self) -> Result<f64> {
        let card = &self.card;
        let arguments = |parts| {
            let arrays = [card.at(&self.scores), card.at(&self.of_class), card.at(&self.total)];
            [&[int(self.n_classes), long(self.count)][..], &arrays, &[parts]].concat()
        };
        Ok(card.sums::<T>("losses", (1, self.count), arguments)?[0])
    }

    /// The quadratic at the current scores; zero while the classes do not act.
    pub fn quadratic(&self) -> Result<f64> {
        let Some(constant) = self.constant else { return Ok(0.0) };
        let card = &self.card;
        let (shared, per_class) = self.omega();
        let arguments = |parts| {
            vec![
                int(self.n_classes),
                long(self.count),
                card.at(&self.scores),
                card.at(&self.target),
                Argument::Pointer(per_class),
                Argument::Pointer(shared),
                parts,
            ]
        };
        Ok(card.sums::<T>("quadratics", (1, self.count), arguments)?[0] + constant)
    }

    /// `rhs += gamma W (G - omega b)`.
    pub fn add_to(
        &self,
        gamma: T,
        classifier: &LinearClassifier<T>,
        weights: &CudaSlice<T>,
        rhs: &mut CudaSlice<T>,
    ) -> Result<()> {
        let card = &self.card;
        let (entries, bias) = (self.n_classes * self.count, card.upload(&classifier.bias)?);
        let offsets = card.zeros::<T>(entries)?;
        let (shared, per_class) = self.omega();
        let arguments = [
            int(self.n_classes),
            long(self.count),
            card.at(&self.target),
            Argument::Pointer(per_class),
            Argument::Pointer(shared),
            card.at(&bias),
            card.at(&offsets),
        ];
        card.launch::<T>("offsets", Grid::entries(entries), &arguments)?;
        let factors = (
            plain(weights, self.n_atoms, self.n_classes),
            plain(&offsets, self.n_classes, self.count),
        );
        card.multiply(gamma, factors.0, factors.1, T::one(), rhs)
    }

    pub fn count_flips(&mut self) -> Result<usize> {
        let card = &self.card;
        let arguments = |parts| {
            let arrays = [card.at(&self.scores), card.at(&self.labels), card.at(&self.classes)];
            [&[int(self.n_classes), long(self.count)][..], &arrays, &[parts]].concat()
        };
        Ok(card.sums::<T>("flips", (1, self.count), arguments)?[0] as usize)
    }

    /// $\sum_jw_j\tilde a_j\tilde a_j^\top+\rho I$; `None` if no weight is above zero.
    pub fn system(
        &self,
        class: Option<usize>,
        rho: T,
        codes: &CudaSlice<T>,
    ) -> Result<Option<Matrix<T>>> {
        let (card, p, rows) = (&self.card, self.n_atoms, self.n_classes);
        // One weight for each sample, `stride` apart.
        let (weights, first, stride) = match (class, &self.per_class) {
            (Some(class), Some(per_class)) => (per_class, class, rows),
            _ => (&self.total, 0, 1),
        };
        let (mut squares, mut sums) = (Sums::new(card, p, p)?, Sums::new(card, p, 1)?);
        let ones = card.upload(&vec![T::one(); CHUNK.min(self.count)])?;
        let weighted = card.zeros::<T>(p * CHUNK.min(self.count))?;
        for start in (0..self.count).step_by(CHUNK) {
            let some = CHUNK.min(self.count - start);
            let own = codes.slice(start * p..(start + some) * p);
            let weight = weights.slice(start * stride + first..);
            let arguments = [
                int(p),
                long(some),
                card.at(&own),
                card.at(&weight),
                long(stride),
                card.at(&weighted),
            ];
            card.launch::<T>("weigh", Grid::entries(some * p), &arguments)?;
            squares.add(plain(&weighted, p, some), turned(&own, p, some))?;
            sums.add(plain(&weighted, p, some), plain(&ones, some, 1))?;
        }
        let strided = [int(stride), long(self.count), card.at(weights)];
        let row = card.sums::<T>("row_sums", (stride, stride * self.count), |parts| {
            [&strided[..], &[parts]].concat()
        })?;
        let all = row[first];
        if all == 0.0 {
            return Ok(None);
        }
        let (squares, sums) = (squares.finish()?, sums.finish()?);
        Ok(Some(Matrix::from_fn(p + 1, p + 1, |i, j| {
            let value = match (i < p, j < p) {
                (true, true) => squares.column(j)[i],
                (false, false) => all,
                _ => sums.column(0)[i.min(j)],
            };
            T::of(value) + if i == j { rho } else { T::zero() }
        })))
    }

    /// Column $c$: $\sum_j\mathcal G_{cj}\tilde a_j$.
    pub fn targets(&self, class: Option<usize>, codes: &CudaSlice<T>) -> Result<Matrix<T>> {
        let (card, p, rows) = (&self.card, self.n_atoms, self.n_classes);
        if class.is_none() {
            self.target(ActivePoints::Majorised)?;
        }
        let mut sums = Sums::new(card, p, rows)?;
        for start in (0..self.count).step_by(CHUNK) {
            let some = CHUNK.min(self.count - start);
            let own = codes.slice(start * p..(start + some) * p);
            let target = self.target.slice(start * rows..(start + some) * rows);
            sums.add(plain(&own, p, some), turned(&target, rows, some))?;
        }
        let fixed = [int(rows), long(self.count), card.at(&self.target)];
        let ends = card.sums::<T>("row_sums", (rows, rows * self.count), |parts| {
            [&fixed[..], &[parts]].concat()
        })?;
        let sums = sums.finish()?;
        let column = |c: usize, k: usize| T::of(if k < p { sums.column(c)[k] } else { ends[c] });
        Ok(match class {
            Some(class) => Matrix::from_fn(p + 1, 1, |k, _| column(class, k)),
            None => Matrix::from_fn(p + 1, rows, |k, c| column(c, k)),
        })
    }
}
