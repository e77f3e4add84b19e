#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]
fn main() {
    let mut args = std::env::args().skip(1);
    let folder = args.next().unwrap();
    let against = args.next();
    chatmill_report::write(folder.as_ref(), against.as_deref().map(std::path::Path::new)).unwrap();
}
