//! The sound inputs.

use std::io::Write;

use ssdl::fit::Silent;
use ssdl::methods::{self, FitOptions};
use ssdl::{Labels, Matrix, Samples};

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("../../ssdl-data/tests/fixtures/", $name)).to_vec()
    };
}

pub fn text() -> Vec<Vec<u8>> {
    let texts = [
        "length,width,kind\n5.1,3.5,rose\n4.9,3.0,\n1e-3,-2,tulip\n",
        "5.1;3.5;a\n4.9;3.0;b\n",
        "\u{feff}\"a, b\",c\r\n1,\"2\"\r\n\r\n3,4\r\n",
        "1\t2\tx\n3\t4\tNA\n",
        "1\t2\n3\t4\n",
        "# comment\n  1 2 3\n4 5 6\n",
        "label\na\n\nb\n-1\nnan\n",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

pub fn words() -> Vec<Vec<u8>> {
    let texts = [
        "age,job,weight,kind\n45,nurse,1,a\n,clerk,2,b\n31,nurse,,\n",
        "age,job,kind\n45,\"a, b\",x\n?,clerk,y\n1e3,NA,\n,,\n",
        "?,nurse,x\n45,clerk,y\n31,nurse,x\n",
        "Rom;1,5;2\nBari;9,5;3\n",
        "\u{feff}größe\tort\r\n1\tKöln\r\n1.200,00\t\r\n",
        "yes no\nno yes\n",
        "1 x\n2 y\n",
        ",,\n,,\n",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

pub fn npy() -> Vec<Vec<u8>> {
    vec![
        fixture!("samples_little_f8.npy"),
        fixture!("samples_fortran.npy"),
        fixture!("labels_words.npy"),
        fixture!("version2.npy"),
        fixture!("images.npy"),
        fixture!("labels_bytes.npy"),
        fixture!("samples_little_f2.npy"),
    ]
}

pub fn npz() -> Vec<Vec<u8>> {
    vec![
        fixture!("stored.npz"),
        fixture!("packed.npz"),
        fixture!("two.npz"),
        fixture!("unnamed.npz"),
    ]
}

pub fn idx() -> Vec<Vec<u8>> {
    vec![
        fixture!("images-idx3-ubyte"),
        fixture!("samples_byte.idx"),
        fixture!("samples_double.idx"),
        fixture!("samples_float.idx"),
    ]
}

pub fn mat() -> Vec<Vec<u8>> {
    vec![
        fixture!("rows.mat"),
        fixture!("rows_packed.mat"),
        fixture!("images.mat"),
        fixture!("big_endian.mat"),
        fixture!("complex.mat"),
        fixture!("columns.mat"),
    ]
}

pub fn safetensors() -> Vec<Vec<u8>> {
    vec![fixture!("both.safetensors"), fixture!("half.safetensors")]
}

pub fn images() -> Vec<Vec<u8>> {
    vec![
        fixture!("grey.png"),
        fixture!("palette.png"),
        fixture!("deep.png"),
        fixture!("clear.png"),
        fixture!("bits.png"),
        fixture!("turned.png"),
        fixture!("grey.jpg"),
        fixture!("turned.jpg"),
        fixture!("ink.jpg"),
        fixture!("progressive.jpg"),
        b"P2 3 2 255\n1 2 3\n4 5 6\n".to_vec(),
        b"P1 2 2\n1 0\n0 1\n".to_vec(),
        b"P4 9 2\n\x80\x80\x00\x00".to_vec(),
        b"P5 3 1 255\n\x00\x07\xff".to_vec(),
        b"P6 1 1 65535\n\x00\x01\x00\x02\x00\x03".to_vec(),
    ]
}

pub fn packed() -> Vec<Vec<u8>> {
    let pack = |bytes: Vec<u8>| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let written = packed.write_all(&bytes);
        written.and_then(|()| packed.finish()).unwrap_or_default()
    };
    let mut found: Vec<Vec<u8>> = [text(), idx(), npy()].into_iter().flatten().map(pack).collect();
    found.push(fixture!("images-idx3-short.gz"));
    found.push(fixture!("labels-idx1-ubyte.gz"));
    // Much of little.
    found.push(pack(vec![b'1'; 1 << 20]));
    found
}

/// Models of every method, with their checksums and without: so that more than the checksum is tried.
pub fn models() -> Vec<Vec<u8>> {
    let features =
        Matrix::from_fn(6, 18, |i, j| (j % 3 == i % 3) as u8 as f64 + 0.1 * ((i * j) as f64).sin());
    let names: Vec<Option<&str>> =
        (0..18).map(|j| (j < 9).then(|| ["a", "b", "c"][j % 3])).collect();
    let mut found = Vec::new();
    for method in methods::all::<f64>() {
        let Ok(samples) = Samples::new(features.clone(), Labels::from_names(&names)) else {
            continue;
        };
        let options = FitOptions { threads: 1, image: Some([2, 3]), ..FitOptions::default() };
        let model = method.fit(&[], samples, &options, &mut Silent);
        if let Ok(bytes) = model.and_then(|model| model.to_bytes()) {
            found.extend(unchecked(&bytes));
            found.push(bytes);
        }
    }
    found
}

/// The same file without its checksum.
fn unchecked(bytes: &[u8]) -> Option<Vec<u8>> {
    let length = usize::try_from(u64::from_le_bytes(*bytes.first_chunk()?)).ok()?;
    let mut json: serde_json::Value = serde_json::from_slice(bytes.get(8..8 + length)?).ok()?;
    json["__metadata__"].as_object_mut()?.remove("checksum");
    let json = json.to_string();
    let length = (json.len() as u64).to_le_bytes();
    Some([&length[..], json.as_bytes(), bytes.get(8 + bytes_of(bytes)?..)?].concat())
}

fn bytes_of(bytes: &[u8]) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(*bytes.first_chunk()?)).ok()
}

pub fn plans() -> Vec<Vec<u8>> {
    ssdl_experiments::KNOWN.iter().map(|(_, text)| text.as_bytes().to_vec()).collect()
}

pub fn rows() -> Vec<Vec<u8>> {
    let first =
        |text: &str| text.lines().take(4).map(|line| format!("{line}\n")).collect::<String>();
    let all = [
        include_str!("../../../results/digits.csv"),
        include_str!("../../../results/laplacians.csv"),
    ];
    all.map(|text| first(text).into_bytes()).to_vec()
}

pub fn knobs() -> Vec<Vec<u8>> {
    let texts = [
        "method = \"ssdl-ga\"\nprepare = [\"scale=5\"]\n\n[knobs]\nn_atoms = 30\nsparsity = 0.2\n",
        "method = \"ussdl\"\nprepare = [\"standardise\", \"pca=5\"]\n\n[knobs]\nmax_iterations = 3\n",
        "method = \"linear-svm\"\nprepare = [\"join=[deskew,gradients=9/4/2 | deskew]\"]\n[knobs]\n",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

pub fn journals() -> Vec<Vec<u8>> {
    let begin = r#"{"id":"a","time":"2026-03-01T12:30:05Z","person":"ann","act":"begin","version":1,"data":"x.csv","samples":5}"#;
    let class = r#"{"id":"b","time":"t","person":"ann","act":"class","name":"rose"}"#;
    let answer = r#"{"id":"c","time":"t","person":"ann","act":"answer","answers":[{"sample":2,"hash":"f0","label":"rose","guess":"tulip","probability":0.7,"seconds":1.5},{"sample":3,"name":"d.png","hash":"f1","label":"tulip","random":true}]}"#;
    let other = r#"{"id":"d","time":"t","person":"bob","act":"answer","answers":[{"sample":2,"hash":"f0","label":"tulip"},{"sample":4,"hash":"f2","verdict":"unusable"}]}"#;
    let undo = r#"{"id":"e","time":"t","person":"ann","act":"undo","undoes":"c"}"#;
    let redo = r#"{"id":"f","time":"t","person":"ann","act":"redo","redoes":"c"}"#;
    let lines = [&[begin][..], &[begin, class, answer], &[begin, class, answer, other, undo, redo]];
    let whole = lines.map(|lines| lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    whole.map(String::into_bytes).to_vec()
}
