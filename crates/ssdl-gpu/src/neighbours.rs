//! Exact nearest neighbours: candidates by products in half precision, then measured in full.
//!
//! Half the bits and tensor cores make the candidates cheap; an error bound decides which lists are
//! provably right. The others (near ties, duplicates) are searched by direct distances. Ties go to the
//! smaller index, as on the processor.

use std::sync::Arc;

use cudarc::cublas::result::gemm_ex;
use cudarc::cublas::sys::{
    cublasComputeType_t, cublasGemmAlgo_t, cublasOperation_t, cudaDataType_t,
};
use cudarc::driver::CudaSlice;
use ssdl::{Error, Matrix, Result};

use super::card::{Argument, Card, Grid, failed, int, long};
use super::number::Multiplied;

/// Candidates beyond k, so that rounding seldom decides.
const SPARE: usize = 8;
/// Entries of a list that each lane of a warp keeps, at most; as the kernels have it.
const MAX_SLOTS: usize = 4;
/// Queries and references compared at once: a tile of products is a quarter of a gigabyte, or half of one.
const QUERIES: usize = 8192;
const REFERENCES: usize = 16_384;
/// Queries searched directly at once, and blocks that share the references then.
const DIRECT: usize = 512;
const DIRECT_BLOCKS: usize = 2048;
/// References that a block looks at, at least.
const DIRECT_SHARE: usize = 1024;
/// Unit roundoff of half precision.
const HALF: f64 = 1.0 / 2048.0;

/// The distance between two of the smallest numbers in half precision.
const SMALLEST: f64 = 1.0 / 16_777_216.0;
/// The largest scaled entry; half precision ends a little above.
const LARGEST: f64 = 60_000.0;
/// The largest squared length up to which products of samples are kept in half precision: that is half the memory to
/// write and read, which takes as long as the products. Those of a query may be twice as large.
const SHORT: f64 = 30_000.0;

/// What a search leaves on the card.
pub(crate) struct Found<T> {
    pub references: References<T>,
    /// `k` places for each query.
    pub lists: CudaSlice<u32>,
    /// `None` where samples are compared with each other.
    pub new: Option<CudaSlice<T>>,
    pub n_queries: usize,
}

/// The samples among which neighbours are searched, on the card.
pub(crate) struct References<T> {
    card: Arc<Card>,
    pub samples: CudaSlice<T>,
    pub n_features: usize,
    count: usize,
    scaling: Scaling,
    halved: Halved,
    /// The largest squared length, scaled.
    farthest: f64,
}

/// Samples in half precision.
struct Halved {
    values: CudaSlice<u16>,
    norms: CudaSlice<f32>,
}

/// How samples are centred and scaled before they are rounded.
struct Scaling {
    mean: CudaSlice<f64>,
    scale: f64,
    stride: usize,
}

pub(crate) fn search<T: Multiplied>(
    card: &Arc<Card>,
    samples: &Matrix<T>,
    new: Option<&Matrix<T>>,
    k: usize,
) -> Result<Found<T>> {
    slots(k)?;
    let n_queries = new.unwrap_or(samples).columns();
    let references = References::new(card, samples)?;
    let new = new.map(|new| card.matrix(new)).transpose()?;
    let lists = references.nearest(new.as_ref().map(|new| (new, n_queries)), k)?;
    Ok(Found { references, lists, new, n_queries })
}

/// Entries of a list of this many neighbours that each lane keeps.
fn slots(k: usize) -> Result<usize> {
    match (k + SPARE).div_ceil(32) {
        0 | 1 => Ok(1),
        2 => Ok(2),
        3 | 4 => Ok(MAX_SLOTS),
        _ => Err(Error::Device(format!(
            "{k} neighbours are too many for the card, which keeps lists of {}; take fewer, or \
             `device=cpu`",
            32 * MAX_SLOTS - SPARE
        ))),
    }
}

impl<T: Multiplied> References<T> {
    pub fn new(card: &Arc<Card>, samples: &Matrix<T>) -> Result<Self> {
        let (n, count) = (samples.rows(), samples.columns());
        let on_card = card.matrix(samples)?;
        let scaling = Scaling::new(card, &on_card, n, count)?;
        let halved = scaling.halve(card, &on_card, n, count)?;
        let farthest = card.download(&halved.norms)?.into_iter().fold(0.0, f32::max).into();
        let card = card.clone();
        Ok(Self { card, samples: on_card, n_features: n, count, scaling, halved, farthest })
    }

    /// The places of the `k` nearest of each query, nearest first; `None` are the samples themselves.
    pub fn nearest(
        &self,
        queries: Option<(&CudaSlice<T>, usize)>,
        k: usize,
    ) -> Result<CudaSlice<u32>> {
        let (card, n) = (&*self.card, self.n_features);
        let n_queries = queries.map_or(self.count, |(_, count)| count);
        let halved_new = match queries {
            Some((new, count)) => Some(self.scaling.halve(card, new, n, count)?),
            None => None,
        };
        let mut search = Search {
            card,
            samples: &self.samples,
            queries: queries.map_or(&self.samples, |(new, _)| new),
            halved: &self.halved,
            halved_queries: halved_new.as_ref().unwrap_or(&self.halved),
            same: queries.is_none(),
            farthest: self.farthest,
            scaling: &self.scaling,
            sizes: (n, self.count, n_queries),
            k,
            slots: slots(k)?,
            lists: card.zeros(n_queries * k)?,
        };
        search.run()?;
        Ok(search.lists)
    }
}

impl Scaling {
    /// Centred on the mean of the references, usual entries about one.
    fn new<T: Multiplied>(
        card: &Card,
        samples: &CudaSlice<T>,
        n: usize,
        count: usize,
    ) -> Result<Self> {
        let (at, rows) = (card.at(samples), n);
        let sums = card.sums::<T>("feature_sums", (rows, n * count), |parts| {
            vec![int(n), long(count), at, parts]
        })?;
        let mean: Vec<f64> = sums.iter().map(|sum| sum / count.max(1) as f64).collect();
        let mut tops = card.zeros::<f64>(1024)?;
        let arguments = [at, long(n * count), card.at_mut(&mut tops)];
        card.launch::<T>("entry_tops", Grid::parts(n * count), &arguments)?;
        let top = card.download(&tops)?.into_iter().fold(0.0, f64::max);
        let centre = mean.iter().fold(0.0f64, |top, mean| top.max(mean.abs()));
        let reach = (top + centre).max(f64::MIN_POSITIVE);
        let energy = card.sums::<T>("entry_sums", (1, n * count), |parts| {
            vec![Argument::Int(1), at, long(n * count), parts]
        })?;
        let usual = (energy[0] / (n * count).max(1) as f64).sqrt().max(reach / LARGEST);
        let stride = n.next_multiple_of(8);
        Ok(Self { mean: card.upload(&mean)?, scale: 1.0 / usual, stride })
    }

    fn halve<T: Multiplied>(
        &self,
        card: &Card,
        samples: &CudaSlice<T>,
        n: usize,
        count: usize,
    ) -> Result<Halved> {
        let values = card.zeros::<u16>(self.stride * count)?;
        let norms = card.zeros::<f32>(count)?;
        let arguments = [
            int(n),
            int(self.stride),
            long(count),
            card.at(samples),
            card.at(&self.mean),
            Argument::Double(self.scale),
            card.at(&values),
            card.at(&norms),
        ];
        card.launch::<T>("halve", Grid::warps(count), &arguments)?;
        Ok(Halved { values, norms })
    }
}

struct Search<'a, T> {
    card: &'a Card,
    samples: &'a CudaSlice<T>,
    queries: &'a CudaSlice<T>,
    halved: &'a Halved,
    halved_queries: &'a Halved,
    same: bool,
    /// The largest squared length of a reference, scaled.
    farthest: f64,
    scaling: &'a Scaling,
    /// Features, references, queries.
    sizes: (usize, usize, usize),
    k: usize,
    slots: usize,
    lists: CudaSlice<u32>,
}

/// How far apart columns of products lie: a multiple of what a lane reads at once.
fn stride(rows: usize) -> usize {
    rows.next_multiple_of(8)
}

impl<T: Multiplied> Search<'_, T> {
    /// Whether products are kept in half precision.
    fn has_halves(&self) -> bool {
        self.farthest < SHORT
    }

    fn run(&mut self) -> Result<()> {
        let (_, count, n_queries) = self.sizes;
        if n_queries == 0 || self.k == 0 {
            return Ok(());
        }
        let (queries, references) = (QUERIES.min(n_queries), REFERENCES.min(count));
        let size = 32 * self.slots;
        let bytes = if self.has_halves() { size_of::<u16>() } else { size_of::<f32>() };
        let mut products = self.card.zeros::<u8>(queries * stride(references) * bytes)?;
        let (mut distances, mut places) =
            (self.card.zeros::<f32>(queries * size)?, self.card.zeros::<u32>(queries * size)?);
        let mut doubtful = self.card.zeros::<u32>(n_queries)?;
        for first in (0..n_queries).step_by(queries) {
            let some = queries.min(n_queries - first);
            self.candidates((first, some), &mut products, (&mut distances, &mut places))?;
            self.confirm((first, some), (&distances, &places), &mut doubtful)?;
        }
        let doubtful = self.card.download(&doubtful)?;
        let doubtful: Vec<u32> =
            (0..n_queries as u32).filter(|q| doubtful[*q as usize] != 0).collect();
        self.search_directly(&doubtful)
    }

    /// The candidates of some queries.
    fn candidates(
        &self,
        (first, some): (usize, usize),
        products: &mut CudaSlice<u8>,
        (distances, places): (&mut CudaSlice<f32>, &mut CudaSlice<u32>),
    ) -> Result<()> {
        let (card, count) = (self.card, self.sizes.1);
        let entries = some * 32 * self.slots;
        let lists = [card.at_mut(distances), card.at_mut(places)];
        card.launch::<T>(
            "clear_lists",
            Grid::entries(entries),
            &[long(entries), lists[0], lists[1]],
        )?;
        for start in (0..count).step_by(REFERENCES) {
            let rows = REFERENCES.min(count - start);
            self.products((start, rows), (first, some), products)?;
            let arguments = [
                int(self.slots),
                Argument::Int(i32::from(self.same)),
                long(first),
                long(some),
                long(start),
                int(rows),
                int(stride(rows)),
                card.at_mut(products),
                card.at(&self.halved.norms),
                lists[0],
                lists[1],
            ];
            let kernel = if self.has_halves() { "offer_halves" } else { "offer" };
            card.launch::<T>(kernel, Grid::warps(some), &arguments)?;
        }
        Ok(())
    }

    /// Products of half-precision samples, rows x queries.
    fn products(
        &self,
        (start, rows): (usize, usize),
        (first, some): (usize, usize),
        products: &mut CudaSlice<u8>,
    ) -> Result<()> {
        let (length, card) = (self.scaling.stride, self.card);
        let references = card.pointer(&self.halved.values.slice(start * length..));
        let queries = card.pointer(&self.halved_queries.values.slice(first * length..));
        let out = card.pointer(products);
        let (one, zero) = (1.0f32, 0.0f32);
        let kind = match self.has_halves() {
            true => cudaDataType_t::CUDA_R_16F,
            false => cudaDataType_t::CUDA_R_32F,
        };
        let blas = card.blas();
        // SAFETY: the arrays hold at least `start + rows` and `first + some` columns of `length` halves, the
        // tile `some` columns of `stride(rows)` numbers; all live on this stream.
        unsafe {
            gemm_ex(
                *blas.handle(),
                cublasOperation_t::CUBLAS_OP_T,
                cublasOperation_t::CUBLAS_OP_N,
                rows as i32,
                some as i32,
                length as i32,
                (&raw const one).cast(),
                references as *const _,
                cudaDataType_t::CUDA_R_16F,
                length as i32,
                queries as *const _,
                cudaDataType_t::CUDA_R_16F,
                length as i32,
                (&raw const zero).cast(),
                out as *mut _,
                kind,
                stride(rows) as i32,
                cublasComputeType_t::CUBLAS_COMPUTE_32F,
                cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        }
        .map_err(|error| failed("a product", error))
    }

    /// Measures the candidates in full and marks the queries whose lists may be wrong.
    fn confirm(
        &mut self,
        (first, some): (usize, usize),
        (distances, places): (&CudaSlice<f32>, &CudaSlice<u32>),
        doubtful: &mut CudaSlice<u32>,
    ) -> Result<()> {
        let (n, count, _) = self.sizes;
        let card = self.card;
        // Both factors of a product are rounded to half precision, their sum to single precision, and where it is
        // kept so to half precision again.
        let halves = if self.has_halves() { 1.0 } else { 0.0 };
        let of_products =
            2.0 * (2.0 * HALF + HALF * HALF) * (1.0 + halves * HALF) + 2.0 * halves * HALF;
        let of_each = 2.0 * halves * SMALLEST;
        let limit = if self.has_halves() { LARGEST } else { f64::INFINITY };
        let of_sums = (2.0 * n as f64 + 8.0) * f64::from(f32::EPSILON);
        let of_small = SMALLEST * (n as f64).sqrt();
        let unit = 1.0 / (self.scaling.scale * self.scaling.scale);
        let arguments = [
            int(n),
            int(self.k),
            int(self.slots),
            long(some),
            long(count),
            card.at(self.samples),
            card.at(&self.queries.slice(first * n..)),
            card.at(&self.halved_queries.norms.slice(first..)),
            card.at(distances),
            card.at(places),
            Argument::Double(of_products),
            Argument::Double(of_sums),
            Argument::Double(of_small),
            Argument::Double(of_each),
            Argument::Double(limit),
            Argument::Double(self.farthest),
            Argument::Double(unit),
            card.at(&self.lists.slice(first * self.k..)),
            card.at(&doubtful.slice(first..)),
        ];
        card.launch::<T>("confirm", Grid::warps(some), &arguments)
    }

    /// Lists by direct distances.
    fn search_directly(&mut self, doubtful: &[u32]) -> Result<()> {
        let (n, count, _) = self.sizes;
        let card = self.card;
        let room = (card.free()? / 4 / (8 * count.max(1))).clamp(1, DIRECT);
        for some in doubtful.chunks(room) {
            let most = (DIRECT_BLOCKS / some.len()).max(1);
            let parts = count.div_ceil(DIRECT_SHARE).clamp(1, most);
            let chosen = card.upload(some)?;
            let buffer = card.zeros::<f64>(some.len() * count)?;
            let found = card.zeros::<f64>(some.len() * parts * self.k)?;
            let places = card.zeros::<u32>(some.len() * parts * self.k)?;
            let arguments = [
                int(n),
                int(self.k),
                Argument::Int(i32::from(self.same)),
                long(0),
                long(count),
                int(parts),
                card.at(&chosen),
                card.at(self.samples),
                card.at(self.queries),
                card.at(&buffer),
                card.at(&found),
                card.at(&places),
            ];
            let blocks = |count| Grid(count, super::card::BLOCK, 0);
            card.launch::<T>("direct", blocks(some.len() * parts), &arguments)?;
            let arguments = [
                int(self.k),
                int(parts),
                card.at(&chosen),
                card.at(&found),
                card.at(&places),
                card.at(&self.lists),
            ];
            card.launch::<T>("nearest_of_parts", blocks(some.len()), &arguments)?;
        }
        Ok(())
    }
}
