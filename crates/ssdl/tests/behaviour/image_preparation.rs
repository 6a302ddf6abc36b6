//! Contracts of the preparation steps that work on images, and their agreement with scikit-image.

use std::collections::HashMap;

use serde_json::{Value, json};
use ssdl::fit::Silent;
use ssdl::methods::{self, FitOptions};
use ssdl::random::{Purpose, normal, stream};
use ssdl::samples::prepare::{Pipeline, StepChoice, known};
use ssdl::{Error, Labels, Matrix, Model, Real, Result, Samples};

/// Every step on images, alone and together; all fit images of 12x10.
const PREPARATIONS: [&[&str]; 19] = [
    &["unskew"],
    &["lift=5"],
    &["deskew"],
    &["gradients=9/4/2"],
    &["gradients=8/3/1"],
    &["gradients=9/4/2/soft"],
    &["gradients=8/5/1/signed"],
    &["logarithm"],
    &["logarithm=3"],
    &["contrast"],
    &["contrast=0.7/3"],
    &["resize=6x7"],
    &["resize=15x4"],
    &["join=[none]"],
    &["projection=5"],
    &["gradients=9/4/2/soft", "power=0.5"],
    &["scale=1", "standardise", "contrast", "resize=8x8", "deskew", "gradients=6/2/2", "scale=5"],
    &["deskew", "join=[gradients=9/4/2 | logarithm,pca=4 | resize=3x3,standardise]", "scale=5"],
    &["join=[projection=3 | deskew,projection=3]", "pca=2"],
];
const IMAGE: [usize; 2] = [12, 10];

fn plans(texts: &[&str]) -> Vec<StepChoice> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// Blots of different slant, breadth and place, with some noise; pixels from 0.
fn draw<T: Real>(count: usize, seed: u64) -> Matrix<T> {
    let mut rng = stream(seed, Purpose::Atoms);
    let mut images = Matrix::zeros(IMAGE[0] * IMAGE[1], count);
    for j in 0..count {
        let [slant, breadth, place] = [0.0; 3].map(|_: f64| normal(&mut rng));
        for (at, pixel) in images.column_mut(j).iter_mut().enumerate() {
            let (y, x) = ((at / IMAGE[1]) as f64 - 5.5, (at % IMAGE[1]) as f64 - 4.5 - place);
            let across = (x - 0.4 * slant * y) / (1.0 + 0.3 * breadth.abs());
            let value = (-across * across - (y / 4.0).powi(2)).exp() + 0.02 * normal(&mut rng);
            *pixel = T::of(value.max(0.0));
        }
    }
    images
}

fn saved<T: Real>(pipeline: &Pipeline<T>) -> HashMap<String, Matrix<T>> {
    pipeline.tensors().into_iter().collect()
}

fn every_contract<T: Real>() -> Result<()> {
    let raw = draw::<T>(101, 1);
    for texts in PREPARATIONS {
        let what = format!("{texts:?} in {}", T::NAME);
        let (pipeline, prepared) = Pipeline::fit(&plans(texts), raw.clone(), Some(IMAGE), 3)?;
        assert_eq!(prepared.rows(), pipeline.n_prepared(), "{what}");
        assert_eq!(pipeline.apply(raw.clone())?, prepared, "fit and apply, {what}");
        for chosen in [vec![0], vec![100], vec![32, 7, 99], (0..101).rev().collect()] {
            let apart = pipeline.apply(raw.select_columns(&chosen))?;
            assert_eq!(apart, prepared.select_columns(&chosen), "{chosen:?}, {what}");
        }
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let fit = || Pipeline::fit(&plans(texts), raw.clone(), Some(IMAGE), 3);
            assert_eq!(pool.install(fit)?.1, prepared, "{threads} threads, {what}");
        }
        // As a file does it: plans as text, tensors by name.
        let written: Vec<String> = pipeline.plans().iter().map(ToString::to_string).collect();
        let read: Vec<StepChoice> =
            written.iter().map(|text| text.parse()).collect::<Result<_>>()?;
        let mut tensors = saved(&pipeline);
        let again = Pipeline::restore(&read, 120, Some(IMAGE), &mut |name| tensors.remove(name))?;
        assert!(tensors.is_empty(), "{what}");
        assert_eq!(again.image_prepared(), pipeline.image_prepared(), "{what}");
        assert_eq!(again.apply(raw.clone())?, prepared, "restored, {what}");
        let dull = Matrix::from_fn(120, 3, |_, j| T::of([0.0, 0.5, 255.0][j]));
        let dull = pipeline.apply(dull)?;
        assert!(dull.as_slice().iter().all(|v| v.is_finite()), "{what}");
    }
    Ok(())
}

#[test]
fn bits_do_not_depend_on_other_samples_threads_or_a_file_and_dull_images_stay_finite() -> Result<()>
{
    every_contract::<f64>()?;
    every_contract::<f32>()
}

#[test]
fn dull_images_alone_can_be_fitted() -> Result<()> {
    for texts in &PREPARATIONS[..11] {
        for value in [0.0, 1.0, 255.0] {
            let dull = Matrix::<f32>::from_fn(120, 9, |_, _| value);
            let (_, prepared) = Pipeline::fit(&plans(texts), dull, Some(IMAGE), 0)?;
            assert!(prepared.as_slice().iter().all(|v| v.is_finite()), "{texts:?}, {value}");
        }
    }
    Ok(())
}

#[test]
fn precisions_agree() -> Result<()> {
    for texts in PREPARATIONS {
        let raw = draw::<f32>(60, 2);
        let (pipeline, prepared) = Pipeline::fit(&plans(texts), raw.cast::<f64>(), Some(IMAGE), 3)?;
        let single = pipeline.cast::<f32>()?.apply(raw)?;
        for (a, b) in single.as_slice().iter().zip(prepared.as_slice()) {
            assert!((f64::from(*a) - b).abs() < 1e-3, "{texts:?}: {a} {b}");
        }
    }
    Ok(())
}

#[test]
fn every_step_for_images_is_tried_here() {
    let tried: Vec<StepChoice> = PREPARATIONS.iter().flat_map(|texts| plans(texts)).collect();
    for step in known() {
        assert!(tried.iter().any(|plan| plan.name() == step.name), "{} is not tried", step.name);
    }
}

#[test]
fn the_shape_is_handed_from_step_to_step() -> Result<()> {
    let cases: [(&[&str], Option<[usize; 2]>); 8] = [
        (&[], Some(IMAGE)),
        (&["scale=1", "standardise", "logarithm", "contrast", "deskew"], Some(IMAGE)),
        (&["resize=6x8", "deskew"], Some([6, 8])),
        (&["resize=3x40", "resize=5x2"], Some([5, 2])),
        (&["pca=4"], None),
        (&["projection=4"], None),
        (&["gradients=2/3/1"], None),
        (&["join=[none]"], None),
    ];
    for (texts, image) in cases {
        let (pipeline, _) = Pipeline::fit(&plans(texts), draw::<f64>(9, 3), Some(IMAGE), 0)?;
        assert_eq!(pipeline.image_prepared(), image, "{texts:?}");
    }
    let (pipeline, _) = Pipeline::fit(&plans(&["scale=1"]), draw::<f64>(9, 3), None, 0)?;
    assert_eq!(pipeline.image_prepared(), None);
    Ok(())
}

#[test]
fn images_that_are_missing_or_of_another_shape_are_named_with_the_remedy() {
    let fit = |texts: &[&str], image| {
        Pipeline::fit(&plans(texts), draw::<f64>(9, 4), image, 0).unwrap_err().to_string()
    };
    for text in ["deskew", "gradients", "contrast", "resize=4x4", "join=[none | deskew]"] {
        let step = text.trim_start_matches("join=[none | ").trim_end_matches(']');
        for error in [fit(&[text], None), fit(&["pca=4", text], Some(IMAGE))] {
            assert!(error.contains(&format!("`{step}`")), "{error}");
            assert!(error.contains("--image HEIGHTxWIDTH"), "{error}");
        }
    }
    let error = fit(&["deskew"], Some([12, 11]));
    assert_eq!(error, "pixels of an image of 12x11, one per feature: expected 120, got 132");
    let error = fit(&["gradients=9/40/2"], Some(IMAGE));
    assert!(error.contains("12x10 pixels hold 0x0 cells of 40"), "{error}");
    let error = fit(&["resize=600x600"], Some(IMAGE));
    assert!(error.contains("at most 128 features of one"), "{error}");
    let error = fit(&["join=[none | gradients=180/1/5]"], Some(IMAGE));
    assert!(error.contains("knob `gradients`") && error.contains("at most 128"), "{error}");
}

#[test]
fn values_beyond_single_precision_are_an_error() -> Result<()> {
    for text in ["deskew", "gradients", "contrast", "resize=4x4", "join=[deskew | none]"] {
        let (pipeline, _) = Pipeline::fit(&plans(&[text]), draw::<f64>(9, 5), Some(IMAGE), 0)?;
        let mut huge = draw::<f64>(3, 6);
        huge.column_mut(1)[40] = 1e300;
        let error = pipeline.apply(huge).unwrap_err().to_string();
        assert!(error.contains("row 2 overflows"), "{text}: {error}");
    }
    Ok(())
}

#[test]
fn hostile_pipelines_are_refused() -> Result<()> {
    let join = plans(&["join=[standardise | deskew,pca=3]", "logarithm"]);
    let (pipeline, _) = Pipeline::fit(&join, draw::<f64>(9, 7), Some(IMAGE), 0)?;
    let tensors = saved(&pipeline);
    let restore = |plans: &[StepChoice], n, image, tensors: &HashMap<String, Matrix<f64>>| {
        Pipeline::restore(plans, n, image, &mut |name| tensors.get(name).cloned())
    };
    assert!(restore(&join, 120, Some(IMAGE), &tensors).is_ok());
    for (n, image) in [(120, None), (120, Some([12, 11])), (119, Some([7, 17])), (0, Some([0, 0]))]
    {
        assert!(restore(&join, n, image, &tensors).is_err(), "{n}, {image:?}");
    }
    for name in tensors.keys() {
        let mut lost = tensors.clone();
        let tensor = lost.remove(name).unwrap();
        assert!(matches!(restore(&join, 120, Some(IMAGE), &lost), Err(Error::Samples(_))));
        lost.insert(name.clone(), Matrix::zeros(tensor.rows() + 1, tensor.columns()));
        assert!(matches!(restore(&join, 120, Some(IMAGE), &lost), Err(Error::Shape { .. })));
    }
    // Sizes that no machine has: refused or built without allocating them.
    let side = 1 << 16;
    let vast = [
        "gradients=180/1/32768",
        "gradients=9/1/1",
        "resize=65536x65536",
        "join=[resize=65536x65536 | gradients=180/1/32768]",
        "deskew",
    ];
    for text in vast {
        let _ = restore(&plans(&[text]), side * side, Some([side, side]), &tensors);
        assert!(restore(&plans(&[text]), usize::MAX, Some([usize::MAX, 1]), &tensors).is_err());
    }
    Ok(())
}

fn matrix(value: &Value) -> Matrix<f64> {
    let size = |key: &str| value[key].as_u64().unwrap() as usize;
    let data = value["data"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    Matrix::from_columns(size("rows"), size("columns"), data).unwrap()
}

fn agrees_with_scikit_image<T: Real>() -> Result<()> {
    let file: Value = serde_json::from_str(include_str!("../oracle/hog.json")).unwrap();
    for case in file["cases"].as_array().unwrap() {
        let number = |value: &Value| value.as_u64().unwrap() as usize;
        let image = [number(&case["image"][0]), number(&case["image"][1])];
        let text = format!("gradients={}/{}/{}", case["orientations"], case["cell"], case["block"]);
        let (pixels, expected) = (matrix(&case["pixels"]), matrix(&case["described"]));
        let (_, described) = Pipeline::fit(&plans(&[&text]), pixels.cast::<T>(), Some(image), 0)?;
        assert_eq!(described.rows(), expected.rows(), "{text} of {image:?}");
        for (at, (a, b)) in described.as_slice().iter().zip(expected.as_slice()).enumerate() {
            let (image_at, at) = (at / expected.rows(), at % expected.rows());
            assert!((a.wide() - b).abs() < 1e-5, "{text} of {image:?}, {image_at}, {at}: {a} {b}");
        }
    }
    Ok(())
}

#[test]
fn histograms_of_gradients_agree_with_scikit_image() -> Result<()> {
    agrees_with_scikit_image::<f64>()?;
    agrees_with_scikit_image::<f32>()
}

#[test]
fn a_model_carries_its_image_preparation() -> Result<()> {
    let names: Vec<Option<&str>> = (0..40).map(|j| [Some("a"), Some("b"), None][j % 3]).collect();
    let mut features = draw::<f32>(40, 8);
    for j in (0..40).filter(|j| j % 3 == 1) {
        features.column_mut(j).reverse();
        features.column_mut(j)[..30].fill(1.0);
    }
    let samples = Samples::new(features.clone(), Labels::from_names(&names))?;
    let prepare = plans(&["join=[deskew,gradients=9/4/2 | logarithm,pca=4]", "scale=5"]);
    let options =
        FitOptions { prepare: prepare.clone(), image: Some(IMAGE), ..FitOptions::default() };
    let knobs: Vec<(String, String)> =
        [("n_atoms", "9"), ("max_iterations", "2")].map(|(k, v)| (k.into(), v.into())).into();
    let model = methods::find::<f32>("ssdl-ga")?.fit(&knobs, samples, &options, &mut Silent)?;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    model.save(&path)?;
    let again = Model::<f32>::load(&path)?;
    assert_eq!(again.preparation().plans(), prepare);
    assert_eq!(again.predict(features.clone())?.scores, model.predict(features)?.scores);

    // The same file without its shape, or with a join too deep, is refused with a reason.
    for (change, reason) in [
        (json!({"image": null}), "--image HEIGHTxWIDTH"),
        (json!({"image": [10, 13]}), "--image HEIGHTxWIDTH"),
        (json!({"image": [0, u64::MAX]}), "--image HEIGHTxWIDTH"),
        (json!({"prepare": ["join=[join=[deskew]]", "scale=5"]}), "a join within a join"),
        (json!({"prepare": ["resize=65536x65536"]}), "at most 128"),
        (json!({"prepare": ["gradients=9/4/2"]}), ""),
    ] {
        let broken = folder.path().join("broken");
        std::fs::write(&broken, with_header(&std::fs::read(&path).unwrap(), &change)).unwrap();
        let error = Model::<f32>::load(&broken).unwrap_err();
        assert!(matches!(error, Error::Format { .. }), "{change}: {error}");
        assert!(error.to_string().contains(reason), "{change}: {error}");
    }
    Ok(())
}

/// The bytes of a model file with some fields of its header changed.
fn with_header(bytes: &[u8], change: &Value) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut envelope: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let ours = envelope["__metadata__"]["ssdl"].as_str().unwrap();
    let mut header: Value = serde_json::from_str(ours).unwrap();
    for (key, value) in change.as_object().unwrap() {
        header[key] = value.clone();
    }
    envelope["__metadata__"]["ssdl"] = header.to_string().into();
    // It would tell of the change before anything else does.
    envelope["__metadata__"].as_object_mut().unwrap().remove("checksum");
    let mut text = envelope.to_string();
    text += &" ".repeat(text.len().next_multiple_of(8) - text.len());
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes(), &bytes[8 + length..]].concat()
}
