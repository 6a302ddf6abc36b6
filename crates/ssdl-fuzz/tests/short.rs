//! A short run with a fixed seed; `cargo xtask fuzz --minutes N` runs more.

use std::time::Duration;

use ssdl_fuzz::{Dice, Tally, all, mutated, once};

#[test]
fn sound_inputs_are_accepted_by_every_target() {
    for target in all() {
        assert!(!target.sound().is_empty(), "{}", target.name);
        let accepted = target.sound().iter().filter(|input| target.run(input)).count();
        assert!(accepted > 0, "{}: no sound input is accepted", target.name);
    }
}

#[test]
fn no_damaged_input_crashes_or_hangs_a_reader() {
    for target in all() {
        let (mut dice, mut tally) = (Dice::new(15), Tally::default());
        for _ in 0..400 {
            once(&target, &mutated(target.sound(), &mut dice), &mut tally);
        }
        let name = target.name;
        assert!(tally.crashes.is_empty(), "{name}: {:?}", tally.crashes.first());
        assert!(tally.longest < Duration::from_secs(10), "{name}: {:?}", tally.longest);
        assert!(tally.accepted < tally.runs, "{name}: damage goes unnoticed");
    }
}
