//! Puppet's names for the parts of a manifest in its messages
//! (`pops/model/model_label_provider.rb`).

use super::tree::{Kind, Node, Prefix};

/// The name of a part: `Literal Integer`.
pub(super) fn label(node: &Node) -> String {
    let label = match &node.kind {
        Kind::Binary(sign, _) => return format!("'{sign}' expression"),
        Kind::Attribute(attribute) => {
            let sign = if attribute.adds { "+>" } else { "=>" };
            return format!("'{sign}' expression");
        }
        Kind::Heredoc(heredoc) => return format!("'@({})' expression", heredoc.syntax),
        Kind::Reserved(word) => return format!("Reserved Word '{word}'"),
        Kind::Collect(pair, _) => return label(&pair[1]),
        Kind::Undef => "'undef' expression",
        Kind::Default => "'default' expression",
        Kind::Boolean(_) => "Boolean",
        Kind::Integer(_) => "Literal Integer",
        Kind::Float(_) => "Literal Float",
        Kind::Text(_) => "String",
        Kind::Name(_) => "Name",
        Kind::Reference(_) => "Type-Name",
        Kind::Regexp(_) => "Regular Expression",
        Kind::Nothing | Kind::Error => "Nop Expression",
        Kind::Variable(_) => "Variable",
        Kind::List(_) => "Array Expression",
        Kind::Hash(_) => "Hash Expression",
        Kind::Entry(_) => "Hash Entry",
        Kind::Concatenated(_) => "Double Quoted String",
        Kind::Interpolation(_) => "Expression in Interpolated String",
        Kind::Unary(Prefix::Not, _) => "'not' expression",
        Kind::Unary(Prefix::Minus, _) => "Unary Minus",
        Kind::Unary(Prefix::Splat, _) | Kind::AttributeSplat(_) => "Unfold",
        Kind::Unary(Prefix::Parentheses, _) => "Parenthesized Expression",
        Kind::Access(..) => "'[]' expression",
        Kind::NamedAccess(_) => "'.' expression",
        Kind::Call(_) => "Function Call",
        Kind::MethodCall(_) => "Method call",
        Kind::Lambda(_) => "Lambda",
        Kind::If(_) => "'if' statement",
        Kind::Unless(_) => "'unless' Statement",
        Kind::Case(..) => "'case' statement",
        Kind::CaseOption(..) => "Case Option",
        Kind::Selector(..) => "Selector Expression",
        Kind::SelectorEntry(_) => "Selector Option",
        Kind::Block(_) => "Block Expression",
        Kind::ApplyBlock(_) => "Apply Block Expression",
        Kind::Apply(..) => "'apply' expression",
        Kind::Resource(_) => "Resource Statement",
        Kind::ResourceDefaults(_) => "Resource Defaults Expression",
        Kind::ResourceOverride(_) => "Resource Override",
        Kind::ResourceBody(..) => "Resource Instance Definition",
        Kind::VirtualQuery(_) => "Virtual Query",
        Kind::ExportedQuery(_) => "Exported Query",
        Kind::Class(_) => "Host Class Definition",
        Kind::Define(_) => "'define' expression",
        Kind::Function(_) => "Function Definition",
        Kind::Plan(_) => "Plan Definition",
        Kind::NodeBlock(_) => "Node Definition",
        Kind::Parameter(_) => "Parameter Definition",
        Kind::TypeAlias(_) => "Type Alias",
        Kind::TypeMapping(_) => "Type Mapping",
        Kind::TypeDefinition(..) => "Type Definition",
        Kind::Template(..) => "Epp Template",
        Kind::RenderText(_) => "Epp Text",
        Kind::Render(_) => "Epp Interpolated Expression",
    };
    label.to_owned()
}

/// The name with its article, which Puppet chooses by the first letter: `an 'if' statement`.
pub(super) fn a(node: &Node) -> String {
    let label = label(node);
    let first = label.trim_start_matches(['\'', '"']).chars().next();
    let is_vowel = first.is_some_and(|c| "aeiouy".contains(c.to_ascii_lowercase()));
    let article = if is_vowel { "an" } else { "a" };
    format!("{article} {label}")
}

/// `the …`
pub(super) fn the(node: &Node) -> String {
    format!("the {}", label(node))
}
