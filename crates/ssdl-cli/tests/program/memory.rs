//! What a fit says it needs is what the system counts.

use crate::run::{Bench, noise};

const SAMPLES: usize = 12_000;
const PIXELS: usize = 100;

/// Four kinds of noisy images of ten by ten, as IDX.
fn images() -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, 3];
    [SAMPLES, 10, 10].iter().for_each(|&side| bytes.extend((side as u32).to_be_bytes()));
    for j in 0..SAMPLES {
        let bright = |i: usize| 60.0 * noise(4_000_000 + 10 * i + j % 4);
        let pixel = |i: usize| (128.0 + bright(i) + 60.0 * noise(PIXELS * j + i)) as u8;
        bytes.extend((0..PIXELS).map(pixel));
    }
    bytes
}

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn what_a_fit_frees_goes_back_to_the_system() {
    let bench = Bench::with_flowers();
    bench.write("images.idx", images());
    let label = |j: usize| if j < 80 { (j % 4).to_string() } else { "-1".into() };
    bench.write("labels.txt", (0..SAMPLES).map(|j| label(j) + "\n").collect::<String>());
    let counted_and_said = |what: &str| {
        let fit = bench.json(&format!(
            "fit {what} --model m.ssdl --threads 1 --calibrate no --prepare scale=5 --quiet"
        ));
        ["peak_memory_bytes", "memory_needed_bytes"].map(|name| fit[name].as_f64().expect("bytes"))
    };
    // A fit that needs hardly anything shows what the program itself takes.
    let [program, _] = counted_and_said("flowers.csv --label-column kind");
    let atoms = "--set n_atoms=200 --set max_iterations=2";
    let [all, needed] = counted_and_said(&format!("images.idx --labels labels.txt {atoms}"));
    let ratio = (all - program) / needed;
    assert!(ratio < 1.15, "{all} counted, {program} for the program, {needed} said");
}
