//! An encrypted value: its method, its size and whom it is for; never what is in it.

use super::Hover;
use super::ground::Ground;
use super::page::{Page, name, text};
use crate::eyaml::{BlobProblem, scan_source};
use crate::syntax::{NodeId, Tree};
use crate::text::TextRange;
use crate::workspace::File;

/// Most recipients that are named.
const MOST_NAMED: usize = 3;

pub(super) fn hover(
    ground: &Ground<'_>,
    file: &File,
    tree: &Tree,
    nodes: &[NodeId],
    offset: usize,
) -> Option<Hover> {
    let node = tree.node(*nodes.last()?);
    node.as_scalar()?;
    let source = node.range.slice(file.text());
    if !source.contains("ENC[") {
        return None;
    }
    let scan = scan_source(source);
    let here = offset.checked_sub(node.range.start as usize)?;
    let mut page = Page::default();
    let range = if let Some(blob) = scan.blobs.iter().find(|blob| blob.range.touches(here)) {
        let size = match blob.size {
            1 => "1 byte".to_string(),
            size => format!("{size} bytes"),
        };
        let mut line = vec![
            name(format!("ENC[{},…]", blob.method)),
            text(format!(" — encrypted with {}, {size}", blob.method)),
        ];
        let recipients: Vec<String> = blob.recipients.iter().map(ToString::to_string).collect();
        if !recipients.is_empty() {
            let shown = recipients[..recipients.len().min(MOST_NAMED)].join(", ");
            line.push(text(format!(", for {shown}")));
            if recipients.len() > MOST_NAMED {
                let more = recipients.len() - MOST_NAMED;
                line.push(text(format!(" and {more} more")));
            }
        }
        page.line(line);
        if let Some(problem) = blob.problem {
            page.line(vec![text(format!(
                "decrypting must fail: {}",
                words(problem)
            ))]);
        }
        blob.range
    } else {
        let broken = scan
            .broken
            .iter()
            .find(|broken| broken.range.touches(here))?;
        page.line(vec![
            name("ENC[…"),
            text(format!(
                " — not decrypted, stays text: {}",
                words(broken.problem)
            )),
        ]);
        broken.range
    };
    let range = TextRange::new(
        (node.range.start + range.start) as usize,
        (node.range.start + range.end) as usize,
    );
    Some(page.hover(range, ground.options.link))
}

fn words(problem: BlobProblem) -> &'static str {
    match problem {
        BlobProblem::Unterminated => "no ] follows",
        BlobProblem::Empty => "there is nothing in it",
        BlobProblem::BadCharacter { .. } => "a character in it is no base64",
        BlobProblem::Truncated => "the base64 ends in the middle",
        BlobProblem::NotAnEnvelope => "it is no message of this method",
    }
}
