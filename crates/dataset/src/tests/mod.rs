//! Datasets from the outside: written, sealed, published, read back and certified. The tests look at the files.
#![allow(clippy::disallowed_methods)]

mod support;

mod absent;
mod certify;
mod destination;
mod every_call;
mod reading;
mod staging;
mod tables;
