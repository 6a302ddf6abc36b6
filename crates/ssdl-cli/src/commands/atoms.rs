//! `ssdl atoms`: the atoms of a model as a picture.

use serde_json::json;
use ssdl::{Model, Real, each_precision};
use ssdl_report::mosaic;

use crate::args::{Atoms, Common};
use crate::failure::{Failure, Outcome};
use crate::print::Sheet;
use crate::{input, output, print};

/// Runs the command.
pub fn run(args: &Atoms, common: &Common) -> Outcome {
    output::check(&[args.png.as_deref(), args.svg.as_deref()], &[&args.model])?;
    each_precision!(input::model(&args.model)?, model => draw(args, common, &model))
}

fn draw<T: Real>(args: &Atoms, common: &Common, model: &Model<T>) -> Outcome {
    let about =
        |error: ssdl_report::Error| Failure::Failed(format!("{}: {error}", args.model.display()));
    let mut sheet = Sheet::default();
    let n_atoms = model.atoms().map_or(0, ssdl::Matrix::columns);
    let kind = match model.preparation().image_prepared() {
        Some([height, width]) => format!("{n_atoms} images of {height} x {width}"),
        None => format!("{n_atoms} tiles, one bar per feature"),
    };
    if let Some(path) = &args.png {
        output::write(path, &mosaic::png(model).map_err(about)?)?;
        sheet.row("picture", format!("{}: {kind}", path.display()));
    }
    if let Some(path) = &args.svg {
        output::write(path, mosaic::svg(model).map_err(about)?.as_bytes())?;
        sheet.row("drawing", format!("{}: {kind}", path.display()));
    }
    if common.json {
        return print::json(&json!({
            "model": args.model.display().to_string(),
            "n_atoms": n_atoms,
            "image": model.preparation().image_prepared(),
            "png": args.png.as_ref().map(|path| path.display().to_string()),
            "svg": args.svg.as_ref().map(|path| path.display().to_string()),
        }));
    }
    print::to_stdout(&sheet.text())
}
