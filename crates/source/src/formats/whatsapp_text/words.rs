//! Words that the app writes, in the languages of phones: marks of media, of edits and deletions, and notices under a name.

use chatmill_model::MediaKind;

/// What stands in the place of a file that was not exported.
const OMITTED: &[(&str, MediaKind)] = &[
    ("<Media omitted>", MediaKind::File),
    ("<Medien ausgeschlossen>", MediaKind::File),
    ("<Multimedia omitido>", MediaKind::File),
    ("<Archivo omitido>", MediaKind::File),
    ("<Médias omis>", MediaKind::File),
    ("<Media omessi>", MediaKind::File),
    ("<Mídia oculta>", MediaKind::File),
    ("<Arquivo de mídia oculto>", MediaKind::File),
    ("<Media weggelaten>", MediaKind::File),
    ("<Без медиафайлов>", MediaKind::File),
    ("image omitted", MediaKind::Image),
    ("video omitted", MediaKind::Video),
    ("audio omitted", MediaKind::Audio),
    ("sticker omitted", MediaKind::Image),
    ("GIF omitted", MediaKind::Video),
    ("document omitted", MediaKind::File),
    ("Contact card omitted", MediaKind::File),
    ("Bild weggelassen", MediaKind::Image),
    ("Video weggelassen", MediaKind::Video),
    ("Audio weggelassen", MediaKind::Audio),
    ("Sticker weggelassen", MediaKind::Image),
    ("Dokument weggelassen", MediaKind::File),
    ("imagen omitida", MediaKind::Image),
    ("video omitido", MediaKind::Video),
    ("audio omitido", MediaKind::Audio),
    ("image absente", MediaKind::Image),
    ("vidéo absente", MediaKind::Video),
    ("audio absent", MediaKind::Audio),
    ("immagine omessa", MediaKind::Image),
    ("video omesso", MediaKind::Video),
    ("audio omesso", MediaKind::Audio),
    ("imagem ocultada", MediaKind::Image),
    ("vídeo omitido", MediaKind::Video),
    ("áudio ocultado", MediaKind::Audio),
    ("afbeelding weggelaten", MediaKind::Image),
];

/// What stands before a file's name in brackets.
const ATTACHED_BEFORE: &[&str] = &[
    "<attached: ",
    "<Anhang: ",
    "<adjunto: ",
    "<pièce jointe : ",
    "<allegato: ",
    "<anexado: ",
    "<bijgevoegd: ",
];

/// What stands behind a file's name.
const ATTACHED_BEHIND: &[&str] = &[
    " (file attached)",
    " (Datei angehängt)",
    " (archivo adjunto)",
    " (fichier joint)",
    " (file allegato)",
    " (arquivo anexado)",
    " (bestand bijgevoegd)",
    " (файл добавлен)",
];

/// What stands behind a message that was changed.
const EDITED: &[&str] = &[
    "<This message was edited>",
    "<Diese Nachricht wurde bearbeitet.>",
    "<Diese Nachricht wurde bearbeitet>",
    "<Se editó este mensaje.>",
    "<Ce message a été modifié>",
    "<Questo messaggio è stato modificato>",
    "<Mensagem editada>",
];

/// What stands in the place of a message that was deleted.
const DELETED: &[&str] = &[
    "This message was deleted",
    "You deleted this message",
    "Diese Nachricht wurde gelöscht",
    "Du hast diese Nachricht gelöscht",
    "Se eliminó este mensaje",
    "Eliminaste este mensaje",
    "Ce message a été supprimé",
    "Vous avez supprimé ce message",
    "Questo messaggio è stato eliminato",
    "Hai eliminato questo messaggio",
    "Mensagem apagada",
    "Essa mensagem foi apagada",
    "Dit bericht is verwijderd",
];

/// Words of notices that stand under the name of a person or of the group, after a mark of direction.
const NOTICES: &[&str] = &[
    "end-to-end encrypted",
    "Ende-zu-Ende-verschlüsselt",
    "cifrados de extremo a extremo",
    "chiffrés de bout en bout",
    "crittografati end-to-end",
    "criptografia de ponta a ponta",
    "end-to-end versleuteld",
    "created this group",
    "created group",
    "added you",
    "changed the subject",
    "changed the group name",
    "changed this group's icon",
    "changed their phone number",
    "joined using",
    "You were added",
    "security code",
    "Missed voice call",
    "Missed video call",
    "Voice call",
    "Video call",
    "Verpasster Sprachanruf",
    "Verpasster Videoanruf",
    "hat die Gruppe",
    "hat dich hinzugefügt",
    " left",
    " added ",
    " removed ",
];

/// What follows a name where an event is told: verbs, each of which something else follows.
const EVENTS: &[&str] = &[
    "changed ",
    "created ",
    "added ",
    "removed ",
    "deleted ",
    "updated ",
    "joined ",
    "turned ",
    "started ",
    "pinned ",
    "hat ",
    "wurde ",
    "cambió ",
    "creó ",
    "añadió ",
    "eliminó ",
    "actualizó ",
    "a changé ",
    "a modifié ",
    "a créé ",
    "a ajouté ",
    "a supprimé ",
    "ha cambiato ",
    "ha modificato ",
    "ha creato ",
    "ha aggiunto ",
    "ha rimosso ",
    "mudou ",
    "alterou ",
    "criou ",
    "adicionou ",
    "removeu ",
    "heeft ",
    "изменил",
    "создал",
    "добавил",
    "удалил",
];

/// Whether words after a name tell an event.
pub(super) fn is_event(after: &str) -> bool {
    EVENTS.iter().any(|verb| after.starts_with(verb))
}

/// Whether a quotation begins in a text and does not end in it: nobody's name does that.
pub(super) fn opens_quotation(text: &str) -> bool {
    let is_quote = |sign: &char| "\u{201e}\u{201c}\u{201d}\u{ab}\u{bb}\u{300c}\u{300d}\"".contains(*sign);
    text.chars().filter(is_quote).count() % 2 == 1
}

/// What a text is that the app wrote.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A file: its kind and its name, where it was exported.
    Media(MediaKind, Option<String>),
    /// The message was deleted.
    Deleted,
    /// Something happened.
    Notice,
}

/// What the app says with a text, if it is the app's. `is_marked`: a mark of direction stands before it, as before all that
/// iPhones say by themselves.
pub(super) fn mark(text: &str, is_marked: bool) -> Option<Mark> {
    let text = text.trim();
    if let Some((_, kind)) = OMITTED.iter().find(|(words, _)| *words == text)
        && (is_marked || text.starts_with('<'))
    {
        return Some(Mark::Media(*kind, None));
    }
    let named = ATTACHED_BEFORE
        .iter()
        .find_map(|before| text.strip_prefix(before)?.strip_suffix('>'))
        .or_else(|| {
            ATTACHED_BEHIND
                .iter()
                .find_map(|behind| text.strip_suffix(behind))
        });
    if let Some(name) = named.filter(|name| !name.contains('\n') && name.contains('.')) {
        return Some(Mark::Media(kind_of(name), Some(name.to_owned())));
    }
    if DELETED.contains(&text.trim_end_matches('.')) {
        return Some(Mark::Deleted);
    }
    (is_marked && NOTICES.iter().any(|words| text.contains(words))).then_some(Mark::Notice)
}

/// Takes the mark of an edit off the end of a text; whether there was one.
pub(super) fn take_edited(text: &mut String) -> bool {
    let trimmed = text.trim_end();
    let own = EDITED.iter().find_map(|mark| trimmed.strip_suffix(mark));
    let Some(own) = own else { return false };
    *text = own.trim_end_matches(super::line::MARKS).trim_end().to_owned();
    true
}

fn kind_of(name: &str) -> MediaKind {
    let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "jpg" | "jpeg" | "png" | "gif" | "webp" | "heic" => MediaKind::Image,
        "opus" | "ogg" | "mp3" | "m4a" | "aac" | "wav" => MediaKind::Audio,
        "mp4" | "mov" | "3gp" | "webm" => MediaKind::Video,
        _ => MediaKind::File,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_app_are_told_from_words_of_people() {
        assert_eq!(
            mark("<Media omitted>", false),
            Some(Mark::Media(MediaKind::File, None))
        );
        assert_eq!(
            mark("image omitted", true),
            Some(Mark::Media(MediaKind::Image, None))
        );
        assert_eq!(mark("image omitted", false), None);
        let named = Some("IMG-1.jpg".to_owned());
        assert_eq!(
            mark("IMG-1.jpg (file attached)", false),
            Some(Mark::Media(MediaKind::Image, named.clone()))
        );
        assert_eq!(
            mark("<attached: IMG-1.jpg>", true),
            Some(Mark::Media(MediaKind::Image, named))
        );
        assert_eq!(mark("This message was deleted.", false), Some(Mark::Deleted));
        assert_eq!(mark("Is this end-to-end encrypted?", false), None);
        assert_eq!(
            mark("Messages are end-to-end encrypted.", true),
            Some(Mark::Notice)
        );
    }

    #[test]
    fn the_mark_of_an_edit_is_taken_off() {
        let mut text = "At the well \u{200e}<This message was edited>".to_owned();
        assert!(take_edited(&mut text));
        assert_eq!(text, "At the well");
        assert!(!take_edited(&mut text));
    }
}
