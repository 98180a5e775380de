//! Recognises secrets: private keys, passwords and tokens, by their form or their key; and keeps them
//! out of messages.

use super::Finding;
use crate::text::TextRange;

/// Last words of keys that have secrets as values.
const SECRET_NAMES: [&str; 21] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "secret_key",
    "secretkey",
    "private_key",
    "api_key",
    "apikey",
    "auth_token",
    "access_token",
    "api_token",
    "secret_access_key",
    "shared_key",
    "pre_shared_key",
    "encryption_key",
    "pass",
    "pwd",
    "pw",
    "bindpw",
    "passwort",
];

/// Parts of placeholders, in lower case.
const STAND_INS: [&str; 24] = [
    "change",
    "xxx",
    "todo",
    "fixme",
    "example",
    "dummy",
    "placeholder",
    "replace",
    "redacted",
    "password",
    "passwd",
    "secret",
    "default",
    "sample",
    "insert",
    "your",
    "test",
    "fake",
    "notset",
    "undef",
    "hunter2",
    "12345",
    "vault",
    "lookup",
];

/// Prefixes of tokens of well-known services, and the minimum number of characters after them.
const TOKENS: [(&str, usize); 15] = [
    ("ghp_", 36),
    ("gho_", 36),
    ("ghs_", 36),
    ("github_pat_", 40),
    ("glpat-", 20),
    ("xoxb-", 30),
    ("xoxp-", 30),
    ("sk_live_", 24),
    ("hvs.", 24),
    ("npm_", 36),
    ("pypi-", 50),
    ("glrt-", 20),
    ("dop_v1_", 64),
    ("AIza", 35),
    ("SG.", 60),
];

/// Minimum length of a secret, in bytes.
pub(super) const SHORTEST: usize = 6;

/// Maximum length of a secret, in bytes.
const LONGEST: usize = 64 << 10;

/// The kind of secret that a text is as a key's value or list element; `None` if it is no secret.
#[must_use]
pub fn secret(key: Option<&str>, text: &str) -> Option<&'static str> {
    if !(SHORTEST..=LONGEST).contains(&text.len()) || text.contains("ENC[") {
        return None;
    }
    let is_password = || key.is_some_and(|key| is_password(key, text));
    value_kind(text).or_else(|| is_password().then_some("a password or a token"))
}

/// The kind of secret that a text is by its form.
fn value_kind(text: &str) -> Option<&'static str> {
    if has_private_key(text) {
        return Some("a private key");
    }
    let is_token = |(start, most): &(&str, usize)| {
        let rest = text.strip_prefix(start);
        rest.is_some_and(|rest| rest.len() >= *most && rest.bytes().all(is_token_byte))
    };
    if TOKENS.iter().any(is_token) && looks_random(text) || is_web_token(text) {
        return Some("a token");
    }
    if is_webhook(text) {
        return Some("a webhook address, which lets anyone post");
    }
    url_password(text)
        .is_some_and(looks_random)
        .then_some("an address with a password in it")
}

/// Whether a text is a JSON web token: two JSON objects and a signature, in base64.
fn is_web_token(text: &str) -> bool {
    /// Minimum length of a signature.
    const LEAST: usize = 20;
    let parts: Vec<&str> = text.split('.').collect();
    let is_base64 = |part: &str| {
        part.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    };
    match parts.as_slice() {
        [head, body, signature] => {
            head.starts_with("eyJ")
                && body.starts_with("eyJ")
                && signature.len() >= LEAST
                && parts.iter().all(|part| is_base64(part))
        }
        _ => false,
    }
}

/// Whether a text is the address of a Slack webhook, which is a secret as a whole.
fn is_webhook(text: &str) -> bool {
    /// Minimum length of the last part.
    const LEAST: usize = 20;
    let Some(path) = text.strip_prefix("https://hooks.slack.com/services/") else {
        return false;
    };
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [team, app, key] => {
            team.starts_with('T') && app.starts_with('B') && key.len() >= LEAST && looks_random(key)
        }
        _ => false,
    }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Whether a text has a whole private key without a passphrase.
fn has_private_key(text: &str) -> bool {
    /// Minimum number of base64 characters in a key.
    const SHORTEST_BODY: usize = 48;
    let Some((_, rest)) = text.split_once("-----BEGIN ") else {
        return false;
    };
    let Some((label, body)) = rest.split_once("-----") else {
        return false;
    };
    let body = body.split("-----END ").next().unwrap_or_default();
    let is_key = label.ends_with("PRIVATE KEY") || label == "PGP PRIVATE KEY BLOCK";
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    is_key
        && !label.contains("ENCRYPTED")
        && !body.contains("ENCRYPTED")
        && body.bytes().filter(is_base64).count() >= SHORTEST_BODY
}

/// The password in `scheme://user:password@host`.
fn url_password(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    let authority = rest.split(['/', '?', '#', ' ']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    let (_, password) = user.split_once(':')?;
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.chars().all(is_scheme).then_some(password)
}

/// Whether a key names a password and its value looks like one.
fn is_password(key: &str, text: &str) -> bool {
    let last = key.rsplit("::").next().unwrap_or(key);
    let name = words(last);
    let name = name.trim_end_matches(|last: char| last.is_ascii_digit());
    let is_secret = |secret: &str| {
        let rest = name.strip_suffix(secret);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
    };
    // Hashes and public values are no secrets.
    let is_other = ["crypt", "hash", "public", "pub_", "no_", "without"];
    let is_other = is_other.iter().any(|part| name.contains(part));
    let is_hash = is_hash(text) || (name.contains("pass") && is_hexadecimal_hash(text));
    SECRET_NAMES.into_iter().any(is_secret)
        && !is_other
        && !is_hash
        && !names_something(text)
        && looks_random(text)
}

/// A name in lower case with `_` between words: `dbPassword` as `db_password`.
fn words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    let mut before = '_';
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && before.is_ascii_lowercase() {
            words.push('_');
        }
        words.push(match letter {
            '-' => '_',
            other => other.to_ascii_lowercase(),
        });
        before = letter;
    }
    words
}

/// Whether a value looks random rather than like a name.
fn looks_random(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let has = |fits: fn(&char) -> bool| text.chars().any(|c| fits(&c));
    let has_letter = has(char::is_ascii_alphabetic);
    let is_mixed = has(char::is_ascii_uppercase)
        && has(char::is_ascii_lowercase)
        && has(char::is_ascii_punctuation);
    text.len() >= SHORTEST
        && !text.contains(char::is_whitespace)
        && has_letter
        && (has(char::is_ascii_digit) || is_mixed)
        && !STAND_INS.iter().any(|word| lower.contains(word))
}

/// Whether a value is a hash of a password: `crypt`, LDAP, MySQL, PostgreSQL, GRUB, Django.
fn is_hash(text: &str) -> bool {
    let is_crypt = text.starts_with('$') && text[1..].contains('$');
    let is_ldap = text.starts_with('{') && text.contains('}');
    let is_mysql = text
        .strip_prefix('*')
        .is_some_and(|hash| hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let is_postgresql = text.strip_prefix("md5").is_some_and(is_hexadecimal_hash);
    let is_other = ["SCRAM-SHA-256$", "grub.pbkdf2."]
        .iter()
        .any(|start| text.starts_with(start));
    is_crypt || is_ldap || is_mysql || is_postgresql || is_other || is_django(text)
}

/// `ALGORITHM$…`, as Django stores passwords.
fn is_django(text: &str) -> bool {
    const ALGORITHMS: [&str; 9] = [
        "argon2",
        "bcrypt",
        "bcrypt_sha256",
        "md5",
        "pbkdf2_sha1",
        "pbkdf2_sha256",
        "scrypt",
        "sha1",
        "unsalted_sha1",
    ];
    let algorithm = text.split_once('$').map(|(algorithm, _)| algorithm);
    algorithm.is_some_and(|algorithm| ALGORITHMS.contains(&algorithm))
}

/// Whether a text has the length of a hash and is hexadecimal: MD5 to SHA-512.
fn is_hexadecimal_hash(text: &str) -> bool {
    matches!(text.len(), 32 | 40 | 56 | 64 | 96 | 128)
        && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a value refers to something else: a file, an address, a host, a key, a public key, a variable.
fn names_something(text: &str) -> bool {
    const STARTS: [&str; 9] = ["/", "~", "./", "ssh-", "-----", "$", "<", "{", "arn:"];
    const ENDS: [&str; 7] = [".pem", ".key", ".txt", ".crt", ".asc", ".gpg", ".yaml"];
    let is_host =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | ':');
    STARTS.iter().any(|start| text.starts_with(start))
        || ENDS.iter().any(|end| text.ends_with(end))
        || text.contains("::")
        || text.contains("://")
        || text.contains(":\\")
        || (text.contains('.') && text.chars().all(is_host))
}

/// The ranges of secrets among findings.
pub(super) fn secrets_among(findings: &[Finding]) -> Vec<TextRange> {
    let secrets = findings.iter().filter(|finding| finding.is_secret);
    secrets.map(|finding| finding.range).collect()
}

/// Removes a file's secrets from messages: those on mismatched types repeat values. Any rule may
/// repeat a value and does not know of the others' secrets, so the finished messages are changed.
pub(super) fn hide(text: &str, secrets: &[TextRange], findings: &mut [Finding]) {
    for secret in secrets {
        let secret = secret.slice(text).trim_matches(['"', '\'']);
        for finding in findings.iter_mut().filter(|_| !secret.is_empty()) {
            let related = finding
                .related
                .iter_mut()
                .map(|related| &mut related.message);
            for message in std::iter::once(&mut finding.message).chain(related) {
                *message = message.replace(secret, "…");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_secrets() {
        let key = format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n",
            "MIIEowIBAAKC".repeat(8)
        );
        assert_eq!(value_kind(&key), Some("a private key"));
        for none in [
            key.replace("RSA PRIVATE", "PUBLIC"),
            key.replace("RSA PRIVATE", "ENCRYPTED PRIVATE"),
            key.replace("MII", "Proc-Type: 4,ENCRYPTED"),
            "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----".to_owned(),
            "postgresql://shop@db/shop".to_owned(),
            "http://user:password@proxy".to_owned(),
            "https://a:b/c@d1234567".to_owned(),
        ] {
            assert_eq!(value_kind(&none), None, "{none}");
        }
        assert!(value_kind("postgresql://shop:h7Kd9wQz@db/shop").is_some());
        assert!(value_kind(&format!("ghp_{}", "a1B2".repeat(9))).is_some());
        let web_token = format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.{}", "a1B2".repeat(9));
        assert_eq!(value_kind(&web_token), Some("a token"));
        let hook = format!(
            "https://hooks.slack.com/services/T1AB/B2CD/{}",
            "a1B2".repeat(6)
        );
        assert!(value_kind(&hook).is_some());
        for none in [
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.short",
            "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        ] {
            assert_eq!(value_kind(none), None, "{none}");
        }
    }

    #[test]
    fn names_in_words() {
        for name in ["dbPassword", "db-password", "DB_PASSWORD", "dbPASSWORD"] {
            assert_eq!(words(name), "db_password", "{name}");
        }
    }

    #[test]
    fn values_that_are_no_passwords() {
        for random in ["h7Kd9wQz", "correct-Horse", "tr0ub4dor&3"] {
            assert!(looks_random(random) && !names_something(random), "{random}");
        }
        for plain in [
            "",
            "short",
            "changeme1",
            "CHANGE_ME_2",
            "letters",
            "with some blanks 1",
            "12345678",
            "without-digits",
            "Example123",
        ] {
            assert!(!looks_random(plain), "{plain}");
        }
        for name in [
            "/etc/secret1",
            "$PASSWORD1",
            "<%= @password1 %>",
            "profile::db2::password",
            "db01.example.net:5432",
            "key1.pem",
            "https://vault.example/v1/x",
            "ssh-rsa AAAA1",
        ] {
            assert!(names_something(name), "{name}");
        }
        for hash in [
            "$6$salt$kd93kd",
            "$2y$10$abc",
            "{SSHA}kd93",
            "md55f4dcc3b5aa765d61d8327deb882cf99",
            "*6BB4837EB74329105EE4568DDA7DC67ED2CA2AD9",
            "grub.pbkdf2.sha512.10000.84E0.9A1C",
            "pbkdf2_sha256$260000$abc$def",
            "sha1$3kd9s$5f4dcc3b5aa765d61d8327deb882cf99aabbccdd",
            "bcrypt_sha256$$2b$12$abcdef",
        ] {
            assert!(is_hash(hash), "{hash}");
        }
        for password in ["pass$word", "a$b$$c", "kq7$Zp2x$9Lm4$vT8"] {
            assert!(!is_hash(password), "{password}");
        }
    }
}
