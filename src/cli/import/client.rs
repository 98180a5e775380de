//! Asks PuppetDB over HTTP. The only file that uses the network (`tests/architecture`): only the given
//! address is contacted, through no proxy, and a redirect is an error.

use std::sync::Arc;
use std::time::Duration;

use rustls::CertificateError;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Error, Timeout, http};

use super::credentials::Credentials;
use crate::scope::OWN_HOSTS;

/// Time for finding the address and for the connection.
const CONNECT: Duration = Duration::from_secs(15);

/// Time until an answer begins.
const RESPONSE: Duration = Duration::from_mins(5);

/// Time without any data within an answer.
const SILENCE: Duration = Duration::from_mins(1);

/// Maximum length of one answer, in bytes.
const MAX_ANSWER: u64 = 256 << 20;

/// Maximum length of the text of an error.
const MAX_ERROR: u64 = 64 << 10;

/// What is at an address.
enum Reply {
    Text(String),
    /// There is no such address, in words.
    NotFound(String),
}

/// A PuppetDB that can be asked.
pub(super) struct Client {
    agent: Agent,
    /// The address of its queries.
    endpoint: String,
    /// The address as it was given.
    shown: String,
    token: Option<String>,
    has_certificate: bool,
}

impl Client {
    /// # Errors
    /// An address, a certificate or a key that cannot be used.
    pub(super) fn new(url: &str, credentials: Credentials) -> Result<Client, String> {
        let wrong = |why: &str| format!("{url}: {why}: expected https://HOST:PORT");
        let parsed: http::Uri = url.parse().map_err(|_| wrong("not an address"))?;
        let is_secure = match parsed.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            Some(_) | None => return Err(wrong("neither http nor https")),
        };
        let authority = parsed.authority().ok_or_else(|| wrong("no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("a user in an address is not supported"));
        }
        let path = parsed.path().trim_end_matches('/');
        if !path.is_empty() || parsed.query().is_some() {
            return Err(wrong("only a host and a port are expected"));
        }
        let is_local = OWN_HOSTS.contains(&authority.host());
        if credentials.token.is_some() && !is_secure && !is_local {
            return Err(format!("{url}: a token is only sent over https"));
        }
        let scheme = if is_secure { "https" } else { "http" };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_resolve(Some(CONNECT))
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(RESPONSE))
            .timeout_per_read(Some(SILENCE))
            .user_agent(concat!("hiera-ls/", env!("CARGO_PKG_VERSION")));
        let config = if is_secure {
            config.tls_config(tls(&credentials)?)
        } else {
            config
        };
        Ok(Client {
            agent: config.build().new_agent(),
            endpoint: format!("{scheme}://{authority}/pdb/query/v4"),
            shown: url.to_owned(),
            has_certificate: credentials.identity.is_some(),
            token: credentials.token,
        })
    }

    /// The answer to a query in PuppetDB's language.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub(super) fn ask(&self, query: &str) -> Result<String, String> {
        match self.post(&self.endpoint, &serde_json::json!({ "query": query }))? {
            Reply::Text(text) => Ok(text),
            Reply::NotFound(words) => Err(words),
        }
    }

    /// A page of what the latest catalogs of nodes looked up, of some or of all; `None` if this PuppetDB
    /// has no such records.
    ///
    /// # Errors
    /// Why there is no answer, in words.
    pub(super) fn catalog_inputs(
        &self,
        certnames: Option<&[&str]>,
        limit: usize,
        offset: usize,
    ) -> Result<Option<String>, String> {
        let address = format!("{}/catalog-inputs", self.endpoint);
        let mut body = serde_json::json!({
            "order_by": [{ "field": "certname" }],
            "limit": limit,
            "offset": offset,
        });
        if let Some(names) = certnames {
            body["query"] = serde_json::json!(["in", "certname", ["array", names]]);
        }
        match self.post(&address, &body)? {
            Reply::Text(text) => Ok(Some(text)),
            Reply::NotFound(_) => Ok(None),
        }
    }

    fn post(&self, address: &str, body: &serde_json::Value) -> Result<Reply, String> {
        let body = body.to_string();
        let mut request = self
            .agent
            .post(address)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json");
        if let Some(token) = &self.token {
            request = request.header("X-Authentication", token);
        }
        let failed = |error: &Error| format!("{}: {}", self.shown, self.words(error));
        let mut response = request.send(&body).map_err(|error| failed(&error))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(format!(
                "{}: it redirects elsewhere ({status}), which is not followed: name the address of PuppetDB \
                 itself",
                self.shown
            ));
        }
        let limit = if status.is_success() {
            MAX_ANSWER
        } else {
            MAX_ERROR
        };
        let body = response.body_mut().with_config().limit(limit);
        let text = body.read_to_string().map_err(|error| failed(&error));
        if status.is_success() {
            return text.map(Reply::Text);
        }
        let text = text.unwrap_or_default();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let text = lines.take(4).collect::<Vec<_>>().join(" ");
        let hint = if [401, 403].contains(&status.as_u16()) {
            ": this certificate or token may not read PuppetDB (certificate-allowlist of PuppetDB, \
             permissions in Puppet Enterprise)"
        } else {
            ""
        };
        let message = format!("{}: {status}{hint}: {text}", self.shown);
        if status == http::StatusCode::NOT_FOUND {
            Ok(Reply::NotFound(message))
        } else {
            Err(message)
        }
    }

    fn words(&self, error: &Error) -> String {
        if let Some(error) = of_tls(error) {
            return match error {
                rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
                    "its certificate is not from the CA that is trusted (--cacert)".to_owned()
                }
                rustls::Error::AlertReceived(_) if !self.has_certificate => {
                    "it asks for a certificate: no client certificate was given (--cert, --key)"
                        .to_owned()
                }
                rustls::Error::AlertReceived(alert) => {
                    format!("it refuses the client certificate (--cert, --key): {alert:?}")
                }
                _ => error.to_string(),
            };
        }
        match error {
            Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
                format!("no connection within {} seconds", CONNECT.as_secs())
            }
            Error::Timeout(_) => "no answer in time".to_owned(),
            Error::HostNotFound => "there is no host of that name".to_owned(),
            Error::BodyExceedsLimit(limit) => format!(
                "the answer is longer than {} MiB: ask for fewer nodes with --where or --environment",
                limit >> 20
            ),
            Error::Io(error) => {
                let is_reached = error.kind() != std::io::ErrorKind::ConnectionRefused;
                let is_stranger = !self.has_certificate && self.endpoint.starts_with("https:");
                let hint = if is_reached && is_stranger {
                    ": no client certificate was given (--cert, --key)"
                } else {
                    ""
                };
                format!("{error}{hint}")
            }
            _ => error.to_string(),
        }
    }
}

/// The error of TLS in an error of the client.
fn of_tls(error: &Error) -> Option<&rustls::Error> {
    match error {
        Error::Rustls(error) => Some(error),
        Error::Io(error) => error.get_ref()?.downcast_ref(),
        _ => None,
    }
}

/// The settings of TLS: only the given authority is trusted.
fn tls(credentials: &Credentials) -> Result<TlsConfig, String> {
    let Some(authority) = &credentials.authority else {
        return Err("no certificate of the Puppet CA is known: name one with --cacert".to_owned());
    };
    let roots = certificates(authority)?;
    let identity = credentials.identity.as_ref().map(|(certificate, key)| {
        let key_of = PrivateKey::from_pem(&key.text);
        let key = key_of.map_err(|_| format!("{}: no private key in it", key.name))?;
        Ok(ClientCert::new_with_certs(&certificates(certificate)?, key))
    });
    let identity: Option<Result<ClientCert, String>> = identity;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .client_cert(identity.transpose()?)
        .unversioned_rustls_crypto_provider(provider)
        .build())
}

fn certificates(file: &super::credentials::Pem) -> Result<Vec<Certificate<'static>>, String> {
    let items = parse_pem(&file.text);
    let found = items.filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        Ok(_) | Err(_) => None,
    });
    let found: Vec<Certificate<'static>> = found.collect();
    if found.is_empty() {
        Err(format!("{}: no certificate in it", file.name))
    } else {
        Ok(found)
    }
}
