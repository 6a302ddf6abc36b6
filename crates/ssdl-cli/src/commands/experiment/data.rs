//! The data sets of a plan: where they are, which are missing, and how to get those.

use std::path::{Path, PathBuf};

use ssdl_data::known;
use ssdl_experiments::{AnyPlan, Need};

use crate::args::Experiment;
use crate::failure::{Failure, Outcome};

/// A data set that is not there.
#[derive(Clone, PartialEq)]
pub struct Missing {
    /// Its name in the plan.
    pub name: String,
    /// The first file that is missing.
    pub file: PathBuf,
    /// What to do, in words.
    pub remedy: String,
}

/// The folder of the data sets.
pub fn folder(args: &Experiment) -> Outcome<PathBuf> {
    match &args.data {
        Some(folder) => Ok(folder.clone()),
        None => crate::commands::data::folder(),
    }
}

/// The data sets of a plan of which a file is missing.
pub fn missing(plan: &AnyPlan, folder: &Path) -> Vec<Missing> {
    let lost = |need: Need| {
        let file = need.files.iter().find(|file| !folder.join(file).is_file())?;
        let (file, remedy) = (folder.join(file), remedy(&need, file));
        Some(Missing { name: need.name, file, remedy })
    };
    plan.needs().into_iter().filter_map(lost).collect()
}

/// How to get a file of a data set.
fn remedy(need: &Need, file: &str) -> String {
    match (known::owner_of(file), &need.get) {
        (Some(set), _) => format!("get it with `ssdl data get {}`", set.name),
        (None, Some(sentence)) => sentence.clone(),
        (None, None) => "put it there".into(),
    }
}

/// The command that gets a data set, or where it comes from; `None` if nobody knows.
pub fn source(need: &Need) -> Option<String> {
    let set = need.files.iter().find_map(|file| known::owner_of(file));
    match set {
        Some(set) => Some(format!("ssdl data get {}", set.name)),
        None => need.get.as_ref().map(|sentence| sentence.replace('`', "")),
    }
}

/// For a missing file of the data, names what gets it.
pub fn with_remedy(error: ssdl_experiments::Error, plan: &AnyPlan, folder: &Path) -> Failure {
    use ssdl_data::Error::Read;
    use ssdl_experiments::Error::Data;
    let Data(Read { path, source }) = &error else { return error.into() };
    let lost = source.kind() == std::io::ErrorKind::NotFound;
    let found = missing(plan, folder).into_iter().find(|lost| lost.file == *path);
    match found.filter(|found| lost && found.remedy != "put it there") {
        Some(Missing { remedy, .. }) => Failure::Failed(format!(
            "{}: missing; {remedy}, or name its folder with --data",
            path.display()
        )),
        None => error.into(),
    }
}
