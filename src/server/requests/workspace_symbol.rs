//! `workspace/symbol`: keys of the whole workspace by what somebody typed.

use std::borrow::Cow;

use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types as lsp;

use super::diagnostic::{uri, uri_of};
use super::{View, Wants, no_answer};
use crate::ide::first_look::first_look;
use crate::ide::symbols::search;
use crate::server::convert;
use crate::server::disk_reader::Texts;
use crate::server::documents::Documents;
use crate::server::jobs::{Lane, Stop};
use crate::server::ordered;
use crate::server::session::Session;
use crate::text::{LineIndex, PositionEncoding};

const METHOD: &str = "workspace/symbol";

/// Nobody reads a longer list; the best matches come first.
const MAX_SYMBOLS: usize = 200;

pub(crate) async fn handle(
    session: &Session,
    params: lsp::WorkspaceSymbolParams,
) -> Result<Option<lsp::WorkspaceSymbolResponse>> {
    let mut unindexed = session.unindexed.subscribe();
    let indexed = of_index(session, params.query.clone());
    let texts = tokio::select! {
        biased;
        answer = indexed => return answer,
        // While the model takes the workspace in, its texts are searched themselves.
        texts = unindexed.wait_for(Option::is_some) => texts.ok().and_then(|texts| texts.clone()),
    };
    let (Some(texts), Some(ticket)) = (texts, ordered::ticket()) else {
        return Err(Error::internal_error());
    };
    let (stop, encoding) = (ticket.stop.clone(), session.facts().encoding);
    let documents = ticket.documents.clone();
    let look = move || of_texts(&texts, &documents, &params.query, encoding, &stop);
    let found = session.lanes.run(Lane::Interactive, &ticket.stop, look);
    match found.await {
        Ok(symbols) => Ok(Some(lsp::WorkspaceSymbolResponse::Flat(symbols))),
        Err(why) => Err(no_answer(session, METHOD, why)),
    }
}

/// What the index of the whole workspace knows, once there is one.
async fn of_index(
    session: &Session,
    query: String,
) -> Result<Option<lsp::WorkspaceSymbolResponse>> {
    let work = move |view: View| {
        let symbols = view.analyse("/", |analysis| {
            let found = search(analysis, &query, MAX_SYMBOLS).into_iter();
            let symbols = found.filter_map(|(file, found)| {
                let range = convert::range(file.lines(), found.selection, view.encoding);
                let uri = uri(&view, file.path())?;
                Some(symbol(file.path(), found.name.to_string(), uri, range))
            });
            symbols.collect()
        });
        Some(lsp::WorkspaceSymbolResponse::Flat(symbols))
    };
    let (lane, wants) = (Lane::Interactive, Wants::WholeWorkspace);
    super::answer(session, METHOD, lane, wants, work).await
}

/// What stands in texts that are not in the model yet; of open files, in what the editor shows.
fn of_texts(
    texts: &Texts,
    documents: &Documents,
    query: &str,
    encoding: PositionEncoding,
    stop: &Stop,
) -> Vec<lsp::SymbolInformation> {
    let shown: Vec<Cow<'_, str>> = texts
        .iter()
        .map(|(path, text)| match documents.get(path) {
            Some(document) => Cow::Owned(document.text.to_string()),
            None => Cow::Borrowed(&**text),
        })
        .collect();
    let look = shown.iter().map(|text| &**text);
    let found = first_look(look, query, MAX_SYMBOLS, &|| stop.requested());
    let symbols = found.into_iter().filter_map(|key| {
        let (path, text) = (&texts[key.text].0, &shown[key.text]);
        let range = convert::range(&LineIndex::new(text), key.range, encoding);
        Some(symbol(
            path,
            key.name.to_string(),
            uri_of(documents, path)?,
            range,
        ))
    });
    symbols.collect()
}

fn symbol(path: &str, name: String, uri: lsp::Uri, range: lsp::Range) -> lsp::SymbolInformation {
    #[expect(deprecated, reason = "the protocol's type still has the field")]
    lsp::SymbolInformation {
        name,
        kind: lsp::SymbolKind::KEY,
        tags: None,
        deprecated: None,
        location: lsp::Location::new(uri, range),
        container_name: path.rsplit('/').next().map(str::to_owned),
    }
}
