//! `join=[STEP,STEP | STEP]`: several preparations of the same samples, side by side.

use std::convert::Infallible;

use rand::Rng;

use super::scale::set_length;
use super::{
    Description, Layout, Pipeline, PreparationStep, StepChoice, Tensors, check_n_features,
};
use crate::threads::Loops;
use crate::{Matrix, Real, Result};

pub(super) const DESCRIPTION: Description = Description {
    name: "join",
    usage: "join=[STEP,STEP | STEP]",
    sentence: "several preparations side by side, each of unit length: branches separated by |, \
               their steps by commas; none keeps the samples as they are",
    check: |plan| branches(plan).map(drop),
};

/// The word for a branch that leaves the samples as they are.
const UNCHANGED: &str = "none";

/// The plans of each branch. Errors name the character of the argument, counted from 1.
fn branches(plan: &StepChoice) -> Result<Vec<Vec<StepChoice>>> {
    let refuse = |offset: usize, problem: &str| {
        let text = plan.argument().unwrap_or_default();
        let at = text.get(..offset).map_or(0, |before| before.chars().count()) + 1;
        plan.refuse(format!(
            "branches in brackets such as [deskew,gradients | none]; character {at}: {problem}"
        ))
    };
    let text = plan.argument().unwrap_or_default();
    let inner = text.strip_prefix('[').ok_or_else(|| refuse(0, "`[` is missing"))?;
    let inner = inner.strip_suffix(']').ok_or_else(|| refuse(text.len(), "`]` is missing"))?;
    // One level only: a file cannot nest them until the stack is full.
    if let Some(at) = inner.find(['[', ']']) {
        return Err(refuse(1 + at, "a join within a join; list all branches in one"));
    }
    let mut start = 1;
    let mut branches = Vec::new();
    for branch in inner.split('|') {
        let mut plans = Vec::new();
        let mut at = start;
        for step in branch.split(',') {
            if step.trim().is_empty() {
                return Err(refuse(
                    at,
                    "a step is missing; write none to keep the samples as they are",
                ));
            }
            if branch.trim() != UNCHANGED {
                plans.push(step.parse().map_err(|error: crate::Error| {
                    let lead = step.len() - step.trim_start().len();
                    refuse(at + lead, &error.to_string())
                })?);
            }
            at += step.len() + 1;
        }
        branches.push(plans);
        start += branch.len() + 1;
    }
    Ok(branches)
}

/// Branches side by side: $x' = (f_1(x) / \lVert f_1(x)\rVert, f_2(x) / \lVert f_2(x)\rVert, \dots)$,
/// each branch with its own list of steps; zeros stay zero.
#[derive(Debug)]
pub(super) struct Join<T> {
    plan: StepChoice,
    n_in: usize,
    branches: Vec<Pipeline<T>>,
}

impl<T: Real> Join<T> {
    fn side_by_side<E>(
        &self,
        features: &Matrix<T>,
        apply: impl Fn(&dyn PreparationStep<T>, Matrix<T>) -> std::result::Result<Matrix<T>, E>,
    ) -> std::result::Result<Matrix<T>, E> {
        let mut out = Matrix::zeros(PreparationStep::n_out(self), features.columns());
        let mut start = 0;
        for branch in &self.branches {
            let mut steps = branch.steps().iter();
            let mapped =
                steps.try_fold(features.clone(), |mapped, step| apply(step.as_ref(), mapped))?;
            out.columns_mut().enumerate().each(|(j, out)| {
                let out = &mut out[start..][..mapped.rows()];
                out.copy_from_slice(mapped.column(j));
                set_length(out, 1.0);
            });
            start += mapped.rows();
        }
        Ok(out)
    }
}

impl<T: Real> PreparationStep<T> for Join<T> {
    fn fit(
        plan: &StepChoice,
        features: &Matrix<T>,
        layout: Layout,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        let mut fitted = Vec::new();
        for plans in branches(plan)? {
            fitted.push(Pipeline::fit_steps(&plans, features.clone(), layout, rng)?.0);
        }
        Ok(Self { plan: plan.clone(), n_in: layout.n_features(), branches: fitted })
    }

    fn restore(plan: &StepChoice, layout: Layout, tensors: &mut Tensors<'_, T>) -> Result<Self> {
        let mut restored = Vec::new();
        for (position, plans) in branches(plan)?.iter().enumerate() {
            let mut own = tensors.within(position);
            restored.push(Pipeline::restore_steps(plans, layout, &mut own)?);
        }
        Ok(Self { plan: plan.clone(), n_in: layout.n_features(), branches: restored })
    }

    fn plan(&self) -> &StepChoice {
        &self.plan
    }

    fn n_in(&self) -> usize {
        self.n_in
    }

    fn n_out(&self) -> usize {
        self.branches.iter().fold(0, |sum, branch| sum.saturating_add(branch.n_prepared()))
    }

    fn tensors(&self) -> Vec<(String, Matrix<T>)> {
        let branches = self.branches.iter().enumerate();
        branches
            .flat_map(|(position, branch)| branch.named_tensors(&format!("{position}.")))
            .collect()
    }

    fn map(&self, features: Matrix<T>) -> Matrix<T> {
        match self.side_by_side(&features, |step, mapped| Ok::<_, Infallible>(step.map(mapped))) {
            Ok(joined) => joined,
        }
    }

    /// As for other steps, but an overflow names the step within the branch: scaling would hide it.
    fn apply(&self, features: Matrix<T>) -> Result<Matrix<T>> {
        check_n_features(self.n_in, &features)?;
        self.side_by_side(&features, |step, mapped| step.apply(mapped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    fn plan(text: &str) -> Result<StepChoice> {
        text.parse()
    }

    fn fitted(text: &str, features: &Matrix<f64>) -> Result<Join<f64>> {
        let layout = Layout::flat(features.rows());
        Join::fit(&plan(text)?, features, layout, &mut stream(0, Purpose::Projection))
    }

    fn problem(text: &str) -> String {
        plan(text).expect_err(text).to_string()
    }

    #[test]
    fn branches_by_hand() -> Result<()> {
        let features = Matrix::from_fn(2, 2, |i, j| [[3.0, 4.0], [0.0, 0.0]][j][i]);
        let step = fitted("join=[none | scale=7,scale=2|none]", &features)?;
        let out = step.apply(features)?;
        for (value, by_hand) in out.column(0).iter().zip([0.6, 0.8, 0.6, 0.8, 0.6, 0.8]) {
            assert!((value - by_hand).abs() < 1e-15, "{value}");
        }
        assert_eq!(out.column(1), [0.0; 6]);
        Ok(())
    }

    #[test]
    fn fitted_numbers_are_named_by_branch_and_step() -> Result<()> {
        let features = Matrix::from_fn(3, 5, |i, j| ((i + 2) * (j + 1)) as f64 + (j as f64).sin());
        let step = fitted("join=[pca=1 | scale=1,projection=2 | projection=2]", &features)?;
        let tensors = step.tensors();
        let names: Vec<&str> = tensors.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["0.0.mean", "0.0.components", "1.1.matrix", "2.0.matrix"]);
        assert_ne!(tensors[2].1, tensors[3].1, "each branch has draws of its own");
        Ok(())
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_character() {
        let start = "allowed: branches in brackets such as [deskew,gradients | none]; character ";
        let cases = [
            ("join", "1: `[` is missing"),
            ("join=", "1: `[` is missing"),
            ("join=deskew|none", "1: `[` is missing"),
            ("join=[deskew | none", "15: `]` is missing"),
            ("join=[]", "2: a step is missing"),
            ("join=[ | none]", "2: a step is missing"),
            ("join=[deskew,,none]", "9: a step is missing"),
            ("join=[deskew |]", "10: a step is missing"),
            ("join=[deskew | magic]", "11: unknown preparation step `magic`"),
            ("join=[deskew,gradients=1]", "9: knob `gradients` is 1"),
            ("join=[none,deskew]", "2: unknown preparation step `none`"),
            ("join=[none | join=[none]]", "14: a join within a join"),
            ("join=[[none]]", "2: a join within a join"),
            ("join=[none]]", "6: a join within a join"),
        ];
        for (text, expected) in cases {
            let error = problem(text);
            assert!(error.contains(&format!("{start}{expected}")), "{text}: {error}");
        }
    }

    #[test]
    fn an_overflow_within_a_branch_is_not_scaled_away() -> Result<()> {
        let step = fitted("join=[standardise | none]", &Matrix::from_fn(1, 2, |_, j| j as f64))?;
        let error = step.apply(Matrix::from_fn(1, 1, |_, _| f64::MAX)).expect_err("overflow");
        assert!(error.to_string().contains("`standardise`"), "{error}");
        Ok(())
    }
}
