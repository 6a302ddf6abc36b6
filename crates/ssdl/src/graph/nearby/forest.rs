//! Trees of random cuts: samples that end in one leaf are often near each other.

use crate::matrix::Matrix;
use crate::random::place;
use crate::threads::{Loops, both};
use crate::wide::wide;

/// A cut that leaves less than this share on one side is made in the middle instead.
const LEAST: usize = 20;
/// Samples of a node from which on its halves are cut side by side.
const APART: usize = 4096;

/// The samples in the order of the leaves, and the size of each leaf.
pub(super) struct Leaves {
    /// (place along the last cut, sample).
    pub order: Vec<(f32, u32)>,
    pub sizes: Vec<u32>,
}

/// Cuts all samples, given by their sketches, into leaves of at most `leaf`.
///
/// A node is cut half way between two of its samples. Bits do not depend on threads: every random number
/// is a function of the node.
pub(super) fn cut(values: &Matrix<f32>, leaf: usize, tree: u64) -> Leaves {
    let mut order: Vec<(f32, u32)> = (0..values.columns() as u32).map(|i| (0.0, i)).collect();
    let sizes = cut_node(values, &mut order, leaf, place(2, tree, 0));
    Leaves { order, sizes }
}

fn cut_node(values: &Matrix<f32>, node: &mut [(f32, u32)], leaf: usize, key: u64) -> Vec<u32> {
    let count = node.len();
    if count <= leaf {
        return vec![count as u32];
    }
    let draw = |which| (place(3, key, which) % count as u64) as usize;
    let (a, mut b) = (draw(0), draw(1));
    if a == b {
        b = (a + 1) % count;
    }
    let (x, y) = (values.column(node[a].1 as usize), values.column(node[b].1 as usize));
    let normal: Vec<f32> = x.iter().zip(y).map(|(x, y)| x - y).collect();
    let middle = 0.5 * (along(&normal, x) + along(&normal, y));
    let measure = |part: &mut [(f32, u32)]| {
        wide(
            #[inline(always)]
            || {
                for e in part.iter_mut() {
                    e.0 = along(&normal, values.column(e.1 as usize));
                }
            },
        );
    };
    if count > APART {
        node.chunks_mut(1024).each(measure)
    } else {
        measure(node)
    }
    let mut half = partition(node, middle);
    // Twins, or a cut that takes hardly anything off.
    if half.min(count - half) * LEAST < count {
        half = count / 2;
        node.select_nth_unstable_by(half, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    let (left, right) = node.split_at_mut(half);
    let (first, second) = (place(4, key, 0), place(4, key, 1));
    let mut cut_left = || cut_node(values, left, leaf, first);
    let mut cut_right = || cut_node(values, right, leaf, second);
    let (mut sizes, rest) =
        if count > APART { both(cut_left, cut_right) } else { (cut_left(), cut_right()) };
    sizes.extend(rest);
    sizes
}

/// Puts what lies before the cut first; returns how many that are.
fn partition(node: &mut [(f32, u32)], middle: f32) -> usize {
    let mut before = 0;
    for at in 0..node.len() {
        if node[at].0 < middle {
            node.swap(before, at);
            before += 1;
        }
    }
    before
}

#[inline(always)]
fn along(normal: &[f32], x: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 16];
    let (ns, n_tail) = normal.as_chunks::<16>();
    let (xs, x_tail) = x.as_chunks::<16>();
    for at in 0..ns.len().min(xs.len()) {
        for lane in 0..16 {
            lanes[lane] += ns[at][lane] * xs[at][lane];
        }
    }
    for lane in 0..n_tail.len().min(x_tail.len()) {
        lanes[lane] += n_tail[lane] * x_tail[lane];
    }
    for width in [8, 4, 2, 1] {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_in_one_leaf_even_among_twins() {
        for kinds in [1, 3, 5000] {
            let values = Matrix::from_fn(3, 5000, |i, j| ((j % kinds) * (i + 1) % 101) as f32);
            let Leaves { order, sizes } = cut(&values, 40, 1);
            assert!(sizes.iter().all(|&size| (1..=40).contains(&size)));
            assert_eq!(sizes.iter().sum::<u32>(), 5000);
            let mut all: Vec<u32> = order.iter().map(|e| e.1).collect();
            all.sort_unstable();
            assert!(all.iter().enumerate().all(|(at, &i)| at == i as usize));
        }
    }
}
