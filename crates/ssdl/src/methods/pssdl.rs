//! PSSDL: a probabilistic model of atoms, codes and classes, with graphs between the samples.
//!
//! Babagholami-Mohamadabadi, Zarghami, Zolfaghari, Baghshah (2013). The opening could be read; the graphs
//! are those of local Fisher discrimination, and how the scales are kept in bounds is ours.

use super::{Description, Learner, cut_atoms, cut_neighbours};
use crate::classifier::softmax::{fit_softmax, softmax_curvature, softmax_loss, softmax_slopes};
use crate::classifier::{Decision, LinearClassifier};
use crate::codes::moments::{cross_moments, residuals, second_moments};
use crate::codes::{Coder, Lasso, Pulled, Pursuit};
use crate::dictionary::init::first_of_length_one;
use crate::dictionary::{AtomCount, Ridge, Statistics, update_past};
use crate::fit::{
    Dictionary, Given, KeptSamples, Learnt, Limits, Objective, Sizes, SolverKnobs, Step, Tie,
    Turns, squared_lengths,
};
use crate::graph::{ByClass, Connected, Graph, Heat, Laplacian, Search, Width};
use crate::matrix::{absolute_sum, axpy};
use crate::sparse::Csr;
use crate::{Matrix, Real, Result, order};

crate::knobs! {
    /// The knobs of PSSDL, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::methods::Pssdl;
    /// let method = Pssdl::new().n_atoms(100).graph_share(0.8);
    /// ```
    pub struct Pssdl {
        /// Number of atoms, at most one per sample; `auto`: one per feature or, if more, 10 per class, up to 200.
        n_atoms "p": AtomCount = AtomCount::Auto, AutoOrFrom(1);
        /// Weight of the l1 norm of the first codes; the scales of noise and codes follow it. Scales with sample lengths.
        sparsity "λ lambda": f64 = 0.5, From(0.0);
        /// Weight of both graphs; scales with inverse squared lengths.
        manifold "": f64 = 0.04, From(0.0);
        /// Share of the graph of all samples; the rest is that of the classes.
        graph_share "β beta": f64 = 0.5, Between(0.0, 1.0);
        /// Weight of the classifier in the codes.
        discrimination "": f64 = 1.0, From(0.0);
        /// Weight of half the squared norm of the classifier; scales with squared lengths.
        ridge "": f64 = 25.0, Above(0.0);
        /// Neighbours per sample in the graphs; at most the number of samples less one.
        n_neighbors "k": usize = 8, WholeFrom(1);
        /// Width of the kernel of the graph of all samples; `0.5x` is half the mean distance.
        width "σ sigma": Width = Width::Relative(0.5), Above(0.0);
        /// Iterations in which the scales of noise and codes follow the codes; afterwards they stay.
        scale_updates "": usize = 1, WholeFrom(0);
        /// Maximum number of iterations.
        max_iterations "": usize = 8, WholeFrom(1);
        /// Relative change of the objective at which the fit has converged.
        tolerance "": f64 = 1e-4, From(0.0);
    }
}

const DESCRIPTION: Description = Description {
    name: "pssdl",
    class: "PSSDL",
    title: "Probabilistic semi-supervised dictionary learning",
    reference: "Babagholami-Mohamadabadi, Zarghami, Zolfaghari, Baghshah (2013)",
    link: "https://doi.org/10.1007/978-3-642-40994-3_13",
    objective: r"\min_{D\in\mathcal C,A,W}\ \sum_i\frac{\lVert x_i-Da_i\rVert^2}{2\sigma_i^2}
+\frac{\lVert A\rVert_1}z+\frac{\lVert D\rVert^2}{2\sigma_d^2}
+\sum_{i\text{ labelled}}\Bigl(\ln\sum_ce^{w_c^\top a_i}-w_{y_i}^\top a_i\Bigr)+\frac{\lVert W\rVert^2}{2\sigma_w^2}
+(1-\beta)\operatorname{tr}A(L_W-L_B)A^\top+\beta\operatorname{tr}ALA^\top",
    objective_text: "sum_i |x_i - D a_i|^2 / (2 s_i^2) + |A|_1 / z + |D|^2 / (2 s_d^2)\n\
+ discrimination sum_labelled (log sum_c exp(w_c'a_i) - w_y'a_i) + ridge |W|^2 / 2\n\
+ manifold ((1 - graph_share) tr A (L_W - L_B) A' + graph_share tr A L A')",
    summary: "Codes have a Laplace prior, samples a noise of their own, classes a softmax of the \
codes; graphs keep neighbours together and classes apart. The scales of noise and codes are estimated \
once and then kept, because the model is unbounded in them. Not all of the article could be read; what \
it leaves open was found by experiment. Over `src`, the control without learning, it gains nothing on USPS and \
loses two points on MNIST.",
    semi_supervised: true,
    inductive: true,
    uses_graph: true,
    coding: "group",
    published: &[
        ("USPS", &[("n_atoms", "200"), ("sparsity", "0.5"), ("graph_share", "0.5")]),
        ("MNIST", &[("n_atoms", "200"), ("sparsity", "0.5"), ("graph_share", "0.5")]),
    ],
};

/// Steps of the classifier in an iteration, and before the first.
const STEPS: (usize, usize) = (20, 100);
/// Scales may shrink to this share of their first values.
///
/// Paper: sets no bound, but the model has none either: residuals and noise, or codes and their scale,
/// may go to zero together.
const FLOOR: f64 = 0.2;
/// Least sparsity: a prior of codes needs some.
const LEAST_SPARSITY: f64 = 1e-6;
/// Least noise, relative to the mean square of a feature.
const LEAST_NOISE: f64 = 1e-3;

impl Learner for Pssdl {
    const DESCRIPTION: Description = DESCRIPTION;

    fn reduce(&mut self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
        cut_atoms(&mut self.n_atoms, sizes, notice);
        let max = sizes.n_samples.saturating_sub(1).max(1);
        cut_neighbours(&mut self.n_neighbors, max, notice);
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        let n_atoms = self.n_atoms.resolve(sizes.n_features, sizes.n_classes);
        let row = self.n_neighbors.min(sizes.n_samples).max(32);
        sizes.coupled(n_atoms, 2 * row, &SolverKnobs::new()).saturating_mul(2)
    }

    /// Cost: $nN^2$ once for the neighbours, per iteration $np(N+p)+p^3$ and a lasso per sample;
    /// memory $O(N(n+p))$.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let Given { samples, labels, .. } = given;
        let Connected { laplacian, attachment } = turns.graph(self.max_iterations, |_| {
            let (n_neighbors, width) = (self.n_neighbors, self.width);
            let heat = Heat { n_neighbors, width, search: Search::Auto };
            let built = match given.graph {
                Some(graph) => graph.build(samples)?,
                None => heat.build(samples)?,
            };
            Ok(built.at_strength(false))
        })?;
        let requested = self.n_atoms.resolve(samples.rows(), labels.classes().len());
        let notice = |sentence: &str| turns.notice(sentence);
        let atoms = first_of_length_one(samples, labels, requested, given.seed, notice)?;
        let graphs = (laplacian, ByClass::new(samples, labels, self.n_neighbors));
        let mut state = State::new(self, given, atoms, graphs)?;
        let Self { max_iterations, tolerance, scale_updates, .. } = *self;
        let limits = Limits { max_iterations, tolerance, max_flips: 0 };
        turns.begin(limits, state.objective())?;
        let stop = turns.repeat(limits, |turns| {
            state.code();
            if turns.iteration() <= scale_updates {
                state.update_scales();
            }
            turns.done(Step::Codes, state.objective())?;
            state.update_atoms(turns.is_last());
            turns.done(Step::Dictionary, state.objective())?;
            state.update_classifier(STEPS.0)?;
            turns.done(Step::Classifier, state.objective())
        })?;
        Ok(state.finish(given, attachment, stop))
    }
}

struct State<'a, T> {
    knobs: &'a Pssdl,
    samples: &'a Matrix<T>,
    /// Labelled samples and their classes.
    known: Vec<usize>,
    classes: Vec<usize>,
    norms: Vec<f64>,
    laplacian: Laplacian<T>,
    by_class: ByClass<T>,
    /// At least the curvature of both graphs in each code.
    graph_bound: Vec<f64>,
    atoms: Matrix<T>,
    gram: Matrix<T>,
    /// $D^\top X$.
    correlations: Matrix<T>,
    codes: Matrix<T>,
    weights: Matrix<T>,
    /// $\sigma_i^2$.
    noise: Vec<f64>,
    /// $z$.
    scale: f64,
    /// Least values of both.
    floors: (f64, f64),
    /// $1/\sigma_d^2$.
    prior: f64,
    dead: usize,
    /// $\lVert x_i-Da_i\rVert^2$ and the energies of both graphs, as long as the codes stay.
    residuals: Vec<f64>,
    energy: f64,
}

impl<'a, T: Real> State<'a, T> {
    fn new(
        knobs: &'a Pssdl,
        given: &'a Given<'_, T>,
        atoms: Matrix<T>,
        (laplacian, by_class): (Laplacian<T>, ByClass<T>),
    ) -> Result<Self> {
        let Given { samples, labels, .. } = given;
        let (n, p, count) = (samples.rows(), atoms.columns(), samples.columns());
        let Pssdl { manifold, graph_share, .. } = *knobs;
        let both = laplacian.bound().iter().zip(by_class.bound());
        let graph_bound = both
            .map(|(all, own)| {
                manifold * (graph_share * all.wide() + (1.0 - graph_share) * own.wide())
            })
            .collect();
        let gram = atoms.gram();
        let correlations = Matrix::of_product(atoms.transposed(), samples.view());
        let mut codes = Matrix::zeros(p, count);
        let problem = Pulled { gram: &gram, rhs: correlations.clone(), shifts: Vec::new() };
        Lasso::rough(knobs.sparsity).code(problem, &mut codes);
        let mut state = Self {
            knobs,
            samples,
            known: labels.labelled(),
            classes: labels.known_classes(),
            norms: squared_lengths(samples),
            laplacian,
            by_class,
            graph_bound,
            prior: p as f64 * (n + 2) as f64 / atoms.squared_norm().max(f64::MIN_POSITIVE),
            atoms,
            gram,
            correlations,
            codes,
            weights: Matrix::zeros(p, labels.classes().len()),
            noise: Vec::new(),
            scale: 1.0,
            floors: (0.0, 0.0),
            dead: 0,
            residuals: Vec::new(),
            energy: 0.0,
        };
        state.measure_codes();
        let residuals = &state.residuals;
        let least = LEAST_NOISE * samples.squared_norm() / (count * n) as f64;
        let mean = residuals.iter().sum::<f64>() / count as f64;
        let noise = (mean / (n + 2) as f64).max(least).max(f64::MIN_POSITIVE);
        // So that the first codes are those of the lasso: λ = 2σ²/z.
        state.scale = 2.0 * noise / knobs.sparsity.max(LEAST_SPARSITY);
        state.noise = vec![noise; count];
        state.floors = ((FLOOR * noise).max(least), FLOOR * state.scale);
        state.update_classifier(STEPS.1)?;
        Ok(state)
    }

    /// What a step of the classifier leaves as it is.
    fn measure_codes(&mut self) {
        let Self { norms, gram, correlations, codes, .. } = self;
        self.residuals = residuals(norms, gram, correlations, codes);
        let share = self.knobs.graph_share;
        self.energy =
            share * self.laplacian.energy(codes) + (1.0 - share) * self.by_class.energy(codes);
    }

    /// $A\mathcal M$ of both graphs with their weights.
    fn graph_pull(&self) -> Matrix<T> {
        let Pssdl { manifold, graph_share, .. } = *self.knobs;
        let mut pull = Matrix::zeros(self.codes.rows(), self.codes.columns());
        self.laplacian.pull(&self.codes, &mut Matrix::zeros(0, 0), &mut pull);
        let factor = T::of(manifold * graph_share);
        pull.as_mut_slice().iter_mut().for_each(|v| *v *= factor);
        let own = self.by_class.pull(&self.codes);
        axpy(T::of(manifold * (1.0 - graph_share)), own.as_slice(), pull.as_mut_slice());
        pull
    }

    /// Majorise and minimise: graphs and classifier become pulls to the present codes, so each sample is
    /// a lasso of its own. Multiplied by $2\sigma_i^2$ its weight is $\lambda_i=2\sigma_i^2/z$; codes are
    /// divided by that, so that one λ serves all.
    fn code(&mut self) {
        let strength = self.knobs.discrimination;
        let curvature = strength * softmax_curvature(&self.weights);
        let pull = self.graph_pull();
        let known = self.codes.select_columns(&self.known);
        let slopes = softmax_slopes(&self.weights, &known, &self.classes);
        let mut shifts = Vec::with_capacity(self.noise.len());
        let mut rhs = self.correlations.clone();
        for (j, &noise) in self.noise.iter().enumerate() {
            let shift = 2.0 * noise * self.graph_bound[j];
            axpy(T::of(shift), self.codes.column(j), rhs.column_mut(j));
            axpy(T::of(-2.0 * noise), pull.column(j), rhs.column_mut(j));
            shifts.push(shift);
        }
        for (at, &j) in self.known.iter().enumerate() {
            let shift = self.noise[j] * curvature;
            axpy(T::of(shift), self.codes.column(j), rhs.column_mut(j));
            let step = T::of(-self.noise[j] * strength);
            axpy(step, slopes.column(at), rhs.column_mut(j));
            shifts[j] += shift;
        }
        let lambdas: Vec<f64> = self.noise.iter().map(|noise| 2.0 * noise / self.scale).collect();
        let scaled = |matrix: &mut Matrix<T>, power: i32| {
            for (j, lambda) in lambdas.iter().enumerate() {
                let factor = T::of(lambda.powi(power));
                matrix.column_mut(j).iter_mut().for_each(|v| *v *= factor);
            }
        };
        scaled(&mut rhs, -1);
        scaled(&mut self.codes, -1);
        let shifts = shifts.into_iter().map(T::of).collect();
        Lasso::rough(1.0).code(Pulled { gram: &self.gram, rhs, shifts }, &mut self.codes);
        scaled(&mut self.codes, 1);
        self.measure_codes();
    }

    /// The closed forms, within their bounds.
    ///
    /// Paper: prints $(N+1)\ln z$; a Laplace prior on $Np$ coefficients has $(Np+1)\ln z$, without which
    /// $z$ is $p$ times too large.
    fn update_scales(&mut self) {
        let n = self.samples.rows();
        let floor = self.floors.0;
        self.noise = self.residuals.iter().map(|r| (r / (n + 2) as f64).max(floor)).collect();
        let count = self.codes.as_slice().len() as f64 + 1.0;
        self.scale = (absolute_sum(self.codes.as_slice()) / count).max(self.floors.1);
    }

    fn update_atoms(&mut self, is_last: bool) {
        let weights: Vec<T> = self.noise.iter().map(|noise| T::of(1.0 / noise)).collect();
        let codes = Csr::of_columns(&self.codes);
        let mut scaled = self.codes.clone();
        for (j, &weight) in weights.iter().enumerate() {
            scaled.column_mut(j).iter_mut().for_each(|a| *a *= weight);
        }
        let statistics = Statistics {
            moments: second_moments(&codes, Some(&weights)),
            correlations: cross_moments(self.samples.into(), &Csr::of_columns(&scaled)),
            energy: 0.0,
        };
        let moments = &statistics.moments;
        self.dead = (0..moments.columns()).filter(|&k| moments.column(k)[k] == T::zero()).count();
        let update = Ridge { weight: self.prior };
        update_past(&update, (&mut self.atoms, &mut self.gram), &statistics, T::one(), is_last);
        self.correlations = Matrix::of_product(self.atoms.transposed(), self.samples.view());
        let Self { norms, gram, correlations, codes, .. } = self;
        self.residuals = residuals(norms, gram, correlations, codes);
    }

    fn update_classifier(&mut self, steps: usize) -> Result<()> {
        let known = self.codes.select_columns(&self.known);
        // The loss has a weight of its own in the codes, but not against the ridge.
        let counts = vec![T::one(); self.classes.len()];
        let known_classes = (self.classes.as_slice(), counts.as_slice());
        fit_softmax(&known, known_classes, self.knobs.ridge, steps, &mut self.weights)
    }

    fn objective(&self) -> Objective {
        let Pssdl { manifold, discrimination, ridge, .. } = *self.knobs;
        let misfit = self.residuals.iter().zip(&self.noise).map(|(r, s)| r / (2.0 * s)).sum();
        let known = self.codes.select_columns(&self.known);
        let scores = Matrix::of_product(self.weights.transposed(), known.view());
        let loss = softmax_loss(&scores, &self.classes);
        let size = 0.5 * ridge * self.weights.squared_norm();
        Objective::new([
            ("reconstruction", misfit),
            ("sparsity", absolute_sum(self.codes.as_slice()) / self.scale),
            ("atoms", 0.5 * self.prior * self.atoms.squared_norm()),
            ("discrimination", discrimination * (loss + size)),
            ("manifold", manifold * self.energy),
        ])
    }

    fn finish(
        self,
        given: &Given<'_, T>,
        attachment: crate::graph::Attachment<T>,
        stop: crate::fit::Stop,
    ) -> Learnt<T> {
        let mut noise = self.noise;
        order::ascending(&mut noise);
        let median = noise.get(noise.len() / 2).copied().unwrap_or(1.0);
        let bias = vec![T::zero(); self.weights.columns()];
        let mut classifier = LinearClassifier { weights: self.weights, bias };
        classifier.silence_absent(&given.labels.counts());
        let coder = Coder::Lasso { sparsity: 2.0 * median / self.scale };
        let strength = 2.0 * median * self.knobs.manifold * self.knobs.graph_share;
        let (atoms, codes, dead) = (self.atoms, self.codes, self.dead);
        Learnt {
            dictionary: Some(Dictionary { atoms, codes, coder, dead, revived: 0 }),
            tie: (strength > 0.0).then_some(Tie {
                manifold: strength,
                attachment,
                reconstructions: None,
                kept: KeptSamples::Auto,
            }),
            ..Learnt::new(Decision::softmax(classifier), stop)
        }
    }
}
