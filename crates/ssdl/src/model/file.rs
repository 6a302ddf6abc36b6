//! The model file: safetensors with one JSON header, written atomically; nothing in it is trusted.
//!
//! Tensors hold samples as rows (`codes` is `[N, p]`), so any safetensors reader sees the layout
//! that NumPy users expect; the bytes are our columns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::json;

use super::checksum;
use super::header::{self, Header, SavedAttachment, SavedTie, refuse};
use super::tensor::{Tensor, all_finite, dtype, from_little_endian};
use super::{CodingRule, Model, TieRule};
use crate::classifier::Decision;
use crate::codes::Coder;
use crate::graph::Attachment;
use crate::samples::prepare::{Pipeline, StepChoice};
use crate::stored::{Source, Stored};
use crate::{Error, Labels, Matrix, Real, Result, files};

impl<T: Real> Model<T> {
    /// Writes the model; an existing file is replaced only once the new one is complete and on the
    /// disk. See [`files::replace`].
    ///
    /// # Errors
    /// If the model could not be loaded again, or the folder or the disk does not allow it; the old
    /// file is then still there.
    #[inline(never)]
    pub fn save(&self, path: &Path) -> Result<()> {
        self.check()?;
        files::replace(path, |file| self.write(file))
            .map_err(|source| Error::Io { path: path.to_owned(), source })
    }

    /// The bytes that [`Model::save`] writes: the same for the same seed.
    ///
    /// # Errors
    /// If the model could not be loaded again.
    #[inline(never)]
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.check()?;
        let mut bytes = Vec::new();
        self.write(&mut bytes)
            .map_err(|source| Error::Io { path: header::in_memory().to_owned(), source })?;
        Ok(bytes)
    }

    /// Whether the model could be loaded after it was saved: every number is finite, every rule in its
    /// range. One pass over the numbers; only small parts are copied.
    pub(crate) fn check(&self) -> Result<()> {
        let refuse = |what: String| Error::Diverged {
            step: "result",
            iteration: self.report.iterations,
            what,
        };
        // Numbers that are not finite become null in JSON, and do not come back.
        let text = serde_json::to_string(&self.header()).map_err(|e| refuse(e.to_string()))?;
        let header: Header = serde_json::from_str(&text)
            .map_err(|e| refuse(format!("its header has a number that is not finite: {e}")))?;
        let tensors = self.tensors();
        let views = tensors.iter().map(|(name, tensor)| {
            let view = TensorView::new(tensor.dtype, tensor.shape.clone(), &tensor.bytes);
            view.map(|view| (name.clone(), view)).map_err(|e| refuse(e.to_string()))
        });
        let tensors = views.collect::<Result<_>>()?;
        match (Parts { path: header::in_memory(), header, tensors }).sound::<T>() {
            Ok(_) => Ok(()),
            Err(Error::Format { reason, .. }) => Err(refuse(reason)),
            Err(other) => Err(other),
        }
    }

    /// Reads a model whose numbers are of this type.
    ///
    /// # Errors
    /// If the file cannot be read, is not a model, was changed after it was written, has another
    /// version or number type, or its parts do not fit each other. Nothing larger than the file is
    /// allocated.
    #[inline(never)]
    pub fn load(path: &Path) -> Result<Self> {
        // The header is read and checked before the body, so hostile bytes stay cheap.
        let header = header::of_file(path)?;
        let io = |source| Error::Io { path: path.to_owned(), source };
        let bytes = std::fs::read(path).map_err(io)?;
        Self::read(path, header, &bytes)
    }

    /// Reads a model from the bytes of its file.
    ///
    /// # Errors
    /// As [`Model::load`], with words in place of the path.
    #[inline(never)]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(header::in_memory(), header::of_bytes(bytes)?, bytes)
    }

    fn read(path: &Path, header: Header, bytes: &[u8]) -> Result<Self> {
        if header.precision != T::NAME {
            let found = &header.precision;
            return Err(refuse(path, &format!("its numbers are {found}, expected {}", T::NAME)));
        }
        if let Some(claimed) = &header.checksum {
            checksum::verify(path, claimed, bytes)?;
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(|e| refuse(path, &e))?;
        let tensors = tensors.tensors().into_iter().collect();
        Parts { path, header, tensors }.assemble()
    }

    /// Writes the framing of safetensors with our header, then the tensors as they lie in memory.
    fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let mut tensors = self.tensors();
        // The format wants wide elements first, for alignment; the names make the order the same.
        tensors.sort_by(|(a, x), (b, y)| y.width().cmp(&x.width()).then(a.cmp(b)));
        let header = serde_json::to_string(&self.header())?;
        let mut json = checksum::unsigned(&header);
        let mut at = 0;
        for (name, Tensor { dtype, shape, bytes }) in &tensors {
            let offsets = [at, at + bytes.len()];
            at = offsets[1];
            let entry = json!({"dtype": dtype, "shape": shape, "data_offsets": offsets});
            json.insert(name.clone(), entry);
        }
        let mut head = serde_json::to_string(&json)?;
        head.push_str(&" ".repeat(head.len().next_multiple_of(8) - head.len()));
        let mut head = [&(head.len() as u64).to_le_bytes(), head.as_bytes()].concat();
        let bodies = tensors.iter().map(|(_, tensor)| &*tensor.bytes);
        checksum::sign(&mut head, bodies.clone());
        out.write_all(&head)?;
        bodies.into_iter().try_for_each(|body| out.write_all(body))
    }

    fn header(&self) -> Header {
        Header {
            format: header::FORMAT.to_owned(),
            version: header::VERSIONS[header::VERSIONS.len() - 1],
            precision: T::NAME.to_owned(),
            method: self.method.clone(),
            knobs: self.knobs.clone(),
            classes: self.classes().to_vec(),
            prepare: self.preparation.plans().iter().map(ToString::to_string).collect(),
            n_features: self.preparation.n_features(),
            n_atoms: self.atoms().map_or(0, Matrix::columns),
            image: self.image,
            coder: self.dictionary.as_ref().map(|rule| rule.coder),
            tie: self
                .tie
                .as_ref()
                .map(|tie| SavedTie { manifold: tie.manifold, denoise: tie.denoise }),
            attachment: self.attachment().map(|attachment| SavedAttachment {
                rule: attachment.rule,
                scale: attachment.scale,
                recall: attachment.recall,
            }),
            decision: self.decision.saved(),
            calibration: self.calibration,
            naming: self.naming.clone(),
            report: self.report.clone(),
            checksum: None,
        }
    }

    fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        let labels = self.labels.assigned().iter().map(|label| match label {
            Some(class) => *class as i32,
            None => -1,
        });
        let labels: Vec<u8> = labels.flat_map(i32::to_le_bytes).collect();
        let shape = vec![self.labels.len()];
        let labels = Tensor { dtype: Dtype::I32, shape, bytes: Cow::Owned(labels) };
        let mut arrays = vec![("codes", Stored::Matrix(Cow::Borrowed(&self.codes)))];
        arrays.extend(self.decision.stored());
        if let Some(atoms) = self.atoms() {
            arrays.push(("atoms", Stored::Matrix(Cow::Borrowed(atoms))));
        }
        if let Some(training) = &self.training {
            arrays.push(("training", Stored::Matrix(Cow::Borrowed(training))));
        }
        if let Some(attachment) = self.attachment().filter(|known| !known.memory.is_empty()) {
            arrays.push(("attachment", Stored::List(&attachment.memory)));
        }
        let mut tensors = vec![("labels".to_owned(), labels)];
        tensors.extend(arrays.into_iter().map(|(name, stored)| (name.to_owned(), stored.into())));
        for (name, matrix) in self.preparation.tensors() {
            tensors.push((name, Stored::Matrix(Cow::Owned(matrix)).into()));
        }
        tensors
    }
}

/// A file whose framing is sound; its contents are not checked yet.
struct Parts<'a> {
    path: &'a Path,
    header: Header,
    tensors: HashMap<String, TensorView<'a>>,
}

/// All of a model that is small; the large arrays beside it are known to be sound.
struct Sound<T> {
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
    fn assemble<T: Real>(self) -> Result<Model<T>> {
        let sound = self.sound::<T>()?;
        let (n, n_prepared) = (sound.labels.len(), sound.preparation.n_prepared());
        let keeps_samples = sound.keeps_samples();
        let Sound { labels, preparation, coder, tie, decision, image, n_codes } = sound;
        let dictionary = match coder {
            Some(coder) => {
                Some(CodingRule { atoms: self.matrix("atoms", n_prepared, n_codes)?, coder })
            }
            None => None,
        };
        let codes = self.matrix("codes", n_codes, n)?;
        let calibration = self.header.calibration;
        let training =
            if keeps_samples { Some(self.matrix("training", n_prepared, n)?) } else { None };
        Ok(Model {
            method: self.header.method,
            knobs: self.header.knobs,
            labels,
            preparation,
            dictionary,
            tie,
            codes,
            training,
            decision,
            calibration,
            image,
            naming: self.header.naming,
            report: self.header.report,
        })
    }

    /// Checks everything, and copies nothing large.
    fn sound<T: Real>(&self) -> Result<Sound<T>> {
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
        self.check_matrix::<T>("codes", n_codes, n)?;
        let sizes = (n_atoms, n_codes, n_prepared);
        let attachment = |count: usize| self.attachment(count);
        let decision = Decision::restore(&self.header.decision, self, &labels, sizes, attachment)?;
        if self.header.calibration.is_some_and(|found| !found.is_sound()) {
            return Err(refuse(self.path, &"its calibration is out of range"));
        }
        let tie = self.tie(n)?;
        let sound = Sound { labels, preparation, coder, tie, decision, image, n_codes };
        if sound.keeps_samples() {
            self.check_matrix::<T>("training", n_prepared, n)?;
        }
        Ok(sound)
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
