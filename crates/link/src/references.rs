//! Resolves references to the messages that they name, and finds those on a cycle.

use std::collections::HashMap;

use chatmill_diag::{Finding, Limits, codes, cut};
use chatmill_model::{Conversation, Link, LinkStatus, Message, Preview, Reference};

use crate::excerpts::Excerpts;

/// Drops the references of a message beyond the limit.
pub(crate) fn cap(messages: &mut [Message], limits: &Limits, findings: &mut Vec<Finding>) {
    let limit = usize::try_from(limits.references_per_message).unwrap_or(usize::MAX);
    for message in messages {
        let excess = message.references.len().saturating_sub(limit);
        if excess > 0 {
            message.references.truncate(limit);
            let mut finding = Finding::new(
                &codes::TOO_MANY_REFERENCES,
                format!("references beyond the first {limit} are left out"),
            )
            .at_message(message.position, message.id.as_deref(), "");
            finding.count = excess as u64;
            findings.push(finding);
        }
    }
}

/// Resolves every reference; the lists align with the messages and their references.
pub(crate) fn resolve(conversation: &Conversation) -> Vec<Vec<Link>> {
    let messages = &conversation.messages;
    if messages.iter().all(|message| message.references.is_empty()) {
        return vec![Vec::new(); messages.len()];
    }
    let positions = Positions::new(conversation);
    let mut excerpts = Excerpts::of(conversation);
    let mut links: Vec<Vec<Link>> = Vec::with_capacity(messages.len());
    for message in messages {
        let of_message = message.references.iter().map(|reference| {
            let target = positions.of(reference).or_else(|| excerpts.find(reference));
            positions.link(reference, Referring::message(message, conversation), target)
        });
        links.push(of_message.collect());
        excerpts.pass(message);
    }
    mark_cycles(&mut links);
    links
}

/// The source of a reference: a message, or the target of a reference with a nested one.
#[derive(Clone, Copy)]
struct Referring<'m> {
    position: Option<u32>,
    /// The id of the participant.
    sender: Option<&'m str>,
}

impl<'m> Referring<'m> {
    fn message(message: &Message, conversation: &'m Conversation) -> Self {
        let sender = conversation.sender(message);
        Self {
            position: Some(message.position),
            sender: sender.map(|sender| sender.id.as_str()),
        }
    }

    /// The target of a reference, from the conversation or else from the reference's preview.
    fn target(reference: &'m Reference, target: Option<u32>, conversation: &'m Conversation) -> Self {
        match target.and_then(|position| conversation.messages.get(position as usize)) {
            Some(message) => Self::message(message, conversation),
            None => Self {
                position: None,
                sender: reference
                    .preview
                    .as_ref()
                    .and_then(|preview| preview.sender.as_deref()),
            },
        }
    }
}

/// Positions of messages by their ids.
struct Positions<'m> {
    conversation: &'m Conversation,
    by_id: HashMap<&'m str, u32>,
    by_external_id: HashMap<&'m str, u32>,
}

impl<'m> Positions<'m> {
    fn new(conversation: &'m Conversation) -> Self {
        let messages = &conversation.messages;
        // Ids are unique here: a reference to a shared id means its first message, which kept the id.
        let by_id = messages
            .iter()
            .filter_map(|message| Some((message.id.as_deref()?, message.position)))
            .collect();
        let mut by_external_id = HashMap::new();
        for message in messages {
            if let Some(id) = message.external_id.as_deref() {
                by_external_id.entry(id).or_insert(message.position);
            }
        }
        Self {
            conversation,
            by_id,
            by_external_id,
        }
    }

    /// The message that a reference names.
    fn of(&self, reference: &Reference) -> Option<u32> {
        self.get(reference.target.as_deref()?)
    }

    /// The message with this id, else the first one with this second id.
    fn get(&self, id: &str) -> Option<u32> {
        self.by_id
            .get(id)
            .or_else(|| self.by_external_id.get(id))
            .copied()
    }

    /// Links a reference, and the references that its preview shows.
    fn link(&self, reference: &'m Reference, referring: Referring<'m>, target: Option<u32>) -> Link {
        let shows_words = |preview: &Preview| {
            let content = preview.content.as_deref();
            content.is_some_and(|content| !content.is_empty())
        };
        let status = match (target, &reference.preview) {
            _ if reference.is_pseudo => LinkStatus::Pseudo,
            (Some(position), _) if Some(position) == referring.position => LinkStatus::Itself,
            (Some(_), _) => LinkStatus::Resolved,
            // A reference that names no target cannot dangle: its preview is all that it contains.
            (None, Some(preview)) if reference.target.is_none() || shows_words(preview) => {
                LinkStatus::Preview
            }
            (None, _) => LinkStatus::Dangling,
        };
        let shown = Referring::target(reference, target, self.conversation);
        let nested = reference.nested.iter();
        Link {
            target,
            status,
            same_sender: shown.sender.is_some()
                && shown.sender == referring.sender
                && status != LinkStatus::Dangling,
            nested: nested
                .map(|inner| self.link(inner, shown, self.of(inner)))
                .collect(),
        }
    }
}

/// The target of a reference in the search for cycles; `None` for a pseudo-reference, which no person made.
fn leads_to(link: &Link) -> Option<u32> {
    link.target.filter(|_| link.status != LinkStatus::Pseudo)
}

/// Marks the resolved references with both ends in one strongly connected component.
fn mark_cycles(links: &mut [Vec<Link>]) {
    // A cycle has at least one reference to a later message, and nearly no conversation has any.
    let goes_forward = (0..).zip(links.iter()).any(|(source, of_message)| {
        of_message
            .iter()
            .any(|link| leads_to(link).is_some_and(|target| target > source))
    });
    if !goes_forward {
        return;
    }
    let component = components(links);
    let component_of = |position: u32| component.get(position as usize);
    for (source, of_message) in (0..).zip(links.iter_mut()) {
        for link in of_message {
            let on_cycle = link
                .target
                .is_some_and(|target| component_of(target) == component_of(source));
            if link.status == LinkStatus::Resolved && on_cycle {
                link.status = LinkStatus::Cyclic;
            }
        }
    }
}

const UNSEEN: u32 = u32::MAX;

/// State of one message in the search for components.
#[derive(Clone, Copy)]
struct Node {
    /// The order of discovery.
    order: u32,
    /// The smallest order that is reachable.
    low: u32,
    /// Whether its component is still open.
    open: bool,
    /// The next reference to follow.
    next: usize,
}

/// The number of the strongly connected component of each message: Tarjan's algorithm with an explicit stack, in linear time.
fn components(links: &[Vec<Link>]) -> Vec<u32> {
    let mut nodes = vec![
        Node {
            order: UNSEEN,
            low: UNSEEN,
            open: false,
            next: 0,
        };
        links.len()
    ];
    let mut component = vec![UNSEEN; links.len()];
    let mut components = 0;
    let mut discovered = 0;
    let mut open: Vec<usize> = Vec::new();
    let mut path: Vec<usize> = Vec::new();

    for start in 0..links.len() {
        if cut::at(&nodes, start).order == UNSEEN {
            path.push(start);
        }
        while let Some(&current) = path.last() {
            let node = cut::at_mut(&mut nodes, current);
            if node.order == UNSEEN {
                node.order = discovered;
                node.low = discovered;
                node.open = true;
                discovered += 1;
                open.push(current);
            }
            let following = cut::at(links, current).get(node.next);
            node.next += 1;
            if let Some(link) = following {
                let Some(target) = leads_to(link).map(|target| target as usize) else {
                    continue;
                };
                let Node { order, open, .. } = *cut::at(&nodes, target);
                if order == UNSEEN {
                    path.push(target);
                } else if open {
                    lower(&mut nodes, current, order);
                }
                continue;
            }
            path.pop();
            let Node { order, low, .. } = *cut::at(&nodes, current);
            if let Some(&parent) = path.last() {
                lower(&mut nodes, parent, low);
            }
            if order == low {
                while let Some(member) = open.pop() {
                    cut::at_mut(&mut nodes, member).open = false;
                    *cut::at_mut(&mut component, member) = components;
                    if member == current {
                        break;
                    }
                }
                components += 1;
            }
        }
    }
    component
}

fn lower(nodes: &mut [Node], index: usize, order: u32) {
    let node = cut::at_mut(nodes, index);
    node.low = node.low.min(order);
}
