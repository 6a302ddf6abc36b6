//! Reading a model file: its parts are checked against each other before anything is put together.

use std::collections::HashMap;
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::TensorView;

use super::header::{Header, SavedAttachment, SavedTie, refuse};
use super::kept::{self, Kept};
use super::tensor::{all_finite, dtype, from_little_endian};
use super::{CodingRule, Model, TieRule};
use crate::classifier::Decision;
use crate::codes::Coder;
use crate::graph::{Attachment, Rule};
use crate::samples::prepare::{Pipeline, StepChoice};
use crate::sparse::Csr;
use crate::stored::Source;
use crate::{Error, Labels, Matrix, Real, Result};

/// A file whose framing is sound; its contents are not checked yet.
pub(super) struct Parts<'a> {
    pub path: &'a Path,
    pub header: Header,
    pub tensors: HashMap<String, TensorView<'a>>,
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
    /// The codes, where the file has them without their zeros.
    sparse: Option<Csr<T>>,
}

impl<T: Real> Sound<T> {
    fn keeps_samples(&self) -> bool {
        self.tie.is_some() || (self.decision.needs_samples() && self.coder.is_some())
    }
}

impl Parts<'_> {
    pub fn assemble<T: Real>(self) -> Result<Model<T>> {
        let sound = self.sound::<T>()?;
        let (n, n_prepared) = (sound.labels.len(), sound.preparation.n_prepared());
        let keeps_samples = sound.keeps_samples();
        let Sound { labels, preparation, coder, tie, decision, image, n_codes, sparse } = sound;
        let dictionary = match coder {
            Some(coder) => {
                Some(CodingRule { atoms: self.matrix("atoms", n_prepared, n_codes)?, coder })
            }
            None => None,
        };
        let is_sparse = sparse.is_some();
        let codes = match sparse {
            Some(codes) => codes.to_columns(),
            None => self.matrix("codes", n_codes, n)?,
        };
        let calibration = self.header.calibration;
        let training = if keeps_samples { Some(self.training(n_prepared, n)?) } else { None };
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

    /// Checks everything, and copies nothing large but codes without their zeros.
    pub fn sound<T: Real>(&self) -> Result<Sound<T>> {
        if self.header.tie.is_some() && self.header.n_atoms == 0 {
            return Err(refuse(self.path, &"it has a graph, but no atoms to code samples with"));
        }
        let names = self.header.naming.features.as_ref();
        if names.is_some_and(|names| names.len() != self.header.n_features) {
            return Err(refuse(self.path, &"its names of features do not match their number"));
        }
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
        let is_sparse = self.tensors.contains_key("codes_counts");
        let sparse = if is_sparse { Some(self.sparse_codes(n_codes, n)?) } else { None };
        if !is_sparse {
            self.check_matrix::<T>("codes", n_codes, n)?;
        }
        let sizes = (n_atoms, n_codes, n_prepared);
        let attachment = |count: usize| self.attachment(count);
        let decision = Decision::restore(&self.header.decision, self, &labels, sizes, attachment)?;
        if self.header.calibration.is_some_and(|found| !found.is_sound()) {
            return Err(refuse(self.path, &"its calibration is out of range"));
        }
        let tie = self.tie(n)?;
        let sound = Sound { labels, preparation, coder, tie, decision, image, n_codes, sparse };
        if sound.keeps_samples() {
            self.check_training::<T>(n_prepared, n, &sound)?;
        }
        Ok(sound)
    }

    fn sparse_codes<T: Real>(&self, n_codes: usize, n: usize) -> Result<Csr<T>> {
        let counts = self.whole("codes_counts", Some(n))?;
        let atoms = self.whole("codes_atoms", None)?;
        let values = self.numbers("codes_values", &[atoms.len(), 1])?;
        kept::joined_codes(n_codes, &counts, atoms, values).map_err(|e| refuse(self.path, &e))
    }

    /// The landmarks, where there are some.
    fn landmarks(&self, n: usize) -> Result<Option<Vec<u32>>> {
        if !self.tensors.contains_key("landmarks") {
            return Ok(None);
        }
        let landmarks = self.whole("landmarks", None)?;
        let ascend = landmarks.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascend || landmarks.last().is_none_or(|&last| last as usize >= n) {
            return Err(refuse(self.path, &"its landmarks are not training samples in order"));
        }
        Ok(Some(landmarks))
    }

    fn training<T: Real>(&self, n_prepared: usize, n: usize) -> Result<Kept<T>> {
        let landmarks = self.landmarks(n)?;
        let count = landmarks.as_ref().map_or(n, Vec::len);
        let is_half = self.tensor("training")?.dtype() == Dtype::F16;
        let samples = if is_half {
            let values = kept::from_halves(self.tensor("training")?.data());
            Matrix::from_columns(n_prepared, count, values)
                .ok_or_else(|| refuse(self.path, &"`training` has the wrong size"))?
        } else {
            self.matrix("training", n_prepared, count)?
        };
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
        if tensor.dtype() != Dtype::F16 {
            return self.check_matrix::<T>("training", n_prepared, count);
        }
        if tensor.shape() != [count, n_prepared] {
            return Err(refuse(self.path, &"`training` has the wrong size"));
        }
        match kept::are_finite_halves(tensor.data()) {
            true => Ok(()),
            false => Err(refuse(self.path, &"`training` holds a value that is not finite")),
        }
    }

    /// A list of whole numbers.
    fn whole(&self, name: &str, len: Option<usize>) -> Result<Vec<u32>> {
        let tensor = self.tensor(name)?;
        let fits = matches!(*tensor.shape(), [count] if len.is_none_or(|len| len == count));
        match tensor.dtype() == Dtype::U32 && fits {
            true => Ok(kept::from_whole(tensor.data())),
            false => Err(refuse(self.path, &format!("`{name}` must be a list of numbers"))),
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
        let memory =
            if rule.remembers() { self.numbers("attachment", &[n_samples])? } else { Vec::new() };
        Ok(Attachment::restored(rule, scale, memory, recall))
    }

    fn labels(&self) -> Result<Labels> {
        let classes = self.header.classes.clone();
        if classes.len() < 2 {
            return Err(refuse(self.path, &"it names fewer than two classes"));
        }
        let tensor = self.tensor("labels")?;
        if tensor.dtype() != Dtype::I32 || tensor.shape().len() != 1 {
            return Err(refuse(self.path, &"`labels` must be a list of 32-bit integers"));
        }
        let values =
            tensor.data().chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let assigned = values.map(|v| usize::try_from(v).ok()).collect();
        Labels::new(classes, assigned).map_err(|e| refuse(self.path, &e))
    }

    fn preparation<T: Real>(&self, image: Option<[usize; 2]>) -> Result<Pipeline<T>> {
        let plans: Result<Vec<StepChoice>> =
            self.header.prepare.iter().map(|text| text.parse()).collect();
        let plans = plans.map_err(|e| refuse(self.path, &e))?;
        let mut find = |name: &str| {
            let tensor = self.tensors.get(name)?;
            let &[columns, rows] = tensor.shape() else { return None };
            (tensor.dtype() == dtype::<T>())
                .then(|| Matrix::from_columns(rows, columns, from_little_endian(tensor.data())))?
        };
        Pipeline::restore(&plans, self.header.n_features, image, &mut find)
            .map_err(|e| refuse(self.path, &e))
    }

    fn tensor(&self, name: &str) -> Result<&TensorView<'_>> {
        self.tensors.get(name).ok_or_else(|| refuse(self.path, &format!("`{name}` is missing")))
    }

    /// A tensor `[columns, rows]`.
    fn matrix<T: Real>(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix<T>> {
        self.check_matrix::<T>(name, rows, columns)?;
        Matrix::from_columns(rows, columns, from_little_endian(self.tensor(name)?.data()))
            .ok_or_else(|| refuse(self.path, &format!("`{name}` has the wrong size")))
    }

    fn check_matrix<T: Real>(&self, name: &str, rows: usize, columns: usize) -> Result<()> {
        if columns == 0 {
            return Err(refuse(self.path, &format!("`{name}` is empty")));
        }
        self.check_numbers::<T>(name, &[columns, rows])
    }

    fn numbers<T: Real>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
        self.check_numbers::<T>(name, shape)?;
        Ok(from_little_endian(self.tensor(name)?.data()))
    }

    /// Whether a tensor has this shape and only finite numbers.
    fn check_numbers<T: Real>(&self, name: &str, shape: &[usize]) -> Result<()> {
        let tensor = self.tensor(name)?;
        if tensor.dtype() != dtype::<T>() || tensor.shape() != shape {
            return Err(refuse(
                self.path,
                &format!(
                    "`{name}` is {:?} {:?}, expected {} {shape:?}",
                    tensor.dtype(),
                    tensor.shape(),
                    T::NAME
                ),
            ));
        }
        if !all_finite::<T>(tensor.data()) {
            return Err(refuse(self.path, &format!("`{name}` holds a value that is not finite")));
        }
        Ok(())
    }
}

impl<T: Real> Source<T> for Parts<'_> {
    fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix<T>> {
        Parts::matrix(self, name, rows, columns)
    }

    fn list(&self, name: &str, len: usize) -> Result<Vec<T>> {
        self.numbers(name, &[len])
    }

    fn refuse(&self, reason: &str) -> Error {
        refuse(self.path, &reason)
    }
}
