//! How samples and labels are called where they come from.

use serde::{Deserialize, Serialize};

use super::{Model, SourceColumn};
use crate::{Error, Real, Result};

/// Names that the fit does not use: the model keeps them for those who use it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Naming {
    /// Names of the features, one each.
    #[serde(rename = "feature_names", default, skip_serializing_if = "Option::is_none")]
    pub features: Option<Vec<String>>,
    /// The type that labels have outside, such as `int64`: class names are text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_type: Option<String>,
    /// The columns of the table that became the features, where some hold words or have gaps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<SourceColumn>>,
}

impl Naming {
    /// Refuses what no model of so many features can have.
    ///
    /// # Errors
    /// If names or columns are not those of so many features, or contradict each other.
    pub fn check(&self, n_features: usize) -> Result<()> {
        let columns = self.columns.as_deref().unwrap_or_default();
        let of_columns = columns.iter().map(SourceColumn::feature_names);
        let names = of_columns.collect::<Option<Vec<_>>>().map(|names| names.concat());
        let agree = self.columns.is_none() || names == self.features;
        if !agree || !columns.iter().all(SourceColumn::is_sound) {
            return Err(Error::Samples(
                "columns and names of features contradict each other".into(),
            ));
        }
        let names = self.features.as_ref().map(|names| ("names of features", names.len()));
        let features = self
            .columns
            .is_some()
            .then(|| ("features of columns", columns.iter().map(SourceColumn::n_features).sum()));
        let wrong = names.into_iter().chain(features).find(|(_, count)| *count != n_features);
        wrong.map_or(Ok(()), |(what, got)| {
            Err(Error::Shape { what: what.into(), expected: n_features, got })
        })
    }

    /// The names by which columns are found in a table: those of the columns, or else of the features.
    #[must_use]
    pub fn of_columns(&self) -> Option<Vec<String>> {
        match &self.columns {
            Some(columns) => columns.iter().map(|column| column.name.clone()).collect(),
            None => self.features.clone(),
        }
    }
}

impl<T: Real> Model<T> {
    /// How samples and labels are called where they come from.
    #[must_use]
    pub fn naming(&self) -> &Naming {
        &self.naming
    }

    /// The same model with these names.
    ///
    /// # Errors
    /// If there is not one name for each feature.
    #[inline(never)]
    pub fn named(mut self, naming: Naming) -> Result<Self> {
        naming.check(self.n_features())?;
        self.naming = naming;
        Ok(self)
    }
}
