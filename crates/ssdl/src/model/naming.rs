//! How samples and labels are called where they come from.

use serde::{Deserialize, Serialize};

use super::Model;
use crate::{Error, Real, Result};

/// Names that the fit does not use: the model keeps them for those who use it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Naming {
    /// Names of the features, one each.
    #[serde(rename = "feature_names", default, skip_serializing_if = "Option::is_none")]
    pub features: Option<Vec<String>>,
    /// The type that labels have outside, such as `int64`: class names are text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_type: Option<String>,
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
        let expected = self.n_features();
        match naming.features.as_ref().map(Vec::len) {
            Some(got) if got != expected => {
                Err(Error::Shape { what: "names of features".into(), expected, got })
            }
            _ => {
                self.naming = naming;
                Ok(self)
            }
        }
    }
}
