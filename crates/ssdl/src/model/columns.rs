//! How the columns of a table become features, where some hold words or have gaps.

use serde::{Deserialize, Serialize};

/// A column of a table, as a model knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceColumn {
    /// Its name, where the table has a header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What its cells are.
    #[serde(flatten)]
    pub cells: Cells,
}

/// What the cells of a column are, and the features they become.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cells {
    /// Numbers: one feature.
    Numbers {
        /// The number of a gap; `None` where gaps are refused.
        gap: Option<f64>,
    },
    /// Words: a feature of 0 and 1 for each.
    Words {
        /// The words that have a feature. A gap, or a word that is not known, has 0 in all.
        words: Vec<String>,
        /// The word without a feature, where there are two and no gaps: one feature tells them apart, in which a gap is ½.
        base: Option<String>,
    },
}

impl SourceColumn {
    /// Whether its words differ; files are not trusted.
    #[must_use]
    pub(super) fn is_sound(&self) -> bool {
        match &self.cells {
            Cells::Numbers { gap } => gap.is_none_or(f64::is_finite),
            Cells::Words { words, base } => {
                let mut all: Vec<&String> = words.iter().chain(base).collect();
                let count = all.len();
                all.sort_unstable();
                all.dedup();
                all.len() == count
            }
        }
    }

    /// Features of this column.
    #[must_use]
    pub fn n_features(&self) -> usize {
        match &self.cells {
            Cells::Numbers { .. } => 1,
            Cells::Words { words, .. } => words.len(),
        }
    }

    /// Names of its features, where it has one.
    #[must_use]
    pub fn feature_names(&self) -> Option<Vec<String>> {
        let name = self.name.as_ref()?;
        Some(match &self.cells {
            Cells::Numbers { .. } => vec![name.clone()],
            Cells::Words { words, .. } => {
                words.iter().map(|word| format!("{name}={word}")).collect()
            }
        })
    }
}
