//! `ssdl-neural methods`: the nets and their knobs.

use ssdl_neural::Method;

use super::{Outcome, print};

/// Runs the command.
pub fn run() -> Outcome {
    let mut text = String::new();
    for method in Method::ALL {
        text += &format!("{}  {}\n\n", method.name(), method.summary());
        for knob in method.knobs() {
            text += &format!(
                "  {}={}  {} ({})\n",
                knob.name, knob.default, knob.sentence, knob.allowed
            );
        }
        text += "  profile=default  Begin with the knobs of the authors' scripts, if `authors` (default, authors)\n\n";
    }
    print::to_stdout(text.trim_end())
}
