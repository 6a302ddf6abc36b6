//! What a caller can specify about a file: its format, where the labels are, how a missing label
//! is written.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use ssdl::model::SourceColumn;

/// How to read a file; the default detects everything and expects no label column.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format; `None` decides by the file's name, then by its first bytes.
    pub format: Option<Format>,
    /// Whether a text table starts with a header; `None`: it does if the first row has names that are known, else if any
    /// of its feature cells is neither a number nor a gap. Where [`words`](Self::words) are allowed and there are some, it
    /// does if none is a number or a gap; where [`columns`](Self::columns) are known, if none is what its column holds.
    pub header: Option<bool>,
    /// The column with the labels. In a file of named arrays, a name is that of the label array,
    /// and an index that of a column of the samples.
    pub label_column: Option<Column>,
    /// Columns of a text table that are no features, such as the number of a row. A name that is not there is
    /// an error, except in samples to predict.
    pub ignored_columns: Vec<Column>,
    /// Whether the label column may be missing, as in samples to predict.
    pub label_optional: bool,
    /// Number of features, if known. An index alone cannot tell whether an optional label column
    /// is there; a file with exactly this many columns has none.
    pub n_features: Option<usize>,
    /// Names of the features, if known. A first row with these names is a header, even if they look like numbers. A
    /// header that has each of them once gives their columns, in any order; what else there is is left out.
    pub feature_names: Option<Vec<String>>,
    /// Whether columns of a text table may hold words, which become numbers ([`Table::columns`](crate::Table::columns));
    /// otherwise they are refused.
    pub words: bool,
    /// Whether gaps among the numbers of a text table become the median of their column; otherwise they are refused.
    pub fill_gaps: bool,
    /// The column that says how much each sample counts: its gaps are not filled.
    pub weight_column: Option<String>,
    /// The columns that become features, if known: their words, and the numbers of their gaps.
    pub columns: Option<Vec<SourceColumn>>,
    /// The array with the samples, in a file of named arrays.
    pub features_array: Option<String>,
    /// The text that means "unlabelled". If given, only it and empty cells do; `None`: `-1`, `nan`,
    /// `NA` and empty cells do.
    pub unlabelled: Option<String>,
    /// Height and width to which the images of a folder are resized; `None`: all must be the same.
    pub image: Option<[usize; 2]>,
    /// Maximum number of bytes that a compressed file may unpack to; `None`: 200 times its own size,
    /// and at least 64 MiB. For the images of a folder together; `None`: 4 GiB.
    pub max_unpacked: Option<u64>,
}

impl ReadOptions {
    /// Bytes that a compressed file of this size may unpack to.
    pub(crate) fn unpacked_limit(&self, packed: usize) -> u64 {
        let in_proportion = (packed as u64).saturating_mul(200).max(64 << 20);
        self.max_unpacked.unwrap_or(in_proportion)
    }
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// By its name in the header.
    Name(String),
    /// By its position: 0 is the first column, −1 the last.
    Index(isize),
}

impl Column {
    /// The position among `width` columns; `None` if it is outside.
    pub(crate) fn position(index: isize, width: usize) -> Option<usize> {
        let position =
            if index < 0 { width.checked_add_signed(index)? } else { index.unsigned_abs() };
        (position < width).then_some(position)
    }
}

impl From<&str> for Column {
    /// A whole number is an index, anything else a name.
    fn from(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Name(text.into()), Self::Index)
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Values separated by commas (or semicolons, if the first line has no comma).
    Csv,
    /// Values separated by tabs.
    Tsv,
    /// Values separated by white space; lines that start with `#` are skipped.
    Text,
    /// One NumPy array.
    Npy,
    /// Named NumPy arrays in a zip file.
    Npz,
    /// The format of MNIST.
    Idx,
    /// MATLAB version 5 to 7.
    Mat,
    /// Named tensors.
    Safetensors,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 8] = [
        Self::Csv,
        Self::Tsv,
        Self::Text,
        Self::Npy,
        Self::Npz,
        Self::Idx,
        Self::Mat,
        Self::Safetensors,
    ];

    /// Whether it is a table of text.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::Text)
    }

    /// The name of the format, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Text => "text",
            Self::Npy => "npy",
            Self::Npz => "npz",
            Self::Idx => "idx",
            Self::Mat => "mat",
            Self::Safetensors => "safetensors",
        }
    }

    /// The format by the file's name, ignoring a final `.gz`.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        // A name need not be text; its ending is.
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let (_, extension) = name.rsplit_once('.')?;
        match extension {
            "txt" | "dat" | "train" | "test" => Some(Self::Text),
            "idx" => Some(Self::Idx),
            other => other.parse().ok(),
        }
    }

    /// The format by the first bytes of an (unpacked) file.
    pub(crate) fn from_magic(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Some(Self::Npy),
            [b'P', b'K', 3, 4, ..] => Some(Self::Npz),
            [b'M', b'A', b'T', b'L', b'A', b'B', b' ', ..] => Some(Self::Mat),
            [0, 0, 0x08 | 0x09 | 0x0b..=0x0e, 1..=8, ..] => Some(Self::Idx),
            _ => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = ssdl::Error;

    fn from_str(text: &str) -> ssdl::Result<Self> {
        Self::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| {
            ssdl::Error::Unknown {
                what: "file format",
                got: text.into(),
                known: Self::ALL.map(Self::name).join(", "),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_formats() {
        let format = |name: &str| Format::from_path(Path::new(name));
        assert_eq!(format("a/zip.train.gz"), Some(Format::Text));
        assert_eq!(format("X.NPY"), Some(Format::Npy));
        assert_eq!(format("model.safetensors"), Some(Format::Safetensors));
        assert_eq!(format("train-images-idx3-ubyte.gz"), None);
        assert_eq!(format("photo.jpeg"), None);
        assert_eq!(Format::from_magic(&[0, 0, 8, 3, 0]), Some(Format::Idx));
        assert_eq!(Format::from_magic(b"1,2"), None);
    }

    #[test]
    fn columns_count_from_both_ends() {
        assert_eq!(Column::position(0, 3), Some(0));
        assert_eq!(Column::position(-1, 3), Some(2));
        assert_eq!(Column::position(-4, 3), None);
        assert_eq!(Column::position(3, 3), None);
        assert_eq!(Column::from("-1"), Column::Index(-1));
        assert_eq!(Column::from("kind"), Column::Name("kind".into()));
    }
}
