//! `ssdl label`: what is refused before a page is served; and `ssdl fit` on its journal.

use ssdl_data::ReadOptions;
use ssdl_label::entry::{Act, Answer, Entry, Verdict, now};
use ssdl_label::journal::Journal;

use crate::run::Bench;

const FIT: &str = "fit rows.csv --labels labels.journal.jsonl --model m --set n_atoms=6";

/// Two clouds.
fn row(sample: usize) -> [f64; 2] {
    let side = if sample.is_multiple_of(2) { 4.0 } else { -4.0 };
    [side + (sample as f64).sin(), side + (3.0 * sample as f64).cos()]
}

/// A table, and a journal in which ten of its samples are labelled and one is unusable.
fn labelled() -> Bench {
    let bench = Bench::new();
    let lines: Vec<String> = (0..30).map(|j| format!("{:?},{:?}", row(j)[0], row(j)[1])).collect();
    bench.write("rows.csv", lines.join("\n"));
    answered(&bench, &ReadOptions::default());
    bench
}

/// Begins a journal of the table that is there.
fn answered(bench: &Bench, options: &ReadOptions) {
    let table = ssdl_data::read(bench.path("rows.csv"), options).expect("read");
    let answer = |sample: usize| Answer {
        sample,
        name: None,
        hash: ssdl_label::digest_of_row(&table.content(sample)),
        verdict: match sample {
            10 => Verdict::Unusable,
            other => Verdict::Label(["even", "odd"][other % 2].into()),
        },
        guess: None,
        probability: None,
        seen: false,
        random: false,
        settles: false,
        seconds: None,
    };
    let (mut journal, _) = Journal::open(&bench.path("labels.journal.jsonl")).expect("begun");
    let answers = (0..=10).map(answer).collect();
    let act = Act::Answer { answers };
    let entry = Entry { id: "a".into(), time: now(), person: "me".into(), act };
    journal.append(&[entry]).expect("written");
}

#[test]
fn a_fit_reads_the_journal_and_leaves_out_what_is_unusable() {
    let bench = labelled();
    let ran = bench.run(FIT);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("10 labelled, 19 unlabelled"), "{}", ran.stdout);
}

#[test]
fn a_column_of_labels_is_no_feature_beside_a_journal() {
    let bench = labelled();
    let lines: Vec<String> =
        bench.text("rows.csv").lines().map(|row| format!("{row},even")).collect();
    bench.write("rows.csv", lines.join("\n"));
    let ran = bench.run(&format!("{FIT} --label-column -1"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("10 labelled, 19 unlabelled"), "{}", ran.stdout);
}

#[test]
fn a_fit_refuses_a_journal_of_other_samples_by_name() {
    let bench = labelled();
    let changed = bench.text("rows.csv").replacen('4', "5", 1);
    bench.write("rows.csv", changed);
    let ran = bench.run(FIT);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("have changed since they were labelled: sample"), "{}", ran.stderr);
}

#[test]
fn new_rows_with_words_and_gaps_leave_the_journal_as_it_is() {
    let bench = Bench::new();
    let jobs = ["nurse", "clerk", "pilot"];
    let line = |j: usize| {
        let [a, b] = row(j);
        let a = if j == 4 { String::new() } else { format!("{a:?}") };
        format!("{a},{b:?},{}\n", jobs[j % 3])
    };
    let text = "a,b,job\n".to_owned() + &(0..30).map(line).collect::<String>();
    bench.write("rows.csv", &text);
    let options = ReadOptions { words: true, fill_gaps: true, ..ReadOptions::default() };
    answered(&bench, &options);
    // The median moves, and there is a new word.
    bench.write("rows.csv", text.clone() + "90,1,teacher\n90,1,teacher\n");
    let fit = format!("{FIT} --words --fill-gaps");
    let ran = bench.run(&fit);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("10 labelled, 21 unlabelled"), "{}", ran.stdout);
    bench.write("rows.csv", text.replacen("clerk", "nurse", 1));
    bench.refused(1, &fit, &["have changed since they were labelled: sample 1;"]);
}

#[test]
fn labelling_refuses_what_cannot_work_before_it_serves() {
    let bench = labelled();
    std::fs::create_dir(bench.path("images")).expect("made");
    bench.write("words.csv", "a,b\n1,r\n2,g\n");
    let cases = [
        ("label", "DATA"),
        ("label rows.csv --labels rows.csv", "input file"),
        ("label rows.csv --labels l.csv --image 3x3", "2 features"),
        ("label rows.csv --labels l.csv --classes NA", "unlabelled"),
        ("label rows.csv --labels l.csv --people a,b --overlap 2", "share from 0 to 1"),
        ("label images --labels images/l.csv", "folder of the samples"),
        ("label images --labels l.csv --label-column kind", "--label-column is for files"),
        ("label images --labels l.csv --words", "--words is for files"),
        ("label rows.csv --labels l.csv --label-column kind", "kind"),
        ("label rows.csv --labels l.csv --ignore-column 7", "7 cannot be ignored"),
        ("label words.csv --labels l.csv", "fit with --words"),
        ("label missing.csv --labels l.csv", "missing.csv"),
    ];
    for (arguments, words) in cases {
        let ran = bench.run(&format!("{arguments} --no-browser"));
        assert!(matches!(ran.code, Some(1 | 2)), "{arguments}: {ran:?}");
        assert!(ran.stderr.contains(words), "{arguments}: {}", ran.stderr);
    }
}
