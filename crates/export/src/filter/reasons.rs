//! The reasons for which an export leaves rows out under any envelope: the codes in `left_out` of `export.json`.

chatmill_diag::reasons! {
    NOT_VALID = "not-valid", "the rendering breaks the named rule of its dialect", "`chatmill explain RULE` explains the rule; without `--valid` such rows are kept";
    LAST_ROLE = "last-role", "the last turn has the named role, and `--last-role` asks for another", "choose windows that end with the role of `--last-role`, or ask for another";
    TOO_LONG = "too-long", "the rendering has more tokens than `--max-tokens` allows", "make windows of fewer tokens (`window.max_tokens`), or allow more";
    LOSS = "loss", "the rendering has the named loss", "`chatmill explain LOSS` explains it; without `--without LOSS` such rows are kept";
    TEMPLATE = "template", "the chat template of `--valid-for` refuses the rendering with this message", "change the rows as the template requires (`policy.turns = \"merge\"` where roles have to alternate), or use another template";
    NOTHING_ASKED = "nothing-asked", "no message precedes the answer", "`--keep-unasked` keeps such rows; in the modes `consecutive` and `per_turn` of `[window]` only answers to a message are trained on";
    MADE_UP = "question-made-up", "the dialect needs a user first and adds `[start]`", "`window.mode = \"consecutive\"` begins each row with a message; `trl-messages`, `openai-sft` and `axolotl` take rows that begin with an answer";
    REPEATED = "repeated", "an earlier row is equal", "without `--distinct` such rows are kept";
    NO_MEDIA = "no-media", "the row has pictures, and the record format, or its Arrow structure, has no place for them", "`--nested json` has them; `policy.media = \"placeholder\"` names them in the text; `trl-messages`, `trl-prompt-completion`, `trl-prompts`, `trl-dpo`, `axolotl` and `inspect` have them";
    MEDIA_FILE = "media-file", "a picture, video or sound cannot be written as a file: it has more than 64 MiB, or the export has 100,000 files of media", "`policy.media = \"placeholder\"` names media in the text";
    NO_CONTENT = "no-content", "the run kept counts only", "run with `output.content = \"all\"`";
    NGRAM_LEAKS = "split.ngram_leaks", "the conversation shares words with an earlier part", "`split.ngram_leaks = \"move\"` puts such conversations into the part that they share words with, `\"keep\"` only counts them; `split.ngram` is the number of words";
    GAP = "split.gap", "the session begins sooner after an earlier part than `split.gap` allows", "a shorter `split.gap` leaves out fewer";
    SPANS = "split.spans", "the rendering shows sessions of several parts", "make windows that end with a session: `window.session_gap` cuts them";
    NO_TIME = "no-time", "the time when the conversation began is not known", "split by conversation, or set the time zone of the input where its times have none";
}
