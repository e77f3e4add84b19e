//! A branch of a tree, read: its messages in order, then the answers that stood in the place of some of them.

use chatmill_intake::json::Value;
use chatmill_model::{AlternativeOrigin, Conversation, Judgement, RawJson};

use crate::reader::kept::quoted;
use crate::reader::list::ListReader;
use crate::reader::tree::{Beside, Branch, Node, Nodes};

/// Who reads the messages of a tree.
pub(crate) trait NodeReader<'d, 'r> {
    /// Where its messages go.
    fn list(&mut self) -> &mut ListReader<'d, 'r>;

    /// Reads what a node holds; `at` is its index among the nodes of the record.
    fn node(&mut self, value: Value<'d>, node: &Node, at: usize);

    /// Forgets what was said before: an answer follows that stands beside the conversation.
    fn forget(&mut self) {}
}

/// Reads a node, if there is one.
fn read_node<'d, 'r>(reader: &mut impl NodeReader<'d, 'r>, nodes: Nodes<'_, 'd>, at: usize) {
    if let (Some(value), Some(node)) = (nodes.values.get(at), nodes.entries.get(at)) {
        reader.node(*value, node, at);
    }
}

/// How answers to one message came to be, and how the one that begins with a node was judged.
pub(crate) type Answers<'j> = (AlternativeOrigin, &'j dyn Fn(usize) -> Judgement);

/// Those of an assistant that is asked again: nobody judged them.
pub(crate) const REGENERATED: Answers<'_> = (AlternativeOrigin::Regenerated, &|_| Judgement {
    rank: None,
    score: None,
    label: None,
});

/// Reads the messages of a branch and what stood beside it. What is not new is told with an earlier branch, findings and rejects
/// included, and is learned there. Gives how many messages an earlier branch has, too.
pub(crate) fn read<'d, 'r>(
    reader: &mut impl NodeReader<'d, 'r>,
    nodes: Nodes<'_, 'd>,
    branch: &Branch,
    answers: Answers<'_>,
) -> u64 {
    let mut steps = Steps::default();
    for (step, at) in branch.path.iter().enumerate() {
        let list = reader.list();
        steps.begin(list);
        let begun = list.begun();
        read_node(reader, nodes, *at);
        if step < branch.shared {
            reader.list().told_before(begun);
        }
    }
    steps.begin(reader.list());
    for beside in &branch.beside {
        reader.forget();
        let aside = reader.list().begin_aside();
        for at in &beside.nodes {
            read_node(reader, nodes, *at);
        }
        let messages = reader.list().end_aside(aside);
        if !messages.is_empty() {
            let (origin, [own, other]) = judge((branch, beside), answers);
            let place = steps.before(beside.place.start)..steps.before(beside.place.end);
            let list = reader.list();
            let before = list.alternatives.last();
            let is_first = before.is_none_or(|before| before.place.start as usize != place.start);
            let own = is_first.then_some((origin, own));
            list.alternatives(place, own, [(origin, other, messages)]);
        }
    }
    reader.list().shared.len() as u64
}

/// How the answer of the branch and the one beside it came to be, and how each was judged.
fn judge(
    (branch, beside): (&Branch, &Beside),
    (answers, judged): Answers<'_>,
) -> (AlternativeOrigin, [Judgement; 2]) {
    let origin = if beside.is_question {
        AlternativeOrigin::Branch
    } else {
        answers
    };
    let firsts = [branch.path.get(beside.place.start), beside.nodes.first()];
    (
        origin,
        firsts.map(|at| at.map(|at| judged(*at)).unwrap_or_default()),
    )
}

/// How many messages were read before each step of a branch: a step may become none, or several.
#[derive(Debug, Default)]
struct Steps(Vec<usize>);

impl Steps {
    /// The next step begins here; after the last one, the end.
    fn begin(&mut self, list: &ListReader<'_, '_>) {
        self.0.push(list.messages.len());
    }

    fn before(&self, step: usize) -> usize {
        self.0.get(step).or(self.0.last()).copied().unwrap_or_default()
    }
}

/// Says of a conversation which branch it is, where there are several: the id of its last message and how many of its first it
/// shares with those before. A further one gets an id of its own.
pub(crate) fn mark(
    conversation: &mut Conversation,
    (branch, entries): (&Branch, &[Node]),
    shared: u64,
    number: Option<u32>,
) {
    let last = branch.path.last().and_then(|at| entries.get(*at));
    let (Some(number), Some(Node { id: last, .. })) = (number, last) else {
        return;
    };
    let extra = &mut conversation.extra.0;
    extra.push(("branch.last".to_owned(), quoted(last)));
    extra.push(("branch.shared".to_owned(), RawJson(shared.to_string())));
    if number > 0
        && let Some(id) = &mut conversation.source_id
    {
        *id = format!("{id}/{last}");
    }
}
