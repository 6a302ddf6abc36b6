//! The model file: safetensors with one JSON header, written atomically; nothing in it is trusted.
//!
//! Tensors hold samples as rows (`codes` is `[N, p]`), so any safetensors reader sees the layout
//! that NumPy users expect; the bytes are our columns.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use super::framing::{self, Framed};
use super::header::{self, Header, SavedAttachment, SavedTie, refuse};
use super::read::Parts;
use super::tensor::{Numbers, Tensor};
use super::{Model, kept};
use crate::stored::Stored;
use crate::{Error, Matrix, Real, Result, files};

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
        let tensors = self.tensors().into_iter().collect();
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
    /// allocated: codes and samples stay as small as they are there until they are asked for.
    #[inline(never)]
    pub fn load(path: &Path) -> Result<Self> {
        let file = Framed::of_file(path)?;
        let header = header::of(&file)?;
        Self::read(file, header)
    }

    /// Reads a model from the bytes of its file.
    ///
    /// # Errors
    /// As [`Model::load`], with words in place of the path.
    #[inline(never)]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let file = Framed::of_bytes(bytes)?;
        let header = header::of(&file)?;
        Self::read(file, header)
    }

    /// Reads the rest of a file.
    pub(super) fn read(file: Framed<'_>, header: Header) -> Result<Self> {
        let path = file.path;
        if header.precision != T::NAME {
            let found = &header.precision;
            return Err(refuse(path, &format!("its numbers are {found}, expected {}", T::NAME)));
        }
        Parts { path, header, tensors: file.arrays()? }.assemble()
    }

    /// Writes our header, then the tensors as they lie in memory.
    fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        framing::write(&serde_json::to_string(&self.header())?, self.tensors(), out)
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
        }
    }

    /// Whether the file has arrays that earlier versions do not know.
    fn is_small(&self) -> bool {
        let kept = self.training.as_ref();
        self.is_sparse || kept.is_some_and(|kept| kept.is_half || kept.landmarks.is_some())
    }

    fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        let labels = self.labels.assigned().iter();
        let labels = labels.map(|label| label.map_or(-1, |class| class as i32)).collect();
        let labels = Tensor::list(Numbers::Signed(Cow::Owned(labels)));
        let mut tensors = vec![("labels".to_owned(), labels)];
        let mut arrays = self.decision.stored();
        match self.is_sparse {
            true => tensors.extend(kept::sparse_codes(&self.codes)),
            false => arrays.push(("codes", Stored::Matrix(Cow::Borrowed(self.codes.whole())))),
        }
        if let Some(atoms) = self.atoms() {
            arrays.push(("atoms", Stored::Matrix(Cow::Borrowed(atoms))));
        }
        if let Some(training) = &self.training {
            match training.is_half {
                true => tensors.push(("training".to_owned(), training.halves())),
                false => {
                    let samples = Cow::Borrowed(training.samples.whole());
                    arrays.push(("training", Stored::Matrix(samples)));
                }
            }
            if let Some(landmarks) = &training.landmarks {
                let landmarks = Numbers::Whole(Cow::Borrowed(landmarks));
                tensors.push(("landmarks".to_owned(), Tensor::list(landmarks)));
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
