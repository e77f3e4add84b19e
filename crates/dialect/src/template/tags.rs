//! Rewrites and refuses tags before a template is compiled.
//!
//! minijinja does not have `{% generation %}` blocks, with which a template for training marks the text of the assistant. Each becomes a
//! block of a filter that records it, in a separate scope for variables as in transformers. Tags that name other files are refused.

/// The filter that replaces a generation block.
pub(super) const FILTER: &str = "__generation";

/// Tags that name another file.
const NAMING: [&str; 4] = ["include", "import", "extends", "from"];

/// Returns a template with filter blocks instead of generation blocks. Line breaks keep their places and become `\n`. The error is a tag
/// that names another file.
pub(super) fn rewrite(source: &str) -> Result<String, String> {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::with_capacity(source.len());
    let mut rest = source.as_str();
    while let Some(at) = rest.find('{') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let length = if tail.starts_with("{#") {
            tail.find("#}").map_or(tail.len(), |end| end + 2)
        } else if tail.starts_with("{%") || tail.starts_with("{{") {
            tag_length(tail)
        } else {
            1
        };
        let (tag, after) = tail.split_at(length);
        let length = if statement(tag) == Some("raw") {
            end_of_raw(after)
        } else {
            0
        };
        let word = statement(tag).and_then(|inside| inside.split_whitespace().next());
        if let Some(word) = word.filter(|word| NAMING.contains(word)) {
            return Err(format!("the template names another file: {{% {word} %}}"));
        }
        match statement(tag) {
            Some("generation") => {
                let opening = format!("with %}}{{% filter {FILTER}");
                out.push_str(&tag.replacen("generation", &opening, 1));
            }
            Some("endgeneration") => {
                out.push_str(&tag.replacen("endgeneration", "endfilter %}{% endwith", 1));
            }
            _ => out.push_str(tag),
        }
        let (raw, after) = after.split_at(length);
        out.push_str(raw);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// Returns the length in bytes of the tag at the beginning of a text; text in quotes does not end the tag.
fn tag_length(text: &str) -> usize {
    let closing = if text.starts_with("{%") { "%}" } else { "}}" };
    let mut quote = None;
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(2) {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if character == '\\' => escaped = true,
            Some(opening) if character == opening => quote = None,
            None if matches!(character, '"' | '\'') => quote = Some(character),
            None if text.split_at(at).1.starts_with(closing) => return at + 2,
            _ => {}
        }
    }
    text.len()
}

/// Returns the inside of a statement tag; `None` for other tags.
fn statement(tag: &str) -> Option<&str> {
    let inside = tag.strip_prefix("{%")?.strip_suffix("%}")?;
    let inside = inside.strip_prefix(['-', '+']).unwrap_or(inside);
    let inside = inside.strip_suffix(['-', '+']).unwrap_or(inside);
    Some(inside.trim())
}

/// Returns where the tag that ends a raw block begins.
fn end_of_raw(text: &str) -> usize {
    let mut tags = text.match_indices("{%");
    tags.find(|(at, _)| {
        let (_, tail) = text.split_at(*at);
        statement(tail.split_at(tag_length(tail)).0) == Some("endraw")
    })
    .map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    fn rewrite(source: &str) -> String {
        super::rewrite(source).unwrap()
    }

    #[test]
    fn generation_blocks_become_filter_blocks_and_nothing_else_changes() {
        assert_eq!(
            rewrite("a{%- generation -%}b{% endgeneration %}c"),
            "a{%- with %}{% filter __generation -%}b{% endfilter %}{% endwith %}c"
        );
        for same in [
            "{# {% generation %} #}",
            "{% raw %}{% generation %}{% endraw %}",
            "{{ '{% generation %}' }}{{ \"}}\" }}",
            "{% set generation = 1 %}",
            "{ {% if generation %}{% endif",
            "{{ 'never closed",
            "{#",
            "ї{",
        ] {
            assert_eq!(rewrite(same), same);
        }
        assert_eq!(
            rewrite("{%\ngeneration\r\n%}\r"),
            "{%\nwith %}{% filter __generation\n%}\n"
        );
    }

    #[test]
    fn a_tag_that_names_a_file_is_refused_where_it_is_one() {
        for named in [
            "{% include 'a' %}",
            "{%- from 'a' import b -%}",
            "{%extends x%}",
            "{% import 'a' as b %}",
        ] {
            assert!(
                super::rewrite(named).unwrap_err().contains("another file"),
                "{named}"
            );
        }
        for fine in [
            "{% raw %}{% include 'a' %}{% endraw %}",
            "{# {% include 'a' %} #}",
            "{% set include = 1 %}",
        ] {
            assert_eq!(rewrite(fine), fine);
        }
    }
}
