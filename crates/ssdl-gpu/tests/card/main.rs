//! The card against the processor. Where there is no card, only the error is tested: `cargo xtask gpu` runs the
//! rest where there is one.

#[path = "../software/mod.rs"]
mod software;

use std::sync::Arc;

use ssdl::classifier::ActivePoints;
use ssdl::codes::{Coordinate, Quadratic};
use ssdl::device::{self, Device};
use ssdl::fit::{CodesUpdate, Silent};
use ssdl::graph::lle::barycentres;
use ssdl::graph::{GraphChoice, Neighbours};
use ssdl::methods::{FitOptions, GraphSc, SsdlGa, Ussdl};
use ssdl::prelude::*;
use ssdl::random::{Purpose, stream};
use ssdl::{Labels, Matrix, Model, Real, Result, Samples};

/// The card, or `None` with a message that is tested here.
fn card() -> Option<Arc<dyn Device>> {
    match ssdl_gpu::open(0) {
        Ok(device) => Some(device),
        Err(error) => {
            let message = error.to_string();
            assert!(std::env::var_os("SSDL_GPU_TESTS").is_none(), "{message}");
            assert!(message.starts_with("device: "), "{message}");
            assert!(
                ["driver", "cuBLAS", "NVRTC", "card"].iter().any(|word| message.contains(word)),
                "{message}"
            );
            None
        }
    }
}

/// Noisy points along curved arms, one for each class.
fn arms<T: Real>(n: usize, count: usize, n_classes: usize, seed: u64) -> Matrix<T> {
    use rand::RngExt;
    let mut random = stream(seed, Purpose::Split);
    Matrix::from_fn(n, count, |i, j| {
        let (class, along) = ((j % n_classes) as f64, (j / n_classes) as f64 * 0.013);
        let noise: f64 = random.random_range(-0.5..0.5);
        let turn = i as f64 * (0.8 + 0.37 * class);
        T::of((turn + along).sin() + 0.6 * (0.7 * turn + 2.0 * along).cos() + 0.2 * noise)
    })
}

fn labels(count: usize, n_classes: usize, per_class: usize) -> Labels {
    let names = (0..n_classes).map(|c| format!("arm {c}")).collect();
    let known = (0..count).map(|j| (j / n_classes < per_class).then_some(j % n_classes));
    Labels::new(names, known.collect()).expect("classes exist")
}

/// As many samples as a test has on a card, fewer where the card is software.
fn share(count: usize, in_software: usize) -> usize {
    if software::is_here() { in_software } else { count }
}

fn lists(neighbours: &Neighbours) -> Vec<Vec<u32>> {
    (0..neighbours.len()).map(|i| neighbours.of(i).to_vec()).collect()
}

fn on<R>(device: &Arc<dyn Device>, work: impl FnOnce() -> R) -> R {
    device::lend(Some(device.clone()), work)
}

#[test]
#[allow(clippy::print_stderr, reason = "a test cannot say otherwise that it was left out")]
fn all_of_this_passes_on_a_card_in_software() {
    if let Err(reason) = software::run_tests_again() {
        eprintln!("left out: {reason}");
    }
}

#[test]
fn a_card_that_does_not_exist_is_refused() {
    let error = ssdl_gpu::open(4000).err().expect("no machine has that many cards");
    assert!(error.to_string().starts_with("device: "), "{error}");
}

fn same_neighbours<T: Real>(device: &Arc<dyn Device>, samples: &Matrix<T>, what: &str) {
    // In software the lists of one set are long, so that a lane has two of their entries.
    let few: &[usize] = if what == "single" { &[30] } else { &[7] };
    let sizes: &[usize] = if software::is_here() { few } else { &[1, 8, 20, 60, 100] };
    for &k in sizes {
        let expected = lists(&Neighbours::within(samples, k));
        let found = lists(&on(device, || Neighbours::within(samples, k)));
        device::check().expect(what);
        let wrong = expected.iter().zip(&found).filter(|(a, b)| a != b).count();
        assert_eq!(wrong, 0, "{what}, k = {k}: {wrong} of {} lists differ", expected.len());
    }
}

#[test]
fn neighbours_are_those_of_the_processor() {
    let Some(device) = card() else { return };
    same_neighbours(&device, &arms::<f32>(40, share(3000, 1050), 5, 1), "single");
    same_neighbours(&device, &arms::<f64>(40, share(2500, 1030), 5, 2), "double");
    same_neighbours(&device, &arms::<f32>(1, share(1500, 1024), 3, 3), "one feature");
    same_neighbours(
        &device,
        &arms::<f32>(317, share(1200, 1025), 3, 4),
        "an odd number of features",
    );
    // Duplicates and equal distances: ties go by index.
    let grid = Matrix::from_fn(2, share(2048, 1024), |i, j| ((j >> (4 * i)) % 16) as f32);
    same_neighbours(&device, &grid, "a grid, each point several times");
    same_neighbours(&device, &Matrix::<f32>::from_fn(3, 1024, |_, _| 7.5), "all the same");
    let mut far = arms::<f32>(10, share(1500, 1024), 3, 5);
    far.column_mut(700).iter_mut().for_each(|x| *x = 3e5);
    same_neighbours(&device, &far, "one far away");
    let tiny = Matrix::from_fn(10, far.columns(), |i, j| {
        far.column(j % 600)[i] * 1e-12 + (j / 600) as f32 * 1e-13
    });
    same_neighbours(&device, &tiny, "tiny numbers");
}

#[test]
fn new_samples_find_the_same_neighbours_and_weights() {
    let Some(device) = card() else { return };
    let (samples, new) =
        (arms::<f32>(30, share(2500, 1100), 5, 1), arms::<f32>(30, share(1300, 1030), 5, 9));
    let expected = Neighbours::between(&samples, &new, 9);
    let found = on(&device, || Neighbours::between(&samples, &new, 9));
    assert_eq!(lists(&expected), lists(&found));
    let weights = barycentres(&samples, &new, &expected);
    let (lists, mixed) = device.single().mixtures(&samples, Some(&new), 9).expect("room");
    assert_eq!(lists.len(), mixed.len());
    let off = weights.iter().zip(&mixed).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(off < 2e-3, "{off}");
}

#[test]
fn codes_are_those_of_the_processor() {
    let Some(device) = card() else { return };
    let count = share(1500, 120);
    let samples = arms::<f64>(30, count, 5, 1);
    let atoms = arms::<f64>(30, 90, 5, 7);
    let gram = atoms.gram();
    let rhs = Matrix::of_product(atoms.transposed(), samples.view());
    for (sparsity, shifts) in [(0.5, Vec::new()), (4.0, Vec::new()), (0.01, vec![0.7; count])] {
        let problem = Quadratic::individual(&gram, shifts.clone(), rhs.clone(), sparsity);
        let nonnegative = Quadratic::individual(&gram, shifts, rhs.clone(), sparsity).nonnegative();
        for (problem, direct) in
            [(&problem, false), (&problem, true), (&nonnegative, false), (&nonnegative, true)]
        {
            let solver = Coordinate { sweeps: 60, inner_sweeps: 20, tolerance: 1e-4, direct };
            let mut expected = Matrix::zeros(90, count);
            solver.minimise(problem, &mut expected);
            let mut found = Matrix::zeros(90, count);
            on(&device, || solver.minimise(problem, &mut found));
            device::check().expect("room");
            let (a, b) = (problem.value(&expected), problem.value(&found));
            // Both stop early; the card must not be worse.
            assert!(b <= a + 1e-5 * a.abs(), "{sparsity}: {a} on the processor, {b} on the card");
            let (own, other) = (problem.gap(&found), problem.gap(&expected));
            assert!(own < 1e-3 || own < 2.0 * other, "{sparsity}: gap {own}, processor {other}");
        }
    }
}

fn fitted<T: Real>(
    method: &impl Learner,
    device: Option<&Arc<dyn Device>>,
    samples: &Matrix<T>,
    scratch: bool,
) -> Result<Model<T>> {
    let labels = labels(samples.columns(), 5, 12);
    let options = FitOptions {
        calibrate: false,
        prepare: "scale=3".parse().into_iter().collect(),
        device: device.cloned(),
        scratch: scratch.then(std::env::temp_dir),
        ..FitOptions::default()
    };
    method.fit_with(Samples::new(samples.clone(), labels)?, &options, &mut Silent)
}

fn count_different<T: Real, U: Real>(a: &Model<T>, b: &Model<U>) -> usize {
    let new = arms::<f64>(30, share(2000, 500), 5, 3);
    let a = a.predict(new.cast()).expect("finite").labels;
    let b = b.predict(new.cast()).expect("finite").labels;
    a.iter().zip(&b).filter(|(a, b)| a != b).count()
}

/// Objective within 0.1 %, predictions equal on 99.8 % (or as many as between the processor's two precisions, where
/// the samples leave more in doubt), the same bits twice.
fn agrees<T: Real>(method: &impl Learner, device: &Arc<dyn Device>, what: &str) {
    let samples = arms::<T>(30, share(3000, 1040), 5, 1);
    let expected = fitted(method, None, &samples, false).expect(what);
    let found = fitted(method, Some(device), &samples, false).expect(what);
    let value = |model: &Model<T>| model.report().objective.total();
    let (a, b) = (value(&expected), value(&found));
    assert!(
        (a - b).abs() <= 1e-3 * a.abs(),
        "{what}: objective {a} on the processor, {b} on the card"
    );
    let precise = fitted::<f64>(method, None, &samples.cast(), false).expect(what);
    let rough = fitted::<f32>(method, None, &samples.cast(), false).expect(what);
    let (doubtful, different) =
        (count_different(&precise, &rough), count_different(&expected, &found));
    assert!(
        different <= 4.max(2 * doubtful),
        "{what}: {different} differ, by precision {doubtful}"
    );

    // In software once is enough.
    if software::is_here() && what != "ssdl-ga" {
        return;
    }
    let again = fitted(method, Some(device), &samples, false).expect(what);
    assert_eq!(
        found.atoms().map(Matrix::as_slice),
        again.atoms().map(Matrix::as_slice),
        "{what}: other bits"
    );
    let parked = fitted(method, Some(device), &samples, true).expect(what);
    let (a, b) = (value(&found), value(&parked));
    assert!((a - b).abs() <= 1e-5 * a.abs(), "{what}: {b} block by block, {a} at once");
}

#[test]
fn fits_agree_with_the_processor() {
    let Some(device) = card() else { return };
    let (atoms, iterations) = (share(80, 32), share(20, 2));
    let plain = SsdlGa::new().n_atoms(atoms).max_iterations(iterations);
    agrees::<f32>(&plain, &device, "ssdl-ga");
    let iterations = share(20, 1);
    let plain = plain.max_iterations(iterations);
    agrees::<f64>(&plain, &device, "ssdl-ga, double");
    agrees::<f32>(&plain.active_points(ActivePoints::Frozen), &device, "frozen");
    let graphs = [GraphChoice::Heat, GraphChoice::Learnt, GraphChoice::Expressive];
    for &graph in &graphs[..share(3, 1)] {
        agrees::<f32>(&plain.graph(graph), &device, graph.name());
    }
    agrees::<f32>(&plain.sparsity(0.02).n_atoms(150), &device, "wide working sets");
    let ussdl = Ussdl::new().n_atoms(atoms).max_iterations(iterations);
    agrees::<f32>(&ussdl, &device, "ussdl");
    let graph_sc = GraphSc::new().n_atoms(atoms).max_iterations(iterations);
    agrees::<f32>(&graph_sc, &device, "graph-sc");
}

#[test]
fn what_the_card_has_not_is_said() {
    let Some(device) = card() else { return };
    let samples = arms::<f32>(30, share(1500, 1024), 5, 1);
    let fista = SsdlGa::new().n_atoms(40).coder(CodesUpdate::Fista);
    let error = fitted(&fista, Some(&device), &samples, false).expect_err("no such coder");
    assert!(error.to_string().contains("coder=coordinate"), "{error}");
    let many = SsdlGa::new().n_atoms(40).n_neighbors(250);
    let error = fitted(&many, Some(&device), &samples, false).expect_err("too many");
    assert!(error.to_string().contains("250 neighbours"), "{error}");
}

/// What only a card in software can be made to do.
mod provoked {
    use super::*;

    /// A small fit on the card, and one on the processor beside it would give the same.
    fn small(device: &Arc<dyn Device>) -> Result<Model<f32>> {
        let samples = arms::<f32>(12, 1030, 5, 1);
        let method = SsdlGa::new().n_atoms(20).max_iterations(1).n_neighbors(6);
        fitted(&method, Some(device), &samples, false)
    }

    fn bits(model: &Model<f32>) -> (Vec<f32>, f64) {
        let atoms = model.atoms().expect("a dictionary").as_slice().to_vec();
        (atoms, model.report().objective.total())
    }

    #[test]
    fn lanes_in_another_order_give_the_same_bits() {
        let (Some(device), Some(controls)) = (card(), software::Controls::get()) else { return };
        let forwards = bits(&small(&device).expect("room"));
        controls.set_backwards(true);
        let backwards = bits(&small(&device).expect("room"));
        controls.set_backwards(false);
        assert!(forwards == backwards, "the order of lanes shows");
    }

    #[test]
    fn a_failure_is_an_error_and_leaves_nothing_behind() {
        let (Some(device), Some(controls)) = (card(), software::Controls::get()) else { return };
        small(&device).expect("room");
        let before = controls.used();
        for what in
            ["allocate", "copy", "launch", "visit_2", "class_shares", "offer_halves", "confirm"]
        {
            // The later call is that of any kernel.
            let calls: &[i32] = if what == "launch" || what == "copy" { &[0, 40] } else { &[0] };
            for &after in calls {
                controls.fail(what, after);
                match small(&device) {
                    Err(error) => {
                        let message = error.to_string();
                        assert!(message.starts_with("device: "), "{what}: {message}");
                    }
                    Ok(_) => assert!(after > 0, "{what} failed and nobody noticed"),
                }
                controls.fail(what, i32::MAX);
                assert_eq!(controls.used(), before, "{what} after {after}: memory is lost");
            }
        }
        small(&device).expect("a card goes on after a failure");
    }

    #[test]
    fn too_little_memory_is_said() {
        let (Some(device), Some(controls)) = (card(), software::Controls::get()) else { return };
        controls.set_room(controls.used() + (1 << 20));
        let found = small(&device);
        controls.set_room(1 << 32);
        let message = found.expect_err("a megabyte is too little").to_string();
        assert!(message.contains("memory") || message.contains("room"), "{message}");
    }
}
