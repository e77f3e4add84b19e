//! Reads a branch of a tree: the messages in order, then the alternative answers to some of them.

use chatmill_diag::Limits;
use chatmill_intake::json::Value;
use chatmill_model::{AlternativeOrigin, Conversation, Judgement, RawJson};

use crate::base::{Notes, quoted};
use crate::frame::Reading;
use crate::layout::ListReader;
use crate::layout::tree::{self, Branch, Node, Nodes, Sibling};
use crate::options::Branches;

/// A reader of the messages of a tree.
pub(crate) trait NodeReader<'d, 'r> {
    /// The list that collects the messages.
    fn list(&mut self) -> &mut ListReader<'d, 'r>;

    /// Reads a node; `at` is its index among the nodes of the record.
    fn node(&mut self, value: Value<'d>, node: &Node, at: usize);

    /// Resets the state of the conversation before an alternative answer.
    fn reset(&mut self) {}
}

/// Reads a node, if it exists.
fn read_node<'d, 'r>(reader: &mut impl NodeReader<'d, 'r>, nodes: Nodes<'_, 'd>, at: usize) {
    if let (Some(value), Some(node)) = (nodes.values.get(at), nodes.entries.get(at)) {
        reader.node(*value, node, at);
    }
}

/// The origin of alternative answers, and the judgement of the answer that begins with a node.
pub(crate) type Answers<'j> = (AlternativeOrigin, &'j dyn Fn(usize) -> Judgement);

/// Regenerated answers of an assistant, without judgements.
pub(crate) const REGENERATED: Answers<'_> = (AlternativeOrigin::Regenerated, &|_| Judgement {
    rank: None,
    score: None,
    label: None,
});

impl<'d> Nodes<'_, 'd> {
    /// Reads the wanted branches, each as a conversation with the alternatives to its messages. The argument of `begin` is
    /// whether the branch is the first.
    pub(crate) fn conversations<'r, R: NodeReader<'d, 'r>>(
        self,
        mut notes: Notes,
        (wanted, limits): (Branches, &Limits),
        answers: Answers<'_>,
        asks: impl Fn(Value<'d>) -> bool,
        begin: impl Fn(bool) -> R,
        finish: impl Fn(R, &Branch) -> Reading,
    ) -> Reading {
        let asks = |at: usize| self.values.get(at).is_some_and(|value| asks(*value));
        let (tree, visible) = (self.tree, self.visible);
        let branches = tree::branches(self.entries, tree, visible, wanted, limits, asks, &mut notes);
        tree::read(&branches, notes, self, |branch, number| {
            let mut reader = begin(number.is_none_or(|number| number == 0));
            let shared = read(&mut reader, self, branch, answers);
            let mut reading = finish(reader, branch);
            if let Some(conversation) = &mut reading.conversation {
                mark(conversation, (branch, self.entries), shared, number);
            }
            reading
        })
    }
}

/// Reads the messages of a branch and its alternatives. Messages that an earlier branch has are reported and trained there,
/// including findings and rejects. Returns the number of messages shared with earlier branches.
fn read<'d, 'r>(
    reader: &mut impl NodeReader<'d, 'r>,
    nodes: Nodes<'_, 'd>,
    branch: &Branch,
    answers: Answers<'_>,
) -> u64 {
    let mut steps = Steps::default();
    for (step, at) in branch.path.iter().enumerate() {
        let list = reader.list();
        steps.begin(list);
        let checkpoint = list.checkpoint();
        read_node(reader, nodes, *at);
        if step < branch.shared {
            reader.list().drop_repeated(checkpoint);
        }
    }
    steps.begin(reader.list());
    for sibling in &branch.siblings {
        reader.reset();
        let before_answer = reader.list().begin_alternative();
        for at in &sibling.nodes {
            read_node(reader, nodes, *at);
        }
        let messages = reader.list().end_alternative(before_answer);
        if !messages.is_empty() {
            let (origin, [own, other]) = judgements((branch, sibling), answers);
            let place = steps.before(sibling.place.start)..steps.before(sibling.place.end);
            let list = reader.list();
            let before = list.alternatives.last();
            let is_first = before.is_none_or(|before| before.place.start as usize != place.start);
            let own = is_first.then_some((origin, own));
            list.alternatives(place, own, [(origin, other, messages)]);
        }
    }
    reader.list().shared.len() as u64
}

/// The origin of the answer of the branch and its alternative, with the judgement of each.
fn judgements(
    (branch, sibling): (&Branch, &Sibling),
    (answers, assessed): Answers<'_>,
) -> (AlternativeOrigin, [Judgement; 2]) {
    let origin = if sibling.is_question {
        AlternativeOrigin::Branch
    } else {
        answers
    };
    let firsts = [branch.path.get(sibling.place.start), sibling.nodes.first()];
    (
        origin,
        firsts.map(|at| at.map(|at| assessed(*at)).unwrap_or_default()),
    )
}

/// The number of messages read before each step of a branch: a step may become no message, or several.
#[derive(Debug, Default)]
struct Steps(Vec<usize>);

impl Steps {
    /// Records that the next step begins here, or after the last one that the branch ends.
    fn begin(&mut self, list: &ListReader<'_, '_>) {
        self.0.push(list.messages.len());
    }

    fn before(&self, step: usize) -> usize {
        self.0.get(step).or(self.0.last()).copied().unwrap_or_default()
    }
}

/// Marks the branch of a conversation, if there are several: the id of its last message and the number of first messages
/// that it shares with earlier branches. A further branch gets a separate id.
fn mark(
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
