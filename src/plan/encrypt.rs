//! Encrypts values in a file: the texts, the certificate, and the edits.
//!
//! Callers provide the certificate. Messages never contain plain text.

use indexmap::IndexSet;

use crate::analysis::Analysis;
use crate::eyaml::{DEFAULT_METHOD, Encryptor, EyamlError, block, edit_marks};
use crate::hierarchy::Layer;
use crate::lookup::{Place, Reading};
use crate::syntax::psych::{Resolved, resolve_plain};
use crate::syntax::{NodeId, Scalar, ScalarMap, ScalarStyle, Tree, TreeNode};
use crate::text::{TextEdit, TextRange};
use crate::value::{Value, load_yaml};
use crate::workspace::{Format, Snapshot, path};

/// The configuration of the `eyaml` command in a folder.
const EYAML_CONFIG: &str = ".eyaml/config.yaml";

/// The default certificate of the `eyaml` command.
const DEFAULT_CERTIFICATE: &str = "keys/public_key.pkcs7.pem";

/// The option for the certificate, in a level or the configuration of `eyaml`.
const OPTION: &str = "pkcs7_public_key";

/// The form of the encrypted value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EncryptedForm {
    /// On one line, unless the value ends with a line break.
    String,
    /// A folded block, which is easier to read.
    Block,
}

/// The texts to encrypt. Has no `Debug` output, since it holds secrets.
pub struct EncryptionPlan {
    texts: Vec<Secret>,
    is_in_flow: bool,
    /// Whether a comment follows on the line.
    is_followed: bool,
    indent: String,
    /// Whether the file has CR LF line ends.
    has_crlf: bool,
}

struct Secret {
    /// The range, with quotes or the mark.
    range: TextRange,
    plain: String,
    is_mark: bool,
}

/// The texts to encrypt at an offset: the marks of `eyaml edit` in the value, else the whole value.
///
/// # Errors
/// Why there is nothing to encrypt, for people.
pub fn plan(analysis: &Analysis<'_>, at: &str, offset: usize) -> Result<EncryptionPlan, String> {
    let file = analysis.snapshot.file(at).ok_or("there is no such file")?;
    if levels(analysis, at).is_empty() {
        return Err(
            "no level that reads this file decrypts values: Puppet would use the encrypted text as the value"
                .to_owned(),
        );
    }
    let parse = analysis.snapshot.parse_of(file, Format::Yaml);
    let tree = &parse.tree;
    let id = value_at(tree, offset).ok_or("there is no value here")?;
    let node = tree.node(id);
    let scalar = node
        .as_scalar()
        .ok_or("the value here is a list or a hash: encrypt a single value of it")?;
    let text = &*scalar.text;
    let map = ScalarMap::new(file.text(), node);
    let marks = edit_marks(text).into_iter();
    let marks = marks.filter(|mark| mark.method == DEFAULT_METHOD);
    let mut texts: Vec<Secret> = marks
        .map(|mark| Secret {
            range: map.source_range(mark.range.as_usize()),
            plain: mark.plain.slice(text).to_owned(),
            is_mark: true,
        })
        .collect();
    if texts.is_empty() {
        if text.contains("ENC[") {
            return Err("the value is already encrypted".to_owned());
        }
        if text.is_empty() {
            return Err("the value is empty".to_owned());
        }
        if !is_string(node) {
            return Err(
                "the value is not a string, and encrypting would make it one: quote it first if a string is meant"
                    .to_owned(),
            );
        }
        texts.push(Secret {
            range: node.range,
            plain: text.to_owned(),
            is_mark: false,
        });
    }
    Ok(EncryptionPlan {
        texts,
        is_in_flow: is_in_flow(tree, file.text(), id),
        is_followed: is_followed(file.text(), node.range.end as usize),
        indent: indent(tree, file.text(), id),
        has_crlf: file.text().contains("\r\n"),
    })
}

impl EncryptionPlan {
    /// The edits that encrypt the texts for a certificate.
    ///
    /// # Errors
    /// The certificate's key is unusable.
    pub fn edits(
        &self,
        encryptor: &Encryptor,
        form: EncryptedForm,
    ) -> Result<Vec<TextEdit>, EyamlError> {
        let mut edits = Vec::new();
        for secret in &self.texts {
            let blob = encryptor.encrypt(secret.plain.as_bytes())?;
            // Puppet drops one line break at the end; a block adds one to the text's own.
            let is_block =
                (form == EncryptedForm::Block && !self.is_followed) || secret.plain.ends_with('\n');
            let new = match (secret.is_mark, self.is_in_flow, is_block) {
                (true, _, _) => blob,
                (false, true, _) => format!("\"{blob}\""),
                (false, false, true) => block(&blob, &self.indent),
                (false, false, false) => blob,
            };
            let new = if self.has_crlf {
                new.replace('\n', "\r\n")
            } else {
                new
            };
            edits.push(TextEdit::replace(secret.range, new));
        }
        Ok(edits)
    }
}

/// Possible paths of the certificate for a file, the most likely first: from the level's options,
/// from the configuration of `eyaml` in the folder, and the default. `read` reads a file of the
/// workspace. Only paths inside of the workspace; the user has to name others explicitly.
#[must_use]
pub fn certificates(
    analysis: &Analysis<'_>,
    at: &str,
    read: &dyn Fn(&str) -> Option<String>,
) -> Vec<String> {
    let Some(governing) = analysis.governing(at) else {
        return Vec::new();
    };
    let folder = &governing.root.dir;
    let mut named = levels(analysis, at);
    let config = read(&path::join(folder, EYAML_CONFIG));
    let config = config.and_then(|text| load_yaml(text.as_bytes()).ok());
    let of_command = config.as_ref().and_then(|config| config.get(OPTION));
    named.extend(of_command.and_then(Value::as_str).map(str::to_owned));
    named.push(DEFAULT_CERTIFICATE.to_owned());
    let areas = analysis.snapshot.areas();
    let named = named
        .iter()
        .filter(|name| !name.is_empty() && !name.contains("%{"));
    let absolute = named.map(|name| {
        if name.starts_with('/') {
            path::normalise(name)
        } else {
            path::normalise(&path::join(folder, name))
        }
    });
    let is_inside = |at: &String| areas.iter().any(|area| path::within(at, area).is_some());
    let found: IndexSet<String> = absolute.filter(is_inside).collect();
    found.into_iter().collect()
}

/// The certificate of each level that reads a file and decrypts values; empty if the level names none.
fn levels(analysis: &Analysis<'_>, at: &str) -> Vec<String> {
    let Some(view) = analysis.governing(at) else {
        return Vec::new();
    };
    let certificate = |place: Place| {
        let config = view.root.hiera_yaml.as_deref();
        let config = config.filter(|_| place.layer != Layer::Global)?;
        options(analysis.snapshot, config, place.index)
    };
    let places = view.reach(at).into_iter().map(|reach| reach.place);
    let opening = places.filter(|place| place.reading == Some(Reading::Opening));
    opening
        .map(|place| certificate(place).unwrap_or_default())
        .collect()
}

/// The certificate in a level's options.
fn options(snapshot: &Snapshot, config: &str, level: usize) -> Option<String> {
    let bytes = snapshot.file(config)?.bytes().ok()?;
    let config = load_yaml(&bytes).ok()?;
    let level = config.get("hierarchy")?.as_array()?.get(level)?;
    let defaults = || config.get("defaults")?.get("options");
    let options = level.get("options").or_else(defaults)?;
    options.get(OPTION)?.as_str().map(str::to_owned)
}

/// The value at an offset, or of the key there.
fn value_at(tree: &Tree, offset: usize) -> Option<NodeId> {
    let nodes = tree.path_at(offset);
    let last = *nodes.last()?;
    let parent = tree.parent(last)?;
    let pairs = tree.node(parent).as_mapping().unwrap_or_default();
    let entry = pairs.iter().find(|(key, _)| *key == last);
    Some(entry.map_or(last, |(_, value)| *value))
}

/// Whether a node is in a flow collection, where plain text must not contain brackets.
fn is_in_flow(tree: &Tree, text: &str, id: NodeId) -> bool {
    let mut above = std::iter::successors(tree.parent(id), |id| tree.parent(*id));
    above.any(|id| tree.node(id).range.slice(text).starts_with(['[', '{']))
}

/// Whether Puppet reads a scalar as a string; decrypted values always are strings.
fn is_string(node: &TreeNode) -> bool {
    let is_bare =
        |scalar: &&Scalar| matches!(scalar.style, ScalarStyle::Plain | ScalarStyle::JsonLiteral);
    let bare = node.as_scalar().filter(is_bare);
    node.tag.is_some()
        || bare.is_none_or(|scalar| matches!(resolve_plain(&scalar.text), Resolved::String))
}

fn is_followed(text: &str, end: usize) -> bool {
    let rest = text[end..].split(['\n', '\r']).next();
    rest.is_some_and(|rest| !rest.trim().is_empty())
}

/// The indentation of a block for a node: two more than its parent's line.
fn indent(tree: &Tree, text: &str, id: NodeId) -> String {
    let parent = tree.parent(id);
    let start = parent.map_or(0, |parent| tree.node(parent).range.start as usize);
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    " ".repeat(text[line..start].chars().count() + 2)
}
