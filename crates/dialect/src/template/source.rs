//! Checks and changes the source of a template before minijinja parses it.
//!
//! The parser, the compiler and the drop of a parsed template recurse once per link of a chain such as `not not a` or `a.b.c`, and
//! expressions of constants are calculated repeatedly. So the number of words in a tag is limited, and products are not constant: they are
//! calculated only when the template runs, where their cost is taken.

use chatmill_diag::cut;
use chatmill_diag::limits::{TEMPLATE_BRANCHES, TEMPLATE_TAG, TEMPLATE_WORDS};
use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;

/// A variable with the value one: `2 * 3` becomes `2 *__one* 3`, which is not a constant.
pub(super) const ONE: &str = "__one";

/// Returns the source that is compiled. The error is what is too long in it.
pub(super) fn checked(source: &str, syntax: &SyntaxConfig) -> Result<String, String> {
    let mut out = String::with_capacity(source.len());
    let mut copied = 0;
    let (mut words, mut opened, mut branches) = (0, 0, 0);
    let mut follows_operand = false;
    // The loop ends at the first token that cannot be read, where the parser will fail, too.
    for (token, span) in tokenize(source, false, syntax.clone()).map_while(Result::ok) {
        let (start, end) = (span.start_offset as usize, span.end_offset as usize);
        match token {
            Token::TemplateData(_) => words = 0,
            Token::VariableStart | Token::BlockStart => (words, opened) = (0, start),
            Token::VariableEnd | Token::BlockEnd => {}
            _ => words += 1,
        }
        if words > TEMPLATE_WORDS || (words > 0 && end.saturating_sub(opened) > TEMPLATE_TAG) {
            let line = span.start_line;
            return Err(format!(
                "a tag has more than {TEMPLATE_WORDS} words or {TEMPLATE_TAG} bytes (line {line} of the template)"
            ));
        }
        branches += usize::from(matches!(token, Token::Ident("elif")));
        if branches > TEMPLATE_BRANCHES {
            return Err(format!(
                "the template has more than {TEMPLATE_BRANCHES} branches `elif`"
            ));
        }
        if matches!(token, Token::Mul) && follows_operand {
            out.push_str(cut::text(source, copied..end));
            out.push_str(ONE);
            out.push('*');
            copied = end;
        }
        // After these, `*` unpacks a list and is not a product.
        follows_operand = !matches!(token, Token::ParenOpen | Token::Comma);
    }
    out.push_str(source.split_at(copied).1);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(source: &str) -> Result<String, String> {
        super::checked(source, &SyntaxConfig::default())
    }

    #[test]
    fn products_are_no_constants_and_everything_else_stays() {
        assert_eq!(
            checked("a*b {{ 2*x * 3 }}").unwrap(),
            "a*b {{ 2*__one*x *__one* 3 }}"
        );
        for same in [
            "{{ f(*a, *b, **c) }} {{ 2 ** 3 }}",
            "{# 2 * 3 #}{% raw %}{{ 2 * 3 }}{% endraw %}",
            "{{ '2 * 3' }}\n*",
            "{{ 'never closed",
        ] {
            assert_eq!(checked(same).unwrap(), same);
        }
    }

    #[test]
    fn a_tag_has_so_many_words_and_bytes_and_not_more() {
        let words = |count: usize| format!("a\n{{{{ {}a }}}}", "not ".repeat(count - 1));
        assert!(checked(&words(TEMPLATE_WORDS)).is_ok());
        let refused = checked(&words(TEMPLATE_WORDS + 1)).unwrap_err();
        assert!(
            refused.contains("words") && refused.contains("line 2"),
            "{refused}"
        );
        let long = |length: usize| format!("{{{{ '{}' }}}}", "a".repeat(length));
        assert!(checked(&long(TEMPLATE_TAG - 16)).is_ok());
        assert!(checked(&long(TEMPLATE_TAG)).is_err());
        let tags = "{{ a }} text ".repeat(TEMPLATE_WORDS);
        assert!(checked(&tags).is_ok());
    }

    #[test]
    fn a_template_has_so_many_branches_and_not_more() {
        let branches = |count| format!("{{% if a %}}{}{{% endif %}}", "{% elif b %}".repeat(count));
        assert!(checked(&branches(TEMPLATE_BRANCHES)).is_ok());
        assert!(checked(&branches(TEMPLATE_BRANCHES + 1)).is_err());
    }
}
