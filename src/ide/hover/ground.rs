//! Where a hover stands: the root of the file, its session, and which levels read which files.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::HoverOptions;
use super::page::Piece;
use crate::hierarchy::{ConfigSpans, Layer, Template, TemplatePart, locate};
use crate::interpolation::{Key, TokenKind, tokens};
use crate::lookup::{
    Answer, Compilation, Environment, LookupOptions, Place, Reach, Request, Session, Settings,
    layer_of, reach,
};
use crate::scope::Scope;
use crate::syntax::{NodeKind, Parse, Tree};
use crate::text::{TextRange, line_at};
use crate::value::Value;
use crate::workspace::{
    Entry, File, FileId, FileKind, Files as _, Format, KeyFact, Root, RootFiles, Snapshot, path,
};

/// The tree of a key's lines, if they can be read alone, and where they start.
type KeyTree = Option<Rc<(usize, Parse)>>;

/// Most files that a path with variables is expanded to.
pub(super) const MOST_REACHED: usize = 5_000;

/// Most layers and scopes whose locations are kept at a time.
const MOST_SCOPED: usize = 8;

/// The locations of a layer for one scope.
type Scoped = (Layer, Scope, Rc<[Place]>);

/// The lookup options for one scope and the keys of a module or of none; nothing where Puppet
/// refuses them.
type OptionsOf = (Option<Arc<str>>, Scope, Option<Arc<LookupOptions>>);

/// The root of a file, with what is read of it once per hover.
pub(super) struct Ground<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) options: &'a HoverOptions<'a>,
    pub(super) root: &'a Root,
    pub(super) layer: Layer,
    /// The file under the cursor.
    pub(super) path: &'a str,
    files: RootFiles<'a>,
    environment: Environment,
    settings: Settings,
    places: RefCell<HashMap<Layer, Arc<[Place]>>>,
    /// Locations for scopes, the latest first.
    scoped: RefCell<Vec<Scoped>>,
    /// Options for scopes, the latest first.
    lookup_options: RefCell<Vec<OptionsOf>>,
    /// Where the data of the file under the cursor lies.
    datadir: OnceCell<Option<String>>,
    spans: RefCell<HashMap<Arc<str>, Rc<ConfigSpans>>>,
    /// Trees of single keys, by file and key.
    trees: RefCell<HashMap<(FileId, Box<str>), KeyTree>>,
}

impl<'a> Ground<'a> {
    /// The ground of a file that belongs to a root.
    pub(super) fn of(
        snapshot: &'a Snapshot,
        path: &'a str,
        options: &'a HoverOptions<'a>,
    ) -> Option<Ground<'a>> {
        let root = snapshot.root_of(path)?;
        let ground = Ground::at(snapshot, root, path, options);
        // Data of an environment may lie in a folder that is a root of its own.
        if !matches!(ground.layer, Layer::Environment) && ground.reach(path).is_empty() {
            let others = snapshot.roots().environments_of(root);
            let found = others
                .map(|root| Ground::at(snapshot, root, path, options))
                .find(|ground| !ground.reach(path).is_empty());
            return Some(found.unwrap_or(ground));
        }
        Some(ground)
    }

    pub(super) fn at(
        snapshot: &'a Snapshot,
        root: &'a Root,
        path: &'a str,
        options: &'a HoverOptions<'a>,
    ) -> Ground<'a> {
        let mut settings = options.settings.clone();
        // A hover never shows what was encrypted.
        settings.keys = None;
        Ground {
            snapshot,
            options,
            root,
            layer: layer_of(root),
            path,
            files: snapshot.files_for(root),
            environment: Environment::of_root(snapshot, root),
            settings,
            places: RefCell::default(),
            scoped: RefCell::default(),
            lookup_options: RefCell::default(),
            datadir: OnceCell::new(),
            spans: RefCell::default(),
            trees: RefCell::default(),
        }
    }

    /// Whether the file under the cursor is a hierarchy's configuration.
    pub(super) fn is_config(&self) -> bool {
        path::name(self.path) == "hiera.yaml" || self.root.hiera_yaml.as_deref() == Some(self.path)
    }

    pub(super) fn session(&self) -> Session<'_> {
        Session {
            files: &self.files,
            environment: &self.environment,
            settings: &self.settings,
            configs: self.options.configs,
        }
    }

    /// All locations of a layer for any node; none where its configuration is refused.
    pub(super) fn places(&self, layer: &Layer) -> Arc<[Place]> {
        if let Some(known) = self.places.borrow().get(layer) {
            return known.clone();
        }
        let places = self.session().known_places(layer);
        self.places
            .borrow_mut()
            .insert(layer.clone(), places.clone());
        places
    }

    /// All locations of a layer for one scope.
    pub(super) fn places_in(&self, layer: &Layer, scope: &Scope) -> Rc<[Place]> {
        let known = self.scoped.borrow();
        let mut found = known.iter();
        if let Some((_, _, places)) = found.find(|(known, of, _)| known == layer && of == scope) {
            return places.clone();
        }
        drop(known);
        let mut compilation = self.session().compilation(scope);
        self.keep_places(&mut compilation, layer, scope)
    }

    fn keep_places(
        &self,
        compilation: &mut Compilation<'_>,
        layer: &Layer,
        scope: &Scope,
    ) -> Rc<[Place]> {
        let places: Rc<[Place]> = compilation.places(layer).unwrap_or_default().into();
        let mut known = self.scoped.borrow_mut();
        known.truncate(MOST_SCOPED - 1);
        known.insert(0, (layer.clone(), scope.clone(), places.clone()));
        places
    }

    /// A lookup; the locations and the options that it read on the way are kept for what is said
    /// of the answer.
    pub(super) fn lookup(&self, scope: &Scope, root: &str, request: &Request) -> Answer {
        let mut compilation = self.session().compilation(scope);
        let answer = compilation.lookup(request);
        // What an error left half done is not asked again.
        if answer.result.is_ok() {
            let layers = self.layers_of(root);
            for layer in &layers {
                self.keep_places(&mut compilation, layer, scope);
            }
            self.keep_options(&mut compilation, module_of(&layers), scope);
        }
        answer
    }

    /// The options that apply in a scope to the keys of some layers; nothing where Puppet refuses
    /// them.
    pub(super) fn lookup_options(
        &self,
        layers: &[Layer],
        scope: &Scope,
    ) -> Option<Arc<LookupOptions>> {
        let module = module_of(layers);
        let known = self.lookup_options.borrow();
        let mut found = known.iter();
        if let Some((.., options)) = found.find(|(of, known, _)| of == &module && known == scope) {
            return options.clone();
        }
        drop(known);
        let mut compilation = self.session().compilation(scope);
        let options = self.keep_options(&mut compilation, module, scope);
        if options.is_some() {
            for layer in layers {
                self.keep_places(&mut compilation, layer, scope);
            }
        }
        options
    }

    fn keep_options(
        &self,
        compilation: &mut Compilation<'_>,
        module: Option<Arc<str>>,
        scope: &Scope,
    ) -> Option<Arc<LookupOptions>> {
        let options = compilation.lookup_options(module.as_deref()).ok();
        let mut known = self.lookup_options.borrow_mut();
        known.truncate(MOST_SCOPED - 1);
        known.insert(0, (module, scope.clone(), options.clone()));
        options
    }

    /// Who reads a file.
    pub(super) fn reach(&self, path: &str) -> Vec<Reach> {
        reach(&self.places(&self.layer), path)
    }

    /// Whether the file lies where its hierarchy looks for data. One that does not, and that no
    /// level reads, is not ours to speak of: a pipeline's, a container's, a test's.
    pub(super) fn lies_among_data(&self) -> bool {
        let places = self.places(&self.layer);
        places.iter().filter_map(datadir_of).any(|datadir| {
            // Where the datadir is the whole repository, lying in it says nothing.
            path::within(&self.root.dir, &datadir).is_none()
                && path::within(self.path, &datadir).is_some()
        })
    }

    /// The layers that a key is looked up in, in their order.
    pub(super) fn layers_of(&self, key: &str) -> Vec<Layer> {
        let mut layers = vec![Layer::Global, Layer::Environment];
        let module = Key::parse(key)
            .ok()
            .and_then(|key| key.module_name().map(Arc::from));
        layers.extend(module.map(Layer::Module));
        layers
    }

    /// The text's tree, parsed once.
    pub(super) fn parse(&self, file: &File) -> Arc<Parse> {
        let format = file.format().unwrap_or(Format::Yaml);
        self.snapshot.parse_of(file, format)
    }

    /// The places in a configuration.
    pub(super) fn spans(&self, config: &Arc<str>) -> Rc<ConfigSpans> {
        if let Some(known) = self.spans.borrow().get(config) {
            return known.clone();
        }
        let spans = match self.snapshot.file(config) {
            Some(file) => locate(&self.parse(file).tree),
            None => ConfigSpans::default(),
        };
        let spans = Rc::new(spans);
        self.spans
            .borrow_mut()
            .insert(config.clone(), spans.clone());
        spans
    }

    /// The configuration of a layer, in the workspace.
    pub(super) fn config_of(&self, layer: &Layer) -> Option<Arc<str>> {
        let roots = self.snapshot.roots();
        match layer {
            Layer::Global => self.environment.global_config.clone(),
            Layer::Environment => self.environment.config.clone().or_else(|| {
                let dir = self.environment.dir.as_deref()?;
                roots.in_folder(dir)?.hiera_yaml.clone()
            }),
            Layer::Module(name) => {
                let modules = &self.environment.modules;
                let (_, dir) = modules.iter().find(|(known, _)| known == name)?;
                Some(Arc::from(path::join(dir, "hiera.yaml")))
            }
        }
    }

    /// The variable that a place maps to its files, if it is one of `mapped_paths`: the node's
    /// value holds what the path says rather than being it.
    pub(super) fn mapped_variable(&self, place: &Place) -> Option<Arc<str>> {
        let config = self.config_of(&place.layer)?;
        let spans = self.spans(&config);
        let levels = match place.in_default_hierarchy {
            true => &spans.default_hierarchy,
            false => &spans.hierarchy,
        };
        let level = levels.get(place.index)?;
        let mapped = level.locations.first()?;
        if &*mapped.key != "mapped_paths" {
            return None;
        }
        let written = written_variables(&mapped.text);
        let mut variables = place.template.variables();
        variables
            .find(|variable| !written.iter().any(|name| **name == ***variable))
            .cloned()
    }

    /// The line (from 1) of a key, or of a part of its value, in a file.
    pub(super) fn line_of(&self, file: &File, key: &str, steps: &[Value]) -> u32 {
        let Some(fact) = file.facts().key(key) else {
            return 1;
        };
        if !steps.is_empty()
            && let Some(found) = self.nested(file, fact, steps)
        {
            let start = fact.key.start as usize;
            let behind = file.text().get(start..).zip(found.checked_sub(start));
            return match behind {
                Some((text, behind)) => fact.line + line_at(text, behind) + 1,
                None => file.line(found) + 1,
            };
        }
        fact.line + 1
    }

    /// Where a part of a key's value starts. Of a file that is not open only the key's lines are
    /// read.
    fn nested(&self, file: &File, fact: &KeyFact, steps: &[Value]) -> Option<usize> {
        if file.version().is_none() {
            let own = self.tree_of_key(file, &fact.name);
            if let Some((start, parse)) = own.as_deref() {
                let key = TextRange::new(
                    fact.key.start as usize - start,
                    fact.key.end as usize - start,
                );
                return Some(nested(&parse.tree, key, steps)?.start as usize + start);
            }
        }
        let parse = self.parse(file);
        Some(nested(&parse.tree, fact.key, steps)?.start as usize)
    }

    fn tree_of_key(&self, file: &File, key: &str) -> KeyTree {
        let mut trees = self.trees.borrow_mut();
        let tree = trees
            .entry((file.id(), Box::from(key)))
            .or_insert_with(|| self.snapshot.parse_of_key(file, key).map(Rc::new));
        tree.clone()
    }

    /// What a file itself says of a top-level key.
    pub(super) fn own_value(&self, at: &str, key: &str) -> Option<Value> {
        let file = self.snapshot.file(at)?;
        let format = file.format().unwrap_or(Format::Yaml);
        match self.snapshot.entry(at, key, format) {
            Entry::Value(one) => Some(one.value.clone()),
            Entry::Absent => None,
            Entry::Unknown => {
                let data = self.snapshot.data_of(file, format);
                data.recovered.get(key).cloned()
            }
        }
    }

    /// A file as a link: what it is called, with the line.
    pub(super) fn link(&self, at: &str, line: u32) -> Piece {
        Piece::Place {
            label: format!("{}:{line}", self.label(at)),
            path: at.to_string(),
            line,
        }
    }

    /// What a file is called: its path below the data directory of the file under the cursor,
    /// else below the workspace's folder.
    pub(super) fn label(&self, at: &str) -> String {
        let datadir = || datadir_of(&self.reach(self.path).first()?.place);
        if let Some(datadir) = self.datadir.get_or_init(datadir)
            && let Some(rest) = path::within(at, datadir)
            && !rest.is_empty()
        {
            return rest.to_string();
        }
        if let Some(rest) = path::within(at, &self.root.dir) {
            return rest.to_string();
        }
        let areas = self.snapshot.areas().iter();
        let rest = areas.filter_map(|area| path::within(at, area)).next();
        rest.filter(|rest| !rest.is_empty())
            .unwrap_or(at)
            .to_string()
    }

    /// Whether a place lies outside of what the workspace can see.
    pub(super) fn is_outside(&self, template: &Template) -> bool {
        let Some(TemplatePart::Text(start)) = template.parts.first() else {
            return false;
        };
        let start = path::normalise(start);
        let areas = self.snapshot.areas();
        !areas
            .iter()
            .any(|area| path::within(&start, area).is_some() || area.starts_with(start.as_str()))
    }

    /// Existing files that a path with variables can mean, ordered by bytes, at most
    /// [`MOST_REACHED`]: folder by folder along the path.
    pub(super) fn expand(&self, template: &Template) -> Vec<String> {
        let mut whole = String::new();
        for part in &template.parts {
            match part {
                TemplatePart::Text(text) => whole.push_str(text),
                TemplatePart::Variable(_) => whole.push('\u{0}'),
            }
        }
        let mut found = vec![String::new()];
        let segments: Vec<&str> = whole.split('/').skip(1).collect();
        for (at, segment) in segments.iter().enumerate() {
            let is_last = at + 1 == segments.len();
            let mut next = Vec::new();
            for folder in found {
                if !segment.contains('\u{0}') {
                    next.push(format!("{folder}/{segment}"));
                    continue;
                }
                for (name, kind) in self.files.list(&folder) {
                    let fits = is_last == (kind == FileKind::File);
                    if fits && next.len() < MOST_REACHED && fits_segment(segment, &name) {
                        next.push(format!("{folder}/{name}"));
                    }
                }
            }
            found = next;
        }
        found.retain(|at| self.files.kind(at) == Some(FileKind::File) && template.matches(at));
        found
    }
}

/// The module whose layer is among some.
fn module_of(layers: &[Layer]) -> Option<Arc<str>> {
    layers
        .iter()
        .find_map(|layer| layer.module_name().map(Arc::from))
}

/// The folder that a place's path starts from, where it has no variable.
pub(super) fn datadir_of(place: &Place) -> Option<String> {
    let Some(TemplatePart::Text(start)) = place.template.parts.first() else {
        return None;
    };
    let original = Template::parse(&place.original);
    let relative = match original.parts.first() {
        Some(TemplatePart::Text(text)) => text.as_str(),
        Some(TemplatePart::Variable(_)) | None => "",
    };
    // A glob's pattern is absolute and no suffix of the files it matched.
    let datadir = start.strip_suffix(relative)?;
    Some(datadir.trim_end_matches('/').to_string())
}

/// The variables that a text's tokens name.
fn written_variables(text: &str) -> Vec<&str> {
    tokens(text)
        .into_iter()
        .filter(|token| matches!(token.kind, TokenKind::Variable { .. }))
        .map(|token| token.inner.slice(text))
        .collect()
}

/// Whether a name has the texts of a segment in order, at least a character for each variable.
fn fits_segment(segment: &str, name: &str) -> bool {
    let mut rest = name;
    let mut pieces = segment.split('\u{0}');
    let Some(tail) = rest.strip_prefix(pieces.next().unwrap_or_default()) else {
        return false;
    };
    rest = tail;
    for piece in pieces {
        let Some(first) = rest.chars().next() else {
            return false;
        };
        rest = &rest[first.len_utf8()..];
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.is_empty()
        || segment.ends_with('\u{0}')
        || name.ends_with(segment.rsplit('\u{0}').next().unwrap_or_default())
}

/// Where the key of a part stands, digging from a top-level key.
fn nested(tree: &Tree, key: TextRange, steps: &[Value]) -> Option<TextRange> {
    let (_, mut at) = tree.entry_at(key)?;
    let mut range = key;
    for step in steps {
        let wanted = step.to_s();
        match &tree.node(tree.resolve(at)).kind {
            NodeKind::Mapping(pairs) => {
                let is_it = |&&(key, _): &&(_, _)| {
                    tree.scalar_text(key).is_some_and(|text| {
                        **text == *wanted || text.strip_prefix(':') == Some(wanted.as_str())
                    })
                };
                let &(key, value) = pairs.iter().rev().find(is_it)?;
                range = tree.node(key).full_range();
                at = value;
            }
            NodeKind::Sequence(elements) => {
                let Value::Int(index) = step else {
                    return Some(range);
                };
                let &element = elements.get(usize::try_from(*index).ok()?)?;
                range = tree.node(element).full_range();
                at = element;
            }
            NodeKind::Scalar(_) | NodeKind::Alias { .. } => return Some(range),
        }
    }
    Some(range)
}
