//! A user's own method in one file: the class whose mean is nearest. `common::every_method` has its
//! line, so every contract of a method holds for it too.

use ssdl::classifier::{Decision, LinearClassifier};
use ssdl::fit::{Given, Learnt, Objective, Sizes, Stop, Turns};
use ssdl::methods::{Description, Learner};
use ssdl::{Matrix, Real, Result};

ssdl::knobs! {
    /// The knobs of the nearest mean.
    pub struct NearestMean {
        /// How much the mean of all samples counts in that of a class.
        shrinkage "τ tau": f64 = 0.0, From(0.0);
    }
}

impl Learner for NearestMean {
    const DESCRIPTION: Description = Description {
        name: "nearest-mean",
        class: "NearestMean",
        title: "Nearest class mean",
        reference: "a toy",
        link: "",
        objective: "",
        objective_text: "",
        summary: "The class whose mean is nearest.",
        semi_supervised: false,
        inductive: true,
        uses_graph: false,
        coding: "none",
        published: &[],
    };

    fn bytes(&self, sizes: &Sizes) -> u64 {
        sizes.bytes(sizes.n_classes)
    }

    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let (known, classes) = given.labelled();
        let counts = given.labels.counts();
        let mut means = Matrix::zeros(known.rows(), counts.len());
        for (x, &class) in known.iter_columns().zip(&classes) {
            let share = T::of(1.0 / (counts[class] as f64 + self.shrinkage));
            means.column_mut(class).iter_mut().zip(x).for_each(|(m, x)| *m += share * *x);
        }
        // A class without a label must not win.
        let bias = means.iter_columns().zip(&counts).map(|(mean, &count)| match count {
            0 => T::of(-1e6),
            _ => T::of(-0.5) * mean.iter().map(|m| *m * *m).sum::<T>(),
        });
        let classifier = LinearClassifier { bias: bias.collect(), weights: means };
        turns.end(1, Objective::new([("misfit", 0.0)]));
        Ok(Learnt::without_atoms(Decision::linear(classifier, 2.0), Stop::Converged))
    }
}
