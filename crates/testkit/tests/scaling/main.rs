//! Everything is linear in its input: each shape is measured at n, 2n and 4n for `check`, for `run` with all dialects, and for
//! what `tokens` does; nights for the bill over a store, for its page, and for what a night does with a milled dataset. More than 2.6 times the processor time for a doubling is quadratic on its way.
//!
//! Processor time of this process is counted and never the clock on the wall, so the machine may be busy. The short form is a
//! test; `just scaling` prints the whole table.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stdout,
    missing_docs
)]

mod measured;
mod nights;
mod shapes;

use measured::{COMMANDS, Effort, Growth};
use nights::NIGHTS;
use shapes::SHAPES;

/// A doubling of the input may take that many times the processor time: 2 is linear, 4 quadratic.
const MOST: f64 = 2.6;

/// One test alone, so that nothing else takes processor time in this process.
#[test]
fn a_doubling_of_any_input_takes_little_more_than_twice_the_time() {
    let mut faults = Vec::new();
    for shape in SHAPES {
        for command in COMMANDS {
            let growth = Growth::of(shape, *command, Effort::SHORT, MOST);
            if growth.per_doubling() > MOST {
                faults.push(format!("{}, {}: {growth}", shape.name, command.name()));
            }
        }
    }
    for shape in NIGHTS {
        let growth = Growth::of_nights(shape, Effort::SHORT, MOST);
        if growth.per_doubling() > MOST {
            faults.push(format!("{}, {}: {growth}", shape.name, shape.command));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Every shape with longer measurements; `SHAPE` and `COMMAND` pick some by a part of their names.
#[test]
#[ignore = "takes minutes; `just scaling` runs it"]
fn table_of_growth() {
    let is_wanted = |key: &str, name: &str| std::env::var(key).map_or(true, |part| name.contains(&part));
    let mut worst = 0.0_f64;
    println!(
        "shape, command, n, times per doubling, milliseconds at n, 2n and 4n, less those of an input of one"
    );
    for shape in SHAPES.iter().filter(|shape| is_wanted("SHAPE", shape.name)) {
        for command in COMMANDS
            .iter()
            .filter(|command| is_wanted("COMMAND", command.name()))
        {
            let growth = Growth::of(shape, *command, Effort::LONG, MOST);
            println!("{:40} {:8} {growth}", shape.name, command.name());
            worst = worst.max(growth.per_doubling());
        }
    }
    let nights = NIGHTS
        .iter()
        .filter(|shape| is_wanted("SHAPE", shape.name) && is_wanted("COMMAND", shape.command));
    for shape in nights {
        let growth = Growth::of_nights(shape, Effort::LONG, MOST);
        println!("{:40} {:8} {growth}", shape.name, shape.command);
        worst = worst.max(growth.per_doubling());
    }
    assert!(
        worst <= MOST,
        "{worst:.2} times the processor time for a doubling"
    );
}
