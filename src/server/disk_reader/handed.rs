//! The reader where there is no disk, in a browser: a task that asks the client for the files that the same orders
//! would read from a disk.
//!
//! An order is first carried out without its effects. What it did not find in the files that were handed over is asked
//! for with `hiera-ls/files`, and it is tried again until nothing is missing: folder by folder, then the
//! configurations, then the data that they name.

use std::ops::ControlFlow;
use std::sync::Arc;

use base64::Engine as _;
use serde::{Deserialize, Serialize};
use tower_lsp::Client;
use tower_lsp::ls_types::request::Request;

use super::{DiskReader, Orders, ReaderEvent, ReaderState, Watching};
use crate::disk::{self, DataFolders, FileQuestions, HandedContent, Ignore, MAX_DEPTH};
use crate::server::OnScanProgress;
use crate::server::jobs::Cancellation;
use crate::server::model::Model;
use crate::server::runtime::{self, Instant};
use crate::workspace::{FileKind, LARGEST_FILE, Snapshot};

/// Maximum number of questions for one order: one for each depth of folders, and those of what the files in them name.
const MAX_QUESTIONS: usize = 2 * MAX_DEPTH;

/// Maximum number of files in one question, so that no answer is a message without end.
const MAX_TOGETHER: usize = 1000;

/// `hiera-ls/files`.
enum HandOver {}

impl Request for HandOver {
    type Params = WantedFiles;
    type Result = HandedAnswers;
    const METHOD: &'static str = "hiera-ls/files";
}

/// What is wanted, as URIs.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WantedFiles {
    folders: Vec<String>,
    files: Vec<String>,
    /// Files with more bytes are not handed over.
    largest: u64,
}

/// The answers, in the order of the questions.
#[derive(Serialize, Deserialize)]
struct HandedAnswers {
    /// The names in each folder, and whether each is a folder; null for a missing one.
    folders: Vec<Option<Vec<(String, bool)>>>,
    /// The content of each file; null for a missing one.
    files: Vec<Option<AnsweredFile>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum AnsweredFile {
    Text(String),
    /// The bytes of a file that is not UTF-8.
    Base64(String),
    /// The size of a file that is too large.
    Size(u64),
}

impl DiskReader {
    /// Starts the task; results go to `model`, and `client` is asked for files.
    pub(crate) fn start(
        &self,
        model: Arc<Model>,
        scanning: Arc<OnScanProgress>,
        report: impl Fn(ReaderEvent) + Send + Sync + 'static,
        client: Client,
    ) {
        let reader = self.clone();
        runtime::spawn(async move {
            let mut state = ReaderState::new();
            while let Some(mut orders) = reader.next().await {
                if orders.scan.is_some() {
                    // To ask for the files is the longest part of a read.
                    state.began.get_or_insert_with(Instant::now);
                }
                for at in &orders.paths {
                    disk::handed().forget(at);
                }
                if in_areas(&model).await.is_none() {
                    return;
                }
                learn(&client, || orders.try_first(&state)).await;
                state.begin(&mut orders, &report);
                // Folders of open files may have come.
                let Some(now) = in_areas(&model).await else {
                    return;
                };
                learn(&client, || orders.try_out(&now, &state)).await;
                let effects = (&*model, &*scanning, &report);
                reader.carry_out(orders, &now, &mut state, effects);
            }
        });
    }

    /// The next read asks for all files in these folders again.
    #[expect(clippy::unused_self, reason = "as that of the thread")]
    pub(crate) fn look_again(&self, folders: &[String]) {
        let mut handed = disk::handed();
        folders.iter().for_each(|folder| handed.forget(folder));
    }

    /// Waits for orders; `None` at the end.
    async fn next(&self) -> Option<Orders> {
        loop {
            {
                let mut orders = self.lock();
                if orders.closed {
                    return None;
                }
                if !orders.are_none() {
                    return Some(std::mem::take(&mut *orders));
                }
            }
            self.0.ordered.notified().await;
        }
    }

    #[expect(clippy::unused_self, reason = "as that of the thread")]
    pub(super) fn watch(&self, _: &[Arc<str>], _: &Ignore) -> Watching {}

    /// All are read at once.
    #[expect(clippy::unused_self, reason = "as that of the thread")]
    pub(super) fn read_open_first(&self, _: &Model, _: &[Arc<str>], _: &Ignore) {}
}

impl Orders {
    /// Looks at all that [`ReaderState::begin`] will.
    fn try_first(&self, state: &ReaderState) {
        let named = self.named.as_ref().unwrap_or(&state.named);
        let _ = named.read();
        if let Some(seek) = &self.seek {
            let _ = seek.environments();
        }
    }

    /// Looks at all that [`DiskReader::carry_out`] will.
    fn try_out(&self, snapshot: &Snapshot, state: &ReaderState) {
        let areas = snapshot.areas();
        if self.scan.is_some() {
            let _ = disk::scan(areas, &state.ignore, &|_| ControlFlow::Continue(()));
        }
        if !self.paths.is_empty() {
            let paths = self.changed(snapshot);
            let _ = disk::reread(
                &paths,
                areas,
                &state.ignore,
                &mut state.data_folders.clone(),
            );
        }
    }
}

/// The snapshot after everything in the model's queue, whose folders the client is asked about; `None` at the end.
async fn in_areas(model: &Model) -> Option<Arc<Snapshot>> {
    let pinned = model.pin(&Cancellation::never());
    let snapshot = pinned.snapshot().await?.snapshot;
    disk::handed().set_areas(snapshot.areas());
    Some(snapshot)
}

/// Asks for all files that `look` does not find.
async fn learn(client: &Client, look: impl Fn()) {
    for _ in 0..MAX_QUESTIONS {
        // Others look too, and ask for nothing.
        disk::handed().take_questions();
        look();
        let questions = disk::handed().take_questions();
        if questions == FileQuestions::default() {
            return;
        }
        let folders: Vec<Arc<str>> = questions.folders.into_iter().collect();
        let files: Vec<Arc<str>> = questions.files.into_iter().collect();
        for folders in folders.chunks(MAX_TOGETHER) {
            if !ask(client, folders, &[]).await {
                return;
            }
        }
        for files in files.chunks(MAX_TOGETHER) {
            if !ask(client, &[], files).await {
                return;
            }
        }
    }
    tracing::warn!("a folder is not read to its end: it leads on and on");
}

/// Asks for some; false if the client does not answer.
async fn ask(client: &Client, folders: &[Arc<str>], files: &[Arc<str>]) -> bool {
    let uris = |paths: &[Arc<str>]| paths.iter().map(|at| disk::file_uri(at)).collect();
    let wanted = WantedFiles {
        folders: uris(folders),
        files: uris(files),
        largest: LARGEST_FILE,
    };
    let answers = match client.send_request::<HandOver>(wanted).await {
        Ok(answers) => answers,
        Err(error) => {
            tracing::error!("the client hands over no files: {error}");
            return false;
        }
    };
    let mut handed = disk::handed();
    let listed = answers
        .folders
        .into_iter()
        .chain(std::iter::repeat_with(|| None));
    for (folder, entries) in folders.iter().zip(listed) {
        let entries = entries.unwrap_or_default().into_iter();
        let entries = entries.map(|(name, is_folder)| match is_folder {
            true => (name, FileKind::Directory),
            false => (name, FileKind::File),
        });
        handed.list(folder.clone(), entries.collect());
    }
    let contents = answers
        .files
        .into_iter()
        .chain(std::iter::repeat_with(|| None));
    for (file, content) in files.iter().zip(contents) {
        handed.put(
            file.clone(),
            content.map_or(HandedContent::Missing, AnsweredFile::content),
        );
    }
    true
}

impl AnsweredFile {
    fn content(self) -> HandedContent {
        match self {
            AnsweredFile::Text(text) => HandedContent::Bytes(text.into_bytes().into()),
            AnsweredFile::Base64(text) => {
                let bytes = base64::engine::general_purpose::STANDARD.decode(text);
                bytes.map_or(HandedContent::Missing, |bytes| {
                    HandedContent::Bytes(bytes.into())
                })
            }
            AnsweredFile::Size(size) => HandedContent::TooLarge(size),
        }
    }
}
