//! OSSDL: online semi-supervised discriminative dictionary learning with label-consistent codes.
//!
//! Zhang, Jiang, Davis (2012).

use super::{Description, Learner, cut_few_atoms};
use crate::classifier::targets::class_sums;
use crate::classifier::{Misfit, Targets};
use crate::codes::Omp;
use crate::dictionary::by_class::{ClassAtoms, first_atoms_by_class};
use crate::dictionary::{Block, Statistics, add_square, init, update_past};
use crate::fit::few_atoms::{Ending, Unused, code, refit};
use crate::fit::{FewAtomsKnobs, Given, Learnt, Objective, Sizes, Step, Turns};
use crate::matrix::axpy;
use crate::random::{Purpose, shuffle, substream};
use crate::{Matrix, Real, Result};

/// Times that all coefficients, atoms and classifier follow each other after a pass; the atoms of each code stay.
const REFITS: usize = 3;

crate::knobs! {
    /// The knobs of OSSDL, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::{methods::Ossdl, prelude::*};
    /// let method = Ossdl::new().n_atoms(50).consistency(1.0).batch_size(64);
    /// ```
    pub struct Ossdl {
        /// Atoms, codes and passes.
        codes: FewAtomsKnobs = FewAtomsKnobs::new().max_iterations(2);
        /// Weight of the classifier's squared errors on the labelled codes.
        discrimination "γ gamma": f64 = 25.0, From(0.0);
        /// Weight of label consistency: codes use atoms of their class.
        consistency "ψ psi": f64 = 1.25, From(0.0);
        /// Weight of the unlabelled samples in the reconstruction; a labelled sample counts 1.
        unlabelled_weight "ρ rho": f64 = 0.5, From(0.0);
        /// Weight of the classifier's squared norm beside its squared errors.
        ridge "μ mu": f64 = 0.25, Above(0.0);
        /// Samples per batch; atoms and classifier are updated after each batch.
        batch_size "η eta": usize = 128, WholeFrom(1);
    }
}

pub(super) const DESCRIPTION: Description = Description {
    name: "ossdl",
    class: "OSSDL",
    title: "Online semi-supervised discriminative dictionary learning",
    reference: "Zhang, Jiang, Davis (ACCV 2012)",
    link: "https://doi.org/10.1007/978-3-642-37331-2_20",
    objective: r"\min_{D\in\mathcal C,A,W,U}\ \lVert X^l-DA^l\rVert^2+\rho\lVert X^u-DA^u\rVert^2
+\gamma\bigl(\lVert Y-W^\top A^l\rVert^2+\mu\lVert W\rVert^2\bigr)
+\psi\bigl(\lVert Q-U^\top A^l\rVert^2+\mu\lVert U\rVert^2\bigr),\qquad\lVert a_i\rVert_0\le T",
    objective_text: "|X - DA|^2 on labelled + unlabelled_weight |X - DA|^2 on unlabelled samples\n\
+ discrimination (|Y - W'A|^2 + ridge |W|^2) + consistency (|Q - U'A|^2 + ridge |U|^2),\n\
at most n_nonzero atoms a sample",
    summary: "Every atom belongs to a class, and the codes of labelled samples are pulled towards atoms \
of their class and towards a linear classifier. Samples come in batches; atoms and classifier are \
updated after each batch. The classifier that predicts is fitted on codes that no label has pulled on. On \
digits it stays some four points below `src`, the control without learning.",
    semi_supervised: true,
    inductive: true,
    uses_graph: false,
    coding: "individual",
    published: &[
        ("USPS", &[("n_atoms", "200"), ("n_nonzero", "10")]),
        ("MNIST", &[("n_atoms", "200"), ("n_nonzero", "10")]),
    ],
};

impl Learner for Ossdl {
    const DESCRIPTION: Description = DESCRIPTION;
    const IGNORES_BLANK: bool = true;

    fn reduce(&mut self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
        cut_few_atoms(&mut self.codes, sizes, notice);
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        self.codes.bytes(sizes)
    }

    /// Cost per pass $O(npN+pT^2N+(np^2+p^3)N/\eta)$; memory $O(N(n+p))$.
    ///
    /// Paper: older batches are forgotten little by little. Here the new codes of a batch replace its
    /// old ones in the sums, so nothing has to be forgotten and passes can be repeated.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let sizes = given.sizes();
        let n_atoms = self.codes.count(&sizes);
        let ClassAtoms { atoms, class_of_atoms } = first_atoms_by_class(
            &given.samples,
            &given.labels,
            n_atoms,
            true,
            T::one(),
            given.seed,
        );
        init::check_count(&atoms, n_atoms, |sentence| turns.notice(sentence))?;
        let targets = Targets::new(sizes.n_classes, self.discrimination, self.ridge)
            .consistent(self.consistency, &class_of_atoms);
        let mut online = Online::begin(self, given, atoms, targets)?;
        let limits = self.codes.limits();
        turns.begin(limits, online.objective())?;
        let stop = turns.repeat(limits, |turns| {
            let mut order: Vec<usize> = (0..sizes.n_samples).collect();
            let pass = turns.iteration() as u32;
            shuffle(&mut order, &mut substream(given.seed, Purpose::Batches, pass));
            for batch in order.chunks(self.batch_size) {
                online.learn(batch)?;
            }
            // Adds up again, too: repeated additions and subtractions would drift.
            online.refresh()?;
            turns.done(Step::Dictionary, online.objective())
        })?;
        let Online { atoms, unused, .. } = online;
        let (coder, ridge) = (self.codes.coder(), self.ridge);
        Ending { atoms, coder, weights: None, ridge, unused, stop }.learnt(given)
    }
}

/// The state between two batches.
struct Online<T> {
    atoms: Matrix<T>,
    gram: Matrix<T>,
    /// $W$, $p\times C$.
    weights: Matrix<T>,
    targets: Targets,
    pursuit: Omp,
    labelled: Group<T>,
    unlabelled: Group<T>,
    classes: Vec<usize>,
    /// ρ.
    unlabelled_weight: f64,
    /// Over all samples with their weights.
    sums: Statistics<T>,
    /// $AA^\top$ and $AY^\top$ over the labelled samples.
    known: (Matrix<T>, Matrix<T>),
    unused: Unused,
}

/// Samples that are coded in the same way, and their codes.
struct Group<T> {
    samples: Matrix<T>,
    codes: Matrix<T>,
    /// The place of each sample of the fit in this group, where it is in it.
    places: Vec<Option<usize>>,
}

impl<T: Real> Group<T> {
    fn new(given: &Given<'_, T>, members: &[usize], p: usize) -> Self {
        let mut places = vec![None; given.samples.columns()];
        members.iter().enumerate().for_each(|(place, &j)| places[j] = Some(place));
        let samples = given.samples.select_columns(members);
        Self { codes: Matrix::zeros(p, members.len()), samples, places }
    }

    fn sums(&self) -> Statistics<T> {
        Statistics::of(&self.samples, &self.codes, self.samples.squared_norm())
    }

    /// The members of a batch.
    fn among(&self, batch: &[usize]) -> Vec<usize> {
        batch.iter().filter_map(|&j| self.places[j]).collect()
    }

    /// Improves the codes of some members; `change` is told each member with its old and its new code.
    fn improve(
        &mut self,
        members: &[usize],
        coded: impl FnOnce(&Matrix<T>, &mut Matrix<T>),
        mut change: impl FnMut(usize, &[T], &[T], &[T]),
    ) {
        if members.is_empty() {
            return;
        }
        let samples = self.samples.select_columns(members);
        let mut codes = self.codes.select_columns(members);
        coded(&samples, &mut codes);
        for (at, &place) in members.iter().enumerate() {
            let (old, new) = (self.codes.column_mut(place), codes.column(at));
            change(place, samples.column(at), old, new);
            old.copy_from_slice(new);
        }
    }
}

impl<T: Real> Online<T> {
    fn begin(
        knobs: &Ossdl,
        given: &Given<'_, T>,
        atoms: Matrix<T>,
        targets: Targets,
    ) -> Result<Self> {
        let p = atoms.columns();
        let pursuit = knobs.codes.pursuit();
        let mut labelled = Group::new(given, &given.labels.labelled(), p);
        let mut unlabelled = Group::new(given, &given.labels.unlabelled(), p);
        let gram = atoms.gram();
        for group in [&mut labelled, &mut unlabelled] {
            code(pursuit, (&atoms, &gram), &group.samples, None, &mut group.codes);
        }
        let classes = given.labels.known_classes();
        let weights = targets.fit(&labelled.codes, &classes)?;
        let mut online = Self {
            sums: Statistics::none(atoms.rows(), p),
            known: (Matrix::zeros(p, p), Matrix::zeros(p, weights.columns())),
            unlabelled_weight: knobs.unlabelled_weight,
            unused: Unused::default(),
            atoms,
            gram,
            weights,
            targets,
            pursuit,
            labelled,
            unlabelled,
            classes,
        };
        online.add_up();
        Ok(online)
    }

    /// Codes a batch, then moves atoms and classifier.
    fn learn(&mut self, batch: &[usize]) -> Result<()> {
        let (known, rest) = (self.labelled.among(batch), self.unlabelled.among(batch));
        let Self { atoms, gram, weights, targets, pursuit, sums, classes, .. } = self;
        let (atoms, rho) = ((&*atoms, &*gram), T::of(self.unlabelled_weight));
        let (moments, by_class) = &mut self.known;
        let chosen: Vec<usize> = known.iter().map(|&place| classes[place]).collect();
        self.labelled.improve(
            &known,
            |samples, codes| {
                let labels = (&*targets, &*chosen, &*weights);
                code(*pursuit, atoms, samples, Some(labels), codes);
            },
            |place, x, old, new| {
                for (factor, code) in [(-T::one(), old), (T::one(), new)] {
                    sums.add_sample(factor, x, code);
                    add_square(moments, factor, code);
                    axpy(factor, code, by_class.column_mut(classes[place]));
                }
            },
        );
        self.unlabelled.improve(
            &rest,
            |samples, codes| code(*pursuit, atoms, samples, None, codes),
            |_, x, old, new| {
                sums.add_sample(-rho, x, old);
                sums.add_sample(rho, x, new);
            },
        );
        self.follow(true)
    }

    /// Moves atoms and classifier to what the sums say, or atoms past it.
    fn follow(&mut self, exactly: bool) -> Result<()> {
        let block = Block { sweeps: 1, tolerance: 0.0, nonnegative: false };
        update_past(&block, (&mut self.atoms, &mut self.gram), &self.sums, T::one(), exactly);
        self.weights = self.targets.fit_sums(&self.known.0, &self.known.1)?;
        Ok(())
    }

    /// All sums from the present codes; returns $AA^\top$ over all samples, each counting one.
    fn add_up(&mut self) -> Matrix<T> {
        self.sums = self.labelled.sums();
        self.known.0 = self.sums.moments.clone();
        let n_classes = self.weights.columns();
        self.known.1 = class_sums(&self.labelled.codes, &self.classes, n_classes);
        let rest = self.unlabelled.sums();
        self.sums.add(self.unlabelled_weight, &rest);
        let mut all = rest.moments;
        axpy(T::one(), self.known.0.as_slice(), all.as_mut_slice());
        all
    }

    /// Fits the coefficients of all samples again, adds up, and lets atoms and classifier follow; returns what
    /// adding up returns.
    fn refit(&mut self, exactly: bool) -> Result<Matrix<T>> {
        let atoms = (&self.atoms, &self.gram);
        let labels = (&self.targets, &*self.classes, &self.weights);
        refit(atoms, &self.labelled.samples, Some(labels), &mut self.labelled.codes);
        refit(atoms, &self.unlabelled.samples, None, &mut self.unlabelled.codes);
        let moments = self.add_up();
        self.follow(exactly)?;
        Ok(moments)
    }

    /// Improves all at once: coefficients that fit the last atoms cost a fraction of a pursuit.
    fn refresh(&mut self) -> Result<()> {
        for _ in 1..REFITS {
            self.refit(false)?;
        }
        let moments = self.refit(true)?;
        let Self { labelled, unlabelled, atoms, unused, .. } = self;
        let unused = unused.revive(
            atoms,
            &moments,
            (&labelled.samples, &labelled.codes),
            (&unlabelled.samples, &unlabelled.codes),
        );
        if unused {
            self.gram = self.atoms.gram();
        }
        Ok(())
    }

    fn objective(&self) -> Objective {
        let Misfit { discrimination, consistency, ridge } =
            self.targets.misfit(&self.weights, &self.labelled.codes, &self.classes);
        Objective::new([
            ("reconstruction", self.sums.residual(&self.atoms, &self.gram)),
            ("discrimination", discrimination),
            ("consistency", consistency),
            ("ridge", ridge),
        ])
    }
}
