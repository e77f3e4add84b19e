//! Trees in lists of roles: each message but the first names its parent, and two name the same one.
//!
//! A list with senders or threads is a chat of people, where a parent is the message that is answered: it stays a list.

use std::collections::HashSet;

use chatmill_intake::json::{Kind, Value};

use crate::base::{id, present, words};
use crate::layout::tree::Node;

/// Possible names of the field with the parent.
const PARENTS: [&str; 5] = words!(parent parentId parent_id parentMessageId parent_message_id);

/// Fields of messages of people.
const SENDERS: [&str; 16] = words!(
    sender sender_id senderId sender_name senderName author author_id authorId from from_id user_id userId username thread thread_id threadId
);

/// Possible names of a record's field with the message that was seen last.
const SEEN: [&str; 7] =
    words!(current_node currentNode currNode currentId current_id currentMessageId current_message_id);

/// The nodes of a list that is a tree, at this path.
pub(crate) fn nodes(list: Value<'_>, path: &str) -> Option<Vec<Node>> {
    let second = list.items().nth(1)?;
    let key = PARENTS.iter().find(|key| present(second, key).is_some())?;
    let (mut ids, mut parents) = (HashSet::new(), HashSet::new());
    let (mut nodes, mut branches) = (Vec::new(), false);
    for (index, message) in list.items().enumerate() {
        let is_one = message.kind() == Kind::Object && present(message, "role").is_some();
        if !is_one || SENDERS.iter().any(|key| present(message, key).is_some()) {
            return None;
        }
        let own = present(message, "id").and_then(id)?;
        let parent = present(message, key).and_then(id);
        if parent.is_none() && index > 0 || !ids.insert(own.clone()) {
            return None;
        }
        branches |= parent
            .as_ref()
            .is_some_and(|parent| !parents.insert(parent.clone()));
        nodes.push(Node {
            id: own,
            parent,
            span: message.span(),
            path: format!("{path}[{index}]"),
        });
    }
    branches.then_some(nodes)
}

/// The position of the message that was seen last, if the record names it.
pub(crate) fn seen(record: Value<'_>, nodes: &[Node]) -> Option<usize> {
    let named = SEEN.iter().find_map(|key| present(record, key).and_then(id))?;
    nodes.iter().position(|node| node.id == named)
}

#[cfg(test)]
mod tests {
    use chatmill_intake::json;

    use super::*;

    /// The parents of a list that is a tree.
    fn parents(list: &str) -> Option<Vec<String>> {
        let document = json::scan(list.as_bytes(), 16).unwrap();
        let nodes = nodes(document.root(), "$")?;
        Some(
            nodes
                .into_iter()
                .map(|node| node.parent.unwrap_or_default())
                .collect(),
        )
    }

    fn list(key: &str, more: &str, links: &[(&str, &str)]) -> String {
        let message = |(own, parent): &(&str, &str)| {
            let parent = if parent.is_empty() {
                "null".to_owned()
            } else {
                format!("\"{parent}\"")
            };
            format!(r#"{{"id":"{own}","{key}":{parent},"role":"user","content":"x"{more}}}"#)
        };
        format!("[{}]", links.iter().map(message).collect::<Vec<_>>().join(","))
    }

    const FORKED: [(&str, &str); 3] = [("a", ""), ("b", "a"), ("c", "a")];

    #[test]
    fn a_list_in_which_two_messages_have_one_parent_is_a_tree() {
        for key in PARENTS {
            assert_eq!(parents(&list(key, "", &FORKED)).unwrap(), ["", "a", "a"], "{key}");
        }
        assert!(
            parents(&list("parent", "", &[("a", "r"), ("b", "r")])).is_some(),
            "two questions of one root"
        );
    }

    #[test]
    fn chains_chats_and_lists_without_parents_or_ids_stay_lists() {
        assert_eq!(
            parents(&list("parent", "", &[("a", ""), ("b", "a"), ("c", "b")])),
            None
        );
        assert_eq!(
            parents(&list(
                "parent",
                "",
                &[("a", ""), ("b", "a"), ("c", "a"), ("d", "")]
            )),
            None
        );
        assert_eq!(
            parents(&list("parent", "", &[("a", ""), ("b", "a"), ("b", "a")])),
            None
        );
        assert_eq!(parents(&list("reply_to", "", &FORKED)), None);
        for key in SENDERS {
            assert_eq!(
                parents(&list("parent", &format!(",\"{key}\":\"Ann\""), &FORKED)),
                None,
                "{key}"
            );
        }
        for text in [
            "[]",
            "7",
            "{}",
            r#"["a","b","c"]"#,
            r#"[{"role":"user","parent":"a"},{"role":"user","parent":"a"}]"#,
        ] {
            assert_eq!(parents(text), None, "{text}");
        }
    }
}
