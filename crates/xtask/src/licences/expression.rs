//! Licences as packages write them: names joined by AND, OR and parentheses.

/// Whether the licence can be taken under names that are allowed.
pub fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    any(&words, &mut at, allowed) == Some(true) && at == words.len()
}

/// Alternatives; `None` if it is not an expression.
fn any(words: &[&str], at: &mut usize, allowed: &[String]) -> Option<bool> {
    let mut found = all(words, at, allowed)?;
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        found |= all(words, at, allowed)?;
    }
    Some(found)
}

fn all(words: &[&str], at: &mut usize, allowed: &[String]) -> Option<bool> {
    let mut found = one(words, at, allowed)?;
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        found &= one(words, at, allowed)?;
    }
    Some(found)
}

fn one(words: &[&str], at: &mut usize, allowed: &[String]) -> Option<bool> {
    let word = *words.get(*at)?;
    *at += 1;
    if word == "(" {
        let found = any(words, at, allowed)?;
        let closed = words.get(*at) == Some(&")");
        *at += 1;
        return closed.then_some(found);
    }
    // An exception only adds permissions.
    if words.get(*at) == Some(&"WITH") {
        *at += 2;
    }
    Some(allowed.iter().any(|name| name == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read_as_packages_write_them() {
        let allowed = ["MIT".to_owned(), "Zlib".to_owned()];
        let cases = [
            ("MIT", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("MIT AND GPL-3.0", false),
            ("(GPL-3.0 OR Zlib) AND MIT", true),
            ("MIT WITH LLVM-exception", true),
            ("", false),
            ("(MIT", false),
            ("MIT Zlib", false),
        ];
        for (text, expected) in cases {
            assert_eq!(is_allowed(text, &allowed), expected, "{text}");
        }
    }
}
