//! Prepared samples in a file: read in blocks, so that a fit need not hold them in memory.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::matrix::{Matrix, PANEL};
use crate::threads::Loops;
use crate::{Error, Real, Result};

/// Samples of a block: a whole number of panels, so that products of blocks have the bits of one
/// product.
const BLOCK: usize = 8 * PANEL;
/// Samples that one thread reads at once.
const PART: usize = PANEL;

/// Samples (columns) in a file that is gone with this value. Numbers have the byte order of the machine.
///
/// A read that fails gives zeros and is remembered; whoever reads asks [`OnDisk::check`] before the
/// numbers are trusted.
#[derive(Debug)]
pub struct OnDisk<T> {
    file: File,
    folder: PathBuf,
    rows: usize,
    columns: usize,
    failure: Mutex<Option<io::Error>>,
    numbers: std::marker::PhantomData<T>,
}

impl<T: Real> OnDisk<T> {
    /// Writes samples to a file without a name in `folder`.
    ///
    /// # Errors
    /// If the folder or the disk does not allow it.
    pub fn write(samples: &Matrix<T>, folder: &Path) -> Result<Self> {
        let failed = |source| Error::Io { path: folder.into(), source };
        let file = tempfile::tempfile_in(folder).map_err(failed)?;
        let mut writer = BufWriter::with_capacity(1 << 20, &file);
        let values = samples.as_slice().chunks((samples.rows() * BLOCK).max(1));
        for part in values {
            writer.write_all(bytemuck::cast_slice(part)).map_err(failed)?;
        }
        writer.flush().map_err(failed)?;
        drop(writer);
        Ok(Self {
            file,
            folder: folder.into(),
            rows: samples.rows(),
            columns: samples.columns(),
            failure: Mutex::new(None),
            numbers: std::marker::PhantomData,
        })
    }

    /// Features.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Samples.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Calls `visit` with the samples, a block at a time and in their order, and with the place of the
    /// first of each block.
    pub fn each_block(&self, mut visit: impl FnMut(usize, &Matrix<T>)) {
        let mut block = Matrix::zeros(0, 0);
        for first in (0..self.columns).step_by(BLOCK) {
            block.reshape(self.rows, BLOCK.min(self.columns - first));
            let parts = block.as_mut_slice().chunks_mut((self.rows * PART).max(1));
            parts.enumerate().each(|(part, out)| self.read(first + part * PART, out));
            visit(first, &block);
        }
    }

    /// The chosen samples, in the order given.
    #[must_use]
    pub fn select(&self, chosen: &[usize]) -> Matrix<T> {
        let mut out = Matrix::zeros(self.rows, chosen.len());
        out.columns_mut().zip(chosen).each(|(out, &j)| self.read(j, out));
        out
    }

    /// Whether all reads so far have succeeded.
    ///
    /// # Errors
    /// The first failure, with the folder of the file.
    pub fn check(&self) -> Result<()> {
        let failure = self.failure.lock().ok().and_then(|mut failure| failure.take());
        match failure {
            Some(source) => Err(Error::Io { path: self.folder.clone(), source }),
            None => Ok(()),
        }
    }

    /// Samples from the given one on, as many as `out` has room for.
    fn read(&self, first: usize, out: &mut [T]) {
        let offset = (first * self.rows * size_of::<T>()) as u64;
        if let Err(error) = read_at(&self.file, bytemuck::cast_slice_mut(out), offset) {
            out.fill(T::zero());
            if let Ok(mut failure) = self.failure.lock() {
                failure.get_or_insert(error);
            }
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut out: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !out.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, out, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                out = &mut out[count..];
                offset += count as u64;
            }
        }
    }
    Ok(())
}

/// Samples, in memory or in a file.
#[derive(Clone, Copy, Debug)]
pub enum Held<'a, T> {
    /// In memory.
    Memory(&'a Matrix<T>),
    /// In a file.
    Disk(&'a OnDisk<T>),
}

impl<'a, T> From<&'a Matrix<T>> for Held<'a, T> {
    fn from(samples: &'a Matrix<T>) -> Self {
        Self::Memory(samples)
    }
}

impl<T: Real> Held<'_, T> {
    /// Features.
    #[must_use]
    pub fn rows(self) -> usize {
        match self {
            Self::Memory(samples) => samples.rows(),
            Self::Disk(samples) => samples.rows(),
        }
    }

    /// Samples.
    #[must_use]
    pub fn columns(self) -> usize {
        match self {
            Self::Memory(samples) => samples.columns(),
            Self::Disk(samples) => samples.columns(),
        }
    }

    /// Calls `visit` with the samples in their order, and with the place of the first of them: all at once
    /// from memory, a block at a time from a file.
    pub fn each_block(self, mut visit: impl FnMut(usize, &Matrix<T>)) {
        match self {
            Self::Memory(samples) => visit(0, samples),
            Self::Disk(samples) => samples.each_block(visit),
        }
    }

    /// The chosen samples, in the order given.
    #[must_use]
    pub fn select(self, chosen: &[usize]) -> Matrix<T> {
        match self {
            Self::Memory(samples) => {
                let mut out = Matrix::zeros(samples.rows(), chosen.len());
                let copies = out.columns_mut().zip(chosen);
                copies.each(|(out, &j)| out.copy_from_slice(samples.column(j)));
                out
            }
            Self::Disk(samples) => samples.select(chosen),
        }
    }

    /// $D^\top X$ for $D$ with as many rows as there are features; the same bits from memory and file.
    #[must_use]
    pub fn correlations(self, atoms: &Matrix<T>) -> Matrix<T> {
        let mut out = Matrix::zeros(atoms.columns(), self.columns());
        self.each_block(|first, block| {
            let columns = first..first + block.columns();
            out.set_columns_product(columns, atoms.transposed(), block.view());
        });
        out
    }

    /// Whether all reads so far have succeeded.
    ///
    /// # Errors
    /// The first read of a file that failed.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::Disk(samples) => samples.check(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(count: usize) -> Matrix<f32> {
        Matrix::from_fn(7, count, |i, j| ((i * 31 + j * 17) % 101) as f32 / 7.0 - 5.0)
    }

    fn on_disk(samples: &Matrix<f32>) -> OnDisk<f32> {
        OnDisk::write(samples, &std::env::temp_dir()).expect("a file")
    }

    #[test]
    fn blocks_are_the_samples_in_their_order() {
        for count in [1, 511, BLOCK, BLOCK + 1, 2 * BLOCK + 77] {
            let samples = samples(count);
            let disk = on_disk(&samples);
            let mut seen = Vec::new();
            disk.each_block(|first, block| {
                assert_eq!(first * 7, seen.len());
                seen.extend_from_slice(block.as_slice());
            });
            assert_eq!(seen, samples.as_slice());
            let chosen = [count - 1, 0, count / 2];
            assert_eq!(disk.select(&chosen), samples.select_columns(&chosen));
            assert!(disk.check().is_ok());
        }
    }

    #[test]
    fn products_have_the_same_bits_from_memory_and_file() {
        let atoms = Matrix::from_fn(7, 5, |i, k| ((i * 3 + k * 5) % 11) as f32 / 3.0);
        for count in [70, 3000, BLOCK + 300, 2 * BLOCK + 77] {
            let samples = samples(count);
            let disk = on_disk(&samples);
            let whole = Matrix::of_product(atoms.transposed(), samples.view());
            assert_eq!(Held::from(&samples).correlations(&atoms), whole);
            assert_eq!(Held::Disk(&disk).correlations(&atoms), whole);
        }
    }

    #[test]
    fn a_read_that_fails_is_remembered() {
        let disk = on_disk(&samples(9));
        disk.file.set_len(20).expect("cut");
        assert!(disk.select(&[8]).as_slice().iter().all(|v| *v == 0.0));
        let message = disk.check().expect_err("cut short").to_string();
        assert!(message.contains(&*std::env::temp_dir().to_string_lossy()), "{message}");
    }

    #[test]
    fn a_folder_that_does_not_exist_is_named() {
        let missing = std::env::temp_dir().join("no such folder");
        let error = OnDisk::write(&samples(2), &missing).expect_err("missing");
        assert!(error.to_string().contains("no such folder"), "{error}");
    }
}
