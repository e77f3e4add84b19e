//! chatmill for Python: the extension module that `chatmill/__init__.py` imports.
//!
//! It contains only parts that Python cannot do itself: plans and their tables, counters, Arrow in and out,
//! and commands. No Python object is touched during the work, so the interpreter is free meanwhile; the
//! waiting thread checks for signals and progress.

mod arrow_capsules;
mod columns;
mod commands;
mod count;
mod errors;
mod held;
mod planned;
mod table;
mod watch;
mod work;

use pyo3::prelude::*;

/// The part of chatmill that is not written in Python.
#[pymodule]
fn _chatmill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    chatmill_cli::install_panic_hook();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<work::Work>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<table::Batch>()?;
    module.add_class::<table::Batches>()?;
    module.add_class::<table::Parts>()?;
    module.add_class::<columns::Column>()?;
    module.add_class::<count::Counter>()?;
    module.add_function(wrap_pyfunction!(commands::answer, module)?)?;
    module.add_function(wrap_pyfunction!(commands::program, module)?)?;
    Ok(())
}
