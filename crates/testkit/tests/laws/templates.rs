//! Chat templates in whole runs: the files that a pipeline names become dialects, and their contents are part of the plan.

use std::sync::atomic::AtomicBool;

use chatmill_engine::pipeline::parse;
use chatmill_engine::{Plan, RunOptions, Silent};
use chatmill_workshop::{TestDir, rows};

const TURNS: &str = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}";

const CHAT: &str =
    r#"[{"role":"user","content":"How many <|end|> are these?"},{"role":"assistant","content":"One."}]"#;

fn shop() -> TestDir {
    let shop = TestDir::new();
    shop.write("in/chat.json", CHAT);
    shop.write("models/turns.jinja", TURNS);
    shop
}

const MINE: &str = r#"
[render]
dialects = ["mine", "chatml"]
[templates.mine]
template = "models/turns.jinja"
special_tokens = ["<|user|>", "<|assistant|>", "<|end|>"]
"#;

#[test]
fn a_template_is_rendered_counted_and_certified() {
    let shop = shop();
    let options = RunOptions {
        verify_every: 1,
        ..RunOptions::default()
    };
    let plan = shop.plan("out", MINE);
    chatmill_engine::run(plan, options, &Silent, &AtomicBool::new(false)).unwrap();
    let out = shop.path("out");
    assert!(chatmill_dataset::certify(&out).unwrap().holds());
    let dialects = rows::texts(&out, "renderings", "dialect");
    assert_eq!(dialects, [Some("chatml".to_owned()), Some("mine".to_owned())]);
    let profiles = rows::texts(&out, "renderings", "profile");
    assert_eq!(profiles[1].as_deref(), Some("template"));
    let contents = rows::texts(&out, "renderings", "content");
    assert_eq!(
        contents[1].as_deref(),
        Some("<|user|>How many <\u{200b}|end|> are these?<|end|><|assistant|>One.<|end|>")
    );
    // Four special tokens, and the texts `How many <\u{200b}|end|> are these?` and `One.`.
    let encoding = chatmill_token::find("o200k_base").unwrap();
    let text = |text: &str| i64::try_from(encoding.counter().count(text)).unwrap();
    let tokens = 4 + text("How many <\u{200b}|end|> are these?") + text("One.");
    assert_eq!(
        rows::numbers(&out, "renderings", "tokens_o200k_base")[1],
        Some(tokens)
    );
    let own = rows::numbers(&out, "token_counts", "assistant_content");
    assert_eq!(own[1], Some(text("One.")));
}

#[test]
fn the_plan_covers_the_content_of_a_template_and_not_its_path() {
    let shop = shop();
    let first = shop.plan("out", MINE);
    shop.write("elsewhere/x.jinja", TURNS);
    let moved = shop.plan("out", &MINE.replace("models/turns", "elsewhere/x"));
    assert_eq!(first.fingerprint(), moved.fingerprint());
    assert!(!first.normalised().to_string().contains("turns.jinja"));
    shop.write("elsewhere/x.jinja", format!("{TURNS} "));
    let changed = shop.plan("out", &MINE.replace("models/turns", "elsewhere/x"));
    assert_ne!(first.fingerprint(), changed.fingerprint());
    let told = shop.plan("out", &format!("{MINE}variables = {{ polite = true }}\n"));
    assert_ne!(first.fingerprint(), told.fingerprint());
}

#[test]
fn all_dialects_are_those_of_the_registry_and_the_files() {
    let shop = shop();
    let plan = shop.plan("out", "[templates.mine]\ntemplate = \"models/turns.jinja\"\n");
    let registered = chatmill_dialect::DIALECTS.len();
    assert_eq!(plan.targets.len(), registered + 1);
    assert_eq!(plan.targets[registered].id(), "mine");
    let kept = format!("{MINE}[window]\nhistory = \"all\"\n");
    assert_eq!(shop.plan("out", &kept).targets.len(), 2);
}

#[test]
fn a_template_error_names_the_template() {
    let shop = shop();
    shop.write("models/dated.jinja", "{{ strftime_now('%Y') }}");
    shop.write("models/broken.jinja", "{% if %}");
    shop.write("models/none.json", "{}");
    let wrong = |name: &str, section: &str| {
        let text = format!(
            "name = \"n\"\n[[input]]\npath = \"in/**\"\n[output]\npath = \"out\"\n[templates.{name}]\n{section}\n"
        );
        let pipeline = parse(&text, &[], "p.toml".as_ref()).unwrap();
        let refused = Plan::resolve(pipeline, &shop.path(""), None, None);
        refused.err().map(|error| error.to_string()).unwrap_or_default()
    };
    for (name, section, said) in [
        ("mine", "template = \"models/dated.jinja\"", "set `now`"),
        (
            "mine",
            "template = \"models/dated.jinja\"\nnow = \"soon\"",
            "`soon`",
        ),
        (
            "mine",
            "template = \"models/broken.jinja\"",
            "line 1 of the template",
        ),
        (
            "mine",
            "template = \"models/missing.jinja\"",
            "cannot read models/missing.jinja",
        ),
        (
            "mine",
            "tokenizer_config = \"models/none.json\"",
            "set `template`",
        ),
        ("mine", "", "set `template`"),
        ("Mine", "template = \"models/turns.jinja\"", "kebab case"),
        (
            "chatml",
            "template = \"models/turns.jinja\"",
            "already a dialect of that name",
        ),
    ] {
        let message = wrong(name, section);
        assert!(
            message.contains(said) && message.contains(name),
            "{name} {section}: {message}"
        );
    }
    let dated = wrong("mine", "template = \"models/dated.jinja\"\nnow = 2024-07-26");
    assert_eq!(dated, "");
}

#[test]
fn a_tokenizer_configuration_brings_template_and_tokens() {
    let shop = shop();
    let config = serde_json::json!({
        "chat_template": "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{{ eos_token }}{% endfor %}",
        "bos_token": {"content": "<s>"},
        "eos_token": "</s>",
        "added_tokens_decoder": {"3": {"content": "[user]", "special": true}},
    });
    shop.write("models/tokenizer_config.json", config.to_string());
    let more = "[render]\ndialects = [\"mine\"]\n[templates.mine]\ntokenizer_config = \"models/tokenizer_config.json\"\n";
    shop.run("out", more, 1).unwrap();
    let out = shop.path("out");
    let text = "<s>[user]How many <|end|> are these?</s>[assistant]One.</s>";
    assert_eq!(
        rows::texts(&out, "renderings", "content"),
        [Some(text.to_owned())]
    );
    let encoding = chatmill_token::find("o200k_base").unwrap();
    let count = |text: &str| i64::try_from(encoding.counter().count(text)).unwrap();
    let tokens = 4 + count("How many <|end|> are these?") + count("[assistant]One.");
    assert_eq!(
        rows::numbers(&out, "renderings", "tokens_o200k_base"),
        [Some(tokens)]
    );
}

#[test]
fn the_limit_of_a_rendering_holds_for_templates() {
    let shop = shop();
    let length = 69;
    for (limit, found) in [(length, 0), (length - 1, 1)] {
        let only = MINE.replace(", \"chatml\"", "");
        let out = format!("out-{limit}");
        let more = format!("{only}[limits]\nrendering = {limit}\n");
        shop.run(&out, &more, 1).unwrap();
        let codes = rows::texts(&shop.path(&out), "findings", "name");
        let oversize = codes
            .iter()
            .flatten()
            .filter(|name| *name == "oversize-rendering");
        assert_eq!(oversize.count(), found, "{limit}");
        let contents = rows::texts(&shop.path(&out), "renderings", "content");
        assert_eq!(
            contents[0].as_ref().map_or(0, String::len),
            if found == 0 { length } else { 0 }
        );
        let valid = rows::flags(&shop.path(&out), "renderings", "valid");
        assert_eq!(valid, [Some(found == 0)]);
    }
}
