//! Who carries the parts: this process, or others by whatever means they have.

use std::ops::Range;
use std::sync::Mutex;

use super::part::{Part, PartGraph, Place};
use super::rows::Rows;
use super::wire::damaged;
use crate::fit::spreading::Edges;
use crate::graph::{Laplacian, Neighbours};
use crate::sparse::Csr;
use crate::{Error, Matrix, Real, Result};

/// How a step is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Whether each part first gets the codes or scores of its halo.
    pub exchanges: bool,
    /// Whether the states of the parts are others after it.
    pub changes: bool,
}

/// Parts, wherever they are.
pub trait Crew: Send + Sync {
    /// Number of parts.
    fn n_parts(&self) -> usize;

    /// Number of samples in all parts together, and how many of them are labelled.
    fn counts(&self) -> (usize, usize);

    /// Every part takes a step ([`Part::step`]); the replies come in the order of the parts.
    ///
    /// # Errors
    /// If a part cannot take it.
    fn step(&self, message: &[u8], round: Round) -> Result<Vec<Vec<u8>>>;

    /// Called after an iteration, with what a later fit needs to go on from here.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn keep(&self, iteration: usize, progress: &[u8]) -> Result<()> {
        let _ = (iteration, progress);
        Ok(())
    }

    /// Where an earlier fit of the same parts ended: its iteration and its progress; the states are then those
    /// of that iteration. `None` begins anew.
    fn earlier(&self) -> Option<(usize, Vec<u8>)> {
        None
    }
}

/// All parts in this process, one after another.
pub struct InProcess<T> {
    parts: Vec<Part<T>>,
    states: Mutex<Vec<Vec<u8>>>,
    counts: (usize, usize),
}

impl<T: Real> InProcess<T> {
    /// Divides samples: `part_of` names the part of each, and none may be empty. The model keeps all of them, in
    /// the given order. Without a graph of mixtures (`L = M'M`) the parts have none.
    ///
    /// # Errors
    /// If sizes do not fit, or the graph is of another kind.
    #[inline(never)]
    pub fn new(
        samples: &Matrix<T>,
        assigned: &[Option<usize>],
        graph: Option<&Laplacian<T>>,
        part_of: &[usize],
    ) -> Result<Self> {
        let divided = Divided::new(part_of);
        let factor = graph.map(factor_of).transpose()?;
        let Some(factor) = factor else {
            return Self::assemble((samples, assigned), &divided, |part, place| {
                Part::new(part.0, part.1, PartGraph::Without, place)
            });
        };
        let rows_of = |own: &[usize]| {
            let rows = own.iter().map(|&j| factor.row(j).map(|(i, w)| (divided.place_of[i], w)));
            Rows::new(Csr::from_rows(part_of.len(), rows))
        };
        let rows: Vec<Rows<T>> = divided.members.iter().map(|own| rows_of(own)).collect();
        Self::assemble((samples, assigned), &divided, |part, place| {
            let others = divided.others(&place.places, &rows);
            let others: Vec<_> = others.map(|rows| rows.touching(place.places.clone())).collect();
            let own = &rows[divided.part_at(place.places.start)];
            Part::new(part.0, part.1, PartGraph::Mixtures(own, &others), place)
        })
    }

    /// The same for labels to spread: `neighbours` are those of each sample among all.
    ///
    /// # Errors
    /// If sizes do not fit.
    #[inline(never)]
    pub fn of_neighbours(
        samples: &Matrix<T>,
        assigned: &[Option<usize>],
        neighbours: &Neighbours,
        part_of: &[usize],
    ) -> Result<Self> {
        let (divided, k) = (Divided::new(part_of), neighbours.k());
        let edges_of = |(part, own): (usize, &Vec<usize>)| {
            let lists: Vec<u32> =
                own.iter().flat_map(|&j| neighbours.of(j).iter().copied()).collect();
            let places: Vec<u32> =
                lists.iter().map(|&j| divided.place_of[j as usize] as u32).collect();
            let first = divided.starts[part];
            Edges::of_lists((samples, &samples.select_columns(own)), k, (&lists, &places), first)
        };
        let edges: Vec<Edges> = divided.members.iter().enumerate().map(edges_of).collect();
        Self::assemble((samples, assigned), &divided, |part, place| {
            let others = divided.others(&place.places, &edges);
            let others: Vec<_> = others.map(|edges| edges.touching(place.places.clone())).collect();
            let own = &edges[divided.part_at(place.places.start)];
            Part::new(part.0, part.1, PartGraph::Neighbours(own, &others), place)
        })
    }

    fn assemble(
        (samples, assigned): (&Matrix<T>, &[Option<usize>]),
        divided: &Divided,
        make: impl Fn((Matrix<T>, Vec<Option<usize>>), Place) -> Result<Part<T>>,
    ) -> Result<Self> {
        let n_parts = divided.members.len();
        let mut parts = Vec::with_capacity(n_parts);
        for (part, own) in divided.members.iter().enumerate() {
            let kept = own.iter().enumerate().map(|(at, &j)| (j as u32, at as u32)).unzip();
            let given = (samples.select_columns(own), own.iter().map(|&j| assigned[j]).collect());
            parts.push(make(given, Place { places: divided.range(part), kept })?);
        }
        let needs = |of: usize| parts.iter().map(|by| by.needs(&divided.range(of))).collect();
        let needs: Vec<Vec<Vec<u32>>> = (0..n_parts).map(needs).collect();
        let parts = parts.into_iter().zip(&needs).map(|(part, needed)| part.sending(needed));
        let n_labelled = assigned.iter().flatten().count();
        Ok(Self {
            parts: parts.collect::<Result<_>>()?,
            states: Mutex::new(vec![Vec::new(); n_parts]),
            counts: (samples.columns(), n_labelled),
        })
    }
}

/// Which samples each part has, and their places.
struct Divided {
    members: Vec<Vec<usize>>,
    place_of: Vec<usize>,
    starts: Vec<usize>,
}

impl Divided {
    fn new(part_of: &[usize]) -> Self {
        let n_parts = part_of.iter().max().map_or(0, |last| last + 1);
        let members: Vec<Vec<usize>> = (0..n_parts)
            .map(|part| (0..part_of.len()).filter(|&j| part_of[j] == part).collect())
            .collect();
        let order: Vec<usize> = members.concat();
        let mut place_of = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &j)| place_of[j] = place);
        let mut starts = vec![0];
        members.iter().for_each(|own| starts.push(starts[starts.len() - 1] + own.len()));
        Self { members, place_of, starts }
    }

    fn range(&self, part: usize) -> Range<usize> {
        self.starts[part]..self.starts[part + 1]
    }

    /// The part of the sample at this place.
    fn part_at(&self, place: usize) -> usize {
        self.starts.partition_point(|start| *start <= place) - 1
    }

    /// What belongs to the other parts than the one with these places.
    fn others<'a, E>(
        &'a self,
        places: &Range<usize>,
        of_parts: &'a [E],
    ) -> impl Iterator<Item = &'a E> {
        let own = self.part_at(places.start);
        let others = of_parts.iter().enumerate().filter(move |(part, _)| *part != own);
        others.map(|(_, of_part)| of_part)
    }
}

impl<T: Real> InProcess<T> {
    /// The same parts with weights of all samples, in the given order and relative to the mean of the labelled ones.
    ///
    /// # Errors
    /// If there is not one above zero for each.
    pub fn weighing(mut self, weights: &[f64]) -> Result<Self> {
        let parts = std::mem::take(&mut self.parts).into_iter().map(|part| {
            let own = part.kept.0.iter().map(|&at| weights.get(at as usize).copied());
            let own: Option<Vec<f64>> = own.collect();
            part.weighing(&own.ok_or_else(damaged)?)
        });
        self.parts = parts.collect::<Result<_>>()?;
        Ok(self)
    }
}

impl<T> InProcess<T> {
    /// The states of all parts.
    #[must_use]
    pub fn states(&self) -> Vec<Vec<u8>> {
        self.states.lock().map(|states| states.clone()).unwrap_or_default()
    }

    /// Goes back to earlier states.
    pub fn set_states(&self, earlier: Vec<Vec<u8>>) {
        if let Ok(mut states) = self.states.lock() {
            *states = earlier;
        }
    }
}

/// The factor whose row $i$ is the residual of sample $i$.
fn factor_of<T: Real>(graph: &Laplacian<T>) -> Result<&Csr<T>> {
    let factor = graph.factor().map(|(factor, _)| factor);
    let factor = factor.filter(|factor| factor.rows() == graph.n_samples());
    factor.ok_or_else(|| Error::Graph("only an `lle` graph can be in several parts".into()))
}

impl<T: Real> Crew for InProcess<T> {
    fn n_parts(&self) -> usize {
        self.parts.len()
    }

    fn counts(&self) -> (usize, usize) {
        self.counts
    }

    fn step(&self, message: &[u8], round: Round) -> Result<Vec<Vec<u8>>> {
        let mut states = self.states.lock().map_err(|_| damaged())?;
        let incoming = |to: usize| -> Result<Vec<Vec<u8>>> {
            let senders = self.parts.iter().zip(states.iter());
            let senders = senders.filter(|_| round.exchanges);
            senders.map(|(part, state)| part.outgoing(state, to)).collect()
        };
        let incoming = (0..self.parts.len()).map(incoming).collect::<Result<Vec<_>>>()?;
        let mut replies = Vec::with_capacity(self.parts.len());
        for ((part, state), incoming) in self.parts.iter().zip(states.iter_mut()).zip(&incoming) {
            let incoming: Vec<&[u8]> = incoming.iter().map(Vec::as_slice).collect();
            let (next, reply) = part.step(state, &incoming, message)?;
            if let Some(next) = next {
                *state = next;
            }
            replies.push(reply);
        }
        Ok(replies)
    }
}
