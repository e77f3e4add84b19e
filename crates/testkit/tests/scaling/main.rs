//! Time and memory are linear in the input. Each shape is measured for `check`, for `run` with all dialects, and for
//! `tokens`; nights for the bill over a store, for its page, and for the steps after a night's run; and every place of
//! every sample, enlarged, for `check`, and some for `run`.
//!
//! Tests count allocations and the steps along lists and texts, which are the same on every machine. `just scaling`
//! prints the table of processor times at n, 2n and 4n, and `just amplify` that of enlarged samples: a factor above 5
//! from n to 4n indicates quadratic growth. Only processor time is measured, so the machine may be busy.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::format_collect,
    clippy::needless_pass_by_value,
    clippy::print_stdout,
    missing_docs
)]

mod amplify;
mod format_files;
mod hostile;
mod measured;
mod nights;
mod reading;
mod shapes;
mod tokenizers;

use std::time::Duration;

use amplify::Amplified;
use measured::{COMMANDS, Command, Counted, Effort, Growth, Taken, alone, taken, taken_for};
use nights::NIGHTS;
use shapes::Shape;

/// The factor of processor time that is allowed for four times the input: 4 is linear, 16 quadratic.
const MOST: f64 = 5.0;

/// The allowed factor for inputs that no cache holds, which the longer tests measure: rows of one thread, and agents of
/// one name, take 6 times the time for 4.0 times the instructions. Growth with a power of 1.5 takes 8 times the time.
const MOST_UNCACHED: f64 = 7.0;

/// The largest allowed growth of memory or steps per element, from few elements to many.
const MOST_COUNTED: f64 = 1.3;

/// All shapes.
fn shapes() -> Vec<&'static Shape> {
    [shapes::SHAPES, hostile::SHAPES, reading::SHAPES]
        .into_iter()
        .flatten()
        .collect()
}

/// Tests some shapes, each with some command; `just laws` draws more, and `just scaling` times all.
#[test]
fn memory_and_steps_grow_in_proportion_to_every_shape() {
    let _alone = alone();
    let mut faults = Vec::new();
    let mut judge = |name: &str, command: &str, first: usize, take: &dyn Fn(usize) -> Taken| {
        let counted = Counted::of(first / 10, take);
        if counted.growth() > MOST_COUNTED {
            faults.push(format!("{name}, {command}: {counted}"));
        }
    };
    let (shapes, commands) = (shapes(), COMMANDS.len());
    for drawn in chatmill_drawn::some_of(0..shapes.len() * commands, 20) {
        let (shape, command) = (shapes[drawn / commands], COMMANDS[drawn % commands]);
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

/// Tests every shape with longer measurements; `SHAPE` and `COMMAND` select by a part of the name.
#[test]
#[ignore = "takes minutes; `just scaling` runs it"]
fn table_of_growth() {
    let is_wanted = |key: &str, name: &str| std::env::var(key).map_or(true, |part| name.contains(&part));
    let mut worst = 0.0_f64;
    println!("shape, command, n, times for 4n, milliseconds at n, 2n and 4n, less those of an input of one");
    for shape in shapes()
        .into_iter()
        .filter(|shape| is_wanted("SHAPE", shape.name))
    {
        for command in COMMANDS
            .iter()
            .filter(|command| is_wanted("COMMAND", command.name()))
        {
            let growth = Growth::of([shape.first, shape.most], Effort::LONG, MOST_UNCACHED, &|n| {
                taken(shape, *command, n)
            });
            println!("{:40} {:8} {growth}", shape.name, command.name());
            worst = worst.max(growth.times_as_long());
        }
    }
    let nights = NIGHTS
        .iter()
        .filter(|shape| is_wanted("SHAPE", shape.name) && is_wanted("COMMAND", shape.command));
    for shape in nights {
        let growth = Growth::of(
            [shape.first, shape.most],
            Effort::LONG,
            MOST_UNCACHED,
            &shape.take,
        );
        println!("{:40} {:8} {growth}", shape.name, shape.command);
        worst = worst.max(growth.times_as_long());
    }
    assert!(
        worst <= MOST_UNCACHED,
        "{worst:.2} times the processor time for four times the input"
    );
}

/// The number of elements that are added to a sample at first.
const MORE: usize = 4_000;

/// The minimum time: below it, growth for four times the input may have other causes.
const FLOOR: Duration = Duration::from_millis(60);

fn amplified(example: &Amplified, command: Command, n: usize) -> Taken {
    taken_for(example.files(n), command, example.source(), "")
}

/// Tests a few samples at one place each. Work that takes no memory and no counted steps is only visible in the processor time.
#[test]
fn samples_made_large_take_as_much_memory_and_as_many_steps_for_one_more() {
    let _alone = alone();
    let all = amplify::all();
    let mut faults = Vec::new();
    for drawn in chatmill_drawn::some_of(0..all.len(), 16) {
        let counted = Counted::of(100, &|n| amplified(&all[drawn], Command::Check, n));
        if counted.growth() > MOST_COUNTED {
            faults.push(format!("{}: {counted}", all[drawn].name()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Tests the largest format files with enlarged samples, and enlarged format files.
#[test]
fn large_format_files_take_as_much_memory_and_as_many_steps_for_one_more() {
    let _alone = alone();
    let all = format_files::all();
    let mut faults = Vec::new();
    for drawn in chatmill_drawn::some_of(0..all.len(), 70) {
        let format = &all[drawn];
        if !format.is_one() {
            continue;
        }
        let read = |files| taken_for(files, Command::Check, format_files::NAME, "");
        for (what, counted) in [
            ("sample", Counted::of(400, &|n| read(format.by_sample(n)))),
            ("format file", Counted::of(16, &|n| read(format.by_format(n)))),
        ] {
            if counted.growth_in_number() > MOST_COUNTED {
                faults.push(format!("{}, {what}: {counted}", format.name()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Tests the time of `check` for the places of format files, of which `DRAWN` are drawn, with names that contain `SAMPLE`.
#[test]
#[ignore = "takes minutes; `just amplify` runs it"]
fn samples_made_large_take_time_in_proportion_for_large_format_files() {
    let _alone = alone();
    let drawn: u32 = std::env::var("DRAWN").map_or(40_000, |text| text.parse().unwrap());
    let part = std::env::var("SAMPLE").unwrap_or_default();
    let mut all = format_files::all();
    all.retain(|format| format.name().contains(&part));
    println!("{} places of format files, {drawn} of them", all.len());
    let (mut read, mut found) = (0, 0);
    for place in chatmill_drawn::some_of(0..all.len(), drawn) {
        let format = &all[place];
        if !format.is_one() {
            continue;
        }
        read += 1;
        let take = |n| taken_for(format.by_sample(n), Command::Check, format_files::NAME, "");
        let (few, many) = (take(MORE / 8).time, take(MORE / 2).time);
        if many < FLOOR || many.as_secs_f64() <= MOST_UNCACHED * few.as_secs_f64() {
            continue;
        }
        let growth = Growth::of([MORE / 8, MORE / 2], Effort::LONG, MOST_UNCACHED, &take);
        if growth.times_as_long() > MOST_UNCACHED {
            println!("{growth}  {}", format.name());
            found += 1;
        }
    }
    println!("{read} were format files");
    assert_eq!(
        found, 0,
        "places that take more than {MOST_UNCACHED} times as long for four times as many"
    );
}

/// Tests `DRAWN` samples of all places with `check`, and one in fifty with `run`; `SAMPLE` selects by a part of the
/// name, and another seed draws others.
#[test]
#[ignore = "takes half an hour; `just amplify` runs it"]
fn samples_made_large_take_time_in_proportion() {
    let drawn: u32 = std::env::var("DRAWN").map_or(40_000, |text| text.parse().unwrap());
    let part = std::env::var("SAMPLE").unwrap_or_default();
    let mut all = amplify::all();
    all.retain(|example| example.name().contains(&part));
    println!("{} places, {drawn} of them", all.len());
    let mut found = 0;
    for (index, place) in chatmill_drawn::some_of(0..all.len(), drawn).enumerate() {
        let example = &all[place];
        for (command, n) in [(Command::Check, MORE), (Command::Run, MORE / 8)] {
            if command == Command::Run && index % 50 != 0 {
                continue;
            }
            let take = |n| amplified(example, command, n);
            let many = take(4 * n).time;
            if many < FLOOR || many.as_secs_f64() <= MOST_UNCACHED * take(n).time.as_secs_f64() {
                continue;
            }
            let growth = Growth::of([n, 4 * n], Effort::LONG, MOST_UNCACHED, &take);
            if growth.times_as_long() > MOST_UNCACHED {
                println!("{growth}  {}, {}", example.name(), command.name());
                found += 1;
            }
        }
    }
    assert_eq!(
        found, 0,
        "places that take more than {MOST_UNCACHED} times as long for four times as many"
    );
}
