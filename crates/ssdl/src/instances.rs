//! Both precisions, compiled once.
//!
//! The library is generic over its number type, and a generic function is compiled again in every crate
//! that calls it, with all that it calls. Functions that are never inlined are the exception: callers
//! use the copy of a crate that has one. So the entry points of the library are `#[inline(never)]`, and
//! this file makes sure that there is a copy of each for `f32` and `f64`. An entry point missing here
//! costs seconds in every build, nothing else.

use std::hint::black_box;

use crate::codes::{Coder, Coordinate, Encoder};
use crate::fit::DictionaryLearner;
use crate::fit::parts::{Cuts, InProcess, Part, Rows};
use crate::fit::spreading::Edges;
use crate::graph::blocks::{mixtures_from, nearest_in_block, nearest_listed};
use crate::graph::{Given, GraphKnobs, Neighbours, Portrait};
use crate::matrix::Cholesky;
use crate::methods;
use crate::model::representatives;
use crate::samples::prepare::Pipeline;
use crate::{Matrix, Model, Real, Samples};

/// Never called: it is enough that it could be.
#[doc(hidden)]
#[inline(never)]
pub fn instances() {
    each::<f32>();
    each::<f64>();
}

fn each<T: Real>() {
    let entries = [
        // Through it, every method with its way from samples to a model.
        methods::all::<T> as *const (),
        methods::find::<T> as *const (),
        Model::<T>::see as *const (),
        Model::<T>::see_again as *const (),
        Model::<T>::judge as *const (),
        Model::<T>::predict as *const (),
        Model::<T>::code as *const (),
        Model::<T>::start as *const (),
        Model::<T>::transduction as *const (),
        Model::<T>::explain as *const (),
        Model::<T>::explain_new as *const (),
        Model::<T>::explain_seen as *const (),
        Model::<T>::query as *const (),
        Model::<T>::query_among as *const (),
        Model::<T>::named as *const (),
        Model::<T>::save as *const (),
        Model::<T>::to_bytes as *const (),
        Model::<T>::load as *const (),
        Model::<T>::from_bytes as *const (),
        representatives::<T> as *const (),
        Samples::<T>::new as *const (),
        Pipeline::<T>::fit as *const (),
        Pipeline::<T>::apply as *const (),
        Pipeline::<T>::restore as *const (),
        GraphKnobs::build::<T> as *const (),
        GraphKnobs::choose::<T> as *const (),
        Given::<T>::affinities as *const (),
        Given::<T>::edges as *const (),
        Given::<T>::mixtures as *const (),
        Given::<T>::neighbours as *const (),
        Part::<T>::new as *const (),
        Part::<T>::step as *const (),
        Part::<T>::outgoing as *const (),
        Part::<T>::scores as *const (),
        Part::<T>::to_bytes as *const (),
        Part::<T>::from_bytes as *const (),
        Cuts::<T>::new as *const (),
        Cuts::<T>::at_random as *const (),
        Cuts::<T>::parts_of as *const (),
        Cuts::<T>::to_bytes as *const (),
        Cuts::<T>::from_bytes as *const (),
        Rows::<T>::to_bytes as *const (),
        Rows::<T>::from_bytes as *const (),
        InProcess::<T>::new as *const (),
        InProcess::<T>::of_neighbours as *const (),
        Edges::of_lists::<T> as *const (),
        nearest_in_block::<T> as *const (),
        nearest_listed::<T> as *const (),
        mixtures_from::<T> as *const (),
        Neighbours::within::<T> as *const (),
        Neighbours::between::<T> as *const (),
        Neighbours::nearby::<T> as *const (),
        Neighbours::search::<T> as *const (),
        Neighbours::recall::<T> as *const (),
        Portrait::of::<T> as *const (),
        Encoder::<T>::new as *const (),
        Encoder::<T>::encode as *const (),
        Coder::code::<T> as *const (),
        Coder::code_with::<T> as *const (),
        Coordinate::minimise::<T> as *const (),
        DictionaryLearner::fit::<T> as *const (),
        DictionaryLearner::learn_more::<T> as *const (),
        Matrix::<T>::set_product as *const (),
        Matrix::<T>::add_product as *const (),
        Matrix::<T>::of_product as *const (),
        Matrix::<T>::of_each as *const (),
        Matrix::<T>::select_columns as *const (),
        Matrix::<T>::gram as *const (),
        Cholesky::<T>::new as *const (),
        Cholesky::<T>::solve_in_place as *const (),
    ];
    black_box(entries);
}
