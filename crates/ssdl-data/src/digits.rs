//! The data set bundled with the crate, for examples and tests.

use std::io::Read;

use flate2::read::GzDecoder;
use ssdl::Matrix;

use crate::Table;

const N_PIXELS: usize = 64;

/// 1,797 handwritten digits of 8×8 pixels from 0 (paper) to 16 (ink), with classes `0` to `9`.
///
/// The test set of *Optical Recognition of Handwritten Digits*, E. Alpaydin and C. Kaynak, UCI
/// Machine Learning Repository, <https://archive.ics.uci.edu/dataset/80>, CC BY 4.0.
#[must_use]
pub fn digits() -> Table {
    let mut bytes = Vec::new();
    GzDecoder::new(&include_bytes!("../data/digits.bin.gz")[..])
        .read_to_end(&mut bytes)
        .expect("the file is part of the program, and a test unpacks it");
    let (samples, _) = bytes.as_chunks::<{ N_PIXELS + 1 }>();
    let features =
        Matrix::from_fn(N_PIXELS, samples.len(), |pixel, sample| f64::from(samples[sample][pixel]));
    let labels = samples.iter().map(|sample| Some(sample[N_PIXELS].to_string())).collect();
    Table { labels: Some(labels), image: Some([8, 8]), ..Table::of(features) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_complete() {
        let table = digits();
        assert_eq!((table.features.rows(), table.features.columns()), (64, 1797));
        let samples = table.samples::<f64>().expect("checked data");
        assert_eq!(samples.labels().counts(), [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
        // The sum of scikit-learn's copy.
        assert_eq!(table.features.as_slice().iter().sum::<f64>(), 561_718.0);
        assert_eq!(table.features.column(0)[..6], [0.0, 0.0, 5.0, 13.0, 9.0, 1.0]);
    }

    #[test]
    fn the_approximate_search_finds_the_neighbours_of_digits_and_their_copies() {
        use ssdl::graph::Neighbours;

        let features = digits().features;
        let copies = Matrix::from_fn(N_PIXELS, 3 * features.columns(), |pixel, j| {
            let jitter = ((pixel * 7919 + j * 104_729) % 997) as f32 / 997.0;
            features.column(j / 3)[pixel] as f32 + jitter
        });
        let found = Neighbours::nearby(&copies, 8);
        let exact = Neighbours::within(&copies, 8);
        let both = |i: usize| found.of(i).iter().filter(|j| exact.of(i).contains(j)).count();
        let recall = (0..found.len()).map(both).sum::<usize>() as f64 / (8 * found.len()) as f64;
        assert!(recall >= 0.98, "{recall}");
    }
}
