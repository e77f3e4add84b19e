//! `{% generation %}` blocks: what a training template marks as the assistant's own. Other engines do not know the tag, so
//! it becomes a call block of a function that does.

/// The function that a generation block calls.
pub(super) const FUNCTION: &str = "__generation";

/// A template whose generation blocks are call blocks; line breaks stay where they are.
pub(super) fn rewrite(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
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
        let (tag, behind) = tail.split_at(length);
        let length = if statement(tag) == Some("raw") {
            end_of_raw(behind)
        } else {
            0
        };
        match statement(tag) {
            Some("generation") => out.push_str(&tag.replacen("generation", &format!("call {FUNCTION}()"), 1)),
            Some("endgeneration") => out.push_str(&tag.replacen("endgeneration", "endcall", 1)),
            _ => out.push_str(tag),
        }
        let (raw, behind) = behind.split_at(length);
        out.push_str(raw);
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Bytes of the tag that a text begins with; what stands in quotes does not end it.
fn tag_length(text: &str) -> usize {
    let closing = if text.starts_with("{%") { "%}" } else { "}}" };
    let mut quote = None;
    let mut escaped = false;
    for (at, sign) in text.char_indices().skip(2) {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if sign == '\\' => escaped = true,
            Some(opening) if sign == opening => quote = None,
            Some(_) => {}
            None if matches!(sign, '"' | '\'') => quote = Some(sign),
            None if text.get(at..).is_some_and(|tail| tail.starts_with(closing)) => return at + 2,
            None => {}
        }
    }
    text.len()
}

/// The only word of a statement tag; none where there is another or none.
fn statement(tag: &str) -> Option<&str> {
    let inside = tag.strip_prefix("{%")?.strip_suffix("%}")?;
    let inside = inside.strip_prefix(['-', '+']).unwrap_or(inside);
    let inside = inside.strip_suffix(['-', '+']).unwrap_or(inside);
    Some(inside.trim())
}

/// Where the tag that ends a raw block begins.
fn end_of_raw(text: &str) -> usize {
    let mut tags = text.match_indices("{%");
    tags.find(|(at, _)| {
        let tail = text.get(*at..).unwrap_or_default();
        statement(tail.get(..tag_length(tail)).unwrap_or_default()) == Some("endraw")
    })
    .map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::rewrite;

    #[test]
    fn generation_blocks_become_call_blocks_and_nothing_else_changes() {
        assert_eq!(
            rewrite("a{%- generation -%}b{% endgeneration %}c"),
            "a{%- call __generation() -%}b{% endcall %}c"
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
        assert_eq!(rewrite("{%\ngeneration\n%}"), "{%\ncall __generation()\n%}");
    }
}
