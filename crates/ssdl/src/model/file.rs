//! The model file: safetensors with one JSON header, written atomically; nothing in it is trusted.
//!
//! Tensors hold samples as rows (`codes` is `[N, p]`), so any safetensors reader sees the layout
//! that NumPy users expect; the bytes are our columns.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::json;

use super::checksum;
use super::header::{self, Header, SavedAttachment, SavedTie, refuse};
use super::read::Parts;
use super::tensor::Tensor;
use super::{Model, kept};
use crate::stored::Stored;
use crate::{Error, Matrix, Real, Result, files, threads};

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
    /// version or number type, or its parts do not fit each other. Nothing much larger than the file is
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
        let claimed = header.checksum.clone();
        let verify = || match &claimed {
            Some(claimed) => checksum::verify(path, claimed, bytes),
            None => Ok(()),
        };
        let assemble = || {
            let tensors = SafeTensors::deserialize(bytes).map_err(|e| refuse(path, &e))?;
            let tensors = tensors.tensors().into_iter().collect();
            Parts { path, header, tensors }.assemble()
        };
        // Side by side: what is assembled is checked by itself, and not used if the checksum is wrong.
        let (verified, model) = threads::both(verify, assemble);
        verified.and(model)
    }

    /// Writes our header, then the tensors as they lie in memory.
    fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        frame(&serde_json::to_string(&self.header())?, self.tensors(), out)
    }

    fn header(&self) -> Header {
        Header {
            format: header::FORMAT.to_owned(),
            version: if self.is_small() { 4 } else { 3 },
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

    /// Whether the file has arrays that earlier versions do not know.
    fn is_small(&self) -> bool {
        let kept = self.training.as_ref();
        self.is_sparse || kept.is_some_and(|kept| kept.is_half || kept.landmarks.is_some())
    }

    fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        let labels = self.labels.assigned().iter().map(|label| match label {
            Some(class) => *class as i32,
            None => -1,
        });
        let labels: Vec<u8> = labels.flat_map(i32::to_le_bytes).collect();
        let shape = vec![self.labels.len()];
        let labels = Tensor { dtype: Dtype::I32, shape, bytes: Cow::Owned(labels) };
        let mut tensors = vec![("labels".to_owned(), labels)];
        let mut arrays = self.decision.stored();
        if self.is_sparse {
            let (counts, atoms, values) = kept::sparse_codes(&self.codes);
            tensors.push(("codes_counts".to_owned(), kept::whole(&counts)));
            tensors.push(("codes_atoms".to_owned(), kept::whole(&atoms)));
            let values = Matrix::from_columns(1, values.len(), values);
            let values = values.map(|values| Stored::Matrix(Cow::Owned(values)).into());
            tensors.extend(values.map(|values| ("codes_values".to_owned(), values)));
        } else {
            arrays.push(("codes", Stored::Matrix(Cow::Borrowed(&self.codes))));
        }
        if let Some(atoms) = self.atoms() {
            arrays.push(("atoms", Stored::Matrix(Cow::Borrowed(atoms))));
        }
        if let Some(training) = &self.training {
            match training.is_half {
                true => tensors.push(("training".to_owned(), training.halves())),
                false => {
                    arrays.push(("training", Stored::Matrix(Cow::Borrowed(&training.samples))));
                }
            }
            if let Some(landmarks) = &training.landmarks {
                tensors.push(("landmarks".to_owned(), kept::whole(landmarks)));
            }
        }
        if let Some(attachment) = self.attachment().filter(|known| !known.memory.is_empty()) {
            arrays.push(("attachment", Stored::List(&attachment.memory)));
        }
        tensors.extend(arrays.into_iter().map(|(name, stored)| (name.to_owned(), stored.into())));
        for (name, matrix) in self.preparation.tensors() {
            tensors.push((name, Stored::Matrix(Cow::Owned(matrix)).into()));
        }
        tensors
    }
}

/// Writes the framing of safetensors with a header and a checksum, then the tensors.
pub(super) fn frame(
    header: &str,
    mut tensors: Vec<(String, Tensor<'_>)>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    // The format wants wide elements first, for alignment; the names make the order the same.
    tensors.sort_by(|(a, x), (b, y)| y.width().cmp(&x.width()).then(a.cmp(b)));
    let mut json = checksum::unsigned(header);
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
