mod archives;
mod compression;
mod databases;
mod dumps;
mod framing;
mod hostile;
mod pages;
mod versioned;
