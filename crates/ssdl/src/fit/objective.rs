//! The objective, term by term.

use std::borrow::Cow;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The value of each term of a method's objective, weights included, in the order of its formula.
///
/// Every method names its own terms; files, tables and plots follow the names. For SSDL-GA they are
/// `reconstruction`, `sparsity`, `manifold`, `discrimination` and `ridge`:
///
/// $$J=\lVert X-DA\rVert^2+\lambda\lVert A\rVert_1+\beta\operatorname{tr}(ALA^\top)
/// +\gamma\sum_j\sum_kP_{kj}^re_k(s_j)+\mu(\lVert W\rVert^2+\lVert b\rVert^2)$$
///
/// The loss is the true squared hinge: active points are those of the scores it is evaluated at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Objective(Vec<(Cow<'static, str>, f64)>);

impl Objective {
    /// Names and values, in order.
    #[must_use]
    pub fn new(terms: impl IntoIterator<Item = (&'static str, f64)>) -> Self {
        Self(terms.into_iter().map(|(name, value)| (Cow::Borrowed(name), value)).collect())
    }

    /// The sum.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.0.iter().fold(0.0, |sum, (_, value)| sum + value)
    }

    /// Names and values, in order.
    pub fn terms(&self) -> impl ExactSizeIterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (&**name, *value))
    }

    /// The value of one term; zero where the method has no such term.
    #[must_use]
    pub fn term(&self, name: &str) -> f64 {
        self.terms().find(|(own, _)| *own == name).map_or(0.0, |(_, value)| value)
    }
}

impl Serialize for Objective {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Objective {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Terms)
    }
}

/// Reads the terms in the order they are written.
struct Terms;

impl<'de> Visitor<'de> for Terms {
    type Value = Objective;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the terms of an objective by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Objective, A::Error> {
        let mut terms = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, f64>()? {
            terms.push((Cow::Owned(name), value));
        }
        Ok(Objective(terms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_written_by_name_and_read_in_order() {
        let objective = Objective::new([("sparsity", 2.5), ("a", 0.25)]);
        let text = serde_json::to_string(&objective).expect("numbers");
        assert_eq!(text, r#"{"sparsity":2.5,"a":0.25}"#);
        let again: Objective = serde_json::from_str(&text).expect("terms");
        assert_eq!(again, objective);
        assert_eq!((again.total(), again.term("a"), again.term("none")), (2.75, 0.25, 0.0));
        assert!(serde_json::from_str::<Objective>(r#"{"a":"b"}"#).is_err());
    }
}
