//! The program as users run it: what it prints, writes and returns.

mod demo;
mod errors;
mod fitting;
mod images;
mod interrupt;
mod methods;
mod predicting;
mod run;
