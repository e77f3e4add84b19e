//! Trees in lists of roles: each message but the first names its parent, or is among its children, and two have the same one.
//!
//! A list with senders or threads is a chat of people, where a parent is the message that is answered: it stays a list.

use std::collections::{HashMap, HashSet};

use chatmill_intake::json::{Kind, Value};

use crate::base::{id, items, present, words};
use crate::layout::tree::Node;

/// Possible names of the field with the id.
const IDS: [&str; 5] = words!(id _id uuid messageId message_id);

/// Possible names of the field with the parent.
const PARENTS: [&str; 9] = words!(parent parentId parent_id parentID parentMessageId parent_message_id parentUuid parent_uuid parentNodeId);

/// The field with the ids of the messages that name this one as parent.
const CHILDREN: &str = "children";

/// Fields of messages of people.
const SENDERS: [&str; 16] = words!(
    sender sender_id senderId sender_name senderName author author_id authorId from from_id user_id userId username thread thread_id threadId
);

/// Possible names of a record's field with the message that was seen last.
const SEEN: [&str; 7] =
    words!(current_node currentNode currNode currentId current_id currentMessageId current_message_id);

/// The nodes of a list that is a tree, at this path.
pub(crate) fn nodes(list: Value<'_>, path: &str) -> Option<Vec<Node>> {
    let links = Links::of(list)?;
    let (mut ids, mut parents) = (HashSet::new(), HashSet::new());
    let (mut nodes, mut branches) = (Vec::<Node>::new(), false);
    let mut are_prompts = true;
    for (index, message) in list.items().enumerate() {
        let role = present(message, "role").filter(|_| message.kind() == Kind::Object)?;
        if SENDERS.iter().any(|key| present(message, key).is_some()) {
            return None;
        }
        let own = present(message, links.own).and_then(id)?;
        let named = links.parent(message, &own);
        // The first question, and prompts before it, may name no parent, or what the program calls the root.
        let parent = if are_prompts && named.as_ref().is_none_or(|named| !links.ids.contains(named)) {
            nodes.last().map(|node| node.id.clone())
        } else {
            named.clone()
        };
        if parent.is_none() && index > 0 || !ids.insert(own.clone()) {
            return None;
        }
        are_prompts &= matches!(role.string().as_deref(), Some("system" | "developer"));
        let answers = answers(message);
        let named = named.or_else(|| parent.clone()).filter(|_| !are_prompts);
        branches |= named.is_some_and(|named| !parents.insert((named, answers.clone())));
        nodes.push(Node {
            id: own,
            parent,
            answers,
            span: message.span(),
            path: format!("{path}[{index}]"),
        });
    }
    branches.then_some(nodes)
}

/// How the messages of a list name each other.
struct Links {
    /// The field with the id.
    own: &'static str,
    /// The field with the parent, if messages name it.
    parent: Option<&'static str>,
    /// The ids of all messages.
    ids: HashSet<String>,
    /// The parent of each message that another lists among its children.
    above: HashMap<String, String>,
}

impl Links {
    /// The links of a list; `None` if none of the first messages has any.
    fn of(list: Value<'_>) -> Option<Self> {
        // A prompt and a question may have no parent.
        let has = |key: &str| {
            list.items()
                .skip(1)
                .take(2)
                .any(|message| present(message, key).is_some())
        };
        let parent = PARENTS.into_iter().find(|key| has(key));
        let above = |message| children(message).next().is_some();
        if parent.is_none() && !list.items().take(2).any(above) {
            return None;
        }
        let named = |message| parent.and_then(|key| present(message, key)).and_then(id);
        let linked: HashSet<String> = list
            .items()
            .flat_map(|message| named(message).into_iter().chain(children(message)))
            .collect();
        let has_linked = |key: &str| {
            let mut ids = list
                .items()
                .filter_map(|message| present(message, key).and_then(id));
            ids.any(|own| linked.contains(&own))
        };
        let own = IDS.into_iter().find(|key| has_linked(key)).unwrap_or("id");
        let holders = || {
            list.items()
                .filter_map(|message| Some((message, present(message, own).and_then(id)?)))
        };
        let above =
            holders().flat_map(|(message, own)| children(message).map(move |child| (child, own.clone())));
        Some(Self {
            own,
            parent,
            ids: holders().map(|(_, own)| own).collect(),
            above: above.collect(),
        })
    }

    /// The parent of the message with this id.
    fn parent(&self, message: Value<'_>, own: &str) -> Option<String> {
        let named = self.parent.and_then(|key| present(message, key)).and_then(id);
        named.or_else(|| self.above.get(own).cloned())
    }
}

/// The ids of the messages below this one, if it lists them.
fn children(message: Value<'_>) -> impl Iterator<Item = String> {
    items(message, CHILDREN).filter_map(id)
}

/// The call that a message is the result of.
fn answers(message: Value<'_>) -> Option<String> {
    let of_block = || items(message, "content").next()?.get("tool_use_id");
    let call = present(message, "tool_call_id").or_else(|| present(message, "toolCallId"));
    call.or_else(of_block).and_then(id)
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
        let own = FORKED.map(|(own, parent)| (own, if parent.is_empty() { "0" } else { parent }));
        assert_eq!(
            parents(&list("parent", "", &own)).unwrap(),
            ["", "a", "a"],
            "a root that is no message"
        );
    }

    #[test]
    fn prompts_precede_the_first_question_of_a_tree() {
        for root in ["null", "\"0\""] {
            let prompt = format!(r#"{{"id":"s","parent":{root},"role":"system","content":"x"}}"#);
            let first = format!(r#"{{"id":"a","parent":{root},"role":"user","content":"x"}}"#);
            let others =
                r#"{"id":"b","parent":"a","role":"assistant"},{"id":"c","parent":"a","role":"assistant"}"#;
            let text = format!("[{prompt},{first},{others}]");
            assert_eq!(parents(&text).unwrap(), ["", "s", "a", "a"]);
            let chain = others.replace("\"c\",\"parent\":\"a\"", "\"c\",\"parent\":\"b\"");
            assert_eq!(parents(&format!("[{prompt},{first},{chain}]")), None);
        }
    }

    #[test]
    fn results_of_different_calls_are_no_fork() {
        let result = |own: &str, call: &str| {
            format!(r#"{{"id":"{own}","parent":"a","role":"tool","tool_call_id":"{call}","content":"x"}}"#)
        };
        let list = |calls: [&str; 2]| {
            let first =
                r#"{"id":"u","parent":null,"role":"user"},{"id":"a","parent":"u","role":"assistant"}"#;
            let [one, two] = calls;
            format!("[{first},{},{}]", result("b", one), result("c", two))
        };
        assert_eq!(parents(&list(["1", "2"])), None);
        assert!(parents(&list(["1", "1"])).is_some());
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
