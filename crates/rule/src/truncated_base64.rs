//! `truncated-base64`: a media item with cut or corrupt Base64.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Linked, MediaSource, Part};

use crate::walk::at_message;

/// Finds Base64 that no writer produces: one finding a media item.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for message in &linked.conversation.messages {
        for part in &message.parts {
            let Part::Media(media) = part else { continue };
            let text = match &media.source {
                MediaSource::Inline(text) => Some(text.as_str()),
                MediaSource::Url(url) => of_address(url),
                MediaSource::Text(_) | MediaSource::Upload => None,
            };
            if let Some((text, wrong)) = text.and_then(|text| Some((text, defect(text)?))) {
                let reason = format!("the Base64 of the {} {wrong}", media.kind.as_str());
                findings.push(at_message(&codes::TRUNCATED_BASE64, message, reason).marking(text));
            }
        }
    }
}

/// The Base64 of a `data:` address.
fn of_address(url: &str) -> Option<&str> {
    let rest = url.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:"));
    let (head, text) = rest.and(url.get(5..))?.split_once(',')?;
    head.trim_end()
        .to_ascii_lowercase()
        .ends_with(";base64")
        .then_some(text)
}

/// The defect of a text in Base64: of the standard or the URL alphabet, with or without line breaks.
fn defect(text: &str) -> Option<&'static str> {
    // The number of digits, whether one is of the URL alphabet, and the number of equals signs.
    let (mut digits, mut of_addresses, mut signs) = (0_u64, false, 0_u64);
    for byte in text.bytes() {
        match byte {
            b'=' => signs += 1,
            b'\r' | b'\n' | b' ' | b'\t' => {}
            b'-' | b'_' => {
                of_addresses = true;
                digits += 1;
            }
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'/' if signs == 0 => digits += 1,
            _ => return Some("contains characters that are not Base64"),
        }
    }
    match digits % 4 {
        1 => Some("ends inside a byte"),
        rest if rest > 1 && signs == 0 && !of_addresses => Some("ends without its equals signs"),
        rest if signs > 0 && (rest == 0 || rest + signs != 4) => Some("has the wrong number of equals signs"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_base64_is_accepted_and_cut_base64_is_not() {
        for whole in [
            "",
            "QUJD",
            "QUI=",
            "QQ==",
            "QUJD\r\nQUI=\n",
            "Q_-A",
            "Q_-AQQ",
            "+/+/",
        ] {
            assert_eq!(defect(whole), None, "{whole}");
        }
        for cut in [
            "Q", "QUJDQ", "QUI", "QQ=", "QUJD=", "QUI==", "QU!D", "QUI=QUJD", "<svg>",
        ] {
            assert!(defect(cut).is_some(), "{cut}");
        }
    }
}
