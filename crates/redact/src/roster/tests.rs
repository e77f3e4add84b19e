use super::*;

fn person(id: &str, name: Option<&str>, alias: Option<&str>) -> Participant {
    Participant {
        id: id.to_owned(),
        name: name.map(str::to_owned),
        alias: alias.map(str::to_owned),
        kind: ParticipantKind::Human,
        ..Participant::default()
    }
}

fn roster(participants: Vec<Participant>) -> Roster {
    let conversation = Conversation {
        participants,
        ..Conversation::default()
    };
    Roster::of(&conversation, &HashSet::from(["zed".to_owned()]))
}

fn found(roster: &Roster, text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    roster.find(text, &mut found);
    let pair = |found: Found| (text.get(found.range).unwrap().to_owned(), found.value);
    found.into_iter().map(pair).collect()
}

fn names(roster: &Roster, text: &str) -> Vec<String> {
    found(roster, text)
        .into_iter()
        .map(|(written, _)| written)
        .collect()
}

#[test]
fn names_and_second_names_are_found_as_whole_words_in_any_case() {
    let roster = roster(vec![person("u1", Some("Mirela Quint"), Some("mirq77"))]);
    for text in [
        "Mirela Quint",
        "MIRELA QUINT",
        "mirela_quint",
        "Mirela-Quint",
        "mirq77",
        "MirQ77",
        "Mirela",
        "Quint",
        "mirela",
    ] {
        assert_eq!(names(&roster, &format!("so {text}, yes")), [text]);
        assert_eq!(names(&roster, &format!("@{text}'s")), [text]);
    }
    for text in ["quintet", "Mirelas", "xmirq77", "mirq777", "Mirela\nQuints"] {
        let expected: &[&str] = if text.contains('\n') { &["Mirela"] } else { &[] };
        assert_eq!(names(&roster, text), expected, "{text}");
    }
}

#[test]
fn all_names_of_a_person_have_one_owner() {
    let roster = roster(vec![person("u1", Some("Mirela Quint"), Some("mirq77"))]);
    let owners: Vec<String> = found(&roster, "Mirela, mirq77 and MIRELA QUINT")
        .into_iter()
        .map(|(_, owner)| owner)
        .collect();
    assert_eq!(owners, ["Person-mirela quint"; 3]);
    assert_eq!(
        roster.owner(" mirela  quint ").as_deref(),
        Some("Person-mirela quint")
    );
}

#[test]
fn a_name_of_two_participants_is_replaced_as_neither() {
    let roster = roster(vec![
        person("u1", Some("Mirela Quint"), None),
        person("u2", Some("Mirela Okoye"), None),
    ]);
    assert_eq!(
        found(&roster, "Mirela"),
        [("Mirela".to_owned(), "Person-mirela".to_owned())]
    );
    assert_eq!(
        found(&roster, "Okoye"),
        [("Okoye".to_owned(), "Person-mirela okoye".to_owned())]
    );
}

#[test]
fn short_and_common_names_are_not_searched_for_but_known_where_they_stand_alone() {
    let roster = roster(vec![
        person("u1", Some("Bo"), None),
        person("u2", Some("Will"), None),
        person("u3", Some("User"), Some("zed")),
        person("u4", None, None),
    ]);
    assert_eq!(names(&roster, "Bo will user zed u4"), Vec::<String>::new());
    assert_eq!(roster.owner("bo").as_deref(), Some("Person-bo"));
    assert_eq!(roster.owner("Will").as_deref(), Some("Person-will"));
    assert_eq!(
        (roster.owner("user"), roster.owner("zed"), roster.owner("u4")),
        (None, None, None)
    );
}

#[test]
fn an_id_is_a_name_where_there_is_no_other() {
    let agent = Participant {
        kind: ParticipantKind::Agent,
        ..person("model-four", None, None)
    };
    let roster = roster(vec![
        person("mirela", None, None),
        person("user_17", None, None),
        agent,
    ]);
    assert_eq!(names(&roster, "MIRELA, user_17, model-four"), ["MIRELA"]);
}

#[test]
fn names_in_scripts_without_blanks_are_found_anywhere() {
    let roster = roster(vec![
        person("u1", Some("李明轩"), None),
        person("u2", Some("たなか"), Some("林")),
    ]);
    assert_eq!(
        names(&roster, "谢谢李明轩老师，たなかさん，森林"),
        ["李明轩", "たなか"]
    );
}

#[test]
fn a_name_of_an_agent_is_replaced_as_that_of_an_agent() {
    let agent = Participant {
        kind: ParticipantKind::Agent,
        ..person("a1", Some("Quillbot Prime"), None)
    };
    let roster = roster(vec![agent]);
    assert_eq!(
        names(&roster, "Prime numbers, quillbot prime"),
        ["quillbot prime"]
    );
    assert_eq!(
        roster.owner("Quillbot Prime").as_deref(),
        Some("Agent-quillbot prime")
    );
}

#[test]
fn names_are_found_with_and_without_accents() {
    let roster = roster(vec![
        person("u1", Some("Jürgen Weiß"), None),
        person("u2", Some("Zoë"), None),
        person("u3", Some("Oskar Lind"), None),
    ]);
    for text in [
        "Jürgen",
        "jurgen",
        "Juergen",
        "JUERGEN WEISS",
        "Jurgen Weiß",
        "zoe",
        "ZOË",
    ] {
        assert_eq!(names(&roster, &format!("so {text}, yes")), [text]);
    }
    let accented = self::roster(vec![person("u1", Some("Andre Quint"), None)]);
    assert_eq!(names(&accented, "hi André!"), ["André"]);
    assert_eq!(
        found(&roster, "Jurgen, Juergen")
            .into_iter()
            .map(|(_, owner)| owner)
            .collect::<Vec<_>>(),
        ["Person-jurgen weiss"; 2]
    );
}

#[test]
fn a_name_written_as_one_word_needs_a_sign_in_front_or_capitals_inside() {
    let roster = roster(vec![person("u1", Some("Fay Winter"), None)]);
    for text in ["@faywinter", "@FayWinter", "FayWinter"] {
        assert_eq!(names(&roster, text), [text.trim_start_matches('@')]);
    }
    assert_eq!(names(&roster, "faywinter"), Vec::<String>::new());
}

#[test]
fn the_longest_of_names_with_one_beginning_is_found() {
    let known_names = [
        "Mirela Quint",
        "Mirela Quint Bo",
        "Mirela Oss",
        "Mirela Quint Bo Rask Ull",
    ];
    let roster = roster(
        known_names
            .iter()
            .map(|name| person(name, Some(name), None))
            .collect(),
    );
    for (text, written) in [
        ("Mirela Quint Bo Rask went", "Mirela Quint Bo"),
        ("mirela-quint, Bo", "mirela-quint, Bo"),
        ("Mirela Oss", "Mirela Oss"),
        ("Mirela Quint Bo Rask Ull", "Mirela Quint Bo Rask Ull"),
    ] {
        assert_eq!(names(&roster, text), [written], "{text}");
    }
    let known_names = ["王小", "王小明", "王大明", "王小明月"];
    let roster = self::roster(
        known_names
            .iter()
            .map(|name| person(name, Some(name), None))
            .collect(),
    );
    assert_eq!(
        names(&roster, "王小明日王小月王大明王中王小明月"),
        ["王小明", "王小", "王大明", "王小明月"]
    );
}

#[test]
fn a_name_of_ten_thousand_words_is_a_name() {
    let name = "Ann ".repeat(10_000);
    let roster = roster(vec![person("u1", Some(&name), None)]);
    assert_eq!(names(&roster, &name), [name.trim_end()]);
}
