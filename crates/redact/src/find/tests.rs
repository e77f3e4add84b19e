use super::*;

fn all(text: &str) -> Vec<(PersonalKind, String)> {
    find(text, KindSet::new(&PersonalKind::ALL))
        .into_iter()
        .map(|found| (found.kind, text.get(found.range).unwrap().to_owned()))
        .collect()
}

#[test]
fn matches_of_a_text_are_those_of_its_case() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/find/cases/texts.txt");
    let found = |case: &str| {
        let lines = all(&case.replace("\\n", "\n")).into_iter();
        let lines: Vec<String> = lines
            .map(|(kind, value)| format!("{} {}", kind.as_str(), value.replace('\n', "\\n")))
            .collect();
        if lines.is_empty() {
            "nothing".to_owned()
        } else {
            lines.join("\n")
        }
    };
    let checked = chatmill_golden::check_cases(&path, found);
    checked.unwrap_or_else(|message| panic!("{message}"));
}

#[test]
fn two_adjacent_values_are_both_found() {
    let values = [
        (PersonalKind::Email, "zaphira.quillon@canary-post.example"),
        (PersonalKind::Phone, "+49 30 90182077"),
        (PersonalKind::Ip, "10.77.88.99"),
        (PersonalKind::Ip, "fe80::77:88ff:fe99:aabb"),
        (PersonalKind::Card, "4929 7171 2345 6781"),
        (PersonalKind::Iban, "DE89370400440532013000"),
    ];
    for between in ["#", "|", ", ", "; ", "\n"] {
        for (first, left) in values {
            for (second, right) in values {
                let text = format!("{left}{between}{right}");
                let kinds: Vec<PersonalKind> = all(&text).into_iter().map(|(kind, _)| kind).collect();
                assert_eq!(kinds, [first, second], "{text:?}");
            }
        }
    }
    // A number after a slash may be a group of the telephone number, or begin an address.
    for phone in ["+49 30 90182077", "phone: 90182077"] {
        let text = format!("{phone}/10.77.88.99");
        let kinds: Vec<PersonalKind> = all(&text).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [PersonalKind::Phone, PersonalKind::Ip], "{text:?}");
    }
}

#[test]
fn the_more_specific_of_two_overlapping_matches_wins() {
    let text = "https://ann:pw@mail.example/?token=4111111111111111";
    let kinds: Vec<PersonalKind> = all(text).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [PersonalKind::Secret, PersonalKind::Secret]);
}

#[test]
fn parameters_and_countries_are_sorted_and_each_line_of_secrets_is_a_shape() {
    assert!(secret::PARAMETERS.is_sorted_by(|left, right| left < right));
    assert!(bank::ACCOUNTS.is_sorted_by(|left, right| left.0 < right.0));
    let secrets = include_str!("secrets.txt");
    assert_eq!(
        secret::SHAPES.len(),
        secrets.lines().count(),
        "each line is a shape"
    );
}

/// Searches `times` repetitions of every piece that some rule begins with.
fn repetitions(times: usize) {
    for piece in [
        "@",
        "a@",
        "@a.",
        "1.",
        "1:",
        "1 ",
        "1-",
        "(",
        "((1",
        "+",
        "+1(",
        "://",
        "://a@b:",
        "?token=",
        "sk-",
        "eyJ.",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "a.",
        "DE12",
        "::",
        "f:",
        "phone ",
        "12345678:",
        "bearer ",
        "0 ",
        "&#",
        "\\",
        "\\\\u",
        "%4",
    ] {
        let text = piece.repeat(times);
        let folded = crate::fold::fold(&text);
        find(&folded.text, KindSet::new(&PersonalKind::ALL));
    }
}

#[test]
fn repetitions_of_a_beginning_are_searched_to_the_end() {
    repetitions(500);
}

#[test]
#[ignore = "by the clock, on a machine that does nothing else: `just in-time`"]
fn repetitions_are_looked_through_in_time() {
    let begun = std::time::Instant::now();
    repetitions(50_000);
    // In quadratic time, the worst of these takes minutes.
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}
