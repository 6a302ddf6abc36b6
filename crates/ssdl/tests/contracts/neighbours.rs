//! Contracts of every search for neighbours: sorted lists of distinct others, near enough, whatever the
//! samples and however many threads.

use ssdl::graph::{Attachment, Neighbours, Rule, Search};
use ssdl::random::{Purpose, normal, stream};
use ssdl::{Matrix, Real, threads};

/// Clouds around random centres.
fn clustered<T: Real>(n: usize, count: usize, n_clouds: usize) -> Matrix<T> {
    let mut rng = stream(11, Purpose::Split);
    let centres = Matrix::from_fn(n, n_clouds, |_, _| 3.0 * normal(&mut rng));
    Matrix::from_fn(n, count, |i, j| {
        T::of(centres.column(j % n_clouds)[i] + 0.7 * normal(&mut rng))
    })
}

/// Images of a few strokes, moved and blurred: many features that depend on few.
fn strokes<T: Real>(count: usize) -> Matrix<T> {
    let mut rng = stream(12, Purpose::Split);
    let mut bend: Vec<f64> = Vec::new();
    for _ in 0..3 * count {
        bend.push(normal(&mut rng));
    }
    Matrix::from_fn(256, count, |pixel, j| {
        let (x, y) = ((pixel % 16) as f64 / 16.0, (pixel / 16) as f64 / 16.0);
        let line = 0.5 + 0.15 * bend[3 * j] + 0.3 * bend[3 * j + 1] * (y - 0.5);
        let noise = ((pixel * 7919 + j * 104_729) % 1009) as f64 / 1009.0;
        T::of((-(x - line).powi(2) * 60.0).exp() * (1.0 + 0.2 * bend[3 * j + 2]) + 0.05 * noise)
    })
}

type Find<T> = fn(&Matrix<T>, usize) -> Neighbours;

/// Every way to find the neighbours of training samples.
fn searches<T: Real>() -> [(&'static str, Find<T>); 4] {
    [
        ("within", Neighbours::within),
        ("nearby", Neighbours::nearby),
        ("exact", |samples, k| Neighbours::search(samples, k, Search::Exact).0),
        ("approximate", |samples, k| Neighbours::search(samples, k, Search::Approximate).0),
    ]
}

fn squared<T: Real>(samples: &Matrix<T>, i: usize, j: usize) -> f64 {
    let pairs = samples.column(i).iter().zip(samples.column(j));
    pairs.map(|(a, b)| (a.wide() - b.wide()).powi(2)).sum()
}

#[track_caller]
fn check_lists<T: Real>(what: &str, samples: &Matrix<T>, k: usize, found: &Neighbours) {
    let count = samples.columns();
    assert_eq!(found.k(), k.min(count - 1), "{what}");
    for i in 0..if found.k() > 0 { count } else { 0 } {
        let list = found.of(i);
        let places = list.iter().map(|&j| (squared(samples, i, j as usize), j));
        let places: Vec<(f64, u32)> = places.collect();
        // Sums in another order differ by rounding.
        let sorted = places.windows(2).all(|pair| pair[0].0 <= pair[1].0 * (1.0 + 1e-12));
        assert!(sorted, "{what}: sample {i}: {places:?}");
        let mut distinct = list.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), found.k(), "{what}: sample {i} {list:?}");
        assert!(distinct.iter().all(|&j| (j as usize) < count && j as usize != i), "{what}: {i}");
    }
}

fn check_all<T: Real>() {
    let few = clustered::<T>(3, 7, 2);
    let twins = Matrix::from_fn(4, 900, |i, j| T::of(((j % 30) * (i + 1)) as f64));
    let constant = Matrix::from_fn(250, 560, |_, _| T::of(2.5));
    let sets = [
        ("clouds", clustered::<T>(24, 1200, 12)),
        ("strokes", strokes::<T>(800)),
        ("few", few),
        ("two", clustered::<T>(2, 2, 1)),
        ("twins", twins),
        ("constant", constant),
    ];
    for (name, samples) in &sets {
        for (search, find) in searches::<T>() {
            // Long samples take their time.
            for &k in if samples.rows() > 100 { &[8][..] } else { &[1, 8, 40] } {
                let what = format!("{search} {} of {name}, k = {k}", T::NAME);
                check_lists(&what, samples, k, &find(samples, k));
            }
        }
    }
}

#[test]
fn lists_are_sorted_distinct_and_without_the_sample_itself() {
    check_all::<f32>();
    check_all::<f64>();
}

#[test]
fn every_neighbour_is_found_among_few_samples_and_for_all_k() {
    for count in [1, 2, 3, 17, 60] {
        let samples = clustered::<f64>(3, count, 2);
        for k in [1, count - 1, count, 100] {
            let found = Neighbours::nearby(&samples, k);
            assert_eq!(found, Neighbours::within(&samples, k), "{count} samples, k = {k}");
        }
    }
}

#[test]
fn the_approximate_search_finds_nearly_all() {
    for (what, samples) in
        [("clouds", clustered::<f32>(32, 6000, 40)), ("strokes", strokes::<f32>(5000))]
    {
        let (found, recall) = Neighbours::search(&samples, 8, Search::Approximate);
        let recall = recall.unwrap();
        let exact = Neighbours::within(&samples, 8);
        let both = |i: usize| found.of(i).iter().filter(|j| exact.of(i).contains(j)).count();
        let true_recall =
            (0..samples.columns()).map(both).sum::<usize>() as f64 / (8 * samples.columns()) as f64;
        assert!(true_recall >= 0.98, "{what}: {true_recall}");
        assert!((recall - true_recall).abs() < 0.02, "{what}: {recall}, truly {true_recall}");
        assert_eq!(exact.recall(&samples), 1.0);
    }
    let samples = clustered::<f64>(4, 300, 2);
    assert_eq!(Neighbours::search(&samples, 4, Search::Auto).1, None);
    let lists: Vec<Vec<u32>> = (0..300).map(|i| vec![(i + 150) % 300]).collect();
    assert!(Neighbours::given(&lists).unwrap().recall(&samples) < 0.2);
}

#[test]
fn the_approximate_search_gives_the_same_bits_on_any_number_of_threads() {
    let samples = strokes::<f32>(4000);
    let find = |n_threads| threads::run(n_threads, || Neighbours::nearby(&samples, 10));
    let one = find(1);
    assert_eq!(one, find(2));
    assert_eq!(one, find(3));
}

/// An attachment that searches through an index.
fn indexed<T: Real>(rule: Rule) -> Attachment<T> {
    Attachment::new(rule).with_recall(Some(1.0))
}

#[test]
fn new_samples_find_nearly_the_same_through_an_index_alone_and_together() {
    for (what, samples) in
        [("clouds", clustered::<f32>(20, 9000, 30)), ("strokes", strokes::<f32>(8000))]
    {
        let chosen: Vec<usize> = (0..150).map(|at| at * 50 + 3).collect();
        let new = samples.select_columns(&chosen);
        let new = Matrix::from_fn(new.rows(), new.columns(), |i, j| {
            new.column(j)[i] * 1.01 + 0.001 * ((i + j) % 3) as f32
        });
        let rule = Rule::Neighbours { n_neighbors: 8, both_ways: false };
        let attachment = indexed(rule);
        let anchors = attachment.anchor(&samples, &new).unwrap();
        let exact = Neighbours::between(&samples, &new, 8);
        let both =
            |i: usize| anchors.of(i).filter(|(j, _)| exact.of(i).contains(&(*j as u32))).count();
        let recall = (0..150).map(both).sum::<usize>() as f64 / 1200.0;
        assert!(recall >= 0.97, "{what}: {recall}");
        let alone = attachment.anchor(&samples, &new.select_columns(&[77])).unwrap();
        let (one, all): (Vec<_>, Vec<_>) = (alone.of(0).collect(), anchors.of(77).collect());
        assert_eq!(one, all, "{what}");
    }
}

#[test]
fn a_new_sample_far_beyond_single_precision_still_finds_the_nearest() {
    let samples = clustered::<f64>(5, 7000, 10);
    let mut new = Matrix::from_fn(5, 2, |_, _| 1e200);
    new.column_mut(1).copy_from_slice(samples.column(4321));
    let rule = Rule::Neighbours { n_neighbors: 3, both_ways: false };
    let found = indexed(rule).anchor(&samples, &new).unwrap();
    assert_eq!(found.of(0).len(), 3);
    assert!(found.of(1).any(|(j, _)| j == 4321));
}
