//! New samples: prepared, tied to the training samples and coded once, then classified and explained.

use super::kept::Kept;
use super::{Model, Prediction};
use crate::classifier::Coded;
use crate::codes::{Coder, Pull};
use crate::device::{self, Mixture};
use crate::graph::Anchors;
use crate::{Error, Matrix, Real, Result, threads};

/// New samples as a model sees them: the costly work is done once.
#[derive(Clone, Debug)]
pub struct Seen<T> {
    prepared: Matrix<T>,
    /// How long each sample was before the preparation took its length.
    lengths: Option<Vec<T>>,
    anchors: Option<Anchors<T>>,
    /// `None` without atoms: the prepared samples are the codes.
    codes: Option<Matrix<T>>,
}

impl<T: Real> Seen<T> {
    /// The prepared samples, $n\times N$.
    #[must_use]
    pub fn prepared(&self) -> &Matrix<T> {
        &self.prepared
    }

    /// Their codes, $p\times N$; the prepared samples where the method has no atoms.
    #[must_use]
    pub fn codes(&self) -> &Matrix<T> {
        self.codes.as_ref().unwrap_or(&self.prepared)
    }

    pub(super) fn length(&self, sample: usize) -> Option<T> {
        self.lengths.as_ref().map(|all| all[sample])
    }

    pub(super) fn anchors(&self) -> Option<&Anchors<T>> {
        self.anchors.as_ref()
    }

    fn coded(&self) -> Coded<'_, T> {
        Coded { samples: &self.prepared, codes: self.codes(), lengths: self.lengths.as_deref() }
    }

    fn into_codes(self) -> Matrix<T> {
        self.codes.unwrap_or(self.prepared)
    }
}

/// How new samples are coded and classified, in short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutOfSample {
    /// How they are coded; `None` without atoms.
    pub coder: Option<Coder>,
    /// β; 0 codes without the training samples.
    pub manifold: f64,
    /// Whether the graph is between reconstructions instead of the samples themselves.
    pub denoise: bool,
    /// $r$, which turns scores into probabilities; `None` where votes are probabilities already.
    pub sharpness: Option<f64>,
}

impl<T: Real> Model<T> {
    /// How new samples are coded and classified.
    #[must_use]
    pub fn out_of_sample(&self) -> OutOfSample {
        let tie = self.tie.as_ref();
        OutOfSample {
            coder: self.dictionary.as_ref().map(|rule| rule.coder),
            manifold: tie.map_or(0.0, |tie| tie.manifold),
            denoise: tie.is_some_and(|tie| tie.denoise),
            sharpness: self.decision.sharpness(),
        }
    }

    /// Prepares raw samples ($n\times N$), ties them to the training samples and codes them, each
    /// independently of the others. Cost per sample $O(n(N+p))$ plus its coding.
    ///
    /// # Errors
    /// If the number of features is wrong or a value is not finite.
    #[inline(never)]
    pub fn see(&self, raw: Matrix<T>) -> Result<Seen<T>> {
        self.look(raw, true, &mut |_| ())
    }

    /// As [`Model::see`]; a device need not tell the training samples that nobody asks for, and gives the codes of
    /// one block after the other to `meanwhile`.
    fn look(
        &self,
        raw: Matrix<T>,
        is_told: bool,
        meanwhile: &mut dyn FnMut(&[T]),
    ) -> Result<Seen<T>> {
        let (prepared, lengths) = self.preparation.apply_measured(raw)?;
        if let Some((codes, anchors)) = self.look_elsewhere(&prepared, is_told, meanwhile) {
            return Ok(Seen { prepared, lengths, anchors, codes: Some(codes) });
        }
        let anchors = self.anchors(&prepared)?;
        let codes = self.code_prepared(&prepared, anchors.as_ref());
        Ok(Seen { prepared, lengths, anchors, codes })
    }

    /// Codes, and the training samples they were pulled to, in one pass on the device that is lent; `None`
    /// without one, or where something else than a mixture pulls.
    fn look_elsewhere(
        &self,
        prepared: &Matrix<T>,
        is_told: bool,
        meanwhile: &mut dyn FnMut(&[T]),
    ) -> Option<(Matrix<T>, Option<Anchors<T>>)> {
        if !device::is_lent(prepared.columns()) {
            return None;
        }
        let (tie, kept) = self.tie.as_ref().zip(self.training.as_ref())?;
        let rule = self.dictionary.as_ref().filter(|_| !tie.denoise)?;
        let (n_neighbors, strength) = tie.attachment.mixture(kept.samples.columns())?;
        let places = kept.landmarks.as_ref();
        let places = places.map(|some| some.iter().map(|&place| place as usize).collect());
        let chosen: Option<Matrix<T>> =
            places.map(|places: Vec<usize>| self.codes().select_columns(&places));
        let mixture = Mixture {
            training: kept.samples.whole(),
            codes: chosen.as_ref().unwrap_or_else(|| self.codes()),
            n_neighbors,
            strength: T::of(tie.manifold) * strength,
            is_told,
        };
        let found = rule.coder.code_elsewhere(prepared, &rule.atoms, mixture, meanwhile)?;
        let anchors = found.mixtures.map(|mixtures| {
            let among = kept.samples.columns();
            self.among_all(tie.attachment.mixed(among, n_neighbors, mixtures), kept)
        });
        Some((found.codes, anchors))
    }

    /// Anchors among the kept samples as anchors among all.
    fn among_all(&self, anchors: Anchors<T>, kept: &Kept<T>) -> Anchors<T> {
        match &kept.landmarks {
            Some(landmarks) => anchors.of_landmarks(landmarks, self.labels.len()),
            None => anchors,
        }
    }

    /// Codes samples seen by another model with the same training samples, preparation and graph:
    /// only the codes are computed again.
    ///
    /// # Errors
    /// If the models do not fit each other.
    #[inline(never)]
    pub fn see_again(&self, seen: &Seen<T>) -> Result<Seen<T>> {
        let (expected, got) = (self.preparation.n_prepared(), seen.prepared.rows());
        if expected != got {
            return Err(Error::Shape { what: "prepared features".into(), expected, got });
        }
        if self.tie.is_some() != seen.anchors.is_some() {
            return Err(Error::Graph("the samples were seen by a model with another graph".into()));
        }
        let codes = self.code_prepared(&seen.prepared, seen.anchors.as_ref());
        Ok(Seen { codes, ..seen.clone() })
    }

    /// Predicts the classes of samples seen before.
    ///
    /// # Errors
    /// If the votes on a sample cannot be found, which can happen only with a learnt graph.
    #[inline(never)]
    pub fn judge(&self, seen: &Seen<T>) -> Result<Prediction<T>> {
        let verdict = self.decision.judge(&self.known(), &seen.coded())?;
        Ok(self.prediction(verdict, seen.codes().clone()))
    }

    /// Classifies raw samples ($n\times N$), each independently of the others.
    ///
    /// # Errors
    /// If the number of features is wrong or a value is not finite.
    #[inline(never)]
    pub fn predict(&self, raw: Matrix<T>) -> Result<Prediction<T>> {
        // While a device codes, what it has coded already is scored, if codes alone decide.
        let (p, n_classes) = (self.n_codes().max(1), self.classes().len());
        let mut scores = Matrix::zeros(n_classes, raw.columns());
        let mut n_scored = 0;
        let seen = self.look(raw, false, &mut |codes| {
            let end = n_scored + codes.len() / p * n_classes;
            if self.decision.score_codes(codes, &mut scores.as_mut_slice()[n_scored..end]) {
                n_scored = end;
            }
        })?;
        let are_scored = n_scored > 0 && n_scored == scores.as_slice().len();
        let verdict = match are_scored.then(|| self.decision.of_scores(scores)).flatten() {
            Some(verdict) => verdict,
            None => self.decision.judge(&self.known(), &seen.coded())?,
        };
        let Seen { prepared, codes, .. } = seen;
        match codes {
            // To give many samples back to the system takes a while.
            Some(codes) => {
                Ok(threads::both(|| self.prediction(verdict, codes), || drop(prepared)).0)
            }
            None => Ok(self.prediction(verdict, prepared)),
        }
    }

    /// Sparse codes ($p\times N$) of raw samples; no sample influences another. Without atoms these
    /// are the prepared samples.
    ///
    /// # Errors
    /// If the number of features is wrong or a value is not finite.
    #[inline(never)]
    pub fn code(&self, raw: Matrix<T>) -> Result<Matrix<T>> {
        Ok(self.look(raw, false, &mut |_| ())?.into_codes())
    }

    fn code_prepared(
        &self,
        prepared: &Matrix<T>,
        anchors: Option<&Anchors<T>>,
    ) -> Option<Matrix<T>> {
        let rule = self.dictionary.as_ref()?;
        let pull = self.tie.as_ref().zip(anchors).map(|(tie, anchors)| Pull {
            manifold: tie.manifold,
            anchors,
            codes: &self.codes,
        });
        Some(rule.coder.code_with(prepared, &rule.atoms, self.decision.owners(), pull))
    }

    /// The training samples that prepared samples are tied to; `None` where the model ties none.
    fn anchors(&self, prepared: &Matrix<T>) -> Result<Option<Anchors<T>>> {
        let Some((tie, kept)) = self.tie.as_ref().zip(self.training.as_ref()) else {
            return Ok(None);
        };
        let reconstructed = self.dictionary.as_ref().filter(|_| tie.denoise).map(|rule| {
            let plain = rule.coder.code_with(prepared, &rule.atoms, self.decision.owners(), None);
            Matrix::of_each(rule.atoms.view(), &plain, None)
        });
        let new = reconstructed.as_ref().unwrap_or(prepared);
        let anchors = tie.attachment.anchor(kept.samples.whole(), new)?;
        Ok(Some(self.among_all(anchors, kept)))
    }
}
