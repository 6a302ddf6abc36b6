//! One lasso for the atoms of each class: the classes code a sample side by side, not together.

use super::{Lasso, Pulled, Pursuit};
use crate::{Matrix, Real};

/// $\min_{a_c}\;a_c^\top G_{cc}a_c-2r_c^\top a_c+\kappa\lVert a_c\rVert^2+\lambda\lVert a_c\rVert_1$ for
/// each class $c$: the lasso with the blocks of the Gram matrix that lie between classes left out.
#[derive(Clone, Copy, Debug)]
pub struct ByClass<'a> {
    /// The lasso of each class.
    pub lasso: Lasso,
    /// The class of each atom; atoms without one are not used.
    pub class_of_atoms: &'a [Option<usize>],
}

impl ByClass<'_> {
    /// The atoms of each class.
    fn blocks(&self) -> Vec<Vec<usize>> {
        let n_classes = self.class_of_atoms.iter().flatten().max().map_or(0, |last| last + 1);
        let mut blocks = vec![Vec::new(); n_classes];
        for (atom, class) in self.class_of_atoms.iter().enumerate() {
            class.iter().for_each(|&class| blocks[class].push(atom));
        }
        blocks
    }
}

/// The chosen rows, copied.
fn rows_of<T: Real>(matrix: &Matrix<T>, rows: &[usize]) -> Matrix<T> {
    Matrix::from_fn(rows.len(), matrix.columns(), |k, j| matrix.column(j)[rows[k]])
}

impl<T: Real> Pursuit<T> for ByClass<'_> {
    fn code(&self, problem: Pulled<'_, T>, codes: &mut Matrix<T>) {
        let Pulled { gram, rhs, shifts } = problem;
        for (atom, _) in self.class_of_atoms.iter().enumerate().filter(|(_, c)| c.is_none()) {
            (0..codes.columns()).for_each(|j| codes.column_mut(j)[atom] = T::zero());
        }
        for block in self.blocks().into_iter().filter(|block| !block.is_empty()) {
            let own = rows_of(&gram.select_columns(&block), &block);
            let mut part = rows_of(codes, &block);
            let one = Pulled { gram: &own, rhs: rows_of(&rhs, &block), shifts: shifts.clone() };
            self.lasso.code_side_by_side(one, &mut part);
            for (j, column) in part.iter_columns().enumerate() {
                let whole = codes.column_mut(j);
                block.iter().zip(column).for_each(|(&k, &a)| whole[k] = a);
            }
        }
    }

    fn size(&self, codes: &Matrix<T>) -> f64 {
        self.lasso.size(codes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_coded_as_by_a_gram_matrix_without_the_blocks_between_them() {
        let atoms = Matrix::from_fn(6, 5, |i, k| ((i * 3 + k * 5) % 7) as f64 - 2.5);
        let samples = Matrix::from_fn(6, 4, |i, j| ((i * 2 + j * 3) % 5) as f64 - 1.5);
        let classes = [Some(1), Some(0), Some(1), None, Some(0)];
        let rhs = Matrix::of_product(atoms.transposed(), samples.view());
        let gram = atoms.gram();
        let mut codes = Matrix::from_fn(5, 4, |_, _| 0.3);
        let by_class = ByClass { lasso: Lasso::new(0.4).exact::<f64>(), class_of_atoms: &classes };
        let problem = Pulled { gram: &gram, rhs: rhs.clone(), shifts: vec![0.2; 4] };
        by_class.code(problem, &mut codes);
        let same = |k: usize, l: usize| classes[k].is_some() && classes[k] == classes[l];
        let masked = Matrix::from_fn(5, 5, |k, l| if same(k, l) { gram.column(l)[k] } else { 0.0 });
        let rhs =
            Matrix::from_fn(5, 4, |k, j| if classes[k].is_some() { rhs.column(j)[k] } else { 0.0 });
        let mut whole = Matrix::zeros(5, 4);
        let problem = Pulled { gram: &masked, rhs, shifts: vec![0.2; 4] };
        Lasso::new(0.4).exact::<f64>().code(problem, &mut whole);
        for (a, b) in codes.as_slice().iter().zip(whole.as_slice()) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
}
