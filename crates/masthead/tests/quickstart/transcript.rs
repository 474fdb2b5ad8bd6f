//! Transcripts of terminals in documents, run again and compared.
//!
//! A fenced block that is marked `console` is read: a line `$ kubectl …` is a command (with the
//! lines of its here-document, if it has one), and what follows is what it prints. Other commands
//! are passed over. A line `...` stands for any lines. Lines are compared by words, and ages
//! such as `12s` are all the same. A command with an `&` at its end goes on beside those after it:
//! they begin when it has printed its first line, and it has until the end for the others. A
//! command may fail only if it is shown to print an error.

use crate::support::{Child, Kubectl, PATIENCE};

/// One command and what it is to print.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) command: String,
    pub(crate) output: Vec<String>,
}

/// The steps of a document.
pub(crate) fn steps(document: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = document.lines();
    while lines.any(|line| line == "```console") {
        for line in lines.by_ref().take_while(|line| *line != "```") {
            if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step {
                    command: command.to_owned(),
                    output: Vec::new(),
                });
            } else if let Some(step) = steps.last_mut() {
                if is_open(&step.command) {
                    step.command = format!("{}\n{line}", step.command);
                } else {
                    step.output.push(line.to_owned());
                }
            }
        }
    }
    steps.retain(|step| step.command.starts_with("kubectl "));
    steps
}

/// Whether a here-document has begun and not ended.
fn is_open(command: &str) -> bool {
    let begun = command.contains("<<EOF") || command.contains("<<'EOF'");
    begun && command.lines().last() != Some("EOF")
}

/// Runs the steps one after the other.
pub(crate) fn run(kubectl: &Kubectl, steps: &[Step]) {
    let mut background: Vec<(Child, &str, &[String])> = Vec::new();
    for step in steps {
        if let Some(command) = step.command.strip_suffix(" &") {
            let mut child = kubectl.start_shell(command);
            let (first, rest) = step.output.split_at(step.output.len().min(1));
            compare(command, first, &child.lines(first.len(), PATIENCE));
            background.push((child, command, rest));
            continue;
        }
        let printed = kubectl.start_shell(&step.command).end(2 * PATIENCE);
        let lines: Vec<String> = printed.out.lines().map(str::to_owned).collect();
        compare(&step.command, &step.output, &lines);
        let shown = step
            .output
            .iter()
            .any(|line| line.to_lowercase().starts_with("error"));
        assert!(
            printed.status.success() || shown,
            "{}: {}",
            step.command,
            printed.status
        );
    }
    for (mut child, command, rest) in background {
        compare(command, rest, &child.lines(rest.len(), PATIENCE));
    }
}

fn compare(command: &str, wanted: &[String], got: &[String]) {
    assert!(
        matches(wanted, got),
        "$ {command}\nis to print\n{}\nand printed\n{}",
        wanted.join("\n"),
        got.join("\n")
    );
}

/// Whether the lines are those wanted.
pub(crate) fn matches(wanted: &[String], got: &[String]) -> bool {
    match wanted.split_first() {
        None => got.is_empty(),
        Some((line, rest)) if line == "..." => {
            (0..=got.len()).any(|skipped| matches(rest, &got[skipped..]))
        }
        Some((line, rest)) => got
            .split_first()
            .is_some_and(|(first, others)| words(line) == words(first) && matches(rest, others)),
    }
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace()
        .map(|word| if is_age(word) { "<age>" } else { word })
        .collect()
}

/// Whether it is like `5s`, `2m10s` or `3d4h`.
fn is_age(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && word.ends_with(['s', 'm', 'h', 'd'])
        && word
            .chars()
            .all(|c| c.is_ascii_digit() || "smhd".contains(c))
}
