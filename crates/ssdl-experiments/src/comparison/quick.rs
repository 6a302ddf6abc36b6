//! The small version of a plan: what `--quick` runs, in seconds or a minute.

use serde::Deserialize;

use super::plan::Plan;

/// What `--quick` keeps of a plan. What is omitted is kept whole; without `runs`, runs that search knobs
/// are left out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// How many seeds of each split, from the first; 1 if omitted.
    #[serde(default = "one")]
    pub seeds: usize,
    /// Data sets.
    pub data: Option<Vec<String>>,
    /// Splits.
    pub splits: Option<Vec<String>>,
    /// Runs.
    pub runs: Option<Vec<String>>,
}

fn one() -> usize {
    1
}

impl Default for Quick {
    fn default() -> Self {
        Self { seeds: one(), data: None, splits: None, runs: None }
    }
}

impl Plan {
    /// The plan that `--quick` runs: the same fits, fewer of them.
    #[must_use]
    pub fn quick(&self) -> Self {
        let Quick { seeds, data, splits, runs } = *self.quick.clone().unwrap_or_default();
        let mut plan = self.clone();
        plan.data.retain(|set| is_in(data.as_ref(), &set.name));
        plan.split.retain(|split| is_in(splits.as_ref(), &split.name));
        plan.split.iter_mut().for_each(|split| split.first = Some(seeds));
        plan.run.retain(|run| match &runs {
            Some(names) => names.contains(&run.name),
            None => run.tune == 0,
        });
        let is_left_out = |name: &String| {
            self.run.iter().any(|run| run.name == *name)
                && plan.run.iter().all(|run| run.name != *name)
        };
        let (sets, kept) = (&plan.data, &plan.split);
        plan.paper.retain(|paper| {
            sets.iter().any(|set| set.name == paper.data)
                && paper.split.as_ref().is_none_or(|name| kept.iter().any(|s| s.name == *name))
                && !is_left_out(&paper.run)
        });
        if let Some(contenders) = &mut plan.contenders {
            contenders.baselines.retain(|name| !is_left_out(name));
        }
        plan
    }

    /// The plan without some of its data sets.
    #[must_use]
    pub fn without(&self, names: &[String]) -> Self {
        let mut plan = self.clone();
        plan.data.retain(|set| !names.contains(&set.name));
        plan.paper.retain(|paper| !names.contains(&paper.data));
        plan
    }

    /// Refuses a `[quick]` that names what the plan does not have, or leaves nothing to run.
    pub(super) fn check_quick(&self) -> Result<(), String> {
        let Some(Quick { seeds, data, splits, runs }) = self.quick.as_deref() else {
            return Ok(());
        };
        if *seeds == 0 {
            return Err("[quick] `seeds` must be at least 1".into());
        }
        let of = |chosen: &Option<Vec<String>>| chosen.clone().unwrap_or_default();
        let parts = [
            ("data", of(data), self.data.iter().map(|set| &set.name).collect::<Vec<_>>()),
            ("splits", of(splits), self.split.iter().map(|split| &split.name).collect()),
            ("runs", of(runs), self.run.iter().map(|run| &run.name).collect()),
        ];
        for (key, chosen, known) in parts {
            if let Some(name) = chosen.iter().find(|name| !known.contains(name)) {
                let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
                return Err(format!(
                    "[quick] `{key}` has no `{name}` to keep; known: {}",
                    known.join(", ")
                ));
            }
        }
        let small = self.quick();
        let runs =
            |set| small.splits_of(set).next().is_some() && small.runs_of(set).next().is_some();
        if small.data.iter().any(runs) {
            return Ok(());
        }
        Err("[quick] leaves nothing to run".into())
    }
}

fn is_in(chosen: Option<&Vec<String>>, name: &String) -> bool {
    chosen.is_none_or(|names| names.contains(name))
}
