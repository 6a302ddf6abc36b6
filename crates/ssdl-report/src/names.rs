//! Names given by users, made safe to show: shortened, and never read as markup.

use ssdl::shown;

/// A count with its noun.
#[must_use]
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Shortens a name to 40 letters.
#[must_use]
pub fn short(name: &str) -> String {
    cut(name, 40)
}

/// Shortens a name to at most `letters` letters, on one line, with what a terminal would obey or a
/// drawing may not hold escaped.
#[must_use]
pub fn cut(name: &str, letters: usize) -> String {
    let name = shown::escaped(name).replace('\n', "\\n");
    match name.char_indices().nth(letters) {
        Some((cut, _)) => format!("{}…", &name[..cut]),
        None => name,
    }
}

/// Escapes text for an attribute or an element.
pub(crate) fn escaped(text: &str) -> String {
    // Control characters are not well-formed XML, not even as entities.
    let text = shown::escaped(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Escapes text; parts between backticks become code.
pub(crate) fn coded(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| match at % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_between_letters() {
        assert_eq!(short("rose"), "rose");
        assert_eq!(short(&"ü".repeat(41)), format!("{}…", "ü".repeat(40)));
    }

    #[test]
    fn commands_are_code_and_the_rest_is_text() {
        assert_eq!(escaped("a\u{1b}<b>\u{0}"), "a\\u{1b}&lt;b&gt;\\u{0}");
        assert_eq!(short("two\nlines\r"), "two\\nlines\\r");
        assert_eq!(coded("run `ssdl <x>` & see"), "run <code>ssdl &lt;x&gt;</code> &amp; see");
    }
}
