//! LC-RLSDLA: label-consistent dictionary learning by recursive least squares.
//!
//! Matiz, Barner (2016); the loop over unlabelled samples follows Irofti, Băltoiu (2019).

use super::lc_ksvd::Consistent;
use super::{Description, LcKsvd, Learner, cut_few_atoms, ossdl};
use crate::classifier::{Targets, best};
use crate::codes::{Omp, Pulled, Pursuit};
use crate::dictionary::Recursive;
use crate::fit::few_atoms::{Ending, Unused};
use crate::fit::{
    FewAtomsKnobs, FewAtomsSetters, Given, Learnt, Objective, Sizes, Step, Stop, Turns,
};
use crate::matrix::{Cholesky, squared_norm};
use crate::random::{Purpose, shuffle, substream};
use crate::{Error, Matrix, Real, Result};

/// The share of all steps after which nothing is forgotten any more.
const FORGETS_UNTIL: f64 = 0.8;

crate::knobs! {
    /// The knobs of LC-RLSDLA, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::{methods::LcRlsdla, prelude::*};
    /// let method = LcRlsdla::new().n_atoms(50).forgetting(0.995);
    /// ```
    pub struct LcRlsdla {
        /// Atoms, codes and passes.
        codes: FewAtomsKnobs = FewAtomsKnobs::new().max_iterations(1);
        /// Weight of the classifier's squared errors on the codes.
        discrimination "γ gamma": f64 = 0.25, From(0.0);
        /// Weight of label consistency: codes use atoms of their class.
        consistency "ψ psi": f64 = 0.25, From(0.0);
        /// Weight of an unlabelled sample; a labelled sample counts 1.
        unlabelled_weight "ρ rho": f64 = 0.5, From(0.0);
        /// How much the first samples keep of their weight with every further sample; grows to 1.
        forgetting "λ lambda": f64 = 0.99, Between(0.0, 1.0);
        /// Weight of the classifier's squared norm beside its squared errors.
        ridge "μ mu": f64 = 2.5, Above(0.0);
        /// Iterations of LC-KSVD on the labelled samples before, inside the classes and together.
        start_iterations "": usize = 10, WholeFrom(1);
    }
}

const DESCRIPTION: Description = Description {
    name: "lc-rlsdla",
    class: "LCRLSDLA",
    title: "Label-consistent dictionary learning by recursive least squares",
    reference: "Matiz, Barner (ICIP 2016); Irofti, Băltoiu (2019)",
    link: "https://arxiv.org/abs/1903.03905",
    summary: "Starts from LC-KSVD on the labelled samples; then the samples pass one at a time, and atoms \
and classifier follow each by recursive least squares. An unlabelled sample gets the class that the present \
classifier gives it. The classifier that predicts is fitted on codes that no label has pulled on. On digits it \
stays some four points below `src`, the control without learning.",
    published: &[
        ("USPS", &[("n_atoms", "200"), ("n_nonzero", "10")]),
        ("MNIST", &[("n_atoms", "200"), ("n_nonzero", "10")]),
    ],
    ..ossdl::DESCRIPTION
};

impl Learner for LcRlsdla {
    const DESCRIPTION: Description = DESCRIPTION;
    const IGNORES_BLANK: bool = true;

    fn reduce(&mut self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
        cut_few_atoms(&mut self.codes, sizes, notice);
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        self.codes.bytes(&Sizes { n_features: sizes.n_features + sizes.n_classes, ..*sizes })
    }

    /// Cost per sample $O((n+C+p)p)$; memory $O(N(n+p))$.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let start = LcKsvd {
            codes: self.codes,
            consistency: self.consistency,
            discrimination: self.discrimination,
            ridge: self.ridge,
            start_iterations: self.start_iterations,
            ..LcKsvd::new()
        };
        let start = start.max_iterations(self.start_iterations).tolerance(0.0);
        let first = start.train(given, &mut turns.apart())?;
        if first.stop == Stop::Cancelled {
            return Err(Error::Cancelled);
        }
        let limits = self.codes.limits();
        let mut pass = self.begin(given, first)?;
        turns.begin(limits, Objective::new([("reconstruction", given.samples.squared_norm())]))?;
        let steps = limits.max_iterations * given.samples.columns();
        let mut step = 0;
        let stop = turns.repeat(limits, |turns| {
            let mut rng = substream(given.seed, Purpose::Order, turns.iteration() as u32);
            let (mut known, mut rest) = (given.labels.labelled(), given.labels.unlabelled());
            shuffle(&mut known, &mut rng);
            shuffle(&mut rest, &mut rng);
            pass.left = [0.0; 2];
            for j in known.into_iter().chain(rest) {
                // A cubic ramp up to one.
                let early = (1.0 - step as f64 / (FORGETS_UNTIL * steps as f64)).max(0.0);
                let forgetting = 1.0 - (1.0 - self.forgetting) * early.powi(3);
                pass.learn(given, j, self.unlabelled_weight.sqrt(), forgetting);
                step += 1;
            }
            let [reconstruction, discrimination] = pass.left;
            let terms = [("reconstruction", reconstruction), ("discrimination", discrimination)];
            turns.done(Step::Dictionary, Objective::new(terms))
        })?;
        let unused = pass.unused;
        let mut atoms = pass.recursive.into_atoms().swap_remove(0);
        for k in 0..atoms.columns() {
            let length = T::of(squared_norm(atoms.column(k)).sqrt()).max(T::of(1e-8));
            atoms.column_mut(k).iter_mut().for_each(|d| *d /= length);
        }
        let (coder, ridge) = (self.codes.coder(), self.ridge);
        Ending { atoms, coder, weights: None, ridge, unused, stop }.learnt(given)
    }
}

impl LcRlsdla {
    /// The recursion at the end of the labelled samples.
    fn begin<T: Real>(&self, given: &Given<'_, T>, first: Consistent<T>) -> Result<Pass<T>> {
        let Consistent { atoms, class_of_atoms, unused, .. } = first;
        let (known, classes) = given.labelled();
        let n_classes = given.sizes().n_classes;
        let targets = Targets::new(n_classes, self.discrimination, self.ridge)
            .consistent(self.consistency, &class_of_atoms);
        let codes = self.codes.coder().code(&known, &atoms, None);
        let rooted = targets.rooted(&targets.fit(&codes, &classes)?);
        let labels = Matrix::from_fn(n_classes, atoms.columns(), |c, k| rooted.column(c)[k]);
        // (AA' + g)⁻¹ with g as long as a sample.
        let wide = codes.cast::<f64>();
        let mut system = Matrix::of_product(wide.view(), wide.transposed());
        let guard = given.samples.squared_norm() / given.samples.columns() as f64;
        let p = system.rows();
        (0..p).for_each(|k| system.column_mut(k)[k] += guard);
        let mut inverse = Matrix::from_fn(p, p, |i, j| f64::from(u8::from(i == j)));
        Cholesky::new(&system)
            .ok_or_else(|| Error::Diverged {
                step: "start",
                iteration: 0,
                what: "the codes of the labelled samples are not finite".into(),
            })?
            .solve_in_place(&mut inverse);
        for k in 0..p {
            for l in 0..k {
                let value = inverse.column(k)[l];
                inverse.column_mut(l)[k] = value;
            }
        }
        let mut recursive = Recursive::new(vec![atoms, labels], inverse);
        recursive.normalise();
        let roots = (0..n_classes).map(|class| T::of(targets.weight(class).sqrt())).collect();
        let (pursuit, joint) = (self.codes.pursuit(), Matrix::zeros(p, p));
        Ok(Pass { recursive, pursuit, roots, unused, joint, left: [0.0; 2] })
    }
}

/// The state between two samples.
struct Pass<T> {
    recursive: Recursive<T>,
    pursuit: Omp,
    /// $\sqrt{\omega_c}$.
    roots: Vec<T>,
    unused: Unused,
    /// The sum of both Gram matrices; scratch.
    joint: Matrix<T>,
    /// What this pass left of samples and labels.
    left: [f64; 2],
}

impl<T: Real> Pass<T> {
    /// Learns from one sample; without a label, from the class that it seems to have.
    fn learn(&mut self, given: &Given<'_, T>, j: usize, root_weight: f64, forgetting: f64) {
        let x = given.samples.column(j);
        let [samples, labels] = self.recursive.parts() else { return };
        let correlations = Matrix::of_product(samples.atoms.transposed(), single(x).view());
        let (class, weight) = match given.labels.assigned()[j] {
            Some(class) => (class, T::one()),
            None => {
                let code = self.code(&samples.gram, correlations.clone());
                let mut scores = Matrix::of_product(labels.atoms.view(), code.view()).into_vec();
                // A class of no weight keeps its score of zero.
                let roots = self.roots.iter().map(|&root| root.max(T::min_positive_value()));
                scores.iter_mut().zip(roots).for_each(|(s, root)| *s /= root);
                (best(&scores), T::of(root_weight))
            }
        };
        let x: Vec<T> = x.iter().map(|&x| weight * x).collect();
        let mut label = vec![T::zero(); self.roots.len()];
        label[class] = weight * self.roots[class];
        let mut rhs = correlations;
        rhs.as_mut_slice().iter_mut().for_each(|r| *r *= weight);
        rhs.add_product(T::one(), labels.atoms.transposed(), single(&label).view());
        let both = samples.gram.as_slice().iter().zip(labels.gram.as_slice());
        self.joint.as_mut_slice().iter_mut().zip(both).for_each(|(sum, (&g, &h))| *sum = g + h);
        let code = self.code(&self.joint, rhs);
        let squares = self.recursive.step(&[&x, &label], code.column(0), forgetting);
        self.left.iter_mut().zip(squares).for_each(|(left, square)| *left += square);
        self.recursive.normalise();
    }

    fn code(&self, gram: &Matrix<T>, rhs: Matrix<T>) -> Matrix<T> {
        let mut code = Matrix::zeros(rhs.rows(), 1);
        self.pursuit.code(Pulled { gram, rhs, shifts: Vec::new() }, &mut code);
        code
    }
}

/// A matrix of one column.
fn single<T: Real>(column: &[T]) -> Matrix<T> {
    Matrix::from_fn(column.len(), 1, |i, _| column[i])
}
