//! A workspace as data in one text, and the answers of a page that has nothing but this text: what `hiera-ls report`
//! writes, and what its engine in a browser reads.
//!
//! [`ReportData`] is the text, [`SecretMask`] keeps secrets out of it, and [`ReportEngine`] answers from it in JSON. The
//! command and the engine are made from the same sources, so one version number covers both. It must not know the
//! disk, the browser or the page.

mod answers;
mod causes;
mod data;
mod engine;
mod gather;
mod mask;
mod shape;
mod told;

pub use data::{DATA_VERSION, MAX_DATA, ReportData, ReportFile, ReportSettings};
pub use engine::ReportEngine;
pub use gather::{Gathered, ReportSource, gather};
pub use mask::{SecretMask, SecretsEverywhere};

#[cfg(test)]
mod tests;
