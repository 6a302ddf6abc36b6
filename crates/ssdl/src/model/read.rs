//! Reading a model file: its parts are checked against each other before anything is put together.

use std::collections::HashMap;
use std::path::Path;

use super::header::{Header, SavedAttachment, SavedTie, refuse};
use super::kept::{self, Kept};
use super::tensor::{Numbers, Tensor};
use super::{CodingRule, Model, TieRule};
use crate::classifier::Decision;
use crate::codes::Coder;
use crate::graph::{Attachment, Rule};
use crate::packed::Packed;
use crate::samples::prepare::{Pipeline, StepChoice};
use crate::stored::Source;
use crate::{Error, Labels, Matrix, Real, Result};

/// A file whose framing is sound; its contents are not checked yet.
pub(super) struct Parts<'a> {
    pub path: &'a Path,
    pub header: Header,
    pub tensors: HashMap<String, Tensor<'a>>,
}

/// All of a model that is small; the large arrays beside it are known to be sound.
pub(super) struct Sound<T> {
    labels: Labels,
    preparation: Pipeline<T>,
    coder: Option<Coder>,
    tie: Option<TieRule<T>>,
    decision: Decision<T>,
    image: Option<[usize; 2]>,
    n_codes: usize,
}

impl<T: Real> Sound<T> {
    fn keeps_samples(&self) -> bool {
        self.tie.is_some() || (self.decision.needs_samples() && self.coder.is_some())
    }
}

impl Parts<'_> {
    /// Puts a model together. What is large is not copied.
    pub fn assemble<T: Real>(mut self) -> Result<Model<T>> {
        let sound = self.sound::<T>()?;
        let (n, n_prepared) = (sound.labels.len(), sound.preparation.n_prepared());
        let keeps_samples = sound.keeps_samples();
        let Sound { labels, preparation, coder, tie, decision, image, n_codes } = sound;
        let dictionary = match coder {
            Some(coder) => {
                let atoms = self.take_matrix("atoms", n_prepared, n_codes)?;
                Some(CodingRule { atoms, coder })
            }
            None => None,
        };
        let is_sparse = self.has_sparse_codes();
        let codes = match is_sparse {
            true => self.take_sparse_codes(n_codes)?,
            false => self.take_matrix("codes", n_codes, n)?.into(),
        };
        let calibration = self.header.calibration;
        let training = if keeps_samples { Some(self.take_training(n_prepared, n)?) } else { None };
        Ok(Model {
            method: self.header.method,
            knobs: self.header.knobs,
            labels,
            preparation,
            dictionary,
            tie,
            codes,
            training,
            is_sparse,
            decision,
            calibration,
            image,
            naming: self.header.naming,
            report: self.header.report,
        })
    }

    /// Checks everything, and copies nothing large.
    pub fn sound<T: Real>(&self) -> Result<Sound<T>> {
        if self.header.tie.is_some() && self.header.n_atoms == 0 {
            return Err(refuse(self.path, &"it has a graph, but no atoms to code samples with"));
        }
        let named = self.header.naming.check(self.header.n_features);
        named.map_err(|error| refuse(self.path, &format!("its names do not fit: {error}")))?;
        let labels = self.labels()?;
        // A shape that does not fit the samples is ignored; steps that need it are then refused.
        let image = self.header.image;
        let image = image.filter(|[h, w]| h.checked_mul(*w) == Some(self.header.n_features));
        let preparation = self.preparation::<T>(image)?;
        let (n, n_prepared) = (labels.len(), preparation.n_prepared());
        let coder = self.coder()?;
        let n_atoms = coder.map(|_| self.header.n_atoms);
        let n_codes = n_atoms.unwrap_or(n_prepared);
        if let Some(n_atoms) = n_atoms {
            self.check_matrix::<T>("atoms", n_prepared, n_atoms)?;
        }
        match self.has_sparse_codes() {
            true => self.check_sparse_codes::<T>(n_codes, n)?,
            false => self.check_matrix::<T>("codes", n_codes, n)?,
        }
        let sizes = (n_atoms, n_codes, n_prepared);
        let attachment = |count: usize| self.attachment(count);
        let decision = Decision::restore(&self.header.decision, self, &labels, sizes, attachment)?;
        if self.header.calibration.is_some_and(|found| !found.is_sound()) {
            return Err(refuse(self.path, &"its calibration is out of range"));
        }
        let tie = self.tie(n)?;
        let sound = Sound { labels, preparation, coder, tie, decision, image, n_codes };
        if sound.keeps_samples() {
            self.check_training::<T>(n_prepared, n, &sound)?;
        }
        Ok(sound)
    }

    fn has_sparse_codes(&self) -> bool {
        self.tensors.contains_key("codes_counts")
    }

    fn check_sparse_codes<T: Real>(&self, n_codes: usize, n: usize) -> Result<()> {
        let counts = self.whole("codes_counts", Some(n))?;
        let atoms = self.whole("codes_atoms", None)?;
        let values = self.numbers::<T>("codes_values", &[atoms.len(), 1])?;
        kept::check_codes(n_codes, counts, atoms, values).map_err(|e| refuse(self.path, &e))
    }

    fn take_sparse_codes<T: Real>(&mut self, n_codes: usize) -> Result<Packed<T>> {
        let atoms = match self.take("codes_atoms")? {
            Numbers::Whole(atoms) => atoms.into_owned(),
            _ => Vec::new(),
        };
        let values = self.take("codes_values")?.into_real().unwrap_or_default();
        let counts = self.whole("codes_counts", None)?;
        Ok(kept::joined_codes(n_codes, counts, atoms, values).into())
    }

    /// The landmarks, where there are some.
    fn landmarks(&self, n: usize) -> Result<Option<Vec<u32>>> {
        if !self.tensors.contains_key("landmarks") {
            return Ok(None);
        }
        let landmarks = self.whole("landmarks", None)?.to_vec();
        let ascend = landmarks.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascend || landmarks.last().is_none_or(|&last| last as usize >= n) {
            return Err(refuse(self.path, &"its landmarks are not training samples in order"));
        }
        Ok(Some(landmarks))
    }

    fn take_training<T: Real>(&mut self, n_prepared: usize, n: usize) -> Result<Kept<T>> {
        let landmarks = self.landmarks(n)?;
        let count = landmarks.as_ref().map_or(n, Vec::len);
        let is_half = matches!(self.tensor("training")?.numbers, Numbers::Half(_));
        let samples = match self.take("training")? {
            Numbers::Half(halves) => Packed::of_halves(n_prepared, count, halves.into_owned()),
            whole => {
                let whole = whole.into_real();
                let whole = whole.and_then(|all| Matrix::from_columns(n_prepared, count, all));
                whole.map(Packed::from)
            }
        };
        let samples = samples.ok_or_else(|| refuse(self.path, &"`training` has the wrong size"))?;
        Ok(Kept { samples, landmarks, is_half })
    }

    fn check_training<T: Real>(&self, n_prepared: usize, n: usize, sound: &Sound<T>) -> Result<()> {
        let landmarks = self.landmarks(n)?;
        let rule = sound.tie.as_ref().map(|tie| tie.attachment.rule);
        let can = matches!(rule, Some(Rule::Lle { .. })) && !sound.decision.needs_samples();
        if landmarks.is_some() && !can {
            return Err(refuse(self.path, &"it has landmarks, but needs all its samples"));
        }
        let count = landmarks.map_or(n, |landmarks| landmarks.len());
        let tensor = self.tensor("training")?;
        if !matches!(tensor.numbers, Numbers::Half(_)) {
            return self.check_matrix::<T>("training", n_prepared, count);
        }
        if tensor.shape != [count, n_prepared] {
            return Err(refuse(self.path, &"`training` has the wrong size"));
        }
        match tensor.numbers.are_finite() {
            true => Ok(()),
            false => Err(refuse(self.path, &"`training` holds a value that is not finite")),
        }
    }

    /// A list of whole numbers.
    fn whole(&self, name: &str, len: Option<usize>) -> Result<&[u32]> {
        let tensor = self.tensor(name)?;
        let fits = matches!(*tensor.shape, [count] if len.is_none_or(|len| len == count));
        match &tensor.numbers {
            Numbers::Whole(values) if fits => Ok(values),
            _ => Err(refuse(self.path, &format!("`{name}` must be a list of numbers"))),
        }
    }

    fn coder(&self) -> Result<Option<Coder>> {
        match (self.header.n_atoms, self.header.coder) {
            (0, _) => Ok(None),
            (_, None) => Err(refuse(self.path, &"it has atoms, but no way to code with them")),
            (_, Some(coder)) if !coder.is_sound() => {
                Err(refuse(self.path, &"its coding rule is out of range"))
            }
            (_, coder) => Ok(coder),
        }
    }

    fn tie<T: Real>(&self, n_samples: usize) -> Result<Option<TieRule<T>>> {
        let Some(SavedTie { manifold, denoise }) = self.header.tie else { return Ok(None) };
        if !manifold.is_finite() || manifold <= 0.0 {
            return Err(refuse(self.path, &"its coding rule is out of range"));
        }
        Ok(Some(TieRule { manifold, denoise, attachment: self.attachment(n_samples)? }))
    }

    fn attachment<T: Real>(&self, n_samples: usize) -> Result<Attachment<T>> {
        let Some(SavedAttachment { rule, scale, recall }) = self.header.attachment else {
            return Err(refuse(self.path, &"it does not say how new samples join its graph"));
        };
        let known = recall.is_none_or(|recall| (0.0..=1.0).contains(&recall));
        if !rule.is_sound() || !scale.is_finite() || scale < 0.0 || !known {
            return Err(refuse(self.path, &"the rule by which samples join its graph is invalid"));
        }
        let memory = if rule.remembers() { self.numbers("attachment", &[n_samples])? } else { &[] };
        Ok(Attachment::restored(rule, scale, memory.to_vec(), recall))
    }

    fn labels(&self) -> Result<Labels> {
        let classes = self.header.classes.clone();
        if classes.len() < 2 {
            return Err(refuse(self.path, &"it names fewer than two classes"));
        }
        let tensor = self.tensor("labels")?;
        let (Numbers::Signed(values), [_]) = (&tensor.numbers, &*tensor.shape) else {
            return Err(refuse(self.path, &"`labels` must be a list of 32-bit integers"));
        };
        let assigned = values.iter().map(|&v| usize::try_from(v).ok()).collect();
        Labels::new(classes, assigned).map_err(|e| refuse(self.path, &e))
    }

    fn preparation<T: Real>(&self, image: Option<[usize; 2]>) -> Result<Pipeline<T>> {
        let plans: Result<Vec<StepChoice>> =
            self.header.prepare.iter().map(|text| text.parse()).collect();
        let plans = plans.map_err(|e| refuse(self.path, &e))?;
        let mut find = |name: &str| {
            let tensor = self.tensors.get(name)?;
            let &[columns, rows] = &*tensor.shape else { return None };
            Matrix::from_columns(rows, columns, tensor.numbers.as_real()?.to_vec())
        };
        Pipeline::restore(&plans, self.header.n_features, image, &mut find)
            .map_err(|e| refuse(self.path, &e))
    }

    fn tensor(&self, name: &str) -> Result<&Tensor<'_>> {
        self.tensors.get(name).ok_or_else(|| self.missing(name))
    }

    /// The numbers of a tensor, which is gone then.
    fn take(&mut self, name: &str) -> Result<Numbers<'_>> {
        match self.tensors.remove(name) {
            Some(tensor) => Ok(tensor.numbers),
            None => Err(self.missing(name)),
        }
    }

    fn missing(&self, name: &str) -> Error {
        refuse(self.path, &format!("`{name}` is missing"))
    }

    /// A tensor `[columns, rows]` that has been checked, without a copy.
    fn take_matrix<T: Real>(
        &mut self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<Matrix<T>> {
        let numbers = self.take(name)?.into_real();
        let matrix = numbers.and_then(|numbers| Matrix::from_columns(rows, columns, numbers));
        matrix.ok_or_else(|| refuse(self.path, &format!("`{name}` has the wrong size")))
    }

    fn check_matrix<T: Real>(&self, name: &str, rows: usize, columns: usize) -> Result<()> {
        if columns == 0 {
            return Err(refuse(self.path, &format!("`{name}` is empty")));
        }
        self.numbers::<T>(name, &[columns, rows]).map(|_| ())
    }

    /// The numbers of a tensor that has this shape; all of them are finite.
    fn numbers<T: Real>(&self, name: &str, shape: &[usize]) -> Result<&[T]> {
        let tensor = self.tensor(name)?;
        let Some(numbers) = tensor.numbers.as_real().filter(|_| tensor.shape == shape) else {
            let (dtype, found) = (tensor.numbers.dtype(), &tensor.shape);
            let what = format!("`{name}` is {dtype:?} {found:?}, expected {} {shape:?}", T::NAME);
            return Err(refuse(self.path, &what));
        };
        match tensor.numbers.are_finite() {
            true => Ok(numbers),
            false => Err(refuse(self.path, &format!("`{name}` holds a value that is not finite"))),
        }
    }
}

impl<T: Real> Source<T> for Parts<'_> {
    fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix<T>> {
        self.check_matrix::<T>(name, rows, columns)?;
        let numbers = self.numbers(name, &[columns, rows])?.to_vec();
        Matrix::from_columns(rows, columns, numbers)
            .ok_or_else(|| refuse(self.path, &format!("`{name}` has the wrong size")))
    }

    fn list(&self, name: &str, len: usize) -> Result<Vec<T>> {
        Ok(self.numbers(name, &[len])?.to_vec())
    }

    fn whole(&self, name: &str) -> Result<Vec<u32>> {
        Ok(Parts::whole(self, name, None)?.to_vec())
    }

    fn refuse(&self, reason: &str) -> Error {
        refuse(self.path, &reason)
    }
}
