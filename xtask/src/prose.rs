//! What people read in files of code: comments and strings of Rust, comments of other files.
//!
//! Tokens have no `//` comments, so Rust is read by its text: comments, strings and characters are the only places where the
//! signs of one may be inside another.

/// The kinds of prose, which are counted apart.
pub(crate) const COMMENTS: &str = "comments";
pub(crate) const STRINGS: &str = "strings";

/// The kind, the line where it begins (counted from 1), and the text with its signs.
pub(crate) type Prose<'t> = (&'static str, usize, &'t str);

/// The comments and strings of a Rust file. Lines of comments that follow each other are one, because phrases and spans of code
/// are wrapped.
pub(crate) fn of_rust(text: &str) -> Vec<Prose<'_>> {
    let mut prose = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(at) = rest.find(['/', '"', '\'']) {
        let (code, from) = rest.split_at(at);
        line += code.matches('\n').count();
        let (kind, length) = match from.as_bytes() {
            [b'/', b'/', ..] => (Some(COMMENTS), line_comments(from)),
            [b'/', b'*', ..] => (Some(COMMENTS), block_comment(from)),
            [b'"', ..] => (Some(STRINGS), string(code, from)),
            // A character is escaped or closed after one sign; any other apostrophe begins a lifetime.
            [b'\'', next, ..] if *next == b'\\' || from.chars().nth(2) == Some('\'') => (None, quoted(from)),
            _ => (None, 1),
        };
        let (own, after) = from.split_at(length);
        prose.extend(kind.map(|kind| (kind, line, own)));
        line += own.matches('\n').count();
        rest = after;
    }
    prose
}

fn line_comments(from: &str) -> usize {
    let lines = from.split_inclusive('\n');
    let comments = lines.take_while(|line| line.trim_start().starts_with("//"));
    comments.map(str::len).sum()
}

/// The length of a comment with the comments inside it.
fn block_comment(from: &str) -> usize {
    let (mut depth, mut end) = (0_usize, 0);
    for (at, signs) in from.as_bytes().windows(2).enumerate() {
        match signs {
            b"/*" if at >= end => depth += 1,
            b"*/" if at >= end => depth -= 1,
            _ => continue,
        }
        end = at + 2;
        if depth == 0 {
            return end;
        }
    }
    from.len()
}

/// The length of a string; `code` ends before its quote, with the `r##` of a raw one.
fn string(code: &str, from: &str) -> usize {
    let before = code.trim_end_matches('#');
    if !before.ends_with('r') {
        return quoted(from);
    }
    let end = format!("\"{}", "#".repeat(code.len() - before.len()));
    let mut lengths = from.match_indices(&end).map(|(at, end)| at + end.len());
    lengths.find(|length| *length > end.len()).unwrap_or(from.len())
}

/// The length of a string or a character up to the quote that closes it.
fn quoted(from: &str) -> usize {
    let mut signs = from.char_indices();
    let quote = signs.next().map(|(_, quote)| quote);
    while let Some((at, sign)) = signs.next() {
        if sign == '\\' {
            signs.next();
        } else if Some(sign) == quote {
            return at + 1;
        }
    }
    from.len()
}

/// The comments of a file in another language, line by line: `sign` begins a line or is between spaces, or `*` begins a line.
pub(crate) fn of_lines<'t>(text: &'t str, sign: &str) -> Vec<Prose<'t>> {
    let (signs, later) = ([sign, "/*", "* "], format!(" {sign} "));
    let begins = |line: &str| signs.iter().any(|sign| line.trim_start().starts_with(sign));
    let comment = |line: &'t str| match line.split_once(&later) {
        _ if begins(line) => Some(line),
        later => later.map(|(_, comment)| comment),
    };
    let lines = text.lines().zip(1..);
    let comments = lines.filter_map(|(text, line)| Some((COMMENTS, line, comment(text)?)));
    comments.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each piece with its line and, before that, `c` for a comment and `s` for a string.
    fn found(code: &str) -> Vec<String> {
        let prose = of_rust(code).into_iter();
        let prose = prose.map(|(kind, line, text)| format!("{}{line} {}", kind.split_at(1).0, text.trim()));
        prose.collect()
    }

    #[test]
    fn comments_on_lines_that_follow_each_other_are_one() {
        let code = "//! a\n//! b\n\n// c\nf(); // d\n  /// e\ng(1 / 2);";
        assert_eq!(found(code), ["c1 //! a\n//! b", "c4 // c", "c5 // d\n  /// e"]);
        assert_eq!(found("// only"), ["c1 // only"]);
    }

    #[test]
    fn a_comment_in_a_comment_ends_before_the_outer_one_does() {
        let code = "/* a /* b */ \" */ 'x' /*/ c */\n/** d\n*/ y /*e*/ /* open";
        let comments = [
            "c1 /* a /* b */ \" */",
            "c1 /*/ c */",
            "c2 /** d\n*/",
            "c3 /*e*/",
            "c3 /* open",
        ];
        assert_eq!(found(code), comments);
    }

    #[test]
    fn the_signs_of_comments_in_strings_are_text() {
        let code = r#"f("a // \" b", b"/*", "\\") // c"#;
        assert_eq!(
            found(code),
            [r#"s1 "a // \" b""#, r#"s1 "/*""#, r#"s1 "\\""#, "c1 // c"]
        );
    }

    #[test]
    fn a_raw_string_ends_with_as_many_signs_as_it_begins_with() {
        let code = r###"r"a\" r#"b " // c"#
            br##""# d"## cr"" r#type"###;
        let strings = [
            r#"s1 "a\""#,
            r##"s1 "b " // c"#"##,
            r###"s2 ""# d"##"###,
            r#"s2 """#,
        ];
        assert_eq!(found(code), strings);
    }

    #[test]
    fn characters_and_lifetimes_begin_no_string() {
        let code = r#"f(b'"', '\'', '\\', 'é', '/'); fn g<'a>(x: &'a str, y: &'static str) { 'l: loop {} } "z" // é"#;
        assert_eq!(found(code), [r#"s1 "z""#, "c1 // é"]);
    }

    #[test]
    fn lines_of_other_files_have_comments_at_their_beginning_or_between_spaces() {
        let comments = of_lines("# a\nkey = 1  # b\nx#c\n * d", "#");
        assert_eq!(
            comments,
            [(COMMENTS, 1, "# a"), (COMMENTS, 2, "b"), (COMMENTS, 4, " * d")]
        );
    }
}
