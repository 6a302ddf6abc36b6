//! The model file: safetensors with one JSON header, written atomically; nothing in it is trusted.
//!
//! Tensors hold samples as rows (`codes` is `[N, p]`), so any safetensors reader sees the layout
//! that NumPy users expect; the bytes are our columns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use safetensors::{Dtype, SafeTensors};

use super::header::{self, Header, SavedAttachment, SavedTie, refuse};
use super::tensor::{Tensor, dtype, from_little_endian};
use super::{CodingRule, Model, TieRule};
use crate::classifier::Decision;
use crate::graph::Attachment;
use crate::samples::prepare::{Pipeline, StepChoice};
use crate::stored::{Source, Stored};
use crate::{Error, Labels, Matrix, Real, Result};

impl<T: Real> Model<T> {
    /// Writes the model; an existing file is replaced only once the new one is complete.
    ///
    /// # Errors
    /// If the folder or the disk does not allow it; the old file is then still there.
    #[inline(never)]
    pub fn save(&self, path: &Path) -> Result<()> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let metadata = self.metadata().map_err(io)?;
        if path.exists() && !path.is_file() {
            return Err(io(std::io::Error::other("not a plain file: it would be replaced")));
        }
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The system's message without the name of the temporary file, which tells users nothing.
        let plain = |error: std::io::Error| match error.raw_os_error() {
            Some(number) => io(std::io::Error::from_raw_os_error(number)),
            None => io(error),
        };
        let temporary =
            tempfile::Builder::new().prefix(".ssdl-").tempfile_in(folder).map_err(plain)?;
        safetensors::serialize_to_file(self.tensors(), Some(metadata), temporary.path())
            .map_err(|e| io(as_io(e)))?;
        // Serialising replaced the temporary file, so it is opened again.
        let written = File::open(temporary.path()).map_err(io)?;
        written.sync_all().map_err(io)?;
        allow_others_to_read(&written).map_err(io)?;
        temporary.persist(path).map_err(|e| io(e.error))?;
        Ok(())
    }

    /// The bytes that [`Model::save`] writes.
    ///
    /// # Errors
    /// If the model cannot be written in this format; no such fitted model is known.
    #[inline(never)]
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let io = |source| Error::Io { path: header::in_memory().to_owned(), source };
        let metadata = self.metadata().map_err(io)?;
        safetensors::serialize(self.tensors(), Some(metadata)).map_err(|e| io(as_io(e)))
    }

    /// Reads a model whose numbers are of this type.
    ///
    /// # Errors
    /// If the file cannot be read, is not a model, has another version or number type, or its
    /// parts do not fit each other. Nothing larger than the file is allocated.
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
        let tensors = SafeTensors::deserialize(bytes).map_err(|e| refuse(path, &e))?;
        Parts { path, header, tensors }.assemble()
    }

    fn metadata(&self) -> std::io::Result<HashMap<String, String>> {
        Ok(HashMap::from([("ssdl".to_owned(), serde_json::to_string(&self.header())?)]))
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
            }),
            decision: self.decision.saved(),
            calibration: self.calibration,
            report: self.report.clone(),
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

fn as_io(error: safetensors::SafeTensorError) -> std::io::Error {
    match error {
        safetensors::SafeTensorError::IoError(source) => source,
        other => std::io::Error::other(other.to_string()),
    }
}

/// Makes the file readable for everyone, as files usually are; temporary files are private.
fn allow_others_to_read(file: &File) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// A file whose framing is sound; its contents are not checked yet.
struct Parts<'a> {
    path: &'a Path,
    header: Header,
    tensors: SafeTensors<'a>,
}

impl Parts<'_> {
    fn assemble<T: Real>(self) -> Result<Model<T>> {
        if self.header.tie.is_some() && self.header.n_atoms == 0 {
            return Err(refuse(self.path, &"it has a graph, but no atoms to code samples with"));
        }
        let labels = self.labels()?;
        // A shape that does not fit the samples is ignored; steps that need it are then refused.
        let image = self.header.image;
        let image = image.filter(|[h, w]| h.checked_mul(*w) == Some(self.header.n_features));
        let preparation = self.preparation::<T>(image)?;
        let (n, n_prepared) = (labels.len(), preparation.n_prepared());
        let dictionary = self.dictionary(n_prepared)?;
        let n_atoms = dictionary.as_ref().map(|rule| rule.atoms.columns());
        let n_codes = n_atoms.unwrap_or(n_prepared);
        let codes = self.matrix("codes", n_codes, n)?;
        let sizes = (n_atoms, n_codes, n_prepared);
        let attachment = |count: usize| self.attachment(count);
        let decision = Decision::restore(&self.header.decision, &self, &labels, sizes, attachment)?;
        let calibration = self.header.calibration;
        if calibration.is_some_and(|found| !found.is_sound()) {
            return Err(refuse(self.path, &"its calibration is out of range"));
        }
        let tie = self.tie(n)?;
        let keeps_samples = tie.is_some() || (decision.needs_samples() && dictionary.is_some());
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
            report: self.header.report,
        })
    }

    fn dictionary<T: Real>(&self, n_prepared: usize) -> Result<Option<CodingRule<T>>> {
        match (self.header.n_atoms, self.header.coder) {
            (0, _) => Ok(None),
            (_, None) => Err(refuse(self.path, &"it has atoms, but no way to code with them")),
            (_, Some(coder)) if !coder.is_sound() => {
                Err(refuse(self.path, &"its coding rule is out of range"))
            }
            (n_atoms, Some(coder)) => {
                Ok(Some(CodingRule { atoms: self.matrix("atoms", n_prepared, n_atoms)?, coder }))
            }
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
        let Some(SavedAttachment { rule, scale }) = self.header.attachment else {
            return Err(refuse(self.path, &"it does not say how new samples join its graph"));
        };
        if !rule.is_sound() || !scale.is_finite() || scale < 0.0 {
            return Err(refuse(self.path, &"the rule by which samples join its graph is invalid"));
        }
        let memory =
            if rule.remembers() { self.numbers("attachment", &[n_samples])? } else { Vec::new() };
        Ok(Attachment { rule, scale, memory })
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
            let tensor = self.tensors.tensor(name).ok()?;
            let &[columns, rows] = tensor.shape() else { return None };
            (tensor.dtype() == dtype::<T>())
                .then(|| Matrix::from_columns(rows, columns, from_little_endian(tensor.data())))?
        };
        Pipeline::restore(&plans, self.header.n_features, image, &mut find)
            .map_err(|e| refuse(self.path, &e))
    }

    fn tensor(&self, name: &str) -> Result<safetensors::tensor::TensorView<'_>> {
        self.tensors.tensor(name).map_err(|_| refuse(self.path, &format!("`{name}` is missing")))
    }

    /// A tensor `[columns, rows]`.
    fn matrix<T: Real>(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix<T>> {
        if columns == 0 {
            return Err(refuse(self.path, &format!("`{name}` is empty")));
        }
        let data = self.numbers(name, &[columns, rows])?;
        Matrix::from_columns(rows, columns, data)
            .ok_or_else(|| refuse(self.path, &format!("`{name}` has the wrong size")))
    }

    fn numbers<T: Real>(&self, name: &str, shape: &[usize]) -> Result<Vec<T>> {
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
        let values: Vec<T> = from_little_endian(tensor.data());
        if values.iter().any(|v| !v.is_finite()) {
            return Err(refuse(self.path, &format!("`{name}` holds a value that is not finite")));
        }
        Ok(values)
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
