//! Both nets on tiny data: what users rely on.

use std::path::Path;

use ssdl::fit::{Flow, Progress, Silent, Watch};
use ssdl::{Labels, Matrix, Samples};
use ssdl_neural::{Error, Method, Net, Options, Result, Stop};

type Knobs = Vec<(String, String)>;

fn knobs(pairs: &[(&str, &str)]) -> Knobs {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Small and quick knobs of a method.
fn quick(method: Method) -> Knobs {
    match method {
        Method::Cnn => knobs(&[("epochs", "25"), ("batch", "20")]),
        Method::Ladder => knobs(&[
            ("epochs", "40"),
            ("first_width", "60"),
            ("second_width", "30"),
            ("third_width", "0"),
            ("batch", "50"),
        ]),
    }
}

/// Some of the bundled digits, of which the first `n_labelled` of each of `n_classes` are labelled.
fn digits(count: usize, n_labelled: usize, n_classes: usize) -> (Samples<f32>, Vec<String>) {
    let table = ssdl_data::digits();
    let truth: Vec<String> = table.labels.expect("labelled").into_iter().flatten().collect();
    let known: Vec<usize> = (0..truth.len())
        .filter(|&j| truth[j].parse::<usize>().is_ok_and(|class| class < n_classes))
        .take(count)
        .collect();
    let mut left = [n_labelled; 10];
    let names: Vec<Option<String>> = known
        .iter()
        .map(|&j| {
            let left = &mut left[truth[j].parse::<usize>().expect("a digit")];
            *left = left.checked_sub(1)?;
            Some(truth[j].clone())
        })
        .collect();
    let features = table.features.select_columns(&known).cast::<f32>();
    let samples = Samples::new(features, Labels::from_names(&names)).expect("samples");
    (samples, known.iter().map(|&j| truth[j].clone()).collect())
}

fn options() -> Options {
    Options { image: Some([8, 8]), ..Options::default() }
}

fn fit(method: Method, seed: u64, threads: usize) -> Result<(Net, Matrix<f32>, Vec<String>)> {
    let (samples, truth) = digits(300, 8, 4);
    let features = samples.features().clone();
    let options = Options { seed, threads, ..options() };
    Ok((method.fit(&quick(method), samples, &options, &mut Silent)?, features, truth))
}

fn bytes(net: &Net, folder: &Path) -> Vec<u8> {
    let path = folder.join("net");
    net.save(&path).expect("saved");
    std::fs::read(path).expect("there")
}

#[test]
fn both_learn_digits_from_eight_labels_a_class_and_the_loss_falls() -> Result<()> {
    for method in Method::ALL {
        let (net, features, truth) = fit(method, 1, 0)?;
        let report = net.report();
        assert!(report.objective < 0.7 * report.objectives[0], "{method:?} {report:?}");
        assert_eq!((net.stop(), report.n_samples, report.n_labelled), (Stop::Limit, 300, 32));
        let found = net.predict(features)?;
        let right = found.labels.iter().zip(&truth).filter(|(a, b)| a == b).count();
        assert!(right > 270, "{method:?}: {right} of 300");
        for shares in found.probabilities.iter_columns() {
            assert!((shares.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        }
    }
    Ok(())
}

#[test]
fn the_same_seed_gives_the_same_file_on_any_number_of_threads() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    for method in Method::ALL {
        let first = bytes(&fit(method, 3, 0)?.0, folder.path());
        assert_eq!(first, bytes(&fit(method, 3, 1)?.0, folder.path()), "{method:?}");
        assert_ne!(first, bytes(&fit(method, 4, 0)?.0, folder.path()), "{method:?}");
    }
    Ok(())
}

#[test]
fn a_saved_net_comes_back_with_the_same_bits() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("net");
    for method in Method::ALL {
        let (samples, _) = digits(120, 5, 3);
        let features = samples.features().clone();
        let steps = ["deskew", "power=0.5"].map(|step| step.parse().expect("a step"));
        let options = Options { prepare: steps.to_vec(), ..options() };
        let net = method.fit(&quick(method), samples, &options, &mut Silent)?;
        net.save(&path)?;
        let again = Net::load(&path)?;
        let (one, other) = (net.predict(features.clone())?, again.predict(features.clone())?);
        assert_eq!(one.probabilities.as_slice(), other.probabilities.as_slice(), "{method:?}");
        assert_eq!(bytes(&net, folder.path()), bytes(&again, folder.path()));
        assert_eq!(
            (net.knobs(), net.classes(), net.shape()),
            (again.knobs(), again.classes(), again.shape())
        );
        // A sample gets the same bits alone as in company.
        let alone = again.predict(features.select_columns(&[77]))?;
        assert_eq!(alone.probabilities.column(0), one.probabilities.column(77), "{method:?}");
    }
    Ok(())
}

#[test]
fn damaged_files_and_those_of_models_are_refused() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = bytes(&fit(Method::Ladder, 1, 0)?.0, folder.path());
    let path = folder.path().join("damaged");
    for at in (0..whole.len()).step_by(whole.len() / 60) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&path, damaged).expect("written");
        let error = Net::load(&path).expect_err("damaged").to_string();
        assert!(error.contains("not a usable"), "byte {at}: {error}");
    }
    std::fs::write(&path, &whole[..whole.len() / 2]).expect("written");
    assert!(Net::load(&path).is_err());
    std::fs::write(&path, b"").expect("written");
    assert!(Net::load(&path).is_err());
    // A sound file of something else.
    let (samples, _) = digits(60, 5, 2);
    let model = ssdl::methods::find::<f32>("ridge")?.fit(
        &[],
        samples,
        &ssdl::methods::FitOptions::default(),
        &mut Silent,
    )?;
    model.save(&path)?;
    let error = Net::load(&path).expect_err("a model").to_string();
    assert!(error.contains("not a usable") && error.contains("damaged"), "{error}");
    Ok(())
}

#[test]
fn samples_that_are_no_images_are_refused_by_the_convolutional_net_alone() -> Result<()> {
    let plain = Options::default();
    let (samples, _) = digits(60, 5, 2);
    let error = Method::Cnn.fit(&quick(Method::Cnn), samples.clone(), &plain, &mut Silent);
    let error = error.expect_err("no images").to_string();
    assert!(error.contains("--image") && error.contains("ladder"), "{error}");
    Method::Ladder.fit(&quick(Method::Ladder), samples.clone(), &plain, &mut Silent)?;
    // A preparation may make no images of images.
    let steps = vec!["pca=10".parse().expect("a step")];
    let options = Options { prepare: steps, ..options() };
    let error = Method::Cnn.fit(&quick(Method::Cnn), samples, &options, &mut Silent);
    assert!(matches!(error, Err(Error::NoImages { .. })));
    Ok(())
}

#[test]
fn a_class_without_labels_and_labels_of_one_class_are_told() -> Result<()> {
    #[derive(Default)]
    struct Notices(Vec<String>);
    impl Watch for Notices {
        fn step(&mut self, _: &Progress<'_>) -> Flow {
            Flow::Continue
        }
        fn notice(&mut self, sentence: &str) {
            self.0.push(sentence.to_owned());
        }
    }
    for method in Method::ALL {
        let (samples, _) = digits(60, 5, 2);
        let (features, labels) = samples.into_parts();
        let mut classes = labels.classes().to_vec();
        classes.push("seven".into());
        let more = Labels::new(classes, labels.assigned().to_vec())?;
        let samples = Samples::new(features.clone(), more)?;
        let mut notices = Notices::default();
        let net = method.fit(&quick(method), samples, &options(), &mut notices)?;
        assert!(notices.0[0].contains("seven"), "{:?}", notices.0);
        assert_eq!(net.predict(features.clone())?.probabilities.rows(), 3);
        let one = vec![Some("a"); features.columns()];
        let samples = Samples::new(features, Labels::from_names(&one))?;
        let error = method.fit(&quick(method), samples, &options(), &mut Silent);
        assert!(error.expect_err("one class").to_string().contains("two classes"));
    }
    Ok(())
}

#[test]
fn few_samples_odd_batches_and_constant_features_work() -> Result<()> {
    for method in Method::ALL {
        for (count, batch) in [(5, "4"), (9, "8"), (40, "39")] {
            let (samples, _) = digits(count, 2, 2);
            let mut knobs = quick(method);
            knobs.push(("batch".into(), batch.into()));
            let features = samples.features().clone();
            let net = method.fit(&knobs, samples, &options(), &mut Silent)?;
            assert_eq!(net.predict(features.select_columns(&[0]))?.labels.len(), 1);
        }
    }
    let features = Matrix::from_fn(64, 12, |_, _| 0.5_f32);
    let names: Vec<_> = (0..12).map(|j| (j < 4).then_some(["a", "b"][j % 2])).collect();
    for method in Method::ALL {
        let samples = Samples::new(features.clone(), Labels::from_names(&names))?;
        let net = method.fit(&quick(method), samples, &options(), &mut Silent)?;
        let shares = net.predict(features.clone())?.probabilities;
        assert!(shares.as_slice().iter().all(|share| share.is_finite()), "{method:?}");
    }
    Ok(())
}

#[test]
fn a_loss_that_runs_away_is_stopped_and_said() {
    let (samples, _) = digits(60, 5, 2);
    let mut wild = quick(Method::Cnn);
    wild.extend(knobs(&[("learning_rate", "1e38"), ("clip", "0"), ("normalise", "false")]));
    match Method::Cnn.fit(&wild, samples, &options(), &mut Silent) {
        Ok(net) => assert_eq!(net.stop(), Stop::NotFinite),
        Err(error) => assert!(error.to_string().contains("learning_rate"), "{error}"),
    }
}

#[test]
fn an_observer_stops_a_fit_and_gets_the_best_net() -> Result<()> {
    struct Impatient;
    impl Watch for Impatient {
        fn step(&mut self, progress: &Progress<'_>) -> Flow {
            if progress.iteration == 3 { Flow::Stop } else { Flow::Continue }
        }
    }
    for method in Method::ALL {
        let (samples, _) = digits(80, 5, 2);
        let features = samples.features().clone();
        let net = method.fit(&quick(method), samples, &options(), &mut Impatient)?;
        assert_eq!((net.stop(), net.report().epochs), (Stop::Cancelled, 3));
        assert_eq!(net.predict(features)?.labels.len(), 80);
    }
    Ok(())
}

#[test]
fn memory_and_knobs_out_of_range_are_refused_before_anything_is_done() {
    let (samples, _) = digits(60, 5, 2);
    let little = Options { memory_limit: Some(1000), ..options() };
    for method in Method::ALL {
        let error = method.fit(&quick(method), samples.clone(), &little, &mut Silent);
        assert!(matches!(error, Err(Error::Memory { allowed: 1000, .. })));
        for wrong in [("epochs", "0"), ("nonsense", "1"), ("profile", "mine"), ("batch", "x")] {
            let error = method.check(&knobs(&[wrong])).expect_err("refused").to_string();
            assert!(error.contains(wrong.0), "{error}");
        }
        assert!(method.check(&knobs(&[("profile", "authors"), ("epochs", "3")])).is_ok());
    }
    assert!(Method::find("resnet").expect_err("unknown").to_string().contains("cnn, ladder"));
}

#[test]
fn the_profile_of_the_scripts_can_be_fitted_and_is_kept_in_full() -> Result<()> {
    for method in Method::ALL {
        let (samples, _) = digits(80, 5, 2);
        let features = samples.features().clone();
        let mut knobs = knobs(&[("profile", "authors")]);
        knobs.extend(quick(method));
        let net = method.fit(&knobs, samples, &options(), &mut Silent)?;
        let value =
            |name| net.knobs().iter().find(|(knob, _)| knob == name).map(|(_, v)| v.as_str());
        match method {
            Method::Cnn => assert_eq!(
                (value("normalise"), value("descent")),
                (Some("false"), Some("adadelta"))
            ),
            Method::Ladder => {
                assert_eq!((value("gain"), value("statistics")), (Some("false"), Some("predicted")))
            }
        }
        assert_eq!(net.predict(features)?.labels.len(), 80);
    }
    Ok(())
}
