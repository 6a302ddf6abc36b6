//! Text from files and arguments, fit for a terminal.

use std::borrow::Cow;

/// The text with everything escaped that a terminal would obey instead of show: control characters
/// except line breaks, and marks that turn the direction of writing.
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_obeyed(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Whether a terminal obeys this character.
#[must_use]
pub fn is_obeyed(c: char) -> bool {
    c != '\n'
        && (c.is_control()
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(c, '\u{2066}'..='\u{2069}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_obey_is_escaped_and_the_rest_is_not() {
        assert_eq!(escaped("a\u{1b}[31mb\u{7}\r\u{9b}2J"), "a\\u{1b}[31mb\\u{7}\\r\\u{9b}2J");
        assert_eq!(escaped("\u{202e}abc\u{2066}"), "\\u{202e}abc\\u{2066}");
        for plain in ["plain", "two\nlines", "größer 日本 €", ""] {
            assert!(matches!(escaped(plain), Cow::Borrowed(same) if same == plain));
        }
    }
}
