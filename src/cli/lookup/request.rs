//! Turns the arguments of `hiera-ls lookup` into requests.

use std::sync::Arc;

use super::LookupArguments;
use crate::lookup::{Request, Tracing};
use crate::value::Value;

/// # Errors
/// Why the arguments make no sense.
pub(super) fn request(arguments: &LookupArguments) -> Result<Request, &'static str> {
    let deep = arguments.merge.as_deref() == Some("deep");
    let deep_only = arguments.knock_out_prefix.is_some()
        || arguments.sort_merged_arrays
        || arguments.merge_hash_arrays;
    if deep_only && !deep {
        return Err(
            "--knock-out-prefix, --sort-merged-arrays and --merge-hash-arrays go with '--merge deep'\
             ",
        );
    }
    let merge = match arguments.merge.as_deref() {
        None => None,
        Some("deep") => {
            let mut options = vec![
                ("strategy", Value::from("deep")),
                (
                    "sort_merged_arrays",
                    Value::Bool(arguments.sort_merged_arrays),
                ),
                (
                    "merge_hash_arrays",
                    Value::Bool(arguments.merge_hash_arrays),
                ),
            ];
            if let Some(prefix) = &arguments.knock_out_prefix {
                options.push(("knockout_prefix", Value::string(prefix)));
            }
            Some(Value::hash(options))
        }
        Some(name @ ("first" | "hash" | "unique")) => {
            Some(Value::hash([("strategy", name.into())]))
        }
        Some(_) => return Err("--merge takes first, hash, unique or deep"),
    };
    let options_only = arguments.explain_options && !arguments.explain;
    let names = match arguments.keys.as_slice() {
        [] if options_only => vec![Arc::from("__global__")],
        [] => return Err("no keys were given to look up"),
        keys => keys.iter().map(|key| Arc::from(key.as_str())).collect(),
    };
    Ok(Request {
        names,
        merge,
        value_type: arguments.value_type.as_deref().map(Arc::from),
        default_value: arguments.default.as_deref().map(Value::string),
        tracing: match (arguments.explain, options_only) {
            (true, _) => Tracing::Full,
            (false, true) => Tracing::OptionsOnly,
            (false, false) => Tracing::Off,
        },
        ..Request::default()
    })
}
