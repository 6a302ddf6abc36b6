//! A method behind a pointer: what is the same for all of them is compiled once for each precision, not again
//! for each method.

use super::{Description, Learner};
use crate::fit::{Given, Learnt, Sizes, Turns, without_blank};
use crate::graph::Connected;
use crate::{Real, Result};

/// What the way from samples to a model asks of a [`Learner`].
pub(super) trait AnyLearner<T: Real>: Sync {
    fn description(&self) -> &'static Description;

    fn check(&self) -> Result<()>;

    fn values(&self) -> Vec<(&'static str, String)>;

    /// The same with knobs cut to what these sizes allow.
    fn cut(&self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) -> Box<dyn AnyLearner<T>>;

    fn uses_weights(&self) -> bool;

    fn can_be_in_parts(&self) -> bool;

    fn can_park(&self, sizes: &Sizes) -> bool;

    fn connect(&self, given: &Given<'_, T>) -> Result<Option<Connected<T>>>;

    fn bytes(&self, sizes: &Sizes) -> u64;

    fn learn(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>>;
}

impl<T: Real, K: Learner> AnyLearner<T> for K {
    fn description(&self) -> &'static Description {
        const { &K::DESCRIPTION }
    }

    fn check(&self) -> Result<()> {
        K::check(self)
    }

    fn values(&self) -> Vec<(&'static str, String)> {
        K::values(self)
    }

    fn cut(&self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) -> Box<dyn AnyLearner<T>> {
        let mut knobs = self.clone();
        knobs.reduce(sizes, notice);
        Box::new(knobs)
    }

    fn uses_weights(&self) -> bool {
        K::uses_weights(self)
    }

    fn can_be_in_parts(&self) -> bool {
        K::can_be_in_parts(self)
    }

    fn can_park(&self, sizes: &Sizes) -> bool {
        K::can_park(self, sizes)
    }

    fn connect(&self, given: &Given<'_, T>) -> Result<Option<Connected<T>>> {
        K::connect(self, given)
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        K::bytes(self, sizes)
    }

    fn learn(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        if K::IGNORES_BLANK {
            return without_blank(given, |given| K::learn(self, given, turns));
        }
        K::learn(self, given, turns)
    }
}
