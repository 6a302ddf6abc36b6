//! `ssdl-neural experiment`: the nets of a plan of `ssdl experiment`.

use std::path::{Path, PathBuf};

use ssdl_experiments::comparison::{self, Choice};
use ssdl_experiments::{AnyPlan, RowFile};
use ssdl_neural::outside::Nets;

use super::args::{Common, Experiment};
use super::progress::View;
use super::{Outcome, cancel, device, print};

/// Runs the command.
pub fn run(args: &Experiment, common: &Common) -> Outcome {
    let plan = AnyPlan::find(&args.name)?;
    let AnyPlan::Comparison(plan) = (if args.quick { plan.quick() } else { plan }) else {
        return Err("this plan compares graphs; nets take part in comparisons of methods".into());
    };
    let choice = Choice {
        seeds: args.seeds.clone(),
        methods: args.methods.clone(),
        threads: common.threads.into(),
        again: args.again,
    };
    let stem = Path::new(&args.name).file_stem().unwrap_or_default().to_string_lossy();
    // Rows of small versions never go into the file of the full ones, as with `ssdl experiment`.
    let name = format!("{stem}{}.csv", if args.quick { "-quick" } else { "" });
    let path = args.out.clone().unwrap_or_else(|| PathBuf::from("results").join(name));
    let place = device::open(args.device, common)?;
    let rows = RowFile::open(&path)?;
    cancel::listen(common.quiet);
    let view = View::new(common.quiet);
    let nets = Nets { signal: Some(cancel::signal()), place };
    let done = comparison::run_outside(&nets, &plan, &choice, &args.data, &rows, &view);
    view.finish();
    done?;
    let mut shown = rows.all();
    shown.retain(|row| {
        ["cnn", "ladder"].contains(&row.method.as_str()) && choice.wants(&row.run, &row.method)
    });
    for row in &shown {
        print::to_stdout(&format!(
            "{}, {}, seed {}, {}: {:.2} % of {} test samples, {:.1} s",
            row.data, row.split, row.seed, row.run, row.test_accuracy, row.n_test, row.fit_seconds
        ))?;
    }
    print::to_stdout(&format!("{} rows of nets in {}", shown.len(), path.display()))
}
