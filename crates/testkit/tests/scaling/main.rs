//! Everything is linear in its input: each shape is measured for `check`, for `run` with all dialects, and for what `tokens` does; nights
//! for the bill over a store, for its page, and for what a night does with a milled dataset.
//!
//! A test counts what is asked of memory, which is the same on every machine. `just scaling` prints the table of processor times at n, 2n
//! and 4n: more than 2.6 times as much for a doubling is quadratic on its way. The clock on the wall is never looked at, so the machine may be busy.
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

use measured::{COMMANDS, Counted, Effort, Growth, Taken, taken};
use nights::NIGHTS;
use shapes::SHAPES;

/// A doubling of the input may take that many times the processor time: 2 is linear, 4 quadratic.
const MOST: f64 = 2.6;

/// One of many may take that many times the memory of one of few.
const MOST_COUNTED: f64 = 1.3;

/// One test alone, so that nothing else asks for memory in this process. Some shapes, each in some command; `just laws` draws more,
/// and `just scaling` times all.
#[test]
fn one_more_of_anything_takes_as_much_memory_whether_there_are_few_or_many() {
    let mut faults = Vec::new();
    let mut judge = |name: &str, command: &str, first: usize, take: &dyn Fn(usize) -> Taken| {
        let counted = Counted::of(first / 10, take);
        if counted.growth() > MOST_COUNTED {
            faults.push(format!("{name}, {command}: {counted}"));
        }
    };
    let commands = COMMANDS.len();
    for drawn in chatmill_drawn::some_of(0..SHAPES.len() * commands, 16) {
        let (shape, command) = (&SHAPES[drawn / commands], COMMANDS[drawn % commands]);
        judge(shape.name, command.name(), shape.first, &|n| {
            taken(shape, command, n)
        });
    }
    for drawn in chatmill_drawn::some_of(0..NIGHTS.len(), 1) {
        let shape = &NIGHTS[drawn];
        judge(shape.name, shape.command, shape.first, &shape.take);
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
