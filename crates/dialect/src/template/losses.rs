//! Declares what a template does not print: one loss for each piece.

use chatmill_diag::cut;
use chatmill_model::{Role, json};

use super::context::{Kind, Piece};
use super::methods::is_space;
use super::regions::Regions;
use crate::loss::{LossCause, Losses, reasons};

/// How much of a piece a template prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Printed {
    Nothing,
    Part,
    /// Everything except white space at its ends.
    Inside,
    All,
}

/// The roles of turns with texts that a template trims.
#[derive(Clone, Debug, Default)]
pub(super) struct Trims(pub(super) Vec<Role>);

impl Trims {
    fn of(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Text(role) if self.0.contains(&role))
    }
}

/// Declares the pieces that an output does not have, or not completely.
pub(super) fn declare(
    output: &str,
    regions: &Regions,
    pieces: &[Piece<'_>],
    trims: &Trims,
    losses: &mut Losses,
) {
    let mut printed = vec![Printed::Nothing; pieces.len()];
    for (range, number) in regions.iter() {
        let (before, rest) = output.split_at(range.start);
        let (shown, after) = rest.split_at(range.len());
        let known = cut::at_mut(&mut printed, number);
        *known = (*known).max(extent(cut::at(pieces, number), shown, before, after, trims));
    }
    let mut unprinted_call = None;
    for (piece, printed) in pieces.iter().zip(printed) {
        if piece.text.trim_matches(is_space).is_empty() || printed == Printed::All {
            continue;
        }
        if piece.kind == Kind::CallName {
            unprinted_call = (printed == Printed::Nothing).then_some(piece.turn);
        }
        if piece.kind == Kind::Argument && unprinted_call == Some(piece.turn) {
            // The call is lost as a whole.
            continue;
        }
        let Some(cause) = cause(piece.kind, printed) else {
            continue;
        };
        let position = piece.position.filter(|_| piece.kind != Kind::CallId);
        losses.add(cause, position, 1);
    }
}

/// Returns how much of a piece is in a region.
fn extent(piece: &Piece<'_>, shown: &str, before: &str, after: &str, trims: &Trims) -> Printed {
    let text = piece.text.as_str();
    let inner = text.trim_matches(is_space);
    if shown.len() < inner.len() {
        return Printed::Part;
    }
    let mut escaped = String::new();
    json::push_escaped(&mut escaped, inner);
    if escaped == shown && escaped != inner {
        return Printed::All;
    }
    if shown != inner {
        return Printed::Part;
    }
    let start = text.len() - text.trim_start_matches(is_space).len();
    let end = text.trim_end_matches(is_space).len();
    let is_there = before.ends_with(text.split_at(start).0) && after.starts_with(text.split_at(end).1);
    let is_blunt = start > 0 || end < text.len();
    if is_there && !(is_blunt && trims.of(piece.kind)) {
        Printed::All
    } else {
        Printed::Inside
    }
}

fn cause(kind: Kind, printed: Printed) -> Option<LossCause> {
    let is_text = matches!(kind, Kind::Text(_) | Kind::Thoughts);
    Some(match (kind, printed) {
        (_, Printed::Inside) if is_text => reasons::TEMPLATE_TRIMS,
        (_, Printed::All | Printed::Inside) => return None,
        (Kind::Text(Role::System), Printed::Nothing) => reasons::TEMPLATE_PRINTS_NO_SYSTEM_TEXT,
        (Kind::Text(Role::Tool), Printed::Nothing) => reasons::TEMPLATE_PRINTS_NO_RESULT,
        (Kind::Thoughts, Printed::Nothing) => reasons::TEMPLATE_PRINTS_NO_REASONING,
        (Kind::CallName, _) => reasons::TEMPLATE_PRINTS_NO_CALL,
        (Kind::CallId, _) => reasons::TEMPLATE_PRINTS_NO_IDS,
        (Kind::ToolName, _) => reasons::TEMPLATE_PRINTS_NO_DEFINITION,
        (Kind::ToolText, _) => reasons::TEMPLATE_PRINTS_PART_OF_A_DEFINITION,
        (Kind::Argument, _) => reasons::TEMPLATE_PRINTS_PART_OF_THE_ARGUMENTS,
        (_, Printed::Nothing) => reasons::TEMPLATE_PRINTS_NO_TEXT,
        (_, Printed::Part) => reasons::TEMPLATE_PRINTS_PART_OF_A_TEXT,
    })
}
