//! A compiled template with guards, which take the cost of each instruction of minijinja before or after it.
//!
//! minijinja limits the number of instructions, but not what a single instruction does with a large value, and operators cannot be
//! replaced. So the instructions are copied with guards between them: calls of filters with names that a template cannot write. A guard
//! passes its operands on or stops the rendering. The match in `price` has no wildcard, so that a new instruction of minijinja does not
//! compile before it has a price.

use std::collections::{BTreeMap, BTreeSet};

use chatmill_diag::cut;
use minijinja::Value;
use minijinja::machinery::{CompiledTemplate, Instruction, Instructions};

use super::{attributes, guards};

/// Maximum number of bytes of a constant that an operator may read without cost.
const SHORT: usize = 256;

/// The index of filters that have no place in minijinja's cache of filters.
const UNCACHED: u8 = u8::MAX;

/// The instructions of a template and of its blocks, with guards.
pub(super) struct Program<'t> {
    /// The template.
    pub(super) main: Instructions<'t>,
    /// Its blocks.
    pub(super) blocks: BTreeMap<&'t str, Instructions<'t>>,
}

impl<'t> Program<'t> {
    /// Adds guards to a compiled template.
    pub(super) fn new(compiled: &CompiledTemplate<'t>) -> Self {
        let blocks = compiled.blocks.iter();
        Self {
            main: with_guards(&compiled.instructions),
            blocks: blocks
                .map(|(name, instructions)| (*name, with_guards(instructions)))
                .collect(),
        }
    }
}

fn with_guards<'t>(old: &Instructions<'t>) -> Instructions<'t> {
    let count = (0..u32::MAX)
        .find(|at| old.get(*at).is_none())
        .unwrap_or(u32::MAX);
    let targets: BTreeSet<u32> = (0..count)
        .filter_map(|at| target(&mut old.get(at)?.clone()).copied())
        .collect();
    let mut starts = Vec::with_capacity(count as usize + 1);
    let mut steps = Vec::with_capacity(count as usize * 2);
    for at in 0..count {
        starts.push(u32::try_from(steps.len()).unwrap_or(u32::MAX));
        let Some(instruction) = old.get(at) else { break };
        // After a jump the operand may be another value than the constant before the instruction.
        let before = at.checked_sub(1).filter(|_| !targets.contains(&at));
        let is_short = before.and_then(|before| old.get(before)).is_some_and(is_short);
        let first = steps.len();
        write_guarded(instruction, is_short, &mut |step| steps.push((at, step)));
        debug_assert!(steps.len() > first, "no instruction is left out");
    }
    starts.push(u32::try_from(steps.len()).unwrap_or(u32::MAX));
    let mut new = Instructions::new(old.name(), old.source());
    for (at, mut step) in steps {
        if let Some(target) = target(&mut step) {
            *target = *cut::at(&starts, *target as usize);
        }
        match old.get_line(at).and_then(|line| u16::try_from(line).ok()) {
            Some(line) => new.add_with_line(step, line),
            None => new.add(step),
        };
    }
    new
}

/// Returns the target to which an instruction may jump.
fn target<'i>(instruction: &'i mut Instruction<'_>) -> Option<&'i mut u32> {
    match instruction {
        Instruction::Iterate(target)
        | Instruction::Jump(target)
        | Instruction::JumpIfFalse(target)
        | Instruction::JumpIfFalseOrPop(target)
        | Instruction::JumpIfTrueOrPop(target)
        | Instruction::BuildMacro(_, target, _) => Some(target),
        _ => None,
    }
}

/// Whether an instruction loads a constant that costs nothing to read.
fn is_short(instruction: &Instruction<'_>) -> bool {
    let Instruction::LoadConst(value) = instruction else {
        return false;
    };
    match value.as_str() {
        // A name of a method has to be looked up as in Python.
        Some(text) => text.len() <= SHORT && !attributes::is_one(text),
        // An index into a text counts its characters from the start.
        None if value.is_integer() => value.as_usize().is_some_and(|index| index <= SHORT),
        None => value.as_object().is_none(),
    }
}

/// Returns the instruction that calls a filter with so many operands.
fn filter<'t>(name: &'static str, operands: u16) -> Instruction<'t> {
    Instruction::ApplyFilter(name, Some(operands), UNCACHED)
}

/// Writes an instruction with its guards; `is_short` is whether its last operand is a short constant.
fn write_guarded<'t>(old: &Instruction<'t>, is_short: bool, push: &mut dyn FnMut(Instruction<'t>)) {
    match price(old, is_short) {
        Price::Instead => write_replacement(old, push),
        Price::Around(before, behind) => {
            // The guard takes the operands from the stack as a list, and unpacking puts them back.
            if let Some((name, operands)) = before {
                push(filter(name, operands));
                push(Instruction::UnpackList(operands.into()));
            }
            push(old.clone());
            if let Some(name) = behind {
                push(filter(name, 1));
            }
        }
    }
}

/// The guards of an instruction.
enum Price {
    /// The guard of its operands with their number, and the guard of its result.
    Around(Option<(&'static str, u16)>, Option<&'static str>),
    /// Other instructions replace it.
    Instead,
}

fn price(old: &Instruction<'_>, is_short: bool) -> Price {
    use Instruction as I;
    let (before, behind) = match old {
        I::EmitRaw(_) | I::SetAttr(_) | I::PushLoop(_) | I::FastRecurse | I::StringConcat | I::Enclose(_) => {
            return Price::Instead;
        }
        I::GetItem if !is_short => return Price::Instead,
        I::GetAttr(name) if attributes::is_one(name) => return Price::Instead,
        // A loop remembers the values of `changed`, so it can be changed like a namespace.
        I::CallMethod("changed", count) => match count.filter(|count| *count > 0) {
            Some(count) => (Some((guards::PLAIN_ALL, count)), None),
            None => return Price::Instead,
        },
        I::Slice => (Some((guards::SLICE, 4)), Some(guards::LIST)),
        I::Mul => (Some((guards::REPEAT, 2)), Some(guards::LIST)),
        I::Add => (None, Some(guards::LIST)),
        I::Eq | I::Ne | I::Gt | I::Gte | I::Lt | I::Lte if !is_short => (Some((guards::COMPARE, 2)), None),
        I::In => (Some((guards::CONTAINS, 2)), None),
        I::CompareAndPreserve(_) => (Some((guards::COMPARE_ANY, 2)), None),
        I::BuildMap(pairs) => (
            operands(pairs.saturating_mul(2)).map(|operands| (guards::KEYS, operands)),
            Some(guards::KEEP),
        ),
        I::MergeKwargs(count) | I::UnpackLists(count) => {
            (operands(*count).map(|operands| (guards::WALK, operands)), None)
        }
        I::BuildList(_) | I::BuildTuple(_) => (None, Some(guards::KEEP)),
        // A macro and its enclosed variables stay until the rendering ends.
        I::BuildMacro(..) => (None, Some(guards::DECLARE)),
        // Instructions that repeat or call take the steps for all instructions that have run.
        I::Iterate(_) | I::CallFunction(..) | I::CallMethod(..) | I::CallObject(_) => {
            (None, Some(guards::COUNT))
        }
        // These handle one value of fixed size, or pass values on. Filters, tests and functions take their costs themselves, and the cost
        // of output is taken when it is written.
        I::StoreLocal(_)
        | I::Lookup(_)
        | I::GetAttr(_)
        | I::GetItem
        | I::LoadConst(_)
        | I::BuildKwargs(_)
        | I::UnpackList(_)
        | I::Sub
        | I::Div
        | I::IntDiv
        | I::Rem
        | I::Pow
        | I::Neg
        | I::Not
        | I::Eq
        | I::Ne
        | I::Gt
        | I::Gte
        | I::Lt
        | I::Lte
        | I::ApplyFilter(..)
        | I::PerformTest(..)
        | I::Emit
        | I::PushWith
        | I::PushDidNotIterate
        | I::PopFrame
        | I::PopLoopFrame
        | I::Jump(_)
        | I::JumpIfFalse(_)
        | I::JumpIfFalseOrPop(_)
        | I::JumpIfTrueOrPop(_)
        | I::PushAutoEscape
        | I::PopAutoEscape
        | I::BeginCapture(_)
        | I::EndCapture
        | I::DupTop
        | I::DiscardTop
        | I::FastSuper
        | I::Swap
        | I::CallBlock(_)
        | I::LoadBlocks
        | I::Include(_)
        | I::ExportLocals
        | I::Return
        | I::IsUndefined
        | I::GetClosure => (None, None),
    };
    Price::Around(before, behind)
}

/// Writes the instructions that replace an instruction.
fn write_replacement<'t>(old: &Instruction<'t>, push: &mut dyn FnMut(Instruction<'t>)) {
    use Instruction as I;
    match old {
        I::EmitRaw(text) => [I::LoadConst(Value::from(*text)), I::Emit]
            .into_iter()
            .for_each(push),
        I::SetAttr(_) => [I::Swap, filter(guards::PLAIN, 1), I::Swap, old.clone()]
            .into_iter()
            .for_each(push),
        I::GetItem => push(filter(guards::GET, 2)),
        I::GetAttr(name) => [I::LoadConst(Value::from(*name)), filter(guards::ATTRIBUTE, 2)]
            .into_iter()
            .for_each(push),
        I::StringConcat => push(filter(guards::JOIN, 2)),
        I::Enclose(_) => {
            push(I::LoadConst(Value::from(0)));
            push(filter(guards::DECLARE, 1));
            push(I::DiscardTop);
            push(old.clone());
        }
        I::CallMethod(_, count) => {
            push(I::ApplyFilter(guards::REFUSE, *count, UNCACHED));
            push(old.clone());
        }
        // A loop, or the recursion of a loop.
        _ => {
            push(filter(guards::EACH, 1));
            push(old.clone());
        }
    }
}

/// Returns a number of operands for a filter; `None` for 0, or for more than a tag can have.
fn operands(count: usize) -> Option<u16> {
    u16::try_from(count).ok().filter(|count| *count > 0)
}
