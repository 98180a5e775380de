//! Control repositories of any size, the same for one seed everywhere, like a fleet's repository
//! after some years. Ten roles per hundred nodes, twenty sites, six systems, a file per node (about
//! 4 KB), one `common.yaml` of about 220 KB with `lookup_options`. Service options, firewall rules
//! and accounts are deep-merged hashes with entries on four levels on average. With code, there are
//! also classes, modules and known nodes.
//!
//! Names and values are made up; the proportions are those of public control repositories.

#![allow(dead_code, reason = "each benchmark uses its part")]

mod code;
pub(crate) mod dice;
mod value;

use std::fmt::Write as _;
use std::path::Path;

use dice::Dice;
use serde_json::{Value, json};
use value::Place;

/// Number of profiles whose parameters the data sets.
const PROFILES: usize = 80;

/// Number of profiles that one role includes.
const PROFILES_OF_A_ROLE: usize = 8;

/// Number of parameters of a profile: each of [`value::KINDS`] three times.
const PARAMETERS: usize = value::KINDS.len() * 3;

/// Number of sites.
const SITES: usize = 20;

/// Operating systems: name, release, family.
const SYSTEMS: [(&str, &str, &str); 6] = [
    ("Debian", "11", "Debian"),
    ("Debian", "12", "Debian"),
    ("Ubuntu", "22.04", "Debian"),
    ("Ubuntu", "24.04", "Debian"),
    ("RedHat", "8", "RedHat"),
    ("RedHat", "9", "RedHat"),
];

const HIERA_YAML: &str = r#"---
version: 5
defaults:
  datadir: data
  data_hash: yaml_data
hierarchy:
  - name: "Node"
    path: "nodes/%{trusted.certname}.yaml"
  - name: "Role at a site"
    path: "roles/%{facts.role}/%{facts.site}.yaml"
  - name: "Role"
    path: "roles/%{facts.role}.yaml"
  - name: "Site"
    path: "sites/%{facts.site}.yaml"
  - name: "Operating system"
    paths:
      - "os/%{facts.os.name}/%{facts.os.release.major}.yaml"
      - "os/%{facts.os.family}.yaml"
  - name: "Shared"
    glob: "shared/*.yaml"
  - name: "Common"
    path: "common.yaml"
"#;

/// One machine.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// Its number, from which everything else is derived.
    pub(crate) number: usize,
    /// Name of its certificate.
    pub(crate) certname: String,
    role: usize,
    site: usize,
    system: usize,
    profiles: usize,
}

/// A control repository of `nodes` machines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControlRepo {
    /// The number of machines.
    pub(crate) nodes: usize,
    /// The seed.
    pub(crate) seed: u64,
    /// Whether it has classes, modules and known nodes.
    pub(crate) has_code: bool,
    /// The number of profiles, at most 80: the size of `common.yaml`.
    pub(crate) profiles: usize,
}

impl ControlRepo {
    /// The repository of the published figures.
    pub(crate) fn of(nodes: usize) -> ControlRepo {
        ControlRepo {
            nodes,
            seed: 20,
            has_code: false,
            profiles: PROFILES,
        }
    }

    /// The same data, with a class for each profile, modules with data of their own, levels for a
    /// list of services and for a variable, and a file of all nodes with facts and variables.
    pub(crate) fn with_code(nodes: usize) -> ControlRepo {
        ControlRepo {
            has_code: true,
            ..ControlRepo::of(nodes)
        }
    }

    fn roles(&self) -> usize {
        (self.nodes / 10).clamp(10, 400)
    }

    /// A machine by its number.
    pub(crate) fn machine(&self, number: usize) -> Machine {
        let mut dice = self.dice(&format!("machine {number}"));
        let role = dice.below(self.roles());
        let site = dice.below(SITES);
        Machine {
            number,
            certname: format!("n{number:06}.{}.example.net", site_name(site)),
            role,
            site,
            system: dice.below(SYSTEMS.len()),
            profiles: self.profiles,
        }
    }

    /// Every file with its path below the environment's folder.
    pub(crate) fn each_file(&self, visit: &mut dyn FnMut(&str, &str)) {
        if self.has_code {
            visit("hiera.yaml", &code::hierarchy(HIERA_YAML));
            self.each_file_of_code(visit);
        } else {
            visit("hiera.yaml", HIERA_YAML);
        }
        visit("data/common.yaml", &self.common());
        let any = |dice: &mut Dice| dice.below(self.profiles);
        for number in 0..4 {
            let settings = settings_of((number..self.profiles).step_by(4));
            let text = self.some(
                &format!("shared {number}"),
                30,
                &any,
                settings,
                Place::Shared,
            );
            visit(&format!("data/shared/{number:02}.yaml"), &text);
        }
        for (at, (name, release, family)) in SYSTEMS.into_iter().enumerate() {
            let system = |name: &str, at: usize| {
                let settings = settings_of((at % 3..self.profiles).step_by(3));
                self.some(&format!("os {name}"), 40, &any, settings, Place::System)
            };
            let text = system(&format!("{name} {release}"), at);
            visit(&format!("data/os/{name}/{release}.yaml"), &text);
            if release == "12" || release == "9" {
                visit(&format!("data/os/{family}.yaml"), &system(family, at + 1));
            }
        }
        for site in 0..SITES {
            let settings = settings_of((site % 3..self.profiles).step_by(3));
            let text = self.some(&format!("site {site}"), 60, &any, settings, Place::Site);
            visit(&format!("data/sites/{}.yaml", site_name(site)), &text);
        }
        for role in 0..self.roles() {
            let of_role = |dice: &mut Dice| self.profile_of(role, dice.below(PROFILES_OF_A_ROLE));
            let profiles = || (0..PROFILES_OF_A_ROLE).map(|at| self.profile_of(role, at));
            let settings = settings_of(profiles());
            let text = self.some(
                &format!("role {role}"),
                120,
                &of_role,
                settings,
                Place::Role,
            );
            visit(&format!("data/roles/role{role:03}.yaml"), &text);
            for site in (0..SITES).filter(|site| (site + role) % 4 == 0) {
                let settings = settings_of(profiles().skip(site % 3).step_by(3));
                let name = format!("role {role} at {site}");
                let text = self.some(&name, 60, &of_role, settings, Place::RoleAtSite);
                let site = site_name(site);
                visit(&format!("data/roles/role{role:03}/{site}.yaml"), &text);
            }
        }
        for number in 0..self.nodes {
            let machine = self.machine(number);
            let text = self.node_file(&machine);
            visit(&format!("data/nodes/{}.yaml", machine.certname), &text);
        }
    }

    /// The file of one machine.
    pub(crate) fn node_file(&self, machine: &Machine) -> String {
        let of_role =
            |dice: &mut Dice| self.profile_of(machine.role, dice.below(PROFILES_OF_A_ROLE));
        let name = format!("node {}", machine.number);
        let mut settings = settings_of([self.profile_of(machine.role, machine.number)].into_iter());
        settings.truncate(2);
        self.some(&name, 58, &of_role, settings, Place::Node)
    }

    /// Writes the repository; returns the number of files and of bytes.
    pub(crate) fn write(&self, folder: &Path) -> (usize, usize) {
        let (mut files, mut bytes) = (0, 0);
        let mut last = std::path::PathBuf::new();
        self.each_file(&mut |path, text| {
            let path = folder.join(path);
            let parent = path.parent().expect("every path has a folder");
            if parent != last {
                std::fs::create_dir_all(parent).expect("the folder can be made");
                last = parent.to_path_buf();
            }
            std::fs::write(&path, text).expect("the file can be written");
            files += 1;
            bytes += text.len();
        });
        (files, bytes)
    }

    /// The lowest level: every key, and the options.
    pub(crate) fn common(&self) -> String {
        let mut dice = self.dice("common");
        let mut text = String::from("---\n");
        options(&mut text, self.profiles);
        for profile in 0..self.profiles {
            let _ = writeln!(
                text,
                "\n# Profile {profile}: what every machine starts from."
            );
            for parameter in 0..PARAMETERS {
                value::entry(&mut text, &mut dice, profile, parameter, Place::Common);
            }
        }
        text
    }

    /// A file of about that many distinct keys besides the settings.
    fn some(
        &self,
        name: &str,
        keys: usize,
        profile: &dyn Fn(&mut Dice) -> usize,
        settings: Vec<(usize, usize)>,
        place: Place,
    ) -> String {
        let mut dice = self.dice(name);
        let mut chosen: Vec<(usize, usize)> = (0..keys)
            .map(|_| (profile(&mut dice), dice.below(PARAMETERS)))
            .filter(|(_, parameter)| value::kind(*parameter) != "settings")
            .chain(settings)
            .collect();
        chosen.sort_unstable();
        chosen.dedup();
        let mut text = format!("---\n# {name}\n");
        for (profile, parameter) in chosen {
            value::entry(&mut text, &mut dice, profile, parameter, place);
        }
        text
    }

    fn profile_of(&self, role: usize, at: usize) -> usize {
        profile_of(role, at) % self.profiles
    }

    fn dice(&self, name: &str) -> Dice {
        Dice::new(self.seed, name)
    }
}

impl Machine {
    /// Its facts.
    pub(crate) fn facts(&self) -> Value {
        let (name, major, family) = SYSTEMS[self.system];
        let (host, domain) = self.certname.split_once('.').expect("a full name");
        json!({
            "role": format!("role{:03}", self.role),
            "site": site_name(self.site),
            "os": {
                "name": name, "family": family, "architecture": "amd64",
                "release": { "major": major, "full": format!("{major}.4") },
            },
            "networking": {
                "fqdn": self.certname, "hostname": host, "domain": domain,
                "ip": format!("10.{}.{}.{}", self.site, self.number / 250 % 250, self.number % 250),
                "interfaces": {
                    "eth0": { "mtu": 1500, "mac": "02:00:00:00:00:01", "bindings": [{ "address": "10.0.0.1" }] },
                    "lo": { "mtu": 65536 },
                },
            },
            "processors": { "count": 4 + self.number % 60, "isa": "x86_64" },
            "memory": { "system": { "total": "62.79 GiB", "total_bytes": 67_419_308_032_i64 } },
            "kernel": "Linux", "kernelmajversion": "6.1", "virtual": "kvm", "is_virtual": true,
            "timezone": "UTC", "uptime_seconds": 86_400 + self.number,
        })
    }

    /// Its facts in Facter's form: about 6 KB, most of it the same on many machines.
    pub(crate) fn all_facts(&self) -> Value {
        let mut facts = self.facts();
        let number = self.number;
        let disks: serde_json::Map<String, Value> = (0..4)
            .map(|disk| {
                let of = json!({
                    "model": "SAMSUNG MZ7L3480", "vendor": "ATA", "type": "ssd",
                    "serial": format!("S{number:06}{disk}"), "size": "447.13 GiB",
                    "size_bytes": 480_103_981_056_i64, "wwn": format!("0x5002538{number:06}{disk}"),
                });
                (format!("sd{}", ["a", "b", "c", "d"][disk]), of)
            })
            .collect();
        let mounts: serde_json::Map<String, Value> = (0..10)
            .map(|mount| {
                let of = json!({
                    "available": "17.80 GiB", "available_bytes": 19_112_345_600_i64 + number as i64,
                    "capacity": "7.71%", "device": format!("/dev/mapper/vg-{mount}"),
                    "filesystem": "ext4", "options": ["rw", "relatime"], "size": "19.29 GiB",
                    "size_bytes": 20_709_376_000_i64, "used": "1.49 GiB",
                });
                (format!("/mnt/{mount}"), of)
            })
            .collect();
        let interfaces: serde_json::Map<String, Value> = (0..6)
            .map(|port| {
                let address = format!("10.{}.{}.{port}", self.site, number % 250);
                let of = json!({
                    "bindings": [{"address": address, "netmask": "255.255.255.0", "network": "10.0.0.0"}],
                    "ip": address, "mac": format!("02:00:00:{:02x}:{:02x}:{port:02x}", number / 256 % 256, number % 256),
                    "mtu": 1500, "netmask": "255.255.255.0", "network": "10.0.0.0", "operational_state": "up",
                });
                (format!("enp{port}s0"), of)
            })
            .collect();
        let keys: serde_json::Map<String, Value> = ["dsa", "ecdsa", "ed25519", "rsa"]
            .into_iter()
            .map(|kind| {
                let print = format!("{kind}{number:058}");
                let of = json!({
                    "fingerprints": {"sha1": format!("SSHFP 1 1 {print}"), "sha256": format!("SSHFP 1 2 {print}")},
                    "key": format!("AAAAB3NzaC1yc2E{print}{print}"), "type": format!("ssh-{kind}"),
                });
                (kind.to_string(), of)
            })
            .collect();
        facts["disks"] = disks.into();
        facts["mountpoints"] = mounts.into();
        facts["networking"]["interfaces"] = interfaces.into();
        facts["ssh"] = keys.into();
        facts["dmi"] = json!({
            "bios": {"release_date": "01/01/2020", "vendor": "Dell Inc.", "version": "2.12.2"},
            "board": {"manufacturer": "Dell Inc.", "product": "0H28RR", "serial_number": format!("B{number:07}")},
            "manufacturer": "Dell Inc.",
            "product": {"name": "PowerEdge R650", "serial_number": format!("P{number:07}"), "uuid": format!("4c4c4544-0000-{number:012}")},
        });
        facts["load_averages"] = json!({"15m": 0.05, "1m": number as f64 / 100.0, "5m": 0.01});
        facts["system_uptime"] = json!({"days": number % 400, "hours": number % 9_000, "seconds": number * 60, "uptime": format!("{} days", number % 400)});
        facts["processors"]["models"] = vec!["Intel(R) Xeon(R) Gold 6346 CPU @ 3.10GHz"; 16].into();
        facts
    }

    /// Every parameter of the profiles that its role includes, with the kind of its value, and some
    /// unset keys: the lookups of a catalog's compilation.
    pub(crate) fn parameters(&self) -> Vec<(String, &'static str)> {
        let mut all = Vec::new();
        for at in 0..PROFILES_OF_A_ROLE {
            let profile = profile_of(self.role, at) % self.profiles;
            for parameter in 0..PARAMETERS {
                all.push((value::key(profile, parameter), value::kind(parameter)));
            }
            all.push((format!("profile::p{profile:02}::unset"), "missing"));
            all.push((format!("profile::p{profile:02}::manage"), "missing"));
        }
        all
    }
}

/// The keys of the kind `settings` of some profiles.
fn settings_of(profiles: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
    let keys = profiles.flat_map(|profile| value::settings().map(move |at| (profile, at)));
    keys.collect()
}

fn profile_of(role: usize, at: usize) -> usize {
    (role * 7 + at * 11) % PROFILES
}

fn site_name(site: usize) -> String {
    format!("s{site:02}")
}

/// Realistic options: by pattern for repeated keys, by name for the rest.
fn options(text: &mut String, profiles: usize) {
    text.push_str(
        r"lookup_options:
  '^profile::.*::packages(_\d)?$':
    merge: unique
  '^profile::.*::(settings|rules|accounts)$':
    merge:
      strategy: deep
      knockout_prefix: '--'
  '^profile::.*::users(_\d)?$':
    merge: hash
  '^profile::.*::weight_2$':
    convert_to: Float
",
    );
    for profile in 0..profiles {
        let _ = write!(
            text,
            "  profile::p{profile:02}::limits:\n    merge: {}\n  profile::p{profile:02}::port_2:\n    convert_to: Integer\n",
            if profile % 2 == 0 { "deep" } else { "hash" }
        );
    }
}
