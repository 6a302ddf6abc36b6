//! Data sets that the experiments use: where they come from, and how to get them.

mod fetch;
mod place;

pub use fetch::{Fetched, fetch};
pub use place::data_folder;

use crate::{Error, Result};

/// A data set that is known by name.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its name on the command line, and its folder.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Who made or distributes it.
    pub source: &'static str,
    /// Its licence, as far as its makers state one.
    pub licence: &'static str,
    /// Its files; none if it is bundled with the program.
    pub files: &'static [KnownFile],
}

/// One file of a data set.
#[derive(Clone, Copy, Debug)]
pub struct KnownFile {
    /// Where it belongs, relative to the data folder.
    pub path: &'static str,
    /// Where it is downloaded from.
    pub address: &'static str,
    /// Its size.
    pub bytes: u64,
    /// Its digest, in lower-case hexadecimal.
    pub sha256: &'static str,
}

impl Known {
    /// Bytes of all files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// The data set of this name.
///
/// # Errors
/// If there is none; the error lists the known names.
pub fn known_set(name: &str) -> Result<&'static Known> {
    KNOWN.iter().find(|set| set.name == name).ok_or_else(|| {
        let names: Vec<&str> = KNOWN.iter().map(|set| set.name).collect();
        Error::UnknownSet { name: name.to_owned(), known: names.join(", ") }
    })
}

/// The data set to which a file in the data folder belongs.
#[must_use]
pub fn owner_of(path: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|set| set.files.iter().any(|file| file.path == path))
}

/// Every data set, in the order of display.
pub const KNOWN: &[Known] = &[
    Known {
        name: "digits",
        title: "1,797 handwritten digits of 8 x 8 pixels; comes with the program",
        source: "https://archive.ics.uci.edu/dataset/80 (Alpaydin and Kaynak)",
        licence: "CC BY 4.0",
        files: &[],
    },
    Known {
        name: "mnist",
        title: "70,000 handwritten digits of 28 x 28 pixels",
        source: "LeCun, Cortes and Burges; the copy that TensorFlow uses",
        licence: "not stated by its makers; often given as CC BY-SA 3.0",
        files: &[
            KnownFile {
                path: "mnist/train-images-idx3-ubyte.gz",
                address: "https://storage.googleapis.com/cvdf-datasets/mnist/train-images-idx3-ubyte.gz",
                bytes: 9_912_422,
                sha256: "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            },
            KnownFile {
                path: "mnist/train-labels-idx1-ubyte.gz",
                address: "https://storage.googleapis.com/cvdf-datasets/mnist/train-labels-idx1-ubyte.gz",
                bytes: 28_881,
                sha256: "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            },
            KnownFile {
                path: "mnist/t10k-images-idx3-ubyte.gz",
                address: "https://storage.googleapis.com/cvdf-datasets/mnist/t10k-images-idx3-ubyte.gz",
                bytes: 1_648_877,
                sha256: "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            },
            KnownFile {
                path: "mnist/t10k-labels-idx1-ubyte.gz",
                address: "https://storage.googleapis.com/cvdf-datasets/mnist/t10k-labels-idx1-ubyte.gz",
                bytes: 4_542,
                sha256: "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            },
        ],
    },
    Known {
        name: "usps",
        title: "9,298 handwritten digits of 16 x 16 pixels",
        source: "https://hastie.su.domains/ElemStatLearn (Le Cun et al., US Postal Service)",
        licence: "not stated; offered for research with the book",
        files: &[
            KnownFile {
                path: "usps/zip.train.gz",
                address: "https://hastie.su.domains/ElemStatLearn/datasets/zip.train.gz",
                bytes: 1_829_071,
                sha256: "66ebf231ab51f2cf6ac1a892d0f98ccffee1079d7a5db638c1f11f366046ca16",
            },
            KnownFile {
                path: "usps/zip.test.gz",
                address: "https://hastie.su.domains/ElemStatLearn/datasets/zip.test.gz",
                bytes: 439_208,
                sha256: "8dacc3c6e136af6c3488de9e5113a7daf140c8c2f1f0b61c54ee02f03f1a962f",
            },
        ],
    },
    Known {
        name: "yaleb",
        title: "Extended YaleB, cropped: 2,414 faces of 38 persons, 32 x 32 pixels",
        source: "http://www.cad.zju.edu.cn/home/dengcai/Data/FaceData.html (Georghiades et al.)",
        licence: "free for research; its makers ask to be cited",
        files: &[KnownFile {
            path: "yaleb/YaleB_32x32.mat",
            address: "http://www.cad.zju.edu.cn/home/dengcai/Data/YaleB/YaleB_32x32.mat",
            bytes: 2_214_688,
            sha256: "3fbbda4eb781b9bb28025189677b6727706e114eb0215bbfd718f1f4fcb54b99",
        }],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folders_and_digests_are_complete() {
        for set in KNOWN {
            for file in set.files {
                assert!(file.path.starts_with(&format!("{}/", set.name)), "{}", file.path);
                assert_eq!(file.sha256.len(), 64);
                assert!(
                    file.sha256.bytes().all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(&c))
                );
                assert!(file.bytes > 0 && file.address.ends_with(&file.path[set.name.len()..]));
                assert_eq!(owner_of(file.path).map(|found| found.name), Some(set.name));
            }
        }
        assert!(known_set("minst").expect_err("unknown").to_string().contains("mnist"));
        assert!(owner_of("mnist/other.gz").is_none());
    }
}
