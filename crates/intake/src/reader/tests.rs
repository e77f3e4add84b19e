//! Reading of whole inputs: containers, framing, tables and damage. Each test reads bytes with a `Reader` and looks at the events.

mod archives;
mod columns;
mod compression;
mod databases;
mod dumps;
mod framing;
mod hostile;
mod pages;
mod versioned;
