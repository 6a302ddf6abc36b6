//! How an alternation begins: the graph, the first atoms, codes and classifier.

use std::borrow::Cow;

use super::holder::{FirstCodes, Global, Holder, Holding};
use super::parts::{self, Parts};
use super::per_sample::PerSample;
use super::{Alternation, Coupled, Terms};
use crate::classifier::{Ballot, MarginKnobs, Outlook, Voting, ridge};
use crate::dictionary::{init, project};
use crate::fit::{Given, SolverKnobs, Start, Stop, Tie, Turns};
use crate::graph::{Attachment, Connected, GraphChoice, Laplacian, Rule};
use crate::sparse::Csr;
use crate::{Error, Matrix, Real, Result, device};

/// The state before the first iteration.
pub(crate) struct Beginning<T> {
    /// The graph; `None` without one.
    pub connected: Option<Connected<T>>,
    /// The reconstructions, if the graph was built from them instead of the samples.
    pub reconstructions: Option<Matrix<T>>,
    /// Atoms and codes to begin with; `None` begins with labelled samples as atoms.
    pub start: Option<Start<T>>,
}

impl<T: Real> Beginning<T> {
    /// How new samples will be tied to the training samples.
    pub fn tie(self, coupled: &Coupled<'_>) -> Option<Tie<T>> {
        let (connected, (coupling, _)) = self.connected.zip(coupled.graph())?;
        Some(Tie {
            manifold: coupling.manifold,
            attachment: connected.attachment.for_new_samples(coupling.halve_new),
            reconstructions: self.reconstructions,
            kept: coupling.kept_samples,
        })
    }
}

impl Coupled<'_> {
    /// Whether everything after the graph can read the samples from a file.
    pub fn can_park(&self) -> bool {
        self.graph().is_none_or(|(coupling, _)| coupling.denoise == 0)
    }

    /// The graph between the samples; `None` without one.
    ///
    /// # Errors
    /// If it cannot be built.
    pub fn connect_ahead<T: Real>(&self, given: &Given<'_, T>) -> Result<Option<Connected<T>>> {
        let Some((_, knobs)) = self.graph() else { return Ok(None) };
        knobs.connect(given.graph, &given.samples).map(Some)
    }

    /// Builds the graph, from reconstructions if so chosen.
    ///
    /// # Errors
    /// If the graph cannot be built, or the observer cancels.
    pub fn connect<T: Real>(
        &self,
        given: &Given<'_, T>,
        turns: &mut Turns<'_>,
    ) -> Result<Beginning<T>> {
        let max_iterations = self.solver.max_iterations;
        let start = self.fitting_start(given);
        if let Some(connected) = self.connected_elsewhere(given, turns)? {
            return Ok(Beginning {
                connected: Some(connected),
                reconstructions: None,
                start: None,
            });
        }
        let Some((coupling, knobs)) = self.graph() else {
            if given.graph.is_some() {
                turns.notice(GRAPH_NOT_USED);
            }
            turns.graph(max_iterations, |_| Ok(()))?;
            return Ok(Beginning { connected: None, reconstructions: None, start });
        };
        let (reconstructions, start) = if coupling.denoise > 0 {
            let start = self.without_graph(coupling.denoise, given, start, turns)?;
            let seen = Matrix::of_product(start.atoms.view(), start.codes.view());
            (Some(seen), Some(start))
        } else {
            (None, start)
        };
        let seen = reconstructions.as_ref().unwrap_or(&given.samples);
        let parked = given.parked.as_ref().and_then(|it| it.connected.lock().ok()?.take());
        let connected = turns.graph(max_iterations, |turns| {
            let built = match parked {
                Some(built) => built,
                None => knobs.connect(given.graph, seen)?,
            };
            report_isolated(&built, turns);
            Ok(built)
        })?;
        Ok(Beginning { connected: Some(connected), reconstructions, start })
    }

    /// How new samples join where the training samples are in several parts, with their graph; `None` where
    /// they are here, or there is no graph.
    fn connected_elsewhere<T: Real>(
        &self,
        given: &Given<'_, T>,
        turns: &mut Turns<'_>,
    ) -> Result<Option<Connected<T>>> {
        let (Some(_), Some((coupling, knobs))) = (given.crew, self.graph()) else {
            return Ok(None);
        };
        let refuse = |name: &str, got: &str, allowed: &str| {
            let allowed = format!("{allowed} for samples in several parts");
            Err(Error::Knob { name: name.into(), got: got.into(), allowed })
        };
        if knobs.graph != GraphChoice::Lle {
            return refuse("graph", knobs.graph.name(), "`lle`");
        }
        if coupling.denoise > 0 {
            return refuse("denoise", "above 0", "0");
        }
        if knobs.normalise_trace {
            return refuse("normalise_trace", "true", "`false`");
        }
        turns.graph(self.solver.max_iterations, |_| Ok(()))?;
        let laplacian = Laplacian::from_factor(Csr::from_rows(0, std::iter::empty::<Vec<_>>()));
        let attachment = Attachment::new(Rule::Lle { n_neighbors: knobs.n_neighbors });
        Ok(Some(Connected { laplacian, attachment }))
    }

    /// The given start, if it has the right size.
    fn fitting_start<T: Real>(&self, given: &Given<'_, T>) -> Option<Start<T>> {
        let (n, n_samples) = (given.held().rows(), given.held().columns());
        let sizes = (n, self.n_atoms, self.n_atoms, n_samples);
        let fits = |start: &&Start<T>| {
            let Start { atoms, codes } = start;
            (atoms.rows(), atoms.columns(), codes.rows(), codes.columns()) == sizes
        };
        given.start.filter(fits).cloned()
    }

    /// Some iterations without the graph: their reconstructions are less noisy.
    fn without_graph<T: Real>(
        &self,
        max_iterations: usize,
        given: &Given<'_, T>,
        start: Option<Start<T>>,
        turns: &mut Turns<'_>,
    ) -> Result<Start<T>> {
        let solver = SolverKnobs { max_iterations, ..*self.solver };
        let first = Coupled { solver: &solver, ..*self };
        let run = first.alternate(given, None, start, &mut turns.apart())?;
        if run.stop == Stop::Cancelled {
            return Err(Error::Cancelled);
        }
        Ok(Start { atoms: run.global.atoms, codes: run.codes })
    }

    /// Labelled samples as atoms, lasso codes, ridge classifier on the labelled codes.
    pub(super) fn begin<'a, T: Real>(
        &'a self,
        given: &'a Given<'_, T>,
        laplacian: Option<&'a Laplacian<T>>,
        start: Option<Start<T>>,
        turns: &mut Turns<'_>,
    ) -> Result<Alternation<'a, T>> {
        let (samples, labels) = (given.held(), &given.labels);
        let radius = T::of(self.solver.atom_norm);
        let earlier = match given.crew {
            Some(crew) => parts::earlier(crew)?,
            None => None,
        };
        let (atoms, codes) = match start.filter(|_| given.crew.is_none()) {
            Some(Start { mut atoms, codes }) => {
                (0..atoms.columns()).for_each(|k| project(atoms.column_mut(k), radius));
                (atoms, Some(codes))
            }
            None => match &earlier {
                Some((_, Global { atoms, .. })) => (atoms.clone(), None),
                None => (self.first_atoms(given, turns)?, None),
            },
        };
        let voting = Voting::Paper;
        let fallback = MarginKnobs { discrimination: 0.0, voting, ..MarginKnobs::new() };
        let knobs = self.classes.unwrap_or(&fallback);
        let outlook = match given.crew {
            Some(crew) => {
                let elect = |classifier: &_| parts::elect(crew, classifier);
                Outlook::among(knobs, samples, labels, crew.counts(), &elect)?
            }
            None => Outlook::of_held(knobs, samples, labels)?,
        };
        let strength = outlook.strength;
        // Parts know the weights of their samples: what they are told is the same for all of a class.
        let weights = match given.crew {
            Some(_) => Cow::Owned(given.weights.of_classes_alone(labels)),
            None => Cow::Borrowed(&given.weights),
        };
        let lean = self.lean(given, &outlook, knobs.sharpness)?;
        let holding = Holding {
            samples,
            energy: given.energy(),
            labels,
            laplacian,
            ballot: Ballot::new(outlook, knobs.sharpness, labels, &weights),
            sparsity: self.sparsity,
            solver: self.solver,
            seed: given.seed,
        };
        let codes = codes.map_or(FirstCodes::Lasso(&atoms), FirstCodes::Given);
        let mut holder = match given.crew {
            Some(crew) => Box::new(Parts::hold(crew, holding, &codes, earlier.is_some())?),
            None => hold(holding, codes)?,
        };
        let classifier = match earlier {
            Some((iteration, Global { classifier, .. })) => {
                turns.go_on(iteration);
                classifier
            }
            None => ridge(
                &holder.codes_of(&labels.labelled()),
                &labels.known_classes(),
                &given.label_weights(),
                labels.classes().len(),
                T::of(strength),
            )?,
        };
        holder.begin(&classifier);
        holder.check()?;
        let global = Global { gram: atoms.gram(), atoms, classifier };
        let statistics = holder.statistics();
        let mut run = Alternation {
            coupled: self,
            strength,
            lean,
            atoms_update: self.solver.atoms(),
            terms: Terms {
                reconstruction: statistics.residual(&global.atoms, &global.gram),
                ..Terms::default()
            },
            global,
            holder,
            surrogate: 0.0,
            flips: 0,
            dead_atoms: 0,
            revived_atoms: 0,
        };
        run.measure_codes(None);
        run.measure_classifier();
        run.surrogate = run.terms.objective().total();
        Ok(run)
    }

    /// Labelled samples as atoms, then the rest.
    fn first_atoms<T: Real>(
        &self,
        given: &Given<'_, T>,
        turns: &mut Turns<'_>,
    ) -> Result<Matrix<T>> {
        let (samples, labels, seed) = (given.held(), &given.labels, given.seed);
        let radius = T::of(self.solver.atom_norm);
        let mut atoms = init::first_atoms_of(samples, labels, self.n_atoms, radius, seed);
        if self.fill_atoms {
            // Only labelled samples are mixed.
            let known = labels.labelled();
            let (mixed, classes) = (samples.select(&known), labels.select(&known));
            atoms = init::fill(atoms, &mixed, &classes, self.n_atoms, radius, seed);
        }
        init::check_count(&atoms, self.n_atoms, |sentence| turns.notice(sentence))?;
        Ok(atoms)
    }
}

/// Gives the samples to the device that is lent, or keeps them in memory.
fn hold<'a, T: Real>(
    holding: Holding<'a, T>,
    codes: FirstCodes<'_, T>,
) -> Result<Box<dyn Holder<T> + 'a>> {
    match device::lent() {
        Some(device) => T::engine(&*device).hold(holding, codes),
        None => Ok(Box::new(PerSample::new(holding, codes))),
    }
}

/// The notice where a graph is given to a fit that cannot use one.
pub(crate) const GRAPH_NOT_USED: &str = "the given graph is not used: this fit has no graph term";

/// Reports samples without a neighbour, and a graph without any edge; both are legal.
fn report_isolated<T: Real>(built: &Connected<T>, turns: &mut Turns<'_>) {
    let isolated = built.laplacian.diagonal().iter().filter(|d| **d == T::zero()).count();
    let n = built.laplacian.n_samples();
    if isolated == n && n > 1 {
        turns.notice(
            "the graph has no edge that counts: `manifold` has no effect; raise `width`, \
             `percentile` or `smoothness`, or set `normalise_trace`",
        );
    } else if isolated > 0 && n > 1 {
        turns.notice(&format!("{isolated} of {n} samples have no neighbour in the graph"));
    }
}
