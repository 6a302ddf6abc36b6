//! Which texts are labels and which mean "unlabelled".

/// Turns the text of a file into labels.
///
/// Unless the caller gives a marker, `-1`, `nan` and `NA` mean unlabelled; empty text always does.
/// If all labels are numbers, different spellings of a whole number become one class.
pub(crate) fn interpret(raw: Vec<Option<String>>, marker: Option<&str>) -> Vec<Option<String>> {
    let mut labels: Vec<Option<String>> =
        raw.into_iter().map(|text| text.filter(|text| !is_unlabelled(text, marker))).collect();
    if labels.iter().flatten().all(|text| number(text).is_some()) {
        for text in labels.iter_mut().flatten() {
            if let Some(whole) = respelled(text) {
                *text = whole;
            }
        }
    }
    labels
}

fn is_unlabelled(text: &str, marker: Option<&str>) -> bool {
    let text = text.trim();
    if text.is_empty() {
        return true;
    }
    match marker {
        Some(marker) => {
            let marker = marker.trim();
            let equal = |(a, b): (f64, f64)| a == b;
            text == marker || number(text).zip(number(marker)).is_some_and(equal)
        }
        None => text.eq_ignore_ascii_case("nan") || text == "NA" || number(text) == Some(-1.0),
    }
}

/// The number that `text` writes in digits; words such as `inf` are not numbers here.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let digits = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && text.ends_with(|c: char| c.is_ascii_digit() || c == '.');
    if digits { text.parse().ok().filter(|value: &f64| value.is_finite()) } else { None }
}

/// `3.0` as `3`. Plain digits stay as they are: `007` may be a code.
fn respelled(text: &str) -> Option<String> {
    let trimmed = text.trim();
    let plain = trimmed.strip_prefix('-').unwrap_or(trimmed).bytes().all(|b| b.is_ascii_digit());
    let value = number(trimmed)?;
    // Above 2^53, a float no longer distinguishes neighbouring whole numbers.
    let respell = !plain && value.abs() < 9_007_199_254_740_992.0;
    // Adding zero turns −0 into 0.
    respell.then(|| (value + 0.0).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(raw: &[&str], marker: Option<&str>) -> Vec<Option<String>> {
        interpret(raw.iter().map(|text| Some((*text).to_owned())).collect(), marker)
    }

    fn some(names: &[&str]) -> Vec<Option<String>> {
        names.iter().map(|name| (!name.is_empty()).then(|| (*name).to_owned())).collect()
    }

    #[test]
    fn markers_mean_unlabelled() {
        let raw = ["a", "", " ", "-1", "-1.0", "nan", "NaN", "NA", "-10"];
        assert_eq!(labels(&raw, None), some(&["a", "", "", "", "", "", "", "", "-10"]));
    }

    #[test]
    fn a_given_marker_is_the_only_one() {
        assert_eq!(labels(&["-1", "?", "", "NA"], Some("?")), some(&["-1", "", "", "NA"]));
        assert_eq!(labels(&["0.0", "1", "-1"], Some("0")), some(&["", "1", "-1"]));
    }

    #[test]
    fn numbers_are_respelled_only_when_all_are_numbers() {
        assert_eq!(labels(&["3.0", "3", "6.0000", "0.50"], None), some(&["3", "3", "6", "0.5"]));
        assert_eq!(labels(&["3.0", "3", "x"], None), some(&["3.0", "3", "x"]));
        assert_eq!(labels(&["007", "7", "-0.0"], None), some(&["007", "7", "0"]));
        assert_eq!(labels(&["inf", "1.0"], None), some(&["inf", "1.0"]));
    }
}
