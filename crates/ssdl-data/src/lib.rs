//! Turns files into samples for the `ssdl` library, and writes predictions to files.
//!
//! [`read`] takes a file of samples, [`read_labels`] a file of labels alone; both choose the
//! [`Format`] by the file's name, or by its first bytes if the name does not tell, and unpack
//! gzip. A folder of images is read as one sample per image. [`Table::samples`] gives the samples
//! as the library takes them.
//!
//! ```
//! # fn main() -> ssdl_data::Result<()> {
//! # let folder = tempfile::tempdir().expect("a folder for the example");
//! # let path = folder.path().join("flowers.csv");
//! # std::fs::write(&path, "length,width,kind\n5.1,3.5,setosa\n4.9,3.0,\n").expect("written");
//! use ssdl_data::{Column, ReadOptions, read};
//!
//! let options = ReadOptions { label_column: Some(Column::Name("kind".into())), ..ReadOptions::default() };
//! let table = read(&path, &options)?;
//! let samples = table.samples::<f32>()?;
//! assert_eq!((samples.n_samples(), samples.n_features()), (2, 2));
//! assert_eq!(samples.labels().n_labelled(), 1);
//! # Ok(())
//! # }
//! ```

mod array;
mod blocks;
mod bytes;
mod cells;
mod container;
mod delimited;
mod digits;
mod error;
mod folder;
mod idx;
#[cfg(feature = "download")]
pub mod known;
mod labels;
mod mat;
mod mixed;
mod npy;
mod options;
mod picture;
mod read;
mod rows;
mod survey;
mod table;
mod tensors;
mod write;

pub use blocks::{Block, read_blocks};
pub use digits::digits;
pub use error::{Cell, Error, Help, Result, Row};
pub use folder::Images;
pub use options::{Column, Format, ReadOptions};
pub use read::{read, read_bytes, read_labels, read_labels_bytes};
pub use table::Table;
pub use write::{check_writable, write_bytes, write_npy, write_predictions, write_predictions_to};
