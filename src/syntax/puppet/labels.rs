//! Puppet's names for the parts of a manifest in its messages
//! (`pops/model/model_label_provider.rb`).

use super::tree::{Expression, ExpressionKind, Prefix};

/// The name of a part: `Literal Integer`.
pub(super) fn label(node: &Expression) -> String {
    let label = match &node.kind {
        ExpressionKind::Binary(sign, _) => return format!("'{sign}' expression"),
        ExpressionKind::Attribute(attribute) => {
            let sign = if attribute.adds { "+>" } else { "=>" };
            return format!("'{sign}' expression");
        }
        ExpressionKind::Heredoc(heredoc) => return format!("'@({})' expression", heredoc.syntax),
        ExpressionKind::Reserved(word) => return format!("Reserved Word '{word}'"),
        ExpressionKind::Collect(pair, _) => return label(&pair[1]),
        ExpressionKind::Undef => "'undef' expression",
        ExpressionKind::Default => "'default' expression",
        ExpressionKind::Boolean(_) => "Boolean",
        ExpressionKind::Integer(_) => "Literal Integer",
        ExpressionKind::Float(_) => "Literal Float",
        ExpressionKind::Text(_) => "String",
        ExpressionKind::Name(_) => "Name",
        ExpressionKind::Reference(_) => "Type-Name",
        ExpressionKind::Regexp(_) => "Regular Expression",
        ExpressionKind::Nothing | ExpressionKind::Error => "Nop Expression",
        ExpressionKind::Variable(_) => "Variable",
        ExpressionKind::List(_) => "Array Expression",
        ExpressionKind::Hash(_) => "Hash Expression",
        ExpressionKind::Entry(_) => "Hash Entry",
        ExpressionKind::Concatenated(_) => "Double Quoted String",
        ExpressionKind::Interpolation(_) => "Expression in Interpolated String",
        ExpressionKind::Unary(Prefix::Not, _) => "'not' expression",
        ExpressionKind::Unary(Prefix::Minus, _) => "Unary Minus",
        ExpressionKind::Unary(Prefix::Splat, _) | ExpressionKind::AttributeSplat(_) => "Unfold",
        ExpressionKind::Unary(Prefix::Parentheses, _) => "Parenthesized Expression",
        ExpressionKind::Access(..) => "'[]' expression",
        ExpressionKind::NamedAccess(_) => "'.' expression",
        ExpressionKind::Call(_) => "Function Call",
        ExpressionKind::MethodCall(_) => "Method call",
        ExpressionKind::Lambda(_) => "Lambda",
        ExpressionKind::If(_) => "'if' statement",
        ExpressionKind::Unless(_) => "'unless' Statement",
        ExpressionKind::Case(..) => "'case' statement",
        ExpressionKind::CaseOption(..) => "Case Option",
        ExpressionKind::Selector(..) => "Selector Expression",
        ExpressionKind::SelectorEntry(_) => "Selector Option",
        ExpressionKind::Block(_) => "Block Expression",
        ExpressionKind::ApplyBlock(_) => "Apply Block Expression",
        ExpressionKind::Apply(..) => "'apply' expression",
        ExpressionKind::Resource(_) => "Resource Statement",
        ExpressionKind::ResourceDefaults(_) => "Resource Defaults Expression",
        ExpressionKind::ResourceOverride(_) => "Resource Override",
        ExpressionKind::ResourceBody(..) => "Resource Instance Definition",
        ExpressionKind::VirtualQuery(_) => "Virtual Query",
        ExpressionKind::ExportedQuery(_) => "Exported Query",
        ExpressionKind::Class(_) => "Host Class Definition",
        ExpressionKind::Define(_) => "'define' expression",
        ExpressionKind::Function(_) => "Function Definition",
        ExpressionKind::Plan(_) => "Plan Definition",
        ExpressionKind::NodeBlock(_) => "Node Definition",
        ExpressionKind::Parameter(_) => "Parameter Definition",
        ExpressionKind::TypeAlias(_) => "Type Alias",
        ExpressionKind::TypeMapping(_) => "Type Mapping",
        ExpressionKind::TypeDefinition(..) => "Type Definition",
        ExpressionKind::Template(..) => "Epp Template",
        ExpressionKind::RenderText(_) => "Epp Text",
        ExpressionKind::Render(_) => "Epp Interpolated Expression",
    };
    label.to_owned()
}

/// The name with its article, which Puppet chooses by the first letter: `an 'if' statement`.
pub(super) fn a(node: &Expression) -> String {
    let label = label(node);
    let first = label.trim_start_matches(['\'', '"']).chars().next();
    let is_vowel = first.is_some_and(|c| "aeiouy".contains(c.to_ascii_lowercase()));
    let article = if is_vowel { "an" } else { "a" };
    format!("{article} {label}")
}

/// `the …`
pub(super) fn the(node: &Expression) -> String {
    format!("the {}", label(node))
}
