//! What a run tells about itself while it goes on. Drawing it is somebody else's task.

/// Receives the progress of a run; called from several threads.
pub trait Progress: Sync {
    /// A stage begins; `bytes` of input are ahead of it.
    fn stage(&self, name: &str, bytes: u64);
    /// That many more bytes of input are done.
    fn advance(&self, bytes: u64);
    /// Something that a person should know.
    fn note(&self, text: &str);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Progress for Silent {
    fn stage(&self, _name: &str, _bytes: u64) {}
    fn advance(&self, _bytes: u64) {}
    fn note(&self, _text: &str) {}
}
