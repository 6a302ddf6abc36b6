//! `ssdl data`, without a network.

use std::process::Output;

use crate::run::Bench;

/// The program with its data sets in this folder.
fn with_data(bench: &Bench, arguments: &str) -> Output {
    let mut command = bench.command(arguments.split_whitespace());
    command.env("SSDL_DATA", bench.path("data")).output().expect("it runs")
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_list_shows_sources_and_downloaded_files() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("data/usps")).expect("a folder");
    bench.write("data/usps/zip.test.gz", "some bytes");
    let (list, _) = texts(&with_data(&bench, "data list"));
    for part in ["mnist", "usps", "yaleb", "1 of 2", "0 of 4", "Licence", "comes with the program"]
    {
        assert!(list.contains(part), "`{part}` is not in\n{list}");
    }
    assert!(list.lines().filter(|line| !line.contains("folder:")).all(|l| l.chars().count() <= 80));
    let (json, _) = texts(&with_data(&bench, "data list --json"));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["sets"][1]["files"][0]["sha256"].as_str().map(str::len), Some(64));
}

#[test]
fn the_folder_is_the_variable_or_the_cache() {
    let bench = Bench::new();
    let (path, _) = texts(&with_data(&bench, "data path usps"));
    assert_eq!(path.trim(), bench.path("data").join("usps").display().to_string());
    if cfg!(target_os = "linux") {
        let mut command = bench.command(["data", "path"]);
        command.env_remove("SSDL_DATA").env("XDG_CACHE_HOME", bench.path("cache"));
        let (path, _) = texts(&command.output().expect("it runs"));
        assert_eq!(path.trim(), bench.path("cache").join("ssdl").display().to_string());
    }
}

#[test]
fn bundled_data_needs_no_network_and_unknown_names_are_refused() {
    let bench = Bench::new();
    let (text, _) = texts(&with_data(&bench, "data get digits"));
    assert!(text.contains("comes with the program"), "{text}");
    // Nothing is downloaded if one of the names is wrong.
    let output = with_data(&bench, "data get mnist minst");
    let (_, error) = texts(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("`minst`") && error.contains("known: digits, mnist"), "{error}");
    assert!(!bench.exists("data"));
}

#[test]
fn an_experiment_without_its_data_names_the_command_that_downloads_it() {
    let bench = Bench::new();
    let output = with_data(&bench, "experiment digits --out rows.csv");
    let (_, error) = texts(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("ssdl data get usps"), "{error}");
}
