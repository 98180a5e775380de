//! URIs, for types and conversions: Ruby's parser of RFC 3986.

use super::quote::quote;

#[derive(Debug, Default, PartialEq)]
struct UriParts<'a> {
    scheme: Option<&'a str>,
    userinfo: Option<&'a str>,
    host: Option<&'a str>,
    port: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
    opaque: Option<&'a str>,
}

fn parts(text: &str) -> UriParts<'_> {
    let mut out = UriParts::default();
    let mut rest = text;
    if let Some((before, fragment)) = rest.split_once('#') {
        out.fragment = Some(fragment);
        rest = before;
    }
    if let Some((scheme, after)) = scheme(rest) {
        out.scheme = Some(scheme);
        rest = after;
        if !rest.is_empty() && !rest.starts_with(['/', '?']) {
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

/// Whether Ruby's `URI()` takes a text (`uri/rfc3986_parser.rb`).
///
/// # Errors
/// The message of Ruby's `URI::InvalidURIError`.
pub fn check_uri(text: &str) -> Result<(), String> {
    if !text.is_ascii() {
        return Err(format!("URI must be ascii only {}", ruby_dump(text)));
    }
    if is_uri(text) {
        Ok(())
    } else {
        Err(format!(
            "bad URI(is not URI?): {}",
            super::ruby_inspect(text)
        ))
    }
}

/// Parses a URI and prints it as Ruby's `URI` does (`uri/rfc3986_parser.rb`, `uri/generic.rb`).
///
/// # Errors
/// Ruby's message.
pub(super) fn read(text: &str) -> Result<String, String> {
    check_uri(text)?;
    let parts = parts(text);
    let scheme = parts.scheme.map(str::to_lowercase).unwrap_or_default();
    match scheme.as_str() {
        "ldap" | "ldaps" if parts.fragment.is_some() => return Err("bad LDAP URL".to_owned()),
        "mailto" => check_mail(&parts)?,
        _ => {}
    }
    let mut out = String::new();
    if parts.scheme.is_some() {
        out = format!("{scheme}:");
    }
    if let Some(opaque) = parts.opaque {
        out.push_str(opaque);
    } else {
        let host = parts.host.filter(|host| !host.is_empty());
        if host.is_some() || matches!(scheme.as_str(), "file" | "postgres") {
            out.push_str("//");
        }
        if let Some(userinfo) = parts.userinfo.filter(|user| !user.is_empty()) {
            out.push_str(userinfo);
            out.push('@');
        }
        out.push_str(host.unwrap_or_default());
        let port = parts.port.map(|port| port.trim_start_matches('0'));
        let port = port.map(|port| if port.is_empty() { "0" } else { port });
        if let Some(port) = port.filter(|port| Some(*port) != default_port(&scheme)) {
            out.push(':');
            out.push_str(port);
        }
        if scheme == "ftp" {
            out.push_str(&ftp_path(parts.path));
        } else {
            out.push_str(parts.path);
        }
        if let Some(query) = parts.query {
            out.push('?');
            out.push_str(&escaped_query(query)?);
        }
    }
    if let Some(fragment) = parts.fragment {
        out.push('#');
        out.push_str(fragment);
    }
    Ok(out)
}

fn default_port(scheme: &str) -> Option<&'static str> {
    Some(match scheme {
        "http" | "ws" => "80",
        "https" => "443",
        "ftp" => "21",
        "ldap" => "389",
        "ldaps" => "636",
        _ => return None,
    })
}

/// A path relative to the login folder; with two slashes it is absolute.
fn ftp_path(path: &str) -> String {
    let relative = path.strip_prefix('/').unwrap_or(path);
    let relative = match relative.strip_prefix("%2F") {
        Some(rest) => format!("/{rest}"),
        None => relative.to_owned(),
    };
    match relative.strip_prefix('/') {
        Some(rest) => format!("/%2F{rest}"),
        None => format!("/{relative}"),
    }
}

fn check_mail(parts: &UriParts<'_>) -> Result<(), String> {
    let Some(opaque) = parts.opaque else {
        if parts.query.is_some() {
            return Ok(());
        }
        return Err("missing opaque part for mailto URL".to_owned());
    };
    let to = opaque.split('?').next().unwrap_or_default();
    let addresses = to.strip_suffix([',', ';']).unwrap_or(to);
    let is_address = |address: &str| {
        address
            .split_once('@')
            .is_some_and(|(user, host)| !user.is_empty() && !host.is_empty() && !host.contains('@'))
    };
    if to.is_empty() || addresses.split([',', ';']).all(is_address) {
        return Ok(());
    }
    Err(format!("unrecognised opaque part for mailtoURL: {opaque}"))
}

fn escaped_query(query: &str) -> Result<String, String> {
    let query: Vec<u8> = query
        .bytes()
        .filter(|b| !matches!(b, b'\t' | b'\r' | b'\n'))
        .collect();
    let mut out = String::new();
    for (at, b) in query.iter().enumerate() {
        if let (b'%', Some([first, second])) = (b, query.get(at + 1..at + 3))
            && !first.is_ascii_hexdigit()
            && !second.is_ascii_hexdigit()
        {
            let wrong = [*b, *first, *second].map(char::from);
            return Err(format!(
                "invalid percent escape: {}",
                String::from_iter(wrong)
            ));
        }
        match b {
            b'!' | b'$'..=b'&' | b'('..=b';' | b'=' | b'?'..=b'_' | b'a'..=b'~' => {
                out.push(char::from(*b));
            }
            b => out.push_str(&format!("%{b:02X}")),
        }
    }
    Ok(out)
}

/// Whether a text is a URI or a relative reference. A query may contain any character.
fn is_uri(text: &str) -> bool {
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    let (text, _) = text.split_once('?').unwrap_or((text, ""));
    let (scheme, rest) = match scheme(text) {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, text),
    };
    let path = if let Some(rest) = rest.strip_prefix("//") {
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        // Ruby's pattern for URIs without a scheme has its parentheses wrong.
        if !is_authority(authority) || scheme.is_none() && authority.contains('[') {
            return false;
        }
        path
    } else {
        let first = rest.split('/').next().unwrap_or_default();
        if scheme.is_none() && first.contains(':') {
            return false;
        }
        rest
    };
    made_of(path, ":@/") && made_of(fragment, ":@/?")
}

fn is_authority(authority: &str) -> bool {
    let (userinfo, host) = authority.split_once('@').unwrap_or(("", authority));
    let (host, port) = match host.strip_prefix('[') {
        Some(literal) => match literal.split_once(']') {
            Some((address, port)) if is_address(address) => ("", port),
            _ => return false,
        },
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = |port: &str| match port.strip_prefix(':') {
        Some(digits) => digits.bytes().all(|b| b.is_ascii_digit()),
        None => port.is_empty(),
    };
    made_of(userinfo, ":") && made_of(host, "") && is_port(port)
}

/// The addresses that may be in brackets.
fn is_address(address: &str) -> bool {
    let Some(future) = address.strip_prefix('v') else {
        // Only `core`'s address types are used, nothing touches the network.
        return address.parse::<core::net::Ipv6Addr>().is_ok();
    };
    future.split_once('.').is_some_and(|(version, rest)| {
        !version.is_empty()
            && version.bytes().all(|b| b.is_ascii_hexdigit())
            && !rest.is_empty()
            && !rest.contains('%')
            && made_of(rest, ":")
    })
}

/// Whether a text consists of unreserved characters, escapes and characters of a list.
fn made_of(text: &str, more: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        let hex = |digit: Option<u8>| digit.is_some_and(|d| d.is_ascii_hexdigit());
        let allowed = match b {
            b'%' => hex(bytes.next()) && hex(bytes.next()),
            b => {
                b.is_ascii_alphanumeric()
                    || b"-._~!$&'()*+,;=".contains(&b)
                    || more.as_bytes().contains(&b)
            }
        };
        if !allowed {
            return false;
        }
    }
    true
}

/// The scheme before a colon, and the rest.
fn scheme(text: &str) -> Option<(&str, &str)> {
    text.split_once(':').filter(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    })
}

/// The `URI` type's text for a URI: its parts as a hash.
pub(super) fn parameters_text(text: &str) -> String {
    let parts = parts(text);
    let scheme = parts.scheme.map(str::to_lowercase);
    let default_port = scheme.as_deref().and_then(default_port);
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
