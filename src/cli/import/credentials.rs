//! The address of PuppetDB and the certificates for it: from flags, else from Puppet's own
//! configuration on this machine.

#![allow(
    clippy::disallowed_methods,
    reason = "cli/ reads the files that its flags and Puppet's configuration name"
)]

use std::path::{Path, PathBuf};

use clap::Args;

use crate::disk::failure;

/// Where PuppetDB is, and who asks.
#[derive(Args)]
pub(super) struct CredentialArguments {
    /// Address of PuppetDB or OpenVoxDB, such as https://puppetdb.example.com:8081
    /// [default: the first of server_urls in puppetdb.conf, unless FILEs are given]
    #[arg(long, value_name = "URL")]
    pub(super) puppetdb: Option<String>,
    /// Certificate to show to PuppetDB [default: the one of this machine's Puppet agent]
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<String>,
    /// Private key of the certificate [default: the one of this machine's Puppet agent]
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<String>,
    /// Certificate of the Puppet CA, the only one that is trusted
    /// [default: the one of this machine's Puppet agent]
    #[arg(long, value_name = "FILE")]
    cacert: Option<String>,
    /// A file with a token of Puppet Enterprise, as puppet-access writes it
    #[arg(long, value_name = "FILE")]
    token_file: Option<String>,
    /// Folder of puppet.conf and puppetdb.conf [default: Puppet's own]
    #[arg(long, value_name = "DIR")]
    confdir: Option<PathBuf>,
}

/// A file with certificates or a key.
pub(super) struct Pem {
    pub(super) name: String,
    pub(super) text: Vec<u8>,
}

/// What is shown to PuppetDB, and what is trusted.
#[derive(Default)]
pub(super) struct Credentials {
    /// The certificates that PuppetDB's must be issued by.
    pub(super) authority: Option<Pem>,
    /// The own certificate and its key.
    pub(super) identity: Option<(Pem, Pem)>,
    pub(super) token: Option<String>,
}

/// Folders of Puppet's configuration: the user's, those of packages, and that of Windows.
fn default_confdirs() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let home = home.map(|home| home.join(".puppetlabs/etc/puppet"));
    let data = std::env::var_os("ProgramData").map(PathBuf::from);
    let data = data.map(|data| data.join("PuppetLabs/puppet/etc"));
    let system = ["/etc/puppetlabs/puppet", "/etc/puppet"].map(PathBuf::from);
    home.into_iter().chain(system).chain(data).collect()
}

/// The folder of certificates of Debian's packages (puppet/util/run_mode.rb).
const DEBIAN_SSL: &str = "/var/lib/puppet/ssl";

fn read_pem(path: &Path) -> Result<Pem, String> {
    let name = path.display().to_string();
    match std::fs::read(path) {
        Ok(text) => Ok(Pem { name, text }),
        Err(error) => Err(format!("{name}: {}", failure(&error))),
    }
}

impl CredentialArguments {
    fn confdirs(&self) -> Vec<PathBuf> {
        match &self.confdir {
            Some(confdir) => vec![confdir.clone()],
            None => default_confdirs(),
        }
    }

    /// The address of PuppetDB.
    ///
    /// # Errors
    /// Neither a flag nor Puppet's configuration names one.
    pub(super) fn url(&self) -> Result<String, String> {
        if let Some(url) = &self.puppetdb {
            return Ok(url.clone());
        }
        let files = self.confdirs();
        let files: Vec<PathBuf> = files.iter().map(|it| it.join("puppetdb.conf")).collect();
        let texts = files
            .iter()
            .filter_map(|at| std::fs::read_to_string(at).ok());
        let mut urls = texts.filter_map(|text| setting(&text, &["main"], "server_urls"));
        let first = urls.next().and_then(|urls| {
            let first = urls.split(',').next()?.trim();
            (!first.is_empty()).then(|| first.to_owned())
        });
        first.ok_or_else(|| {
            let files = files.iter().map(|at| at.display().to_string());
            let files: Vec<String> = files.collect();
            format!(
                "the address of PuppetDB is not known: name it with --puppetdb, or saved files to read; \
                 no server_urls in {}",
                files.join(", ")
            )
        })
    }

    /// The certificates and the token for an address.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(super) fn credentials(&self, url: &str) -> Result<Credentials, String> {
        let token = self.token_file.as_ref().map(|path| {
            let text = std::fs::read_to_string(path);
            let text = text.map_err(|error| format!("{path}: {}", failure(&error)))?;
            let token = text.trim();
            let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
            is_token
                .then(|| token.to_owned())
                .ok_or_else(|| format!("{path}: not a token"))
        });
        let token: Option<Result<String, String>> = token;
        let token = token.transpose()?;
        if !url.starts_with("https:") {
            return Ok(Credentials {
                token,
                ..Credentials::default()
            });
        }
        let confdirs = self.confdirs();
        let own = confdirs.iter().find_map(|confdir| AgentFiles::of(confdir));
        let authority = match (&self.cacert, &own) {
            (Some(path), _) => Some(read_pem(Path::new(path))?),
            (None, Some(own)) => Some(read_pem(&own.authority)?),
            (None, None) => {
                let confdirs = confdirs.iter().map(|at| at.display().to_string());
                return Err(format!(
                    "no certificate of the Puppet CA is on this machine: name it with --cacert, and a \
                     certificate with --cert and --key (none below {}, {DEBIAN_SSL})",
                    confdirs.collect::<Vec<_>>().join(", ")
                ));
            }
        };
        let identity = match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => Some((cert.into(), key.into())),
            _ if token.is_some() => None,
            _ => own.as_ref().and_then(AgentFiles::identity),
        };
        let identity: Option<(PathBuf, PathBuf)> = identity;
        let identity = identity.map(|(cert, key)| Ok((read_pem(&cert)?, read_pem(&key)?)));
        let identity: Option<Result<(Pem, Pem), String>> = identity;
        Ok(Credentials {
            authority,
            identity: identity.transpose()?,
            token,
        })
    }
}

/// The files of a Puppet agent's certificates.
struct AgentFiles {
    ssldir: PathBuf,
    authority: PathBuf,
    certname: Option<String>,
}

impl AgentFiles {
    /// Those of a folder of Puppet's configuration, if there are some.
    fn of(confdir: &Path) -> Option<AgentFiles> {
        let conf = std::fs::read_to_string(confdir.join("puppet.conf")).unwrap_or_default();
        let sections = ["agent", "main"];
        let named = setting(&conf, &sections, "ssldir").map(|named| {
            let vardir = setting(&conf, &sections, "vardir").unwrap_or_default();
            let confdir = confdir.display().to_string();
            let named = named.replace("$vardir", &vardir);
            PathBuf::from(named.replace("$confdir", &confdir))
        });
        let is_debian = confdir == Path::new("/etc/puppet");
        let debian = is_debian.then(|| PathBuf::from(DEBIAN_SSL));
        let places = named.into_iter().chain([confdir.join("ssl")]).chain(debian);
        let with_authority = places.map(|ssldir| (ssldir.join("certs/ca.pem"), ssldir));
        let (authority, ssldir) = with_authority
            .into_iter()
            .find(|(authority, _)| authority.is_file())?;
        Some(AgentFiles {
            ssldir,
            authority,
            certname: setting(&conf, &sections, "certname"),
        })
    }

    /// The certificate and its key: those of the configured name, or else the only ones.
    fn identity(&self) -> Option<(PathBuf, PathBuf)> {
        let certs = self.ssldir.join("certs");
        let keys = self.ssldir.join("private_keys");
        let pair = |name: &str| (certs.join(name), keys.join(name));
        if let Some(certname) = &self.certname {
            let found = pair(&format!("{certname}.pem"));
            return found.0.is_file().then_some(found);
        }
        let names = std::fs::read_dir(&certs).into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let mut pairs = names
            .filter(|name| name.ends_with(".pem") && name != "ca.pem")
            .map(|name| pair(&name))
            .filter(|(_, key)| key.is_file());
        match (pairs.next(), pairs.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }
}

/// A setting in a text like `puppet.conf`, from the first of the sections that has it.
fn setting(text: &str, sections: &[&str], name: &str) -> Option<String> {
    let in_section = |section: &str| {
        let mut current = "";
        let mut found = None;
        for line in text.lines().map(str::trim) {
            if let Some(title) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
                current = title.trim();
            } else if let Some((key, value)) = line.split_once('=')
                && current == section
                && key.trim() == name
            {
                found = Some(value.trim().to_owned());
            }
        }
        found
    };
    sections.iter().find_map(|section| in_section(section))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_from_their_sections() {
        let text = "certname = none\n[main]\n# certname = no\ncertname = a.b\nssldir=$vardir/ssl\n\n[agent]\n \
                    certname = c.d \n[server]\ncertname = s\n";
        let of = |name: &str| setting(text, &["agent", "main"], name);
        assert_eq!(of("certname").as_deref(), Some("c.d"));
        assert_eq!(of("ssldir").as_deref(), Some("$vardir/ssl"));
        assert_eq!(of("vardir"), None);
    }

    fn arguments(confdir: &Path) -> CredentialArguments {
        CredentialArguments {
            puppetdb: None,
            cert: None,
            key: None,
            cacert: None,
            token_file: None,
            confdir: Some(confdir.to_owned()),
        }
    }

    #[test]
    fn the_agents_own_files_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for made in ["ssl/certs", "ssl/private_keys", "other/certs"] {
            std::fs::create_dir_all(at(made)).unwrap();
        }
        let arguments = arguments(folder.path());
        let missing = arguments.credentials("https://x:8081");
        assert!(missing.err().unwrap().contains("--cacert"));
        assert!(arguments.url().unwrap_err().contains("puppetdb.conf"));
        let conf = "[main]\nserver_urls = https://a:8081, https://b:8081\n";
        std::fs::write(at("puppetdb.conf"), conf).unwrap();
        assert_eq!(arguments.url().as_deref(), Ok("https://a:8081"));
        for name in ["certs/ca", "certs/a", "private_keys/a", "certs/b"] {
            std::fs::write(at(&format!("ssl/{name}.pem")), name).unwrap();
        }
        let found = |arguments: &CredentialArguments| {
            let found = arguments.credentials("https://x:8081").unwrap();
            let (cert, key) = found.identity.unwrap();
            let text = |pem: Pem| String::from_utf8(pem.text).unwrap();
            (text(found.authority.unwrap()), text(cert), text(key))
        };
        let of_a = ("certs/ca".into(), "certs/a".into(), "private_keys/a".into());
        assert_eq!(found(&arguments), of_a);
        // Of two identities the configured one is used, wherever its folder is.
        std::fs::rename(at("ssl"), at("elsewhere")).unwrap();
        std::fs::write(at("elsewhere/private_keys/b.pem"), "private_keys/b").unwrap();
        let conf = "[main]\nssldir = $confdir/elsewhere\n[agent]\ncertname = b\n";
        std::fs::write(at("puppet.conf"), conf).unwrap();
        let of_b = ("certs/ca".into(), "certs/b".into(), "private_keys/b".into());
        assert_eq!(found(&arguments), of_b);
    }
}
