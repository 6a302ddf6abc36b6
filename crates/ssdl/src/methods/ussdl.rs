//! USSDL: adaptively unified semi-supervised dictionary learning, SSDL-GA without its graph.
//!
//! Wang, Guo, Li (2015). Without the graph every sample is coded by itself.

use super::{Description, Options, SsdlGa, register, ssdl_ga};
use crate::fit::Watch;
use crate::knobs::{Knob, Knobbed, names};
use crate::model::Model;
use crate::{Error, Real, Result, Samples};

/// Knobs of SSDL-GA that mean nothing without a graph.
const HIDDEN: &[&str] = &[
    "manifold",
    "graph",
    "n_neighbors",
    "width",
    "percentile",
    "smoothness",
    "normalise_trace",
    "halve_new",
    "denoise",
];

const DESCRIPTION: Description = Description {
    name: "ussdl",
    title: "Adaptively unified semi-supervised dictionary learning with active points",
    reference: "Wang, Guo, Li (ICCV 2015), as the graph-free case of SSDL-GA",
    link: "https://arxiv.org/abs/2009.05964",
    objective: r"\min_{D\in\mathcal C,A,W,b,P}\ \lVert X-DA\rVert_F^2+\lambda\lVert A\rVert_1
+\gamma\sum_j\sum_kP_{kj}^r\,e_k(W^\top a_j+b)+\mu(\lVert W\rVert^2+\lVert b\rVert^2)",
    objective_text: "|X - DA|^2 + sparsity |A|_1\n\
+ discrimination sum_j sum_k P_kj^sharpness e_k(W'a_j + b) + ridge (|W|^2 + |b|^2)",
    summary: "SSDL-GA with the graph weight at zero: samples are coded one by one, so it is faster \
and keeps no training samples in the model, but it does not use the shape of the data.",
    coding: "individual",
    uses_graph: false,
    published: &[],
    ..ssdl_ga::DESCRIPTION
};

/// USSDL with the knobs it shares with SSDL-GA.
///
/// ```
/// use ssdl::methods::{SsdlGa, Ussdl};
/// let method = Ussdl::from(SsdlGa::new().n_atoms(50).sparsity(0.2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ussdl {
    knobs: SsdlGa,
}

impl From<SsdlGa> for Ussdl {
    /// The same knobs without the graph.
    fn from(knobs: SsdlGa) -> Self {
        Self { knobs: knobs.manifold(0.0) }
    }
}

impl Ussdl {
    fn from_pairs(pairs: &[(String, String)]) -> Result<Self> {
        let all = SsdlGa::knobs();
        let hidden = all.iter().filter(|knob| HIDDEN.contains(&knob.name));
        for knob in hidden {
            if let Some((given, _)) = pairs.iter().find(|(given, _)| names(knob, given)) {
                let known: Vec<&str> = visible().iter().map(|knob| knob.name).collect();
                return Err(Error::Unknown {
                    what: "knob of ussdl (it has no graph)",
                    got: given.clone(),
                    known: known.join(", "),
                });
            }
        }
        SsdlGa::from_pairs(pairs).map(Self::from)
    }

    /// Bytes that a fit of this size will need at its peak, samples included.
    #[must_use]
    pub fn memory_needed<T: Real>(
        &self,
        n_features: usize,
        n_samples: usize,
        n_classes: usize,
    ) -> u64 {
        self.knobs.memory_needed::<T>(n_features, n_samples, n_classes)
    }

    /// Fits raw samples, watched, with preparation, seed and threads of your own.
    ///
    /// # Errors
    /// If a knob, the labels or the samples do not allow it.
    pub fn fit_with<T: Real>(
        &self,
        samples: Samples<T>,
        options: &Options<T>,
        watch: &mut dyn Watch,
    ) -> Result<Model<T>> {
        self.knobs.fit_as(samples, options, watch, &DESCRIPTION)
    }
}

fn visible() -> Vec<Knob> {
    SsdlGa::knobs().into_iter().filter(|knob| !HIDDEN.contains(&knob.name)).collect()
}

impl Knobbed for Ussdl {
    fn list() -> Vec<Knob> {
        visible()
    }

    fn read(knobs: &[(String, String)]) -> Result<Self> {
        Self::from_pairs(knobs)
    }
}

register!(Ussdl);
