mod archives;
mod compression;
mod framing;
mod hostile;
