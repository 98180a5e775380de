//! The tree of a manifest or template: nodes as in Puppet's model (`pops/model/ast.pp`), each with
//! its range. It must not know what names mean.

use crate::text::TextRange;

/// A part of a manifest.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its kind, with its parts.
    pub kind: Kind,
    /// The range that Puppet's parser gives it: for an operator that of its sign, for a part
    /// without its own position an empty one at the start of its parent. Errors name its start.
    pub own: TextRange,
    /// From the first to the last byte of all its parts. A closing parenthesis may be left out.
    pub range: TextRange,
    pub(super) height: u16,
}

/// The kind of a node.
#[derive(Clone, Debug)]
pub enum Kind {
    /// `undef`
    Undef,
    /// `default`
    Default,
    /// `true`
    Boolean(bool),
    /// An integer as written.
    Integer(Box<str>),
    /// `1.5`
    Float(f64),
    /// A string without interpolations, or a bare word; escapes are resolved.
    Text(Box<str>),
    /// `foo::bar`
    Name(Box<str>),
    /// `Foo::Bar`
    Reference(Box<str>),
    /// The source of a pattern.
    Regexp(Box<str>),
    /// A word that Puppet reserves: `attr`, `private`.
    Reserved(Box<str>),
    /// An empty manifest.
    Nothing,
    /// Text that breaks the grammar.
    Error,
    /// `$foo`, without the dollar.
    Variable(Box<str>),
    /// `[…]`
    List(Vec<Node>),
    /// `{…}`: its entries.
    Hash(Vec<Node>),
    /// `a => b` of a hash.
    Entry(Box<[Node; 2]>),
    /// A string with interpolations: its texts and interpolations, without empty texts.
    Concatenated(Vec<Node>),
    /// `${…}` or `$name` in a string.
    Interpolation(Box<Node>),
    /// `@(END)`
    Heredoc(Box<Heredoc>),
    /// `!a` and the like.
    Unary(Prefix, Box<Node>),
    /// `a + b` and the like: by the operator's sign.
    Binary(&'static str, Box<[Node; 2]>),
    /// `a[b, c]`
    Access(Box<Node>, Vec<Node>),
    /// `a.b` before its arguments.
    NamedAccess(Box<NamedAccess>),
    /// `f(…)`, or `f …` for functions that can be called without parentheses.
    Call(Box<Call>),
    /// `a.f(…)`: the function is a [`Kind::NamedAccess`].
    MethodCall(Box<Call>),
    /// `|…| { … }`
    Lambda(Box<Lambda>),
    /// `if` or `elsif`
    If(Box<Condition>),
    /// `unless`
    Unless(Box<Condition>),
    /// `case`: the tested value, and the options.
    Case(Box<Node>, Vec<Node>),
    /// `a, b: { … }`
    CaseOption(Vec<Node>, Option<Box<Node>>),
    /// `a ? { … }`
    Selector(Box<Node>, Vec<Node>),
    /// `a => b` of a selector.
    SelectorEntry(Box<[Node; 2]>),
    /// Several statements.
    Block(Vec<Node>),
    /// `type { title: … }`
    Resource(Box<Resource>),
    /// `Type { … }`
    ResourceDefaults(Box<Resource>),
    /// `Type[…] { … }`
    ResourceOverride(Box<Resource>),
    /// `title: …`
    ResourceBody(Box<Node>, Vec<Node>),
    /// `name => value` of a resource.
    Attribute(Box<Attribute>),
    /// `* => value`
    AttributeSplat(Box<Node>),
    /// `Type <| … |> { … }`: the type, the query and the attributes.
    Collect(Box<[Node; 2]>, Vec<Node>),
    /// `<| … |>`
    VirtualQuery(Option<Box<Node>>),
    /// `<<| … |>>`
    ExportedQuery(Option<Box<Node>>),
    /// `class`
    Class(Box<Definition>),
    /// `define`
    Define(Box<Definition>),
    /// `function`
    Function(Box<Definition>),
    /// `plan`
    Plan(Box<Definition>),
    /// `node`
    NodeBlock(Box<NodeBlock>),
    /// A parameter of a definition or a lambda.
    Parameter(Box<Parameter>),
    /// `type Foo = …`
    TypeAlias(Box<Alias>),
    /// `type Runtime[…] = …`
    TypeMapping(Box<[Node; 2]>),
    /// `type Foo { … }`: name, parent and body.
    TypeDefinition(Box<str>, Option<Box<str>>, Option<Box<Node>>),
    /// `apply(…) { … }`: the arguments, and the statements as one node.
    Apply(Vec<Node>, Box<Node>),
    /// The statements of `apply`.
    ApplyBlock(Vec<Node>),
    /// A template: whether it declares parameters, and its body.
    Template(bool, Option<Box<Node>>),
    /// Text of a template.
    RenderText(Box<str>),
    /// `<%= … %>`
    Render(Box<Node>),
}

/// An operator before its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// `!`
    Not,
    /// `-`
    Minus,
    /// `*`
    Splat,
    /// `(…)`
    Parentheses,
}

/// A text that begins on the next line.
#[derive(Clone, Debug)]
pub struct Heredoc {
    /// The syntax of its text, as given.
    pub syntax: Box<str>,
    /// A text or a string with interpolations.
    pub text: Node,
}

/// `a.b`
#[derive(Clone, Debug)]
pub struct NamedAccess {
    /// The left operand.
    pub left: Node,
    /// The name after the dot.
    pub name: Box<str>,
    /// The range of the name.
    pub place: TextRange,
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The called function.
    pub function: Node,
    /// Its arguments.
    pub arguments: Vec<Node>,
    /// The lambda after them.
    pub lambda: Option<Node>,
    /// Whether its value is used; false for a statement.
    pub needs_value: bool,
}

/// A function without a name.
#[derive(Clone, Debug)]
pub struct Lambda {
    /// Its parameters.
    pub parameters: Vec<Node>,
    /// The type of its result.
    pub returns: Option<Node>,
    /// A block, or the body of a template.
    pub body: Option<Node>,
}

/// A test and what is done by its result.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The tested expression.
    pub test: Node,
    /// The statements for true (of `unless`: for false).
    pub then: Option<Node>,
    /// The other statements.
    pub otherwise: Option<Node>,
}

/// A resource, its defaults or its override.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Whether it is virtual or exported.
    pub form: Form,
    /// Its type; for an override, the resources.
    pub of: Node,
    /// Bodies of a resource, attributes of the others.
    pub parts: Vec<Node>,
}

/// How a resource is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Regular.
    Regular,
    /// `@`
    Virtual,
    /// `@@`
    Exported,
}

/// `name => value` or `name +> value`
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The attribute's name.
    pub name: Box<str>,
    /// The range of the name.
    pub place: TextRange,
    /// Whether the operator is `+>`.
    pub adds: bool,
    /// The value.
    pub value: Node,
}

/// A class, a defined type, a function or a plan.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its full name, including the enclosing classes' names.
    pub name: Box<str>,
    /// The range of the name as written.
    pub place: TextRange,
    /// Its parameters.
    pub parameters: Vec<Node>,
    /// The parent class and its range.
    pub parent: Option<(Box<str>, TextRange)>,
    /// The type of its result.
    pub returns: Option<Node>,
    /// A block; `None` if it is empty.
    pub body: Option<Node>,
}

/// `type Name = Type[…]`
#[derive(Clone, Debug)]
pub struct Alias {
    /// Its name.
    pub name: Box<str>,
    /// The type, as in Puppet's model.
    pub body: Node,
    /// The range of the type as written.
    pub place: TextRange,
}

/// `node 'a', /b/ { … }`
#[derive(Clone, Debug)]
pub struct NodeBlock {
    /// The names and patterns that the node's name is compared with.
    pub matches: Vec<Node>,
    /// Its parent, which Puppet refuses.
    pub parent: Option<Node>,
    /// A block; `None` if it is empty.
    pub body: Option<Node>,
}

/// `Type *$name = default`. Its own range is that of the variable.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Without the dollar.
    pub name: Box<str>,
    /// The type of its values.
    pub expected: Option<Node>,
    /// Whether it captures all remaining arguments.
    pub captures_rest: bool,
    /// Its default.
    pub value: Option<Node>,
}

impl Kind {
    /// Whether it defines something: it has no value, and its content is evaluated elsewhere.
    #[must_use]
    pub fn is_definition(&self) -> bool {
        matches!(
            self,
            Kind::Class(_)
                | Kind::Define(_)
                | Kind::Function(_)
                | Kind::Plan(_)
                | Kind::NodeBlock(_)
                | Kind::TypeAlias(_)
                | Kind::TypeMapping(_)
                | Kind::TypeDefinition(..)
        )
    }

    /// Whether a node of this kind has its own scope, or is evaluated elsewhere.
    #[must_use]
    pub fn is_apart(&self) -> bool {
        self.is_definition() || matches!(self, Kind::Lambda(_) | Kind::Apply(..))
    }

    /// Calls `visit` with each direct part, in the order of Puppet's model.
    pub fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        match self {
            Kind::Undef
            | Kind::Default
            | Kind::Boolean(_)
            | Kind::Integer(_)
            | Kind::Float(_)
            | Kind::Text(_)
            | Kind::Name(_)
            | Kind::Reference(_)
            | Kind::Regexp(_)
            | Kind::Reserved(_)
            | Kind::Nothing
            | Kind::Error
            | Kind::Variable(_)
            | Kind::RenderText(_) => {}
            Kind::List(nodes)
            | Kind::Hash(nodes)
            | Kind::Concatenated(nodes)
            | Kind::Block(nodes)
            | Kind::ApplyBlock(nodes) => nodes.iter().for_each(visit),
            Kind::Entry(pair)
            | Kind::Binary(_, pair)
            | Kind::SelectorEntry(pair)
            | Kind::TypeMapping(pair) => pair.iter().for_each(visit),
            Kind::Interpolation(node)
            | Kind::Unary(_, node)
            | Kind::AttributeSplat(node)
            | Kind::Render(node) => visit(node),
            Kind::TypeAlias(alias) => visit(&alias.body),
            Kind::Heredoc(heredoc) => visit(&heredoc.text),
            Kind::NamedAccess(access) => visit(&access.left),
            Kind::Access(node, nodes)
            | Kind::Case(node, nodes)
            | Kind::Selector(node, nodes)
            | Kind::ResourceBody(node, nodes) => {
                visit(node);
                nodes.iter().for_each(visit);
            }
            Kind::Call(call) | Kind::MethodCall(call) => {
                visit(&call.function);
                call.arguments.iter().chain(&call.lambda).for_each(visit);
            }
            Kind::Lambda(lambda) => {
                let rest = lambda.body.iter().chain(&lambda.returns);
                lambda.parameters.iter().chain(rest).for_each(visit);
            }
            Kind::If(condition) | Kind::Unless(condition) => {
                visit(&condition.test);
                let bodies = condition.then.iter().chain(&condition.otherwise);
                bodies.for_each(visit);
            }
            Kind::CaseOption(nodes, body) => {
                nodes.iter().chain(body.as_deref()).for_each(visit);
            }
            Kind::Resource(resource)
            | Kind::ResourceDefaults(resource)
            | Kind::ResourceOverride(resource) => {
                visit(&resource.of);
                resource.parts.iter().for_each(visit);
            }
            Kind::Attribute(attribute) => visit(&attribute.value),
            Kind::Collect(pair, attributes) => pair.iter().chain(attributes).for_each(visit),
            Kind::VirtualQuery(node)
            | Kind::ExportedQuery(node)
            | Kind::TypeDefinition(_, _, node)
            | Kind::Template(_, node) => node.as_deref().into_iter().for_each(visit),
            Kind::Class(definition)
            | Kind::Define(definition)
            | Kind::Function(definition)
            | Kind::Plan(definition) => {
                let rest = definition.body.iter().chain(&definition.returns);
                definition.parameters.iter().chain(rest).for_each(visit);
            }
            Kind::NodeBlock(block) => {
                let rest = block.matches.iter().chain(&block.body);
                block.parent.iter().chain(rest).for_each(visit);
            }
            Kind::Parameter(parameter) => {
                let parts = parameter.value.iter().chain(&parameter.expected);
                parts.for_each(visit);
            }
            Kind::Apply(arguments, block) => {
                arguments.iter().chain([&**block]).for_each(visit);
            }
        }
    }
}

impl Node {
    pub(super) fn new(kind: Kind, own: TextRange) -> Node {
        let (mut range, mut height) = (own, 0);
        kind.each(&mut |part| {
            range = range.cover(part.range);
            height = height.max(part.height + 1);
        });
        Node {
            kind,
            own,
            range,
            height,
        }
    }

    /// Calls `visit` with this node and all below it, a node before its parts.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        visit(self);
        self.kind.each(&mut |part| part.walk(visit));
    }

    /// Its text. A character cut by the range is shown as Puppet shows invalid bytes.
    #[must_use]
    pub fn source<'a>(&self, text: &'a str) -> std::borrow::Cow<'a, str> {
        let bytes = text.as_bytes().get(self.range.as_usize());
        String::from_utf8_lossy(bytes.unwrap_or_default())
    }

    /// Calls `visit` with each variable that the node sets in the enclosing scope, and its range.
    pub fn each_assigned(&self, visit: &mut dyn FnMut(&str, TextRange)) {
        if let Kind::Binary("=", pair) = &self.kind {
            pair[0].each_in_targets(visit);
        }
        if !self.kind.is_apart() {
            self.kind.each(&mut |part| part.each_assigned(visit));
        }
    }

    /// Calls `visit` with each variable to the left of `=`.
    fn each_in_targets(&self, visit: &mut dyn FnMut(&str, TextRange)) {
        match &self.kind {
            Kind::List(targets) => targets.iter().for_each(|it| it.each_in_targets(visit)),
            // Puppet refuses to set `$::x`, which may have been meant as `$x`.
            Kind::Variable(name) => visit(name.trim_start_matches("::"), self.range),
            _ => {}
        }
    }

    /// For the root of a manifest: calls `visit` with each statement of the top scope, and with the
    /// body of each node block.
    pub fn each_for_nodes<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        match &self.kind {
            Kind::Block(nodes) => nodes.iter().for_each(|node| node.each_for_nodes(visit)),
            Kind::NodeBlock(block) => block.body.iter().for_each(visit),
            _ => visit(self),
        }
    }

    /// The text of a literal: a string without interpolations, a name, or one of these in
    /// parentheses or a heredoc.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) | Kind::Name(text) | Kind::Reference(text) => Some(text),
            Kind::Heredoc(heredoc) => heredoc.text.literal(),
            Kind::Unary(Prefix::Parentheses, inner) => inner.literal(),
            // Without its empty texts, an empty string remains.
            Kind::Concatenated(parts) => match &parts[..] {
                [only] => match &only.kind {
                    Kind::Text(text) => Some(text),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }
}
