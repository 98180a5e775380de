//! Hides unencrypted secrets in answers. The rules about secrets decide what is one; what the client has sent
//! itself is not hidden.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::ide::secrets::HIDDEN;
use crate::rules::secret;

/// Members of answers that hold values, not keys of values.
const STRUCTURE: [&str; 13] = [
    "after",
    "answer",
    "answers",
    "before",
    "by_facts",
    "causes",
    "changes",
    "example",
    "gets",
    "possible",
    "proposals",
    "value",
    "wanted",
];

/// The secrets that were hidden.
pub(super) struct HiddenSecrets {
    secrets: BTreeSet<String>,
    /// All that the client has sent, as JSON.
    sent: String,
}

impl HiddenSecrets {
    /// None yet, for an answer to what a client has sent.
    pub(super) fn without(sent: &Value) -> HiddenSecrets {
        HiddenSecrets {
            secrets: BTreeSet::new(),
            sent: sent.to_string(),
        }
    }

    /// Hides the secrets of an answer; values in it are those of `key`, unless it names another.
    pub(super) fn hide(&mut self, answer: &mut Value, key: Option<&str>) {
        self.hide_in(answer, key.map(last_part));
        self.hide_again(answer);
    }

    /// Hides in a text what was hidden elsewhere.
    pub(super) fn hide_text(&self, text: &mut String) {
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), HIDDEN);
            }
        }
    }

    fn hide_in(&mut self, value: &mut Value, key: Option<&str>) {
        match value {
            Value::String(text) => {
                if self.is_secret(key, text) {
                    self.secrets
                        .insert(std::mem::replace(text, HIDDEN.to_owned()));
                }
            }
            Value::Array(all) => all.iter_mut().for_each(|one| self.hide_in(one, key)),
            Value::Object(members) => {
                let own = members.get("key").and_then(Value::as_str);
                let own = own.map(|own| last_part(own).to_owned());
                let own = own.as_deref().or(key);
                for (name, member) in members {
                    match (name.as_str(), &mut *member) {
                        ("diff", Value::String(diff)) => self.hide_in_diff(diff),
                        (name, member) if STRUCTURE.contains(&name) => {
                            self.hide_in(member, own);
                        }
                        (name, member) => self.hide_in(member, Some(name)),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn is_secret(&self, key: Option<&str>, text: &str) -> bool {
        secret(key, text).is_some()
            && !self
                .sent
                .contains(Value::from(text).to_string().trim_matches('"'))
    }

    /// Hides the secrets in the lines of a unified diff of YAML.
    fn hide_in_diff(&mut self, diff: &mut String) {
        let mut is_key = false;
        let lines = diff.split_inclusive('\n').map(|line| {
            let text = line.trim_end();
            is_key |= text.contains("-----BEGIN") && text.contains("PRIVATE KEY");
            let end = text.contains("-----END");
            let body = text.trim_start_matches([' ', '+', '-']);
            let (key, value) = match body.split_once(": ") {
                Some((key, value)) => (Some(last_part(key)), value.trim()),
                None => (None, body),
            };
            let value = value.trim_matches(['"', '\'']);
            let is_hidden = is_key || self.is_secret(key, value) || is_part_of_a_key(value);
            is_key &= !end;
            if is_hidden && !value.is_empty() && !self.sent.contains(value) {
                self.secrets.insert(value.to_owned());
                line.replacen(value, HIDDEN, 1)
            } else {
                line.to_owned()
            }
        });
        *diff = lines.collect();
    }

    /// Hides in all texts what was hidden in one of them.
    fn hide_again(&self, value: &mut Value) {
        if self.secrets.is_empty() {
            return;
        }
        match value {
            Value::String(text) => self.hide_text(text),
            Value::Array(all) => all.iter_mut().for_each(|one| self.hide_again(one)),
            Value::Object(members) => members.values_mut().for_each(|one| self.hide_again(one)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Whether a line is one of a key in PEM, whose first line may not be shown.
fn is_part_of_a_key(line: &str) -> bool {
    /// The length of its lines.
    const LENGTH: usize = 64;
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    line.len() == LENGTH && line.bytes().all(is_base64)
}

/// The last segment of a dotted key.
fn last_part(key: &str) -> &str {
    let part = key.rsplit('.').next().unwrap_or(key);
    part.trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PASSWORD: &str = "Xk29dPq7vLm4";

    #[test]
    fn secrets_are_hidden_wherever_they_are() {
        let mut answer = json!([
            {"key": "db::password", "answers": [{"value": PASSWORD, "nodes": ["a"]}]},
            {"key": "db", "answers": [{"value": {"password": PASSWORD, "port": 1}}]},
            {"diff": format!(" a: 1\n+db::password: '{PASSWORD}'\n"), "what": format!("sets it to {PASSWORD}")},
        ]);
        let mut hidden = HiddenSecrets::without(&json!({"key": "db::password"}));
        hidden.hide(&mut answer, None);
        let expected = json!([
            {"key": "db::password", "answers": [{"value": HIDDEN, "nodes": ["a"]}]},
            {"key": "db", "answers": [{"value": {"password": HIDDEN, "port": 1}}]},
            {"diff": " a: 1\n+db::password: '(a secret)'\n", "what": "sets it to (a secret)"},
        ]);
        assert_eq!(answer, expected);
        let mut note = format!("{PASSWORD}, unless x");
        hidden.hide_text(&mut note);
        assert_eq!(note, "(a secret), unless x");
    }

    #[test]
    fn values_of_the_asked_key_need_no_name() {
        let mut answer =
            json!({"status": "found", "value": PASSWORD, "gets": {"value": [PASSWORD]}});
        HiddenSecrets::without(&Value::Null).hide(&mut answer, Some("db.password"));
        let expected = json!({"status": "found", "value": HIDDEN, "gets": {"value": [HIDDEN]}});
        assert_eq!(answer, expected);
    }

    #[test]
    fn what_a_client_sent_stays() {
        let mut answer = json!({"key": "db::password", "value": PASSWORD});
        let sent = json!({"key": "db::password", "value": PASSWORD});
        HiddenSecrets::without(&sent).hide(&mut answer, None);
        assert_eq!(answer["value"], PASSWORD);
    }

    #[test]
    fn private_keys_are_hidden_in_diffs() {
        let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
        let begin = "-----BEGIN PRIVATE KEY-----";
        for diff in [
            format!(" k: |\n   {begin}\n   {line}\n   abc=\n   -----END PRIVATE KEY-----\n+a: 1\n"),
            format!("   {line}\n+a: 1\n"),
        ] {
            let mut answer = json!({"diff": diff});
            HiddenSecrets::without(&Value::Null).hide(&mut answer, None);
            let text = answer["diff"].as_str().unwrap();
            assert!(!text.contains("MII") && !text.contains("abc="), "{text}");
            assert!(text.ends_with("+a: 1\n"), "{text}");
        }
    }
}
