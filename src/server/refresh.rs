//! Asks the client to refresh lenses and hints: debounced after changes of files, settings, the
//! selected node or the facts of a what-if.
//!
//! One request at a time: a client that never replies is not flooded.

use std::sync::Arc;

use super::connection::{Connection, Index, Stage};
use super::runtime;

pub(crate) async fn keep_drawn(session: Arc<Connection>) {
    let mut news = session.news.subscribe();
    let mut drawn = *news.borrow_and_update();
    loop {
        if news.wait_for(|news| *news != drawn).await.is_err() {
            return;
        }
        loop {
            drawn = *news.borrow_and_update();
            runtime::sleep(session.options.rest).await;
            if *news.borrow() == drawn {
                break;
            }
        }
        let facts = session.facts();
        let is_whole = *session.index.borrow() == Index::Complete;
        if session.stage() != Stage::Running || !is_whole {
            continue;
        }
        if facts.refreshes_lenses {
            let _ = session.client.code_lens_refresh().await;
        }
        if facts.refreshes_hints {
            let _ = session.client.inlay_hint_refresh().await;
        }
    }
}
