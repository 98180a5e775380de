//! The tree of a manifest or template: nodes as in Puppet's model (`pops/model/ast.pp`), each with
//! its range. It must not know what names mean.

use super::words::without_colons;
use crate::text::TextRange;

/// A part of a manifest.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Its kind, with its parts.
    pub kind: ExpressionKind,
    /// The range that Puppet's parser gives it: for an operator that of its sign, for a part
    /// without its own position an empty one at the start of its parent. Errors name its start.
    pub own: TextRange,
    /// From the first to the last byte of all its parts. A closing parenthesis may be left out.
    pub range: TextRange,
    pub(super) height: u16,
}

/// The kind of an expression.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
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
    List(Vec<Expression>),
    /// `{…}`: its entries.
    Hash(Vec<Expression>),
    /// `a => b` of a hash.
    Entry(Box<[Expression; 2]>),
    /// A string with interpolations: its texts and interpolations, without empty texts.
    Concatenated(Vec<Expression>),
    /// `${…}` or `$name` in a string.
    Interpolation(Box<Expression>),
    /// `@(END)`
    Heredoc(Box<Heredoc>),
    /// `!a` and the like.
    Unary(Prefix, Box<Expression>),
    /// `a + b` and the like: by the operator's sign.
    Binary(&'static str, Box<[Expression; 2]>),
    /// `a[b, c]`
    Access(Box<Expression>, Vec<Expression>),
    /// `a.b` before its arguments.
    NamedAccess(Box<NamedAccess>),
    /// `f(…)`, or `f …` for functions that can be called without parentheses.
    Call(Box<Call>),
    /// `a.f(…)`: the function is a [`ExpressionKind::NamedAccess`].
    MethodCall(Box<Call>),
    /// `|…| { … }`
    Lambda(Box<Lambda>),
    /// `if` or `elsif`
    If(Box<Conditional>),
    /// `unless`
    Unless(Box<Conditional>),
    /// `case`: the tested value, and the options.
    Case(Box<Expression>, Vec<Expression>),
    /// `a, b: { … }`
    CaseOption(Vec<Expression>, Option<Box<Expression>>),
    /// `a ? { … }`
    Selector(Box<Expression>, Vec<Expression>),
    /// `a => b` of a selector.
    SelectorEntry(Box<[Expression; 2]>),
    /// Several statements.
    Block(Vec<Expression>),
    /// `type { title: … }`
    Resource(Box<Resource>),
    /// `Type { … }`
    ResourceDefaults(Box<Resource>),
    /// `Type[…] { … }`
    ResourceOverride(Box<Resource>),
    /// `title: …`
    ResourceBody(Box<Expression>, Vec<Expression>),
    /// `name => value` of a resource.
    Attribute(Box<Attribute>),
    /// `* => value`
    AttributeSplat(Box<Expression>),
    /// `Type <| … |> { … }`: the type, the query and the attributes.
    Collect(Box<[Expression; 2]>, Vec<Expression>),
    /// `<| … |>`
    VirtualQuery(Option<Box<Expression>>),
    /// `<<| … |>>`
    ExportedQuery(Option<Box<Expression>>),
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
    TypeAlias(Box<TypeAlias>),
    /// `type Runtime[…] = …`
    TypeMapping(Box<[Expression; 2]>),
    /// `type Foo { … }`: name, parent and body.
    TypeDefinition(Box<str>, Option<Box<str>>, Option<Box<Expression>>),
    /// `apply(…) { … }`: the arguments, and the statements as one node.
    Apply(Vec<Expression>, Box<Expression>),
    /// The statements of `apply`.
    ApplyBlock(Vec<Expression>),
    /// A template: whether it declares parameters, and its body.
    Template(bool, Option<Box<Expression>>),
    /// Text of a template.
    RenderText(Box<str>),
    /// `<%= … %>`
    Render(Box<Expression>),
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
    pub text: Expression,
}

/// `a.b`
#[derive(Clone, Debug)]
pub struct NamedAccess {
    /// The left operand.
    pub left: Expression,
    /// The name after the dot.
    pub name: Box<str>,
    /// The range of the name.
    pub place: TextRange,
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The called function.
    pub function: Expression,
    /// Its arguments.
    pub arguments: Vec<Expression>,
    /// The lambda after them.
    pub lambda: Option<Expression>,
    /// Whether its value is used; false for a statement.
    pub needs_value: bool,
}

/// A function without a name.
#[derive(Clone, Debug)]
pub struct Lambda {
    /// Its parameters.
    pub parameters: Vec<Expression>,
    /// The type of its result.
    pub returns: Option<Expression>,
    /// A block, or the body of a template.
    pub body: Option<Expression>,
}

/// A test and what is done by its result.
#[derive(Clone, Debug)]
pub struct Conditional {
    /// The tested expression.
    pub test: Expression,
    /// The statements for true (of `unless`: for false).
    pub then: Option<Expression>,
    /// The other statements.
    pub otherwise: Option<Expression>,
}

/// A resource, its defaults or its override.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Whether it is virtual or exported.
    pub form: ResourceForm,
    /// Its type; for an override, the resources.
    pub type_name: Expression,
    /// Bodies of a resource, attributes of the others.
    pub parts: Vec<Expression>,
}

/// How a resource is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceForm {
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
    pub value: Expression,
}

/// A class, a defined type, a function or a plan.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its full name, including the enclosing classes' names.
    pub name: Box<str>,
    /// The range of the name as written.
    pub place: TextRange,
    /// Its parameters.
    pub parameters: Vec<Expression>,
    /// The parent class and its range.
    pub parent: Option<(Box<str>, TextRange)>,
    /// The type of its result.
    pub returns: Option<Expression>,
    /// A block; `None` if it is empty.
    pub body: Option<Expression>,
}

/// `type Name = Type[…]`
#[derive(Clone, Debug)]
pub struct TypeAlias {
    /// Its name.
    pub name: Box<str>,
    /// The type, as in Puppet's model.
    pub body: Expression,
    /// The range of the type as written.
    pub place: TextRange,
}

/// `node 'a', /b/ { … }`
#[derive(Clone, Debug)]
pub struct NodeBlock {
    /// The names and patterns that the node's name is compared with.
    pub matches: Vec<Expression>,
    /// Its parent, which Puppet refuses.
    pub parent: Option<Expression>,
    /// A block; `None` if it is empty.
    pub body: Option<Expression>,
}

/// `Type *$name = default`. Its own range is that of the variable.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Without the dollar.
    pub name: Box<str>,
    /// The type of its values.
    pub expected: Option<Expression>,
    /// Whether it captures all remaining arguments.
    pub captures_rest: bool,
    /// Its default.
    pub value: Option<Expression>,
}

impl ExpressionKind {
    /// Whether it defines something: it has no value, and its content is evaluated elsewhere.
    #[must_use]
    pub fn is_definition(&self) -> bool {
        matches!(
            self,
            ExpressionKind::Class(_)
                | ExpressionKind::Define(_)
                | ExpressionKind::Function(_)
                | ExpressionKind::Plan(_)
                | ExpressionKind::NodeBlock(_)
                | ExpressionKind::TypeAlias(_)
                | ExpressionKind::TypeMapping(_)
                | ExpressionKind::TypeDefinition(..)
        )
    }

    /// Whether a node of this kind has its own scope, or is evaluated elsewhere.
    #[must_use]
    pub fn has_own_scope(&self) -> bool {
        self.is_definition()
            || matches!(self, ExpressionKind::Lambda(_) | ExpressionKind::Apply(..))
    }

    /// Calls `visit` with each direct part, in the order of Puppet's model.
    pub fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a Expression)) {
        match self {
            ExpressionKind::Undef
            | ExpressionKind::Default
            | ExpressionKind::Boolean(_)
            | ExpressionKind::Integer(_)
            | ExpressionKind::Float(_)
            | ExpressionKind::Text(_)
            | ExpressionKind::Name(_)
            | ExpressionKind::Reference(_)
            | ExpressionKind::Regexp(_)
            | ExpressionKind::Reserved(_)
            | ExpressionKind::Nothing
            | ExpressionKind::Error
            | ExpressionKind::Variable(_)
            | ExpressionKind::RenderText(_) => {}
            ExpressionKind::List(nodes)
            | ExpressionKind::Hash(nodes)
            | ExpressionKind::Concatenated(nodes)
            | ExpressionKind::Block(nodes)
            | ExpressionKind::ApplyBlock(nodes) => nodes.iter().for_each(visit),
            ExpressionKind::Entry(pair)
            | ExpressionKind::Binary(_, pair)
            | ExpressionKind::SelectorEntry(pair)
            | ExpressionKind::TypeMapping(pair) => pair.iter().for_each(visit),
            ExpressionKind::Interpolation(node)
            | ExpressionKind::Unary(_, node)
            | ExpressionKind::AttributeSplat(node)
            | ExpressionKind::Render(node) => visit(node),
            ExpressionKind::TypeAlias(alias) => visit(&alias.body),
            ExpressionKind::Heredoc(heredoc) => visit(&heredoc.text),
            ExpressionKind::NamedAccess(access) => visit(&access.left),
            ExpressionKind::Access(node, nodes)
            | ExpressionKind::Case(node, nodes)
            | ExpressionKind::Selector(node, nodes)
            | ExpressionKind::ResourceBody(node, nodes) => {
                visit(node);
                nodes.iter().for_each(visit);
            }
            ExpressionKind::Call(call) | ExpressionKind::MethodCall(call) => {
                visit(&call.function);
                call.arguments.iter().chain(&call.lambda).for_each(visit);
            }
            ExpressionKind::Lambda(lambda) => {
                let rest = lambda.body.iter().chain(&lambda.returns);
                lambda.parameters.iter().chain(rest).for_each(visit);
            }
            ExpressionKind::If(condition) | ExpressionKind::Unless(condition) => {
                visit(&condition.test);
                let bodies = condition.then.iter().chain(&condition.otherwise);
                bodies.for_each(visit);
            }
            ExpressionKind::CaseOption(nodes, body) => {
                nodes.iter().chain(body.as_deref()).for_each(visit);
            }
            ExpressionKind::Resource(resource)
            | ExpressionKind::ResourceDefaults(resource)
            | ExpressionKind::ResourceOverride(resource) => {
                visit(&resource.type_name);
                resource.parts.iter().for_each(visit);
            }
            ExpressionKind::Attribute(attribute) => visit(&attribute.value),
            ExpressionKind::Collect(pair, attributes) => {
                pair.iter().chain(attributes).for_each(visit)
            }
            ExpressionKind::VirtualQuery(node)
            | ExpressionKind::ExportedQuery(node)
            | ExpressionKind::TypeDefinition(_, _, node)
            | ExpressionKind::Template(_, node) => node.as_deref().into_iter().for_each(visit),
            ExpressionKind::Class(definition)
            | ExpressionKind::Define(definition)
            | ExpressionKind::Function(definition)
            | ExpressionKind::Plan(definition) => {
                let rest = definition.body.iter().chain(&definition.returns);
                definition.parameters.iter().chain(rest).for_each(visit);
            }
            ExpressionKind::NodeBlock(block) => {
                let rest = block.matches.iter().chain(&block.body);
                block.parent.iter().chain(rest).for_each(visit);
            }
            ExpressionKind::Parameter(parameter) => {
                let parts = parameter.value.iter().chain(&parameter.expected);
                parts.for_each(visit);
            }
            ExpressionKind::Apply(arguments, block) => {
                arguments.iter().chain([&**block]).for_each(visit);
            }
        }
    }
}

impl Expression {
    pub(super) fn new(kind: ExpressionKind, own: TextRange) -> Expression {
        let (mut range, mut height) = (own, 0);
        kind.each(&mut |part| {
            range = range.cover(part.range);
            height = height.max(part.height + 1);
        });
        Expression {
            kind,
            own,
            range,
            height,
        }
    }

    /// Calls `visit` with this node and all below it, a node before its parts.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expression)) {
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
        if let ExpressionKind::Binary("=", pair) = &self.kind {
            pair[0].each_in_targets(visit);
        }
        if !self.kind.has_own_scope() {
            self.kind.each(&mut |part| part.each_assigned(visit));
        }
    }

    /// Calls `visit` with each variable to the left of `=`.
    fn each_in_targets(&self, visit: &mut dyn FnMut(&str, TextRange)) {
        match &self.kind {
            ExpressionKind::List(targets) => {
                targets.iter().for_each(|it| it.each_in_targets(visit))
            }
            // Puppet refuses to set `$::x`, which may have been meant as `$x`.
            ExpressionKind::Variable(name) => visit(without_colons(name), self.range),
            _ => {}
        }
    }

    /// For the root of a manifest: calls `visit` with each statement of the top scope, and with the
    /// body of each node block.
    pub fn each_for_nodes<'a>(&'a self, visit: &mut dyn FnMut(&'a Expression)) {
        match &self.kind {
            ExpressionKind::Block(nodes) => {
                nodes.iter().for_each(|node| node.each_for_nodes(visit))
            }
            ExpressionKind::NodeBlock(block) => block.body.iter().for_each(visit),
            _ => visit(self),
        }
    }

    /// The text of a literal: a string without interpolations, a name, or one of these in
    /// parentheses or a heredoc.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match &self.kind {
            ExpressionKind::Text(text)
            | ExpressionKind::Name(text)
            | ExpressionKind::Reference(text) => Some(text),
            ExpressionKind::Heredoc(heredoc) => heredoc.text.literal(),
            ExpressionKind::Unary(Prefix::Parentheses, inner) => inner.literal(),
            // Without its empty texts, an empty string remains.
            ExpressionKind::Concatenated(parts) => match parts.as_slice() {
                [only] if matches!(only.kind, ExpressionKind::Text(_)) => only.literal(),
                _ => None,
            },
            _ => None,
        }
    }
}
