//! The loss of a linear classifier as the codes see it: a quadratic in the scores.
//!
//! $$\gamma\sum_{c,j}\Omega_{cj}s_{cj}^2-2\mathcal G_{cj}s_{cj},\qquad s=W^\top a+b.$$

use crate::{Matrix, Real};

/// Ω: how strongly each score counts.
#[derive(Clone, Debug)]
pub enum Weight<T> {
    /// One weight per class and sample, $C\times N$.
    PerClass(Matrix<T>),
    /// One weight per sample, the same for all classes.
    Shared(Vec<T>),
}

/// The discrimination term with the classifier held fixed.
#[derive(Clone, Copy)]
pub struct Margin<'a, T> {
    /// γ.
    pub discrimination: T,
    /// $W$, $p\times C$.
    pub weights: &'a Matrix<T>,
    /// $b$, one entry per class.
    pub bias: &'a [T],
    /// $WW^\top$, $p\times p$.
    pub cross: &'a Matrix<T>,
    /// Ω.
    pub weight: &'a Weight<T>,
    /// $\mathcal G$, $C\times N$.
    pub target: &'a Matrix<T>,
}

/// $\gamma W(\Omega\circ W^\top Z)$: the margin's part of the operator.
#[derive(Clone, Copy)]
pub(crate) struct Curvature<'a, T> {
    /// $W$, $p\times C$.
    pub weights: &'a Matrix<T>,
    /// $WW^\top$.
    pub cross: &'a Matrix<T>,
    /// γ.
    pub strength: T,
    /// Ω.
    pub weight: &'a Weight<T>,
}

impl<'a, T: Real> Margin<'a, T> {
    /// R += γW(𝒢 − Ω∘b1ᵀ).
    pub(crate) fn add_to(&self, rhs: &mut Matrix<T>, target: &Matrix<T>, weight: &Weight<T>) {
        let bias = self.bias;
        let mut offset = Matrix::from_fn(bias.len(), target.columns(), |c, _| -bias[c]);
        weight.scale(&mut offset);
        for (o, &g) in offset.as_mut_slice().iter_mut().zip(target.as_slice()) {
            *o += g;
        }
        rhs.add_product(self.discrimination, self.weights.view(), offset.view());
    }

    pub(crate) fn operator<'b>(&self, weight: &'b Weight<T>) -> Curvature<'b, T>
    where
        'a: 'b,
    {
        Curvature {
            weights: self.weights,
            cross: self.cross,
            strength: self.discrimination,
            weight,
        }
    }
}

impl<T: Real> Weight<T> {
    /// Ω of one class and sample.
    #[inline(always)]
    #[must_use]
    pub fn of(&self, class: usize, sample: usize) -> T {
        match self {
            Self::PerClass(weight) => weight.column(sample)[class],
            Self::Shared(weight) => weight[sample],
        }
    }

    /// The largest weight of a sample.
    #[must_use]
    pub fn largest(&self, sample: usize) -> T {
        match self {
            Self::PerClass(w) => w.column(sample).iter().copied().fold(T::zero(), T::max),
            Self::Shared(weight) => weight[sample],
        }
    }

    /// The weights of the chosen samples.
    #[must_use]
    pub fn select(&self, samples: &[usize]) -> Self {
        match self {
            Self::PerClass(weight) => Self::PerClass(weight.select_columns(samples)),
            Self::Shared(weight) => Self::Shared(samples.iter().map(|&j| weight[j]).collect()),
        }
    }

    /// Ω∘Z, in place, for $Z$ of size $C\times N$.
    pub fn scale(&self, z: &mut Matrix<T>) {
        for j in 0..z.columns() {
            match self {
                Self::PerClass(weight) => {
                    z.column_mut(j).iter_mut().zip(weight.column(j)).for_each(|(z, &w)| *z *= w);
                }
                Self::Shared(weight) => z.column_mut(j).iter_mut().for_each(|z| *z *= weight[j]),
            }
        }
    }
}
