//! The bytes that the assistant writes in a rendering with a chat template: from the end of the generation prompt to the end of the turn.

use chatmill_dialect::policy::Reasoning;
use chatmill_dialect::{Policy, TemplateDialect};
use chatmill_model::{CallStatus, Part, RawJson, Speaker};

use crate::chat::TestChat;
use crate::templates::{blueprint, render};

/// A template with tokens around turns, calls in tags, and thoughts before the last answer only.
const TAGS: &str = r#"{%- for m in messages %}
{%- if m.role == 'tool' %}{{ '<|im_start|>user\n<tool_response>\n' + m.content + '\n</tool_response><|im_end|>\n' }}
{%- else %}{{ '<|im_start|>' + m.role + '\n' }}
{%- if m.reasoning_content and loop.last %}{{ '<think>\n' + m.reasoning_content + '\n</think>\n\n' }}{% endif %}
{{- m.content }}
{%- for c in m.tool_calls or [] %}{{ '<tool_call>\n{"name": "' + c.function.name + '", "arguments": ' + (c.function.arguments | tojson) + '}\n</tool_call>' }}{% endfor %}
{{- '<|im_end|>\n' }}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"#;

/// A template without special tokens of the form `<|word|>`, and with a prompt that ends with an opening thought.
const THINKING: &str = r"{%- for m in messages %}{{ '<start>' + m.role + '\n' }}
{%- if m.role == 'assistant' and loop.last %}{{ '<think>\n' + (m.reasoning_content or '') + '\n</think>\n\n' }}{% endif %}
{{- m.content + '<end>\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<start>assistant\n<think>\n' }}{% endif %}";

/// A template that repeats the name of the tool at the beginning of a tool's message.
const HEADS: &str = r"{%- set ns = namespace(name='') %}
{%- for m in messages %}
{%- if m.role == 'tool' %}{{ '<|start|>functions.' + ns.name + ' to=assistant<|message|>' + m.content + '<|end|>' }}
{%- elif m.tool_calls %}{% set ns.name = m.tool_calls[0].function.name %}{{ '<|start|>assistant to=functions.' + ns.name + '<|message|>' + (m.tool_calls[0].function.arguments | tojson) + '<|call|>' }}
{%- else %}{{ '<|start|>' + m.role + '<|message|>' + m.content + ('<|return|>' if loop.last and m.role == 'assistant' else '<|end|>') }}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|start|>assistant' }}{% endif %}";

/// A template that counts the letters of ids, and prints them after calls and results; its definitions are before the last question.
const IDS: &str = r#"{%- set users = messages | selectattr('role', 'equalto', 'user') | list %}
{%- for m in messages %}
{%- if m.role == 'user' %}{% if tools and m == users[-1] %}[TOOLS]{{ tools | tojson(ensure_ascii=True) }}[/TOOLS]{% endif %}[INST]{{ m.content }}[/INST]
{%- elif m.tool_calls %}[CALLS]{% for c in m.tool_calls %}{% if c.id | length != 9 %}{{ raise_exception('nine') }}{% endif %}{{ (c.function | tojson)[:-1] + ', "id": "' + c.id + '"}' }}{% endfor %}</s>
{%- elif m.role == 'tool' %}[RESULT]{"content": {{ m.content }}, "call_id": "{{ m.tool_call_id }}"}[/RESULT]
{%- else %}{{ m.content }}</s>{% endif %}
{%- endfor %}"#;

/// A template that prints the text of a turn with a call after the result.
const LATE: &str = r"{%- for m in messages %}
{%- if m.role != 'tool' %}{{ '<|turn>' + m.role + '\n' }}
{%- for c in m.tool_calls or [] %}{{ '<|call>' + c.function.name + '{' + c.function.arguments.port + '}<call|>' }}{% endfor %}
{%- set is_answered = m.tool_calls and not loop.last %}
{%- if is_answered %}{{ '<|result>' + m.tool_calls[0].function.name + ':' + messages[loop.index0 + 1].content + '<result|>' }}{% endif %}
{{- m.content }}{% if m.tool_calls and not is_answered %}{{ '<|result>' }}{% elif m.content %}{{ '<turn|>\n' }}{% endif %}
{%- endif %}{% endfor %}
{%- if add_generation_prompt %}{{ '<|turn>assistant\n' }}{% endif %}";

fn learned(source: &str, chat: &TestChat) -> Vec<String> {
    let policy = Policy {
        reasoning: Reasoning::Keep,
        ..Policy::default()
    };
    let dialect = TemplateDialect::new(blueprint(source)).unwrap().into();
    render(chat, &dialect, &policy, |sink, rendering| {
        assert!(rendering.is_valid(), "{:?}", rendering.violations);
        let mut found: Vec<String> = Vec::new();
        let mut is_open = false;
        for (text, span) in sink.span_texts() {
            let is_own = span.speaker == Speaker::Perspective;
            match found.last_mut().filter(|_| is_own && is_open) {
                Some(last) => last.push_str(text),
                None => found.extend(is_own.then(|| text.to_owned())),
            }
            is_open = is_own;
        }
        found
    })
}

/// A question, a call, its result, an answer, a further question, and an answer that was thought about.
fn chat() -> TestChat {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.write(ann, "Tide in Porto?");
    chat.call(bot, "", &[("c1", "tide", r#"{"port":"Porto","days":2}"#)]);
    chat.result("c1", "3");
    chat.write(bot, "Three metres.");
    chat.write(ann, "And at night?");
    let thought = Part::Reasoning("It falls.".to_owned());
    chat.post(Some(bot), vec![thought, Part::Text("One metre.".to_owned())]);
    chat.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
    chat
}

#[test]
fn a_call_is_learned_from_its_opening_and_a_thought_from_its_own() {
    let call = "<tool_call>\n{\"name\": \"tide\", \"arguments\": {\"port\": \"Porto\", \"days\": 2}}\n</tool_call><|im_end|>";
    let last = "<think>\nIt falls.\n</think>\n\nOne metre.<|im_end|>";
    assert_eq!(learned(TAGS, &chat()), [call, "Three metres.<|im_end|>", last]);
}

#[test]
fn what_the_prompt_holds_is_not_learned_and_an_end_needs_no_list_of_tokens() {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    for question in ["One?", "Two?", "Three?"] {
        chat.write(ann, question);
        chat.write(bot, "Yes, it thinks.");
    }
    let last = "\n</think>\n\nYes, it thinks.<end>";
    let before = "Yes, it thinks.<end>";
    assert_eq!(learned(THINKING, &chat), [before, before, last]);
}

#[test]
fn the_head_of_a_tools_message_is_not_learned_though_it_repeats_a_name() {
    let call = " to=functions.tide<|message|>{\"port\": \"Porto\", \"days\": 2}<|call|>";
    let [middle, last] = [
        "<|message|>Three metres.<|end|>",
        "<|message|>One metre.<|return|>",
    ];
    assert_eq!(learned(HEADS, &chat()), [call, middle, last]);
}

#[test]
fn a_template_that_inspects_ids_gives_the_ranges_of_one_that_does_not() {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.write(ann, "Tide in Porto, in metres?");
    chat.call(bot, "", &[("call00001", "tide", r#"{"unit":"metres"}"#)]);
    chat.result("call00001", "3.1");
    chat.write(bot, "Three metres.");
    chat.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
    let tool = r#"{"name":"tide","parameters":{"type":"object","properties":{"unit":{"type":"string","description":"é","enum":["metres","feet"]}}}}"#;
    chat.linked.conversation.tools.push(RawJson(tool.to_owned()));
    let call = r#"[CALLS]{"name": "tide", "arguments": {"unit": "metres"}, "id": "call00001"}</s>"#;
    assert_eq!(learned(IDS, &chat), [call, "Three metres.</s>"]);
    // A template that inspects definitions as well is searched.
    let searched = IDS.replace(
        "{% if tools and",
        "{% if tools[0].function.name | length == 4 and",
    );
    assert_eq!(learned(&searched, &chat), [call, "Three metres.</s>"]);
    chat.write(ann, "And at night?");
    chat.call(bot, "", &[("call00002", "tide", r#"{"unit":"metres"}"#)]);
    chat.result("call00002", "1.2");
    chat.write(bot, "One metre.");
    chat.pair(Some((5, 0)), Some((6, 0)), CallStatus::Paired);
    let again = call.replace("call00001", "call00002");
    assert_eq!(
        learned(IDS, &chat),
        [call, "Three metres.</s>", &again, "One metre.</s>"]
    );
}

#[test]
fn a_text_that_is_printed_behind_the_result_of_a_call_is_learned_there() {
    let chat = |text: &str| {
        let mut chat = TestChat::new();
        let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
        chat.write(ann, "Tide in Porto?");
        chat.call(bot, text, &[("c1", "tide", r#"{"port":"Porto"}"#)]);
        chat.result("c1", "3.1 m");
        chat.write(bot, "Three metres.");
        chat.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
        chat
    };
    let [call, text, last] = [
        "<|call>tide{Porto}<call|>",
        "I look.<turn|>",
        "Three metres.<turn|>",
    ];
    assert_eq!(learned(LATE, &chat("I look.")), [call, text, last]);
    assert_eq!(learned(LATE, &chat("")), [&format!("{call}<|result>"), last]);
}

#[test]
fn a_turn_begins_with_its_first_text_where_the_template_takes_no_prompt() {
    let strict = "{% if messages | length != 6 %}{{ raise_exception('six') }}{% endif %}\
        {% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}";
    assert_eq!(
        learned(strict, &chat()),
        ["Three metres.<|end|>", "One metre.<|end|>"]
    );
}

#[test]
fn a_template_without_a_prompt_leaves_the_role_to_the_model() {
    let plain = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}";
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.write(ann, "Hi");
    chat.write(bot, "Hello");
    assert_eq!(learned(plain, &chat), ["<|assistant|>Hello<|end|>"]);
}
