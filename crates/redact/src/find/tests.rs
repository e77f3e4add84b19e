use super::*;

fn all(text: &str) -> Vec<(PersonalKind, String)> {
    find(text, Wanted::new(&PersonalKind::ALL))
        .into_iter()
        .map(|found| (found.kind, text.get(found.range).unwrap().to_owned()))
        .collect()
}

/// Each text holds exactly this, between the braces.
fn finds(kind: PersonalKind, texts: &[&str]) {
    for marked in texts {
        let (before, rest) = marked.split_once('⟨').unwrap();
        let (value, after) = rest.split_once('⟩').unwrap();
        let text = format!("{before}{value}{after}");
        assert_eq!(all(&text), [(kind, value.to_owned())], "{text}");
    }
}

fn leaves(texts: &[&str]) {
    for text in texts {
        assert_eq!(all(text), [], "{text}");
    }
}

#[test]
fn addresses_of_mail_are_found_and_similar_texts_are_not() {
    finds(
        PersonalKind::Email,
        &[
            "write to ⟨ann@mail.example⟩.",
            "⟨ann.smith+list@sub.mail.example⟩",
            "(⟨o'hara@mail.example⟩)",
            "<⟨ann@mail.example⟩>",
            "**⟨ann@mail.example⟩**",
            "mailto:⟨ann@mail.example⟩?subject=x",
            "mail=⟨ann@mail.example⟩&x",
            "'⟨ann@mail.example⟩'",
            "⟨jürgen@bücher.example⟩",
            "⟨ann@xn--bcher-kva.example⟩",
            "联系⟨ann@mail.example⟩谢谢",
            "⟨用户@例子.中国⟩",
            "@⟨ann@social.example⟩",
            "⟨a@b.co⟩,",
            "see ⟨ann@mail.example⟩-",
        ],
    );
    leaves(&[
        "@ann",
        "ann@localhost",
        "ann @ mail.example",
        "npm i left-pad@1.3.0",
        "@scope/package@1.2.3",
        "git@host.example:team/project.git",
        "icon@2x.png",
        "a@b",
        "@@",
        "user@",
        "@ann:matrix.example",
    ]);
}

#[test]
fn telephone_numbers_are_found_in_common_forms() {
    finds(
        PersonalKind::Phone,
        &[
            "call ⟨+1 555 123 4567⟩ now",
            "⟨+1-555-123-4567⟩",
            "⟨+15551234567⟩",
            "⟨+1 (555) 123-4567⟩, please",
            "⟨+44 (0)20 7946 0958⟩",
            "⟨+49 30 901820⟩",
            "⟨+49/30/901820⟩",
            "⟨+380501234567⟩.",
            "电话⟨+8613800138000⟩。",
            "⟨0049 30 901820⟩",
            "⟨(555) 123-4567⟩",
            "⟨555-123-4567⟩",
            "⟨555.123.4567⟩",
            "⟨1-800-555-0199⟩",
            "⟨020 7946 0958⟩",
            "⟨(020) 7946 0958⟩",
            "⟨030/9018201⟩",
            "⟨07911 123456⟩",
            "⟨06 12 34 56 78⟩",
            "⟨06.12.34.56.78⟩",
            "phone: ⟨5551234567⟩",
            "{\"phone\": \"⟨5551234567⟩\"}",
            "{\"phone_number\":⟨15551234567⟩}",
            "tel:⟨02079460958⟩",
            "WhatsApp ⟨5551234567⟩",
        ],
    );
}

#[test]
fn of_two_values_side_by_side_neither_hides_the_other() {
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
    // A number behind a slash may be a group of the telephone number, or begin an address.
    for phone in ["+49 30 90182077", "phone: 90182077"] {
        let text = format!("{phone}/10.77.88.99");
        let kinds: Vec<PersonalKind> = all(&text).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [PersonalKind::Phone, PersonalKind::Ip], "{text:?}");
    }
}

#[test]
fn dates_versions_prices_ids_and_code_stay() {
    leaves(&[
        "2026-11-21 10:30:00",
        "2026-11-21T10:30:00+01:00",
        "21.11.2026 10:30",
        "01.02.2026 10",
        "01-02-2026 1234",
        "11/21/2026",
        "v1.2.3.4",
        "version 1.2.3.4",
        "Version: 10.0.19041.1",
        "Chrome/120.0.0.0 Safari/537.36",
        "\"^1.2.3.4\"",
        "1.2.3",
        "1.2.3.4.5",
        "300.1.2.3",
        "1.2.3.4-beta",
        "$1,234,567.89",
        "€ 020 7946 0958",
        "1 234 567 890",
        "5551234567",
        "order 111-1234567-1234567",
        "ISBN 978-0-306-40615-7",
        "9780306406157",
        "3.14159265358979",
        "0.4111111111111111",
        "550e8400-e29b-41d4-a716-446655440000",
        "12345678-1234-1234-1234-123456789012",
        "e10adc3949ba59abbe56e057f20f883e",
        "1732190400000",
        "1732190400000000",
        "1109876543210987654",
        "-1001234567890",
        "x = a[0] + 12345678",
        "for i in 0..100 { sum += i * 31 }",
        "std::fs::read(dead::beef)",
        "12:30:45",
        "00:1a:2b:3c:4d:5e",
        "::1 and 127.0.0.1 and 0.0.0.0 and 255.255.255.0",
        "01 02 03 04 05 06 07 08",
        "00 11 22 33 44 55",
        "50% of 100,000,000",
        "48.8566, 2.3522",
        "#0612345678",
        "+1 555",
        "x +10000000",
        "+999 12345678901",
        "hotel 12345678",
    ]);
}

#[test]
fn internet_addresses_are_found() {
    finds(
        PersonalKind::Ip,
        &[
            "from ⟨203.0.113.7⟩.",
            "http://⟨10.1.2.3⟩:8080/x",
            "⟨192.168.1.20⟩/24",
            "[⟨2001:db8::8a2e:370:7334⟩]:443",
            "⟨fe80::1ff:fe23:4567:890a⟩%eth0",
            "⟨2001:0db8:0000:0000:0000:ff00:0042:8329⟩",
            "⟨::ffff:203.0.113.7⟩",
            "content.⟨10.77.88.99⟩",
            "content.⟨fe80::77:88ff:fe99:aabb⟩",
            "sensor7.⟨fe80::77:88ff:fe99:aabb⟩",
            "地址⟨203.0.113.7⟩",
        ],
    );
}

#[test]
fn cards_need_an_issuer_and_a_right_check_digit() {
    finds(
        PersonalKind::Card,
        &[
            "⟨4111111111111111⟩",
            "card ⟨4111 1111 1111 1111⟩, exp. 12/29",
            "⟨4111-1111-1111-1111⟩",
            "⟨5555555555554444⟩",
            "⟨2223003122003222⟩",
            "⟨378282246310005⟩",
            "⟨3782 822463 10005⟩",
            "⟨30569309025904⟩",
            "⟨6011111111111117⟩",
            "⟨3530111333300000⟩",
            "卡号⟨4111111111111111⟩",
            "[⟨4111111111111111⟩]",
        ],
    );
    leaves(&[
        "4111111111111112",
        "1111111111111117",
        "9111111111111111",
        "x4111111111111111",
        "4111111111111111x",
        "4111 1111 1111 111",
        "4111 1111-1111 1111",
        "id-4111111111111111",
    ]);
}

#[test]
fn accounts_need_the_length_of_their_country_and_the_right_remainder() {
    finds(
        PersonalKind::Iban,
        &[
            "⟨DE89370400440532013000⟩",
            "to ⟨DE89 3704 0044 0532 0130 00⟩ please",
            "⟨GB82 WEST 1234 5698 7654 32⟩.",
            "⟨FR1420041010050500013M02606⟩",
            "⟨nl91abna0417164300⟩",
            "⟨NO9386011117947⟩",
        ],
    );
    leaves(&[
        "DE88370400440532013000",
        "DE8937040044053201300",
        "XX89370400440532013000",
        "DE89370400440532013000A",
        // The remainder is right, but a Belgian account has digits only.
        "be279931-256f-4112-ac58-e1fcd4796c44",
        "BE279931256F4112",
    ]);
}

#[test]
fn credentials_are_found_in_urls_and_by_their_shape() {
    finds(
        PersonalKind::Secret,
        &[
            "postgres://⟨app:hunter2⟩@db.example/chat",
            "https://⟨ann@mail.example:pw⟩@files.example",
            "https://a.example/f?x=1&token=⟨7f3a9c⟩&y=2",
            "GET /f?x=1&token=⟨7f3a9c⟩ HTTP/1.1",
            "https://a.example and f?sig=⟨ab⟩",
            "(https://a.example/f?sig=⟨ab%2Fc⟩)",
            "https://a.example/cb#access_token=⟨abc.def⟩.",
            "https://s3.example/o?X-Amz-Signature=⟨0123abcd⟩",
            "⟨sk-ant-api03-0123456789abcdefghij⟩",
            "key ⟨ghp_0123456789abcdefghijABCDEFGHIJ012345⟩!",
            "⟨AKIAIOSFODNN7EXAMPLE⟩",
            "⟨eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlLW9mLW91cnM⟩",
            "Authorization: Bearer ⟨0123456789abcdef0123⟩",
            "⟨123456789:AAaaBBbbCCccDDddEEeeFFffGGggHHhh012⟩",
            "https://bots.example/bot⟨123456789:AAaaBBbbCCccDDddEEeeFFffGGggHHhh012⟩/getMe",
            "HF_TOKEN=⟨hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh⟩",
            "⟨MTIzNDU2Nzg5MDEyMzQ1Njc4.Abc_1-.AbCdEfGhIjKlMnOpQrStUvWxYz0123456_-⟩",
            "a ⟨-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----⟩ b",
        ],
    );
    leaves(&[
        "https://a.example/f?x=1&page=2",
        "https://a.example/@ann:x",
        "https://a.example:8080/x@y",
        "sk-learn and task-0123456789abcdefghij",
        "a-sk-0123456789abcdefghij",
        "sk-this-is-a-long-word-with-hyphens",
        "eyJhbGciOiJIUzI1NiJ9",
        "Bearer of good news everyone",
        "hf_transfer_speeds_up_downloads_of_models",
        "hf_abcdefghijklmnopqrstuvwxyzabcdefgh",
        // The first part stands for letters.
        "QWJjZGVmZ2hpamtsbW5vcHFy.Abc_1-.AbCdEfGhIjKlMnOpQrStUvWxYz0123456_-",
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "token=abc",
        "which token? key = value",
    ]);
}

#[test]
fn of_two_that_overlap_the_more_telling_one_is_taken() {
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

/// Looks through every piece that some rule begins with, so many times over.
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
        find(&folded.text, Wanted::new(&PersonalKind::ALL));
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
    // In time that grows with the square, the worst of these takes minutes.
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}
