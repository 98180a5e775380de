//! The tree of a manifest as in Puppet's model, in JSON: `[kind, offset, length, field…]` with the
//! kinds and fields of Puppet's classes (`tests/parity/puppet_code.rb` writes the same).

use hiera_ls::syntax::puppet::{
    Definition, Expression, ExpressionKind, Prefix, PuppetParse, Resource, ResourceForm,
};
use serde_json::{Value, json};

/// The differences between the two parsers' results for a text.
pub(crate) fn difference(text: &str, expected: &Value, parse: &PuppetParse) -> Option<String> {
    let problem = parse.problems.first();
    if let Some(error) = expected.get("error") {
        let (line, column) = (error["line"].as_u64(), error["pos"].as_u64());
        let expected = (error["message"].as_str().unwrap(), line.zip(column));
        let place = problem.and_then(|p| p.line_and_column(text));
        let place = place.map(|(line, column)| (line as u64, column as u64));
        let found = (problem.map_or("", |p| &p.message), place);
        return (found != expected).then(|| format!("{expected:?}, found {found:?}"));
    }
    if let Some(problem) = problem {
        return Some(format!("no error, found {}", problem.full(text)));
    }
    let mut found = tree(&parse.root);
    without_places_in_heredocs(&mut found, false);
    let found = found.to_string();
    // A tree can be too deep for a JSON parser, so it may come as a text.
    let expected = match &expected["tree"] {
        Value::String(text) => text.clone(),
        other => {
            let mut tree = other.clone();
            without_places_in_heredocs(&mut tree, false);
            tree.to_string()
        }
    };
    let differs = found
        .bytes()
        .zip(expected.bytes())
        .position(|(a, b)| a != b);
    (found != expected).then(|| {
        let around = |text: &str| {
            let at = differs.unwrap_or_default().saturating_sub(200);
            text.chars().skip(at).take(400).collect::<String>()
        };
        format!("…{}\n  found …{}", around(&expected), around(&found))
    })
}

/// Puppet adds up positions in a heredoc before it adds the margins that it removed; ours are
/// correct.
fn without_places_in_heredocs(tree: &mut Value, mut is_inside: bool) {
    let Value::Array(parts) = tree else { return };
    let kind = parts.first().and_then(Value::as_str).map(str::to_owned);
    if is_inside && kind.is_some() {
        parts[1..3].fill(Value::Null);
    }
    is_inside |= kind.as_deref() == Some("HeredocExpression");
    for part in parts {
        without_places_in_heredocs(part, is_inside);
    }
}

/// A node with all below it.
fn tree(node: &Expression) -> Value {
    let (kind, fields) = fields(node);
    let mut out = vec![
        json!(kind),
        json!(node.own.start),
        json!(node.own.end - node.own.start),
    ];
    out.extend(fields);
    Value::Array(out)
}

fn trees(nodes: &[Expression]) -> Value {
    nodes.iter().map(tree).collect()
}

fn optional(node: Option<&Expression>) -> Value {
    node.map_or(Value::Null, tree)
}

fn pair(pair: &[Expression; 2]) -> Vec<Value> {
    pair.iter().map(tree).collect()
}

/// A name without a position of its own, at the start of a node.
fn name_at(node: &Expression, name: &str) -> Value {
    json!(["QualifiedName", node.own.start, 0, name])
}

fn fields(node: &Expression) -> (&'static str, Vec<Value>) {
    match &node.kind {
        ExpressionKind::Undef => ("LiteralUndef", vec![]),
        ExpressionKind::Default => ("LiteralDefault", vec![]),
        ExpressionKind::Boolean(value) => ("LiteralBoolean", vec![json!(value)]),
        ExpressionKind::Integer(written) => integer(written),
        ExpressionKind::Float(value) => (
            "LiteralFloat",
            vec![json!(format!("{:016x}", value.to_bits()))],
        ),
        ExpressionKind::Text(text) => ("LiteralString", vec![json!(text)]),
        ExpressionKind::Name(name) => ("QualifiedName", vec![json!(name)]),
        ExpressionKind::Reference(name) => ("QualifiedReference", vec![json!(name)]),
        ExpressionKind::Regexp(source) => ("LiteralRegularExpression", vec![json!(source)]),
        ExpressionKind::Reserved(word) => ("ReservedWord", vec![json!(word)]),
        ExpressionKind::Nothing => ("Nop", vec![]),
        ExpressionKind::Error => ("Error", vec![]),
        ExpressionKind::Variable(name) => {
            let length = (node.own.end - node.own.start).saturating_sub(1);
            let name = json!(["QualifiedName", node.own.start + 1, length, name]);
            ("VariableExpression", vec![name])
        }
        ExpressionKind::List(nodes) => ("LiteralList", vec![trees(nodes)]),
        ExpressionKind::Hash(nodes) => ("LiteralHash", vec![trees(nodes)]),
        ExpressionKind::Entry(both) => ("KeyedEntry", pair(both)),
        ExpressionKind::Concatenated(nodes) => ("ConcatenatedString", vec![trees(nodes)]),
        ExpressionKind::Interpolation(inner) => ("TextExpression", vec![tree(inner)]),
        ExpressionKind::Heredoc(heredoc) => (
            "HeredocExpression",
            vec![json!(heredoc.syntax), tree(&heredoc.text)],
        ),
        ExpressionKind::Unary(prefix, inner) => {
            let kind = match prefix {
                Prefix::Not => "NotExpression",
                Prefix::Minus => "UnaryMinusExpression",
                Prefix::Splat => "UnfoldExpression",
                Prefix::Parentheses => "ParenthesizedExpression",
            };
            (kind, vec![tree(inner)])
        }
        ExpressionKind::Binary(sign, both) => binary(sign, both),
        ExpressionKind::Access(left, keys) => ("AccessExpression", vec![tree(left), trees(keys)]),
        ExpressionKind::NamedAccess(access) => (
            "NamedAccessExpression",
            vec![tree(&access.left), name_at(node, &access.name)],
        ),
        ExpressionKind::Call(call) | ExpressionKind::MethodCall(call) => {
            let kind = match &node.kind {
                ExpressionKind::Call(_) => "CallNamedFunctionExpression",
                _ => "CallMethodExpression",
            };
            let lambda = optional(call.lambda.as_ref());
            let (function, arguments) = (tree(&call.function), trees(&call.arguments));
            (
                kind,
                vec![json!(call.needs_value), function, arguments, lambda],
            )
        }
        ExpressionKind::Lambda(lambda) => (
            "LambdaExpression",
            vec![
                trees(&lambda.parameters),
                optional(lambda.returns.as_ref()),
                optional(lambda.body.as_ref()),
            ],
        ),
        ExpressionKind::If(condition) | ExpressionKind::Unless(condition) => {
            let kind = match &node.kind {
                ExpressionKind::If(_) => "IfExpression",
                _ => "UnlessExpression",
            };
            let bodies = [&condition.then, &condition.otherwise];
            let mut fields = vec![tree(&condition.test)];
            fields.extend(bodies.map(|body| optional(body.as_ref())));
            (kind, fields)
        }
        ExpressionKind::Case(test, options) => ("CaseExpression", vec![tree(test), trees(options)]),
        ExpressionKind::CaseOption(values, body) => {
            ("CaseOption", vec![trees(values), optional(body.as_deref())])
        }
        ExpressionKind::Selector(left, entries) => {
            ("SelectorExpression", vec![tree(left), trees(entries)])
        }
        ExpressionKind::SelectorEntry(both) => ("SelectorEntry", pair(both)),
        ExpressionKind::Block(nodes) => ("BlockExpression", vec![trees(nodes)]),
        _ => definitions(node),
    }
}

/// Resources, definitions and templates.
fn definitions(node: &Expression) -> (&'static str, Vec<Value>) {
    match &node.kind {
        ExpressionKind::Resource(resource) => ("ResourceExpression", of_resource(resource)),
        ExpressionKind::ResourceDefaults(resource) => {
            ("ResourceDefaultsExpression", of_resource(resource))
        }
        ExpressionKind::ResourceOverride(resource) => {
            ("ResourceOverrideExpression", of_resource(resource))
        }
        ExpressionKind::ResourceBody(title, attributes) => {
            ("ResourceBody", vec![tree(title), trees(attributes)])
        }
        ExpressionKind::Attribute(attribute) => {
            let sign = if attribute.adds { "+>" } else { "=>" };
            let fields = vec![json!(attribute.name), json!(sign), tree(&attribute.value)];
            ("AttributeOperation", fields)
        }
        ExpressionKind::AttributeSplat(value) => ("AttributesOperation", vec![tree(value)]),
        ExpressionKind::Collect(both, attributes) => {
            let mut fields = pair(both);
            fields.push(trees(attributes));
            ("CollectExpression", fields)
        }
        ExpressionKind::VirtualQuery(query) => ("VirtualQuery", vec![optional(query.as_deref())]),
        ExpressionKind::ExportedQuery(query) => ("ExportedQuery", vec![optional(query.as_deref())]),
        ExpressionKind::Class(class) => {
            let parent = class.parent.as_ref().map(|(name, _)| name);
            let mut fields = of_definition(class);
            fields.insert(1, json!(parent));
            ("HostClassDefinition", fields)
        }
        ExpressionKind::Define(define) => ("ResourceTypeDefinition", of_definition(define)),
        ExpressionKind::Function(function) | ExpressionKind::Plan(function) => {
            let kind = match &node.kind {
                ExpressionKind::Function(_) => "FunctionDefinition",
                _ => "PlanDefinition",
            };
            let mut fields = of_definition(function);
            fields.insert(2, optional(function.returns.as_ref()));
            (kind, fields)
        }
        ExpressionKind::NodeBlock(block) => (
            "NodeDefinition",
            vec![
                trees(&block.matches),
                optional(block.parent.as_ref()),
                optional(block.body.as_ref()),
            ],
        ),
        ExpressionKind::Parameter(parameter) => (
            "Parameter",
            vec![
                json!(parameter.name),
                optional(parameter.expected.as_ref()),
                json!(parameter.captures_rest.then_some(true)),
                optional(parameter.value.as_ref()),
            ],
        ),
        ExpressionKind::TypeAlias(alias) => {
            ("TypeAlias", vec![json!(alias.name), tree(&alias.body)])
        }
        ExpressionKind::TypeMapping(both) => ("TypeMapping", pair(both)),
        ExpressionKind::TypeDefinition(name, parent, body) => (
            "TypeDefinition",
            vec![json!(name), json!(parent), optional(body.as_deref())],
        ),
        ExpressionKind::Apply(arguments, block) => {
            ("ApplyExpression", vec![trees(arguments), tree(block)])
        }
        ExpressionKind::ApplyBlock(nodes) => ("ApplyBlockExpression", vec![trees(nodes)]),
        ExpressionKind::Template(has_parameters, body) => (
            "EppExpression",
            vec![json!(has_parameters), optional(body.as_deref())],
        ),
        ExpressionKind::RenderText(text) => ("RenderStringExpression", vec![json!(text)]),
        ExpressionKind::Render(inner) => ("RenderExpression", vec![tree(inner)]),
        other => panic!("{other:?}"),
    }
}

fn integer(written: &str) -> (&'static str, Vec<Value>) {
    let hex = written.strip_prefix("0x").or(written.strip_prefix("0X"));
    let (digits, radix) = match hex {
        Some(hex) => (hex, 16),
        None if written.starts_with('0') && written.len() > 1 => (written, 8),
        None => (written, 10),
    };
    let value = num_bigint::BigInt::parse_bytes(digits.as_bytes(), radix).unwrap();
    let fields = vec![json!(value.to_string()), json!(radix.to_string())];
    ("LiteralInteger", fields)
}

fn binary(sign: &'static str, both: &[Expression; 2]) -> (&'static str, Vec<Value>) {
    let kind = match sign {
        "and" => "AndExpression",
        "or" => "OrExpression",
        "in" => "InExpression",
        "=" | "+=" | "-=" => "AssignmentExpression",
        "==" | "!=" | "<" | "<=" | ">" | ">=" => "ComparisonExpression",
        "=~" | "!~" => "MatchExpression",
        "->" | "~>" | "<-" | "<~" => "RelationshipExpression",
        _ => "ArithmeticExpression",
    };
    let mut fields = pair(both);
    if !matches!(sign, "and" | "or" | "in") {
        fields.insert(0, json!(sign));
    }
    (kind, fields)
}

fn of_resource(resource: &Resource) -> Vec<Value> {
    let form = match resource.form {
        ResourceForm::Regular => "regular",
        ResourceForm::Virtual => "virtual",
        ResourceForm::Exported => "exported",
    };
    vec![
        json!(form),
        tree(&resource.type_name),
        trees(&resource.parts),
    ]
}

fn of_definition(definition: &Definition) -> Vec<Value> {
    vec![
        json!(definition.name),
        trees(&definition.parameters),
        optional(definition.body.as_ref()),
    ]
}
