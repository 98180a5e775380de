//! `textDocument/signatureHelp`.

use tower_lsp::ls_types as lsp;

use super::View;
use super::locations::offset;
use crate::ide::signature::signature;

pub(crate) fn handle(
    view: &View,
    path: &str,
    params: lsp::SignatureHelpParams,
) -> Option<lsp::SignatureHelp> {
    let offset = offset(view, path, params.text_document_position_params.position)?;
    let is_code = view.snapshot.file(path)?.facts().code.is_some();
    if !is_code && !view.analyse(path, |analysis| analysis.reads(path)) {
        return None;
    }
    let found = signature(&view.snapshot, path, offset)?;
    let active = found.active as u32;
    let parameters = found.parameters.iter();
    let parameters = parameters.map(|name| lsp::ParameterInformation {
        label: lsp::ParameterLabel::Simple((*name).to_owned()),
        documentation: None,
    });
    Some(lsp::SignatureHelp {
        signatures: vec![lsp::SignatureInformation {
            label: found.label.to_owned(),
            documentation: Some(lsp::Documentation::String(found.documentation.to_owned())),
            parameters: Some(parameters.collect()),
            active_parameter: Some(active),
        }],
        active_signature: Some(0),
        active_parameter: Some(active),
    })
}
