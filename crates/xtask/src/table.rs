//! Tables that read well both in a terminal and as Markdown.

/// Rows of text under a header. The first column is flush left, the others flush right.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with this header and no rows yet.
    pub fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|cell| (*cell).to_owned()).collect()] }
    }

    /// Adds a row; missing cells are left blank.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut cells: Vec<String> = cells.into_iter().collect();
        cells.resize(self.rows[0].len(), String::new());
        self.rows.push(cells);
    }

    /// The table in Markdown, with columns padded to one width.
    pub fn render(&self) -> String {
        let widths: Vec<usize> = (0..self.rows[0].len())
            .map(|column| self.rows.iter().map(|row| width(&row[column])).max().unwrap_or(0).max(3))
            .collect();
        let mut text = line(&self.rows[0], &widths);
        let rule: Vec<String> = widths
            .iter()
            .enumerate()
            .map(|(column, &width)| match column {
                0 => "-".repeat(width),
                _ => format!("{}:", "-".repeat(width - 1)),
            })
            .collect();
        text += &line(&rule, &widths);
        for row in &self.rows[1..] {
            text += &line(row, &widths);
        }
        text
    }
}

fn width(cell: &str) -> usize {
    cell.chars().count()
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut text = String::from("|");
    for (column, (cell, &full)) in cells.iter().zip(widths).enumerate() {
        let gap = " ".repeat(full - width(cell));
        text += &match column {
            0 => format!(" {cell}{gap} |"),
            _ => format!(" {gap}{cell} |"),
        };
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_padded_and_short_rows_filled() {
        let mut table = Table::new(&["seed", "λ"]);
        table.row(["0".to_owned(), "12.5".to_owned()]);
        table.row(["mean".to_owned()]);
        let expected = "| seed |    λ |\n\
                        | ---- | ---: |\n\
                        | 0    | 12.5 |\n\
                        | mean |      |\n";
        assert_eq!(table.render(), expected);
    }
}
