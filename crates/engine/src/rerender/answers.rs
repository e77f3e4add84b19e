//! Reads alternative answers from the table `alternatives`, in step with the conversations that they belong to.

use chatmill_dataset::{Dataset, DatasetError, Flags, Numbers, Reals, Rows, Texts, columns};
use chatmill_diag::Limits;
use chatmill_model::{AlternativeOrigin, Conversation, Judgement, Message, Score};

use super::messages::CommonColumns;
use super::stored::word;

/// The table of alternative answers.
pub(super) const TABLE: &str = "alternatives";

columns! {
    /// Cells of `alternatives`.
    struct Cells with common: CommonColumns {
        position: Numbers,
        ordinal: Numbers,
        origin: Texts,
        in_conversation: Flags,
        rank: Numbers,
        score: Reals,
        label: Flags,
    }
}

/// The answers of a dataset.
pub(super) struct Answers<'d>(Rows<'d, Cells>);

/// An answer at a position, with its messages (also if the conversation has the same messages).
pub(super) struct StoredAnswer {
    /// The number of messages before the answer.
    pub(super) position: u32,
    /// Its number among the answers at this position.
    ordinal: u64,
    pub(super) origin: AlternativeOrigin,
    pub(super) in_conversation: bool,
    pub(super) judgement: Judgement,
    pub(super) messages: Vec<Message>,
}

impl<'d> Answers<'d> {
    pub(super) fn of(dataset: &'d Dataset) -> Result<Self, DatasetError> {
        Ok(Self(Rows::of(dataset, TABLE)?))
    }

    /// Reads only the answers of one conversation.
    pub(super) fn of_one(dataset: &'d Dataset, id: &'d str) -> Result<Self, DatasetError> {
        Ok(Self(Rows::of_conversation(dataset, TABLE, id)?))
    }

    /// Reads the answers of the next conversation, which has this id, in the order of their positions.
    pub(super) fn of_next(
        &mut self,
        id: &str,
        conversation: &Conversation,
    ) -> Result<Vec<StoredAnswer>, DatasetError> {
        let participants = &conversation.participants;
        let find = |id: &str| participants.iter().position(|person| person.id == id);
        let mut answers: Vec<StoredAnswer> = Vec::new();
        while let Some((cells, row)) = self.0.current()
            && cells.common.conversation_id.at(row) == id
        {
            let message = cells
                .common
                .message(row, participants, &find, Limits::default().depth)?;
            let answer = cells.answer(row)?;
            match answers.last_mut() {
                Some(last) if (last.position, last.ordinal) == (answer.position, answer.ordinal) => {
                    last.messages.push(message);
                }
                _ => answers.push(StoredAnswer {
                    messages: vec![message],
                    ..answer
                }),
            }
            self.0.advance()?;
        }
        Ok(answers)
    }

    /// Fails if answers remain after the last conversation.
    pub(super) fn end(&self) -> Result<(), DatasetError> {
        match self.0.current() {
            None => Ok(()),
            Some((cells, _)) => Err(cells.common.batch.corrupt("it has orphaned answers")),
        }
    }
}

impl Cells {
    /// Reads the answer of a row, without its messages.
    fn answer(&self, row: usize) -> Result<StoredAnswer, DatasetError> {
        let batch = &self.common.batch;
        let astray = |_| batch.corrupt("an answer has no place");
        Ok(StoredAnswer {
            position: u32::try_from(self.position.at(row)).map_err(astray)?,
            ordinal: self.ordinal.at(row),
            origin: word(self.origin.at(row), batch)?,
            in_conversation: self.in_conversation.at(row),
            judgement: Judgement {
                rank: self.rank.get(row),
                score: self.score.get(row).and_then(Score::new),
                label: self.label.get(row),
            },
            messages: Vec::new(),
        })
    }
}
