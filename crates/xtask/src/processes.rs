//! Ending what does not end by itself, with everything it has started.

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use xtask::outcome::{Outcome, While};

/// Ends a process and everything that it has started.
///
/// They are looked up one by one: in a process group of their own they would no longer hear the Ctrl-C
/// of whoever started the tests.
pub fn end(child: &mut Child) {
    end_tree(child.id());
    let _ = child.kill();
    let _ = child.wait();
}

fn end_tree(root: u32) {
    if cfg!(windows) {
        let _ = Command::new("taskkill").args(["/F", "/T", "/PID", &root.to_string()]).output();
        return;
    }
    let all = descendants(root, &parents());
    let numbers: Vec<String> = all.iter().map(u32::to_string).collect();
    // Every shell has a `kill`; not every system has it as a program.
    let _ = Command::new("sh").args(["-c", &format!("kill -KILL {}", numbers.join(" "))]).output();
}

/// What a command prints; it is ended when its time is over.
pub fn output(command: &mut Command, limit: Duration) -> Outcome<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn()?;
    let root = child.id();
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    match receiver.recv_timeout(limit) {
        Ok(output) => output.during(|| "waiting"),
        Err(RecvTimeoutError::Timeout) => {
            end_tree(root);
            Err(format!("ended, it took more than {} s", limit.as_secs()).into())
        }
        Err(RecvTimeoutError::Disconnected) => Err("nobody waits for it any more".into()),
    }
}

/// A process, and those that it or another of them has started.
fn descendants(root: u32, parents: &[(u32, u32)]) -> Vec<u32> {
    let mut all = vec![root];
    let mut next = 0;
    while let Some(&one) = all.get(next) {
        all.extend(parents.iter().filter(|(_, parent)| *parent == one).map(|(number, _)| number));
        next += 1;
    }
    all
}

/// Every process and the one that started it.
fn parents() -> Vec<(u32, u32)> {
    // Small images of Linux come without `ps`.
    if cfg!(target_os = "linux") {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        return entries
            .filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok())
            .filter_map(|stat| parent_in(&stat))
            .collect();
    }
    let listed = Command::new("ps").args(["-A", "-o", "pid=,ppid="]).output();
    let text = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default()
        .lines()
        .filter_map(|line| {
            let mut numbers = line.split_whitespace().map(|number| number.parse().ok());
            Some((numbers.next()??, numbers.next()??))
        })
        .collect()
}

/// Process and parent in a line of `/proc`; the name between them may hold anything.
fn parent_in(stat: &str) -> Option<(u32, u32)> {
    let number = stat.split(' ').next()?.parse().ok()?;
    let parent = stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()?;
    Some((number, parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_through_each_other() {
        let parents = [(5, 1), (7, 5), (8, 7), (9, 1), (10, 5)];
        assert_eq!(descendants(5, &parents), [5, 7, 10, 8]);
        assert_eq!(descendants(3, &parents), [3]);
    }

    #[test]
    fn a_parent_is_read_behind_a_name_with_brackets() {
        assert_eq!(parent_in("42 (a) b) S 7 42 42 0"), Some((42, 7)));
        assert_eq!(parent_in("no process"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_command_that_does_not_end_is_ended() {
        let mut command = Command::new("sh");
        let error = output(command.args(["-c", "sleep 60"]), Duration::from_millis(100));
        assert!(error.expect_err("it sleeps").to_string().contains("took more than"));
        let said = output(Command::new("sh").args(["-c", "echo a"]), Duration::from_secs(60));
        assert_eq!(said.expect("it ends").stdout, b"a\n");
    }
}
