//! Pages of Markdown, read by a parser of Markdown with all extensions: no text of a chat becomes markup.

use chatmill_diag::visible::visible;
use chatmill_dialect::policy::{MediaPolicy, Reasoning, References};
use chatmill_dialect::{DIALECTS, LossCode, Policy, find};
use chatmill_model::{CallStatus, LinkStatus, MediaKind, Part, ToolResult};
use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag};

use crate::chat::{TestChat, media, preview, text};

/// Returns the texts of the chat in a page, block by block; fails if a text became markup.
fn blocks(page: &str) -> Vec<String> {
    // The extension for typographic quotes and dashes changes letters but no structure, so it is off.
    let options = Options::all() - Options::ENABLE_SMART_PUNCTUATION;
    let mut blocks: Vec<String> = Vec::new();
    let mut is_first = true;
    for event in Parser::new_ext(page, options) {
        match event {
            Event::Start(Tag::Heading {
                level: HeadingLevel::H1,
                id: None,
                ..
            }) if is_first => {
                blocks.push(String::new());
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                assert!(["", "json"].contains(&&*language), "{language}");
                blocks.push(String::new());
            }
            Event::Start(Tag::Paragraph) => blocks.push(String::new()),
            Event::Start(Tag::Strong | Tag::BlockQuote(None) | Tag::HtmlBlock) | Event::End(_) => {}
            Event::Text(text) => blocks.last_mut().unwrap().push_str(&text),
            Event::HardBreak => blocks.last_mut().unwrap().push('\n'),
            Event::Html(html) => {
                let title = html.strip_prefix("<details><summary>");
                let title = title.and_then(|title| title.strip_suffix("</summary>\n"));
                let is_name = |title: &str| !title.contains(['<', '>', '"', '`', '*']);
                assert!(
                    &*html == "</details>\n" || &*html == "</details>" || title.is_some_and(is_name),
                    "{html:?} in {page}"
                );
            }
            other => panic!("{other:?} in {page}"),
        }
        is_first = false;
    }
    blocks
}

/// Returns a text as a reader of the page sees it: without control characters, without blanks at the ends of lines, with one empty line at
/// most.
fn seen(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\t', "    ");
    let lines = text
        .split('\n')
        .map(|line| visible(line).trim_end_matches(' ').to_owned());
    let mut seen: Vec<String> = Vec::new();
    for line in lines {
        if !line.is_empty() || seen.last().is_some_and(|before| !before.is_empty()) {
            seen.push(line);
        }
    }
    seen.join("\n").trim_end().to_owned()
}

/// A chat with a text in every place for a text.
fn chat(hostile: &str) -> TestChat {
    let mut chat = TestChat::new();
    chat.linked.conversation.title = Some(hostile.to_owned());
    chat.linked.conversation.description = Some(hostile.to_owned());
    let (ann, bot) = (chat.human("u1", hostile), chat.agent("b1", hostile));
    let first = chat.write(ann, hostile);
    chat.time(first, hostile);
    let called = chat.call(bot, hostile, &[("c1", hostile, "{}")]);
    let result = ToolResult {
        call_id: Some("c1".to_owned()),
        name: Some(hostile.to_owned()),
        content: hostile.to_owned(),
        is_error: true,
        ..ToolResult::default()
    };
    let answered = chat.post(None, vec![Part::ToolResult(result)]);
    chat.pair(Some((called, 1)), Some((answered, 0)), CallStatus::Paired);
    let last = chat.post(
        Some(bot),
        vec![
            Part::Reasoning(hostile.to_owned()),
            media(MediaKind::Image, None, Some(hostile)),
            text(hostile),
        ],
    );
    chat.reply(last, first);
    chat.refer(
        last,
        None,
        Some(preview(hostile, None, Some(hostile))),
        None,
        LinkStatus::Preview,
    );
    chat.notice(hostile);
    chat
}

fn keeps_thoughts() -> Policy {
    Policy {
        reasoning: Reasoning::Keep,
        references: References::Quote,
        ..Policy::default()
    }
}

fn stays_text(hostile: &str) -> Result<(), TestCaseError> {
    let page = chat(hostile).only_with("markdown", &keeps_thoughts());
    let listed = find("markdown").unwrap().loses();
    let unlisted = page.losses.iter().find(|loss| !listed.contains(&loss.code));
    prop_assert!(unlisted.is_none(), "{:?}", unlisted);
    let page = page.text;
    let blocks = blocks(&page);
    let hidden = |sign: char| sign.is_control() && !matches!(sign, '\n' | '\t');
    prop_assert!(!page.contains(hidden), "{page:?}");
    let turned = page.contains('\u{202e}');
    prop_assert!(!turned);
    let mut plain = TestChat::new();
    let ann = plain.human("u1", "Ann");
    plain.write(ann, hostile);
    let page = plain.only("markdown").text;
    let shown = self::blocks(&page)[1..].join("\n\n").replace('\u{a0}', " ");
    let wanted = seen(&hostile.replace('\u{a0}', " "));
    prop_assert_eq!(seen(&shown), wanted, "{}", page);
    // A message of nothing but blanks has no block.
    prop_assert!(blocks.len() > 8 || hostile.trim().is_empty());
    Ok(())
}

const HOSTILE: &[&str] = &[
    "</script><script>alert(1)</script>",
    "</details></summary><img src=x onerror=alert(1)>",
    "<!-- x -->\n<?php\n<![CDATA[\n</div>",
    "[a](javascript:alert(1)) ![b](https://e.com/x.png) [c]: https://e.com",
    "[c]: https://e.com\n\n[c] [^1] [[d]]\n\n[^1]: x",
    "<https://e.com> <a@e.com> https://e.com www.e.com WWW.e.com",
    "# a\n## b\nc\n===\nd\n---\n* * *\n___",
    "- a\n+ b\n* c\n1. d\n2) e\n- [x] f",
    "> a\n>> b\n> [!NOTE]\n> c",
    "| a | b |\n|---|---|\n| c | d |",
    "    code\n\tcode\n```\nx\n```\n~~~\ny\n~~~",
    "`a` ``b`` *c* **d** _e_ __f__ ~~g~~ ~h~ ^i^ $j$ $$k$$ ||l||",
    "a\\\nb  \nc\\*d\\\\",
    "&amp; &lt;b&gt; &#60;i&#62; &copy;",
    "term\n: definition\n:::warning\nx\n:::",
    "+++\na = 1\n+++\n---\nb: 2\n---",
    "x {#id .class} y {{z}}",
    "\u{202e}abc\u{1b}[2J\u{7}\u{0}\u{2028}\u{9b}31m\r\n\r",
    "\n\n  a\n\n\n   b  \n  \n",
    "**\n**x** **",
    "\t",
    "```",
    "``````````\n```json\n{}",
    "שלום <b>x</b> 👩‍🚀",
    "1986. A year\n12345678901. no list",
];

#[test]
fn no_text_of_a_chat_becomes_markup() {
    for hostile in HOSTILE {
        stays_text(hostile).unwrap();
    }
    stays_text(&HOSTILE.join("\n")).unwrap();
    stays_text(&HOSTILE.join("\n\n")).unwrap();
    stays_text(&"👩‍🚀".repeat(10_000)).unwrap();
    stays_text(&"w".repeat(100_000)).unwrap();
}

proptest! {
    #![proptest_config(chatmill_drawn::law(48))]

    #[test]
    fn no_drawn_text_becomes_markup(
        pieces in prop::collection::vec(
            prop_oneof![
                4 => "[\\\\`*_{}\\[\\]<>()#+.!|~&$^=:;\"'@/ \t\n\r-]{1,6}",
                2 => "[a-zа-яא-ת0-9]{1,4}",
                1 => prop::sample::select(HOSTILE.to_vec()).prop_map(str::to_owned),
                1 => any::<String>(),
            ],
            1..12,
        )
    ) {
        stays_text(&pieces.concat())?;
    }
}

#[test]
fn a_page_has_the_words_of_a_conversation_in_order() {
    let mut chat = TestChat::new();
    chat.linked.conversation.title = Some("Reading *room*".to_owned());
    let (ines, desk) = (chat.human("u1", "Ines"), chat.agent("b1", "Desk"));
    let asked = chat.write(ines, "Open on Saturday?\nAnd on Sunday?\n\n  1. no list");
    chat.time(asked, "2026-03-02T09:00:00Z");
    let called = chat.call(desk, "", &[("c1", "opening_hours", "{\"day\":\"saturday\"}")]);
    let result = chat.result("c1", "10-16\n```\n");
    chat.pair(Some((called, 0)), Some((result, 0)), CallStatus::Paired);
    let answer = chat.write(desk, "From ten to four.");
    chat.reply(answer, asked);
    chat.notice("Ines left");
    let page = chat.only("markdown");
    let wanted = "# Reading \\*room\\*\n\n**Ines** · 2026-03-02T09:00:00Z\n\nOpen on Saturday?\\\nAnd on Sunday?\n\n\u{a0}\u{a0}1\\. no list\n\n\
        **Desk** · assistant\n\n<details><summary>Call of opening_hours</summary>\n\n```json\n{\"day\":\"saturday\"}\n```\n\n</details>\n\n\
        **tool**\n\n<details><summary>Result</summary>\n\n````\n10-16\n```\n\n````\n\n</details>\n\n\
        **Desk** · assistant\n\n> **Ines:** Open on Saturday? And on Sunday? 1. no list\n\nFrom ten to four.\n\n\
        **user** · notice\n\nInes left\n";
    assert_eq!(page.text, wanted);
    assert_eq!(
        page.lost(LossCode::ToolIdDropped),
        [(Some(called), 1), (Some(result), 1)]
    );
    assert_eq!(page.lost(LossCode::ReferenceShortened), [(Some(answer), 1)]);
    assert_eq!(page.lost(LossCode::ReservedTextEscaped), [(Some(asked), 1)]);
    assert_eq!(page.lost(LossCode::TimestampDropped), []);
}

#[test]
fn policies_leave_thoughts_media_and_replies_out_and_that_is_declared() {
    let policy = Policy {
        references: References::Drop,
        media: MediaPolicy::Drop,
        ..Policy::default()
    };
    let page = chat("word").only_with("markdown", &policy);
    assert!(
        !page.text.contains("Thought") && !page.text.contains("> "),
        "{}",
        page.text
    );
    for code in [LossCode::ReasoningDropped, LossCode::MediaDropped] {
        assert_eq!(page.lost(code), [(Some(3), 1)]);
    }
    assert_eq!(page.lost(LossCode::ReferenceDropped), [(Some(3), 2)]);
}

#[test]
fn it_is_found_by_name_and_not_among_all() {
    assert_eq!(find("markdown").unwrap().id(), "markdown");
    assert!(DIALECTS.iter().all(|dialect| dialect.id() != "markdown"));
}
