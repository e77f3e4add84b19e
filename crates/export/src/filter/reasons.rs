//! Why an export leaves rows out, whatever their envelope: the codes in `left_out` of `export.json`.

chatmill_diag::reasons! {
    NOT_VALID = "not-valid", "the rendering breaks a rule of its dialect, which is named", "`chatmill explain RULE` says what the rule wants; without `--valid` such rows stay";
    LAST_ROLE = "last-role", "the last turn has the role that is named, and another was asked for", "choose windows that end with the role of `--last-role`, or ask for another";
    TOO_LONG = "too-long", "the rendering has more tokens than `--max-tokens` allows", "make windows of fewer tokens (`window.max_tokens`), or allow more";
    LOSS = "loss", "the rendering has the loss that is named", "`chatmill explain LOSS` says what it is; without `--without LOSS` such rows stay";
    TEMPLATE = "template", "the chat template of `--valid-for` refuses the rendering, in these words", "make the rows as the template wants them (`policy.turns = \"merge\"` where roles have to alternate), or take those of another model";
    NOTHING_ASKED = "nothing-asked", "nobody speaks before the answer", "`--keep-unasked` keeps such rows; in the modes `consecutive` and `per_turn` of `[window]` only what was asked for is learned";
    MADE_UP = "question-made-up", "the dialect wants a user first, and says `[start]` where nobody spoke", "`window.mode = \"consecutive\"` begins each row with what somebody says; `trl-messages`, `openai-sft` and `axolotl` take rows that begin with an answer";
    NO_CONTENT = "no-content", "the run kept counts only", "run with `output.content = \"all\"`";
    NO_TIME = "no-time", "nothing says when the conversation began", "split by conversation, or give the input a zone where its times have none";
}
