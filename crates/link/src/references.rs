//! References: which message each one means, and which of them lie on a cycle.

use std::collections::HashMap;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Conversation, Link, LinkStatus, Message, Reference};

/// Drops the references that a message has beyond the limit.
pub fn cap(messages: &mut [Message], limits: &Limits, findings: &mut Vec<Finding>) {
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
pub fn resolve(conversation: &Conversation) -> Vec<Vec<Link>> {
    let messages = &conversation.messages;
    if messages.iter().all(|message| message.references.is_empty()) {
        return vec![Vec::new(); messages.len()];
    }
    // Ids are unique here: a reference to an id that was shared goes to its first message, which kept it.
    let positions: HashMap<&str, u32> = messages
        .iter()
        .filter_map(|message| Some((message.id.as_deref()?, message.position)))
        .collect();
    let mut links: Vec<Vec<Link>> = messages
        .iter()
        .map(|message| {
            message
                .references
                .iter()
                .map(|reference| resolve_one(reference, message, conversation, &positions))
                .collect()
        })
        .collect();
    mark_cycles(&mut links);
    links
}

fn resolve_one(
    reference: &Reference,
    message: &Message,
    conversation: &Conversation,
    positions: &HashMap<&str, u32>,
) -> Link {
    let target = reference
        .target
        .as_deref()
        .and_then(|id| positions.get(id).copied());
    let sender_of = |position: u32| {
        conversation
            .messages
            .get(position as usize)
            .and_then(|target| target.sender)
    };
    match (target, &reference.preview) {
        (Some(position), _) => Link {
            target,
            status: if position == message.position {
                LinkStatus::Itself
            } else {
                LinkStatus::Resolved
            },
            same_sender: message.sender.is_some() && message.sender == sender_of(position),
        },
        // A reference that names no target cannot dangle: all that it ever said is its preview.
        (None, Some(preview))
            if reference.target.is_none()
                || preview
                    .content
                    .as_deref()
                    .is_some_and(|content| !content.is_empty()) =>
        {
            Link {
                target,
                status: LinkStatus::Preview,
                same_sender: message
                    .sender
                    .and_then(|index| conversation.participants.get(index))
                    .is_some_and(|sender| preview.sender.as_ref() == Some(&sender.id)),
            }
        }
        (None, _) => Link {
            target,
            status: LinkStatus::Dangling,
            same_sender: false,
        },
    }
}

/// Marks the resolved references whose both ends lie in one strongly connected component.
fn mark_cycles(links: &mut [Vec<Link>]) {
    // A cycle has at least one reference forward; nearly no conversation has any.
    let goes_forward = (0..).zip(links.iter()).any(|(source, of_message)| {
        of_message
            .iter()
            .any(|link| link.target.is_some_and(|target| target > source))
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
#[derive(Clone)]
struct Node {
    /// Order of discovery.
    order: u32,
    /// Smallest order that is reachable.
    low: u32,
    /// Whether its component is still open.
    open: bool,
    /// Next reference to follow.
    next: usize,
}

/// Number of the strongly connected component of each message: Tarjan's algorithm with an explicit stack, linear.
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
        if nodes.get(start).is_some_and(|node| node.order == UNSEEN) {
            path.push(start);
        }
        while let Some(&current) = path.last() {
            let Some(node) = nodes.get_mut(current) else { break };
            if node.order == UNSEEN {
                node.order = discovered;
                node.low = discovered;
                node.open = true;
                discovered += 1;
                open.push(current);
            }
            let following = links
                .get(current)
                .and_then(|of_message| of_message.get(node.next));
            node.next += 1;
            if let Some(link) = following {
                let Some(target) = link.target.map(|target| target as usize) else {
                    continue;
                };
                let Some((order, is_open)) = nodes.get(target).map(|node| (node.order, node.open)) else {
                    continue;
                };
                if order == UNSEEN {
                    path.push(target);
                } else if is_open {
                    lower(&mut nodes, current, order);
                }
                continue;
            }
            path.pop();
            let (order, low) = nodes.get(current).map_or((0, 0), |node| (node.order, node.low));
            if let Some(&parent) = path.last() {
                lower(&mut nodes, parent, low);
            }
            if order == low {
                while let Some(member) = open.pop() {
                    if let (Some(node), Some(number)) = (nodes.get_mut(member), component.get_mut(member)) {
                        node.open = false;
                        *number = components;
                    }
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
    if let Some(node) = nodes.get_mut(index) {
        node.low = node.low.min(order);
    }
}
