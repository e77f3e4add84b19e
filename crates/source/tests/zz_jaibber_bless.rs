#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    missing_docs,
    dead_code
)]
mod dump;
use chatmill_diag::Limits;
#[test]
fn bless() {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/sources/jaibber-events");
    for name in ["live", "payloads", "stored", "store"] {
        let bytes = std::fs::read(folder.join(format!("{name}.json"))).unwrap();
        let reading = dump::read(&chatmill_source::JaibberEvents, &bytes, &Limits::default());
        let dumped = serde_json::to_string_pretty(&dump::reading(&reading)).unwrap() + "\n";
        std::fs::write(folder.join(format!("{name}.expected.json")), dumped).unwrap();
    }
}
