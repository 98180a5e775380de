//! A lookup in a workspace that is only in memory, as on a web page.

use hiera_ls::analysis::Analysis;
use hiera_ls::lookup::{ConfigCache, PuppetVersion, Request, Settings};
use hiera_ls::scope::{KnownNodes, Scope};
use hiera_ls::workspace::{Change, Workspace};

/// The number of elements in a merge of two levels: 3, or 0 if the lookup failed.
#[unsafe(no_mangle)]
pub extern "C" fn merged_elements() -> u32 {
    let workspace = Workspace::new();
    workspace.apply(Change::Folders(vec!["/repo".into()]));
    let open = |path: &str, text: &str| workspace.apply(Change::open(path, text));
    open(
        "/repo/hiera.yaml",
        "version: 5\nhierarchy: [{name: Common, paths: [first.yaml, second.yaml]}]\n",
    );
    open(
        "/repo/data/first.yaml",
        "lookup_options: {'^ntp::.*s$': {merge: unique}}\nntp::servers: [a, b]\n",
    );
    let snapshot = open("/repo/data/second.yaml", "ntp::servers: [b, c]\n");
    let settings = Settings::for_version(PuppetVersion::V8).for_editor();
    let (configs, nodes) = (ConfigCache::default(), KnownNodes::default());
    let analysis = Analysis::new(&snapshot, &settings, &configs, &nodes);
    let Some(root) = analysis.governing("/repo/data/first.yaml") else {
        return 0;
    };
    let answer = root
        .session()
        .lookup(&Scope::open(), &Request::key("ntp::servers"));
    let elements = answer.result.ok().and_then(|value| {
        let elements = value.as_array()?.len();
        u32::try_from(elements).ok()
    });
    elements.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_levels_are_merged() {
        assert_eq!(super::merged_elements(), 3);
    }
}
