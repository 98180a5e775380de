//! URIs, as far as types and conversions need them: Ruby's RFC 3986 parser in outline.

use super::format::quote;

/// The parts of a URI.
#[derive(Debug, Default, PartialEq)]
struct Parts<'a> {
    scheme: Option<&'a str>,
    userinfo: Option<&'a str>,
    host: Option<&'a str>,
    port: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
    opaque: Option<&'a str>,
}

fn parts(text: &str) -> Parts<'_> {
    let mut out = Parts::default();
    let mut rest = text;
    if let Some((before, fragment)) = rest.split_once('#') {
        out.fragment = Some(fragment);
        rest = before;
    }
    if let Some((scheme, after)) = rest.split_once(':')
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    {
        out.scheme = Some(scheme);
        rest = after;
        if !rest.starts_with('/') {
            out.opaque = Some(rest);
            return out;
        }
    }
    if let Some((before, query)) = rest.split_once('?') {
        out.query = Some(query);
        rest = before;
    }
    if let Some(authority) = rest.strip_prefix("//") {
        let end = authority.find('/').unwrap_or(authority.len());
        let (authority, path) = authority.split_at(end);
        rest = path;
        let host = match authority.rsplit_once('@') {
            Some((userinfo, host)) => {
                out.userinfo = Some(userinfo);
                host
            }
            None => authority,
        };
        match host.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => {
                out.host = Some(host);
                out.port = Some(port).filter(|p| !p.is_empty());
            }
            _ => out.host = Some(host),
        }
    }
    out.path = rest;
    out
}

/// `String#dump`: as inspected, with every character that is not ASCII escaped.
fn ruby_dump(text: &str) -> String {
    let mut dumped = String::new();
    for c in super::ruby_inspect(text).chars() {
        match u32::from(c) {
            0..=0x7f => dumped.push(c),
            code @ 0x80..=0xffff => dumped.push_str(&format!("\\u{code:04X}")),
            code => dumped.push_str(&format!("\\u{{{code:X}}}")),
        }
    }
    dumped
}

/// Checks a URI as Ruby's parser does.
///
/// # Errors
/// Ruby's message.
pub(super) fn check(text: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    let brackets = parts(text)
        .host
        .is_some_and(|host| host.contains('[') && !host.ends_with(']'));
    if !text.is_ascii() {
        return Err(format!("URI must be ascii only {}", ruby_dump(text)));
    }
    let parsed = parts(text);
    let colon = parsed.scheme.is_none()
        && parsed.host.is_none()
        && parsed
            .path
            .split('/')
            .next()
            .is_some_and(|s| s.contains(':'));
    // A percent sign stands before two hexadecimal digits.
    let percents = text.match_indices('%').all(|(at, _)| {
        let digits = text.as_bytes().get(at + 1..at + 3);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    });
    if !text.chars().all(allowed) || brackets || colon || !percents {
        return Err(format!(
            "bad URI(is not URI?): {}",
            super::ruby_inspect(text)
        ));
    }
    Ok(())
}

/// What the `URI` type shows of a URI: its parts as a hash.
pub(super) fn parameters_text(text: &str) -> String {
    let parts = parts(text);
    let scheme = parts.scheme.map(str::to_lowercase);
    let default_port = match scheme.as_deref() {
        Some("http") => Some("80"),
        Some("https") => Some("443"),
        Some("ftp") => Some("21"),
        Some("ldap") => Some("389"),
        _ => None,
    };
    let shown_default = default_port.filter(|p| !matches!(*p, "80" | "443"));
    let port = match parts.port {
        Some(port) if Some(port) == default_port => shown_default,
        Some(port) => Some(port),
        None => shown_default,
    };
    let entries: Vec<String> = [
        ("scheme", scheme),
        ("userinfo", parts.userinfo.map(ToOwned::to_owned)),
        (
            "host",
            parts.host.filter(|h| !h.is_empty()).map(str::to_lowercase),
        ),
        ("port", port.map(ToOwned::to_owned)),
        (
            "path",
            Some(parts.path.to_owned()).filter(|path| !path.is_empty()),
        ),
        ("query", parts.query.map(ToOwned::to_owned)),
        ("fragment", parts.fragment.map(ToOwned::to_owned)),
        ("opaque", parts.opaque.map(ToOwned::to_owned)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some(format!("'{name}' => {}", quote(&value?))))
    .collect();
    format!("{{{}}}", entries.join(", "))
}
