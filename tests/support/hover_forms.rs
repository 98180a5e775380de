//! Checks the form of every hover at any cursor: no line of the text forms is wider than [`WIDTH`],
//! there are no more than [`MAX_LINES`] lines before the link to the rest, and no word is broken.

use std::collections::HashSet;

use hiera_ls::analysis::Analysis;
use hiera_ls::ide::hover::{Hover, HoverOptions, MAX_LINES, hover};

/// Maximum width of a line of the text forms, in characters.
const WIDTH: usize = 100;

/// Hovers at every word of a file; returns their number and the problems.
pub(crate) fn check_file(analysis: Analysis<'_>, path: &str, step: usize) -> (usize, Vec<String>) {
    let Some(file) = analysis.snapshot.file(path) else {
        return (0, Vec::new());
    };
    let link = |key: &str| format!("command:show?{key}");
    let options = HoverOptions {
        whole: Some(&link),
        ..HoverOptions::default()
    };
    let text = file.text();
    let starts = text
        .char_indices()
        .zip(std::iter::once(' ').chain(text.chars()));
    let starts = starts.filter(|((_, character), before)| {
        character.is_alphanumeric() && !before.is_alphanumeric()
    });
    let (mut count, mut wrong) = (0, Vec::new());
    let mut last = None;
    for ((offset, _), _) in starts.step_by(step) {
        let Some(found) = hover(analysis, path, offset, &options) else {
            continue;
        };
        if last.replace(found.range) == Some(found.range) {
            continue;
        }
        count += 1;
        let problems = problems(&found).into_iter();
        wrong.extend(problems.map(|problem| format!("{path} at {offset}: {problem}")));
    }
    (count, wrong)
}

fn problems(found: &Hover) -> Vec<String> {
    let mut wrong = Vec::new();
    for (form, text) in [("aligned", &found.aligned), ("plain", &found.plain)] {
        for line in text.lines() {
            if line.chars().count() > WIDTH {
                wrong.push(format!("{form}: wider than {WIDTH}: {line}"));
            }
        }
    }
    for (form, text) in [
        ("Markdown", &found.markdown),
        ("aligned", &found.aligned),
        ("plain", &found.plain),
    ] {
        let before_link = text.lines().take_while(|line| !line.starts_with("[show"));
        let lines = before_link.filter(|line| !line.starts_with("```")).count();
        if lines > MAX_LINES {
            wrong.push(format!("{form}: {lines} lines:\n{text}"));
        }
    }
    // Markdown breaks no line: each word of the text forms is one of its words.
    let words = |text: &str| -> HashSet<String> {
        let bare = text.replace(['`', '*', '\\'], "");
        bare.split_whitespace().map(str::to_owned).collect()
    };
    let whole = words(&found.markdown);
    for word in words(&found.aligned).union(&words(&found.plain)) {
        let is_own = word.contains(['…', '#']);
        // Markdown has a link instead of the command line.
        let is_mark = [": hiera-ls lookup ", "# shortened"]
            .iter()
            .any(|mark| found.aligned.contains(mark));
        if !whole.contains(word) && !is_own && !is_mark {
            wrong.push(format!(
                "a word that Markdown has not: {word}\n{}",
                found.plain
            ));
        }
    }
    wrong
}
