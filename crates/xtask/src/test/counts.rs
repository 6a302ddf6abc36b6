//! How many tests passed and failed, from what cargo and pytest print.

use std::ops::AddAssign;

/// Tests by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
    /// Ignored by cargo, skipped by pytest.
    pub left_out: usize,
}

impl Counts {
    /// Adds up the summaries in a log of cargo or of pytest.
    pub fn in_text(text: &str) -> Self {
        let mut sum = Self::default();
        for line in text.lines().filter(|line| is_summary(line)) {
            sum += Self {
                passed: before(line, " passed"),
                failed: before(line, " failed") + before(line, " error"),
                left_out: before(line, " ignored") + before(line, " skipped"),
            };
        }
        sum
    }

    /// In words; empty if no test ran.
    pub fn note(self) -> String {
        let Self { passed, failed, left_out } = self;
        match (passed + failed, left_out) {
            (0, _) => String::new(),
            (_, 0) => format!("{passed} passed"),
            _ => format!("{passed} passed, {left_out} left out"),
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.left_out += other.left_out;
    }
}

/// `test result: ok. 3 passed; …` or `3 passed, 1 skipped in 0.5s`.
fn is_summary(line: &str) -> bool {
    let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    let of_pytest =
        line.trim_matches(['=', ' ']).rsplit_once(" in ").is_some_and(|(head, time)| {
            let ends = [" passed", " failed", " skipped", " error"];
            is_number(head) && is_number(time) && ends.iter().any(|end| head.contains(end))
        });
    of_pytest || line.starts_with("test result:")
}

fn before(line: &str, word: &str) -> usize {
    let head = line.split_once(word).map(|(head, _)| head);
    head.and_then(|head| head.rsplit([' ', '=']).next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_cargo_are_added_up() {
        let text = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
                    Doc-tests ssdl\n\
                    test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured\n";
        assert_eq!(Counts::in_text(text), Counts { passed: 15, failed: 2, left_out: 1 });
        assert_eq!(Counts::in_text("Finished\n").note(), "");
    }

    #[test]
    fn the_summary_of_pytest_is_read() {
        let text = "....\n3 failed, 805 passed, 8 skipped, 6 warnings, 1 error in 38.44s\n";
        assert_eq!(Counts::in_text(text), Counts { passed: 805, failed: 4, left_out: 8 });
        let text = "== 12 passed in 78.10s (0:01:18) ==\n12 samples are labelled in a\n";
        assert_eq!(Counts::in_text(text), Counts { passed: 12, failed: 0, left_out: 0 });
    }
}
