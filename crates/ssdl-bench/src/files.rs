//! The files that pass between the measurements and the program: arrays and label columns.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use xtask::outcome::{Outcome, While};

/// Writes rows of equal length as a NumPy array of float64.
pub fn write_array(path: &Path, rows: &[&[f64]]) -> Outcome<()> {
    let file = File::create(path).during(|| path.display().to_string())?;
    let mut writer = BufWriter::new(file);
    write_npy(&mut writer, rows).and_then(|()| writer.flush()).during(|| path.display().to_string())
}

fn write_npy(writer: &mut impl Write, rows: &[&[f64]]) -> std::io::Result<()> {
    let columns = rows.first().map_or(0, |row| row.len());
    let shape = format!("({}, {columns})", rows.len());
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    // The format wants the numbers to start at a multiple of 64 bytes: 10 are the preamble, 1 the
    // line end.
    let unpadded = 10 + header.len() + 1;
    header += &" ".repeat(unpadded.next_multiple_of(64) - unpadded);
    header.push('\n');
    writer.write_all(b"\x93NUMPY\x01\x00")?;
    writer.write_all(&(header.len() as u16).to_le_bytes())?;
    writer.write_all(header.as_bytes())?;
    for value in rows.iter().flat_map(|row| row.iter()) {
        writer.write_all(&value.to_le_bytes())?;
    }
    Ok(())
}

/// Writes one label a line under the header `label`; an unlabelled sample has an empty line.
pub fn write_labels(path: &Path, labels: &[Option<&str>]) -> Outcome<()> {
    let mut text = String::from("label\n");
    for label in labels {
        text += label.unwrap_or("");
        text.push('\n');
    }
    fs::write(path, text).during(|| path.display().to_string())
}

/// Reads the column of predicted classes from a CSV file of predictions.
pub fn read_labels(path: &Path) -> Outcome<Vec<String>> {
    let text = fs::read_to_string(path).during(|| path.display().to_string())?;
    labels_in(&text).during(|| path.display().to_string())
}

fn labels_in(text: &str) -> Result<Vec<String>, String> {
    let mut lines = text.lines();
    let header = cells(lines.next().unwrap_or(""));
    let named = ["label", "class", "prediction", "predicted"]
        .iter()
        .find_map(|name| header.iter().position(|cell| cell == name));
    let column = match named {
        Some(column) => column,
        None if header.len() == 1 => 0,
        None => return Err(format!("no column of classes among {header:?}")),
    };
    lines
        .filter(|line| !line.is_empty())
        .map(|line| cells(line).into_iter().nth(column).ok_or_else(|| format!("short line {line}")))
        .collect()
}

/// Class names of the data sets measured here hold no comma, so quotes are only stripped.
fn cells(line: &str) -> Vec<String> {
    line.split(',').map(|cell| cell.trim().trim_matches('"').to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn array_has_an_aligned_header_and_row_major_numbers() {
        let mut bytes = Vec::new();
        write_npy(&mut bytes, &[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.5]]).expect("memory takes it");
        let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!((10 + length) % 64, 0);
        let header = std::str::from_utf8(&bytes[10..10 + length]).expect("header is text");
        assert!(header.starts_with("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"));
        assert!(header.ends_with('\n'));
        let numbers: Vec<f64> = bytes[10 + length..]
            .chunks_exact(8)
            .map(|chunk| f64::from_le_bytes(chunk.try_into().expect("eight bytes")))
            .collect();
        assert_eq!(numbers, [1.0, 2.0, 3.0, 4.0, 5.0, 6.5]);
    }

    #[test]
    fn predicted_classes_are_found_by_column_name() {
        let text = "row,label,score\n0,\"7\",0.5\n1,3,0.25\n";
        assert_eq!(labels_in(text), Ok(vec!["7".to_owned(), "3".to_owned()]));
        assert_eq!(labels_in("anything\n4\n"), Ok(vec!["4".to_owned()]));
        assert!(labels_in("a,b\n1,2\n").is_err());
    }
}
