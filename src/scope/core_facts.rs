//! Facter's own facts: structured facts with fixed parts, and the names of the others. Custom facts
//! can add top-level facts, so a name that is missing here is unknown rather than wrong.

use std::sync::OnceLock;

use super::completeness::are_all_facts;
use super::legacy;
use crate::syntax::puppet::without_colons;
use crate::text::typing_error;
use crate::value::Value;

/// Structured facts with all their parts (Facter 4, `lib/docs/template.erb`).
const PARTS: [&str; 89] = [
    "augeas.version",
    "dmi.bios.release_date",
    "dmi.bios.vendor",
    "dmi.bios.version",
    "dmi.board.asset_tag",
    "dmi.board.manufacturer",
    "dmi.board.product",
    "dmi.board.serial_number",
    "dmi.chassis.asset_tag",
    "dmi.chassis.type",
    "dmi.manufacturer",
    "dmi.product.name",
    "dmi.product.serial_number",
    "dmi.product.uuid",
    "dmi.product.version",
    "identity.gid",
    "identity.group",
    "identity.privileged",
    "identity.uid",
    "identity.user",
    "load_averages.15m",
    "load_averages.1m",
    "load_averages.5m",
    "memory.swap.available",
    "memory.swap.available_bytes",
    "memory.swap.capacity",
    "memory.swap.encrypted",
    "memory.swap.total",
    "memory.swap.total_bytes",
    "memory.swap.used",
    "memory.swap.used_bytes",
    "memory.system.available",
    "memory.system.available_bytes",
    "memory.system.capacity",
    "memory.system.total",
    "memory.system.total_bytes",
    "memory.system.used",
    "memory.system.used_bytes",
    "networking.dhcp",
    "networking.domain",
    "networking.fqdn",
    "networking.hostname",
    "networking.interfaces",
    "networking.ip",
    "networking.ip6",
    "networking.mac",
    "networking.mtu",
    "networking.netmask",
    "networking.netmask6",
    "networking.network",
    "networking.network6",
    "networking.primary",
    "networking.scope6",
    "os.architecture",
    "os.distro.codename",
    "os.distro.description",
    "os.distro.id",
    "os.distro.release.full",
    "os.distro.release.major",
    "os.distro.release.minor",
    "os.distro.specification",
    "os.family",
    "os.hardware",
    "os.macosx.build",
    "os.macosx.product",
    "os.macosx.version",
    "os.name",
    "os.release.branch",
    "os.release.full",
    "os.release.major",
    "os.release.minor",
    "os.release.patchlevel",
    "os.selinux",
    "os.windows",
    "processors.cores",
    "processors.count",
    "processors.extensions",
    "processors.isa",
    "processors.models",
    "processors.physicalcount",
    "processors.speed",
    "processors.threads",
    "ruby.platform",
    "ruby.sitedir",
    "ruby.version",
    "system_uptime.days",
    "system_uptime.hours",
    "system_uptime.seconds",
    "system_uptime.uptime",
];

/// Facts without fixed parts.
const OTHERS: [&str; 39] = [
    "aio_agent_version",
    "az_metadata",
    "cloud",
    "clientcert",
    "clientnoop",
    "clientversion",
    "disks",
    "ec2_metadata",
    "ec2_userdata",
    "env_windows_installdir",
    "facterversion",
    "filesystems",
    "fips_enabled",
    "gce",
    "hypervisors",
    "implementation",
    "is_virtual",
    "kernel",
    "kernelmajversion",
    "kernelrelease",
    "kernelversion",
    "ldom",
    "mountpoints",
    "nim_type",
    "partitions",
    "path",
    "puppetversion",
    "rackspace",
    "solaris_zones",
    "ssh",
    "system_profiler",
    "timezone",
    "virtual",
    "xen",
    "zfs_featurenumbers",
    "zfs_version",
    "zpool_featureflags",
    "zpool_featurenumbers",
    "zpool_version",
];

/// Facts that every system has: those that the facts of 18 operating systems in FacterDB have in common,
/// without some of its hardware, and the versions that an agent adds. Sorted.
const ON_EVERY_SYSTEM: [&str; 31] = [
    "clientversion",
    "facterversion",
    "is_virtual",
    "kernel",
    "kernelmajversion",
    "kernelrelease",
    "kernelversion",
    "networking.domain",
    "networking.fqdn",
    "networking.hostname",
    "networking.interfaces",
    "networking.ip",
    "networking.mac",
    "networking.mtu",
    "networking.netmask",
    "networking.network",
    "networking.primary",
    "os.architecture",
    "os.family",
    "os.hardware",
    "os.name",
    "os.release.full",
    "os.release.major",
    "path",
    "processors.count",
    "processors.isa",
    "processors.models",
    "puppetversion",
    "ruby.version",
    "timezone",
    "virtual",
];

/// Facts that every system has and that are missing in a file. Where the file has all facts of a node, none is.
#[derive(Default)]
pub(super) struct LackingFacts {
    are_all: OnceLock<bool>,
}

impl LackingFacts {
    /// Whether one of them is at a path of facts or around it; `fact` finds a fact in the file. Costs one fact of the
    /// file, and five where that is missing.
    pub(super) fn cover<'p>(
        &self,
        path: impl Iterator<Item = &'p str> + Clone,
        fact: impl Fn(&str) -> Option<Value>,
    ) -> bool {
        let Some(first) = path.clone().next() else {
            return false;
        };
        let is_around = |known: &&str| {
            let mut path = path.clone();
            known.split('.').all(|name| path.next() == Some(name))
        };
        let is_missing = |known: &str| {
            let mut names = known.split('.').skip(1);
            let found = fact(first);
            let part = found
                .as_ref()
                .and_then(|first| names.try_fold(first, |part, name| part.get(name)));
            part.is_none()
        };
        let mut around = starting_with(&ON_EVERY_SYSTEM, first).iter().copied();
        let is_lacking = around.any(|known| is_around(&known) && is_missing(known));
        is_lacking
            && !self
                .are_all
                .get_or_init(|| are_all_facts(|name| fact(name).is_some()))
    }
}

/// Those of sorted paths that begin with a name. This is asked for each variable of each lookup.
fn starting_with<'a>(paths: &'a [&'static str], name: &str) -> &'a [&'static str] {
    let from = &paths[paths.partition_point(|path| *path < name)..];
    let is_below = |path: &&str| {
        let rest = path.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let count = from.iter().take_while(|path| is_below(path)).count();
    &from[..count]
}

/// They follow from the facts of the scope.
impl PartialEq for LackingFacts {
    fn eq(&self, _: &LackingFacts) -> bool {
        true
    }
}

impl std::fmt::Debug for LackingFacts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LackingFacts")
    }
}

/// Whether a variable is one of Facter's facts that is a hash, or a hash within one: `facts.os`,
/// `::os.release`.
#[must_use]
pub fn is_structured_fact(variable: &str) -> bool {
    let name = without_colons(variable);
    let name = name.strip_prefix("facts.").unwrap_or(name);
    let is_above = |part: &&str| {
        part.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    PARTS.iter().any(is_above)
}

/// The operating systems of families with several, by Facter's names
/// (`lib/facter/facts/linux/os/family.rb`, `lib/facter/util/facts/facts.rb`).
const FAMILIES: [(&str, &[&str]); 3] = [
    (
        "Debian",
        &[
            "Debian",
            "Devuan",
            "Kali",
            "LinuxMint",
            "Raspbian",
            "Ubuntu",
        ],
    ),
    (
        "RedHat",
        &[
            "AlmaLinux",
            "Amazon",
            "CentOS",
            "Fedora",
            "OracleLinux",
            "RedHat",
            "Rocky",
            "Scientific",
        ],
    ),
    ("Suse", &["OpenSuSE", "SLED", "SLES", "SuSE"]),
];

/// The family of operating systems that a variable's value implies: the variable is the family, or
/// the system itself. The names are those in the paths of a hierarchy.
#[must_use]
pub fn os_family(variable: &str, value: &str) -> Option<&'static str> {
    let name = without_colons(variable);
    let known = |matches_family: &dyn Fn(&str, &[&str]) -> bool| {
        let found = FAMILIES
            .iter()
            .find(|(family, all)| matches_family(family, all));
        found.map(|(family, _)| *family)
    };
    match name.strip_prefix("facts.").unwrap_or(name) {
        "os.family" | "osfamily" => known(&|family, _| family == value),
        "os.name" | "operatingsystem" => known(&|_, all| all.contains(&value)),
        _ => None,
    }
}

/// Facter's knowledge of a fact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CoreFact {
    /// It can exist.
    Exists,
    /// A legacy fact, which Puppet 8 usually does not send; with its structured equivalent, if
    /// there is one.
    Legacy(Option<&'static str>),
    /// Its structured fact has no such part; with a suggestion.
    NoSuchPart(Option<&'static str>),
    /// Not a core fact, with the closest core fact.
    Custom(Option<&'static str>),
}

/// Whether Facter itself has facts of that name, legacy ones included.
pub(super) fn is_of_facter(name: &str) -> bool {
    let mut tops = PARTS.iter().map(|part| part.split('.').next());
    tops.any(|top| top == Some(name))
        || OTHERS.contains(&name)
        || legacy::structured(name).is_some()
}

/// Facter's knowledge of a fact, by its dotted path without `facts.`.
#[must_use]
pub fn core_fact(path: &str) -> CoreFact {
    if PARTS.binary_search(&path).is_ok() {
        return CoreFact::Exists;
    }
    let (top, rest) = path.split_once('.').unwrap_or((path, ""));
    let within = |part: &&&str| part.split('.').next() == Some(top);
    let is_prefix = |short: &str, long: &str| {
        long.strip_prefix(short)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if PARTS.iter().any(|part| within(&part)) {
        // A sub-part of a part that is listed without its own parts is assumed to exist.
        let mut parts = PARTS.iter();
        return if parts.any(|part| is_prefix(path, part) || is_prefix(part, path)) {
            CoreFact::Exists
        } else {
            let near = PARTS.iter().filter(within).copied();
            CoreFact::NoSuchPart(typing_error(path, near))
        };
    }
    if OTHERS.contains(&top) {
        return CoreFact::Exists;
    }
    if rest.is_empty()
        && let Some(structured) = legacy::structured(top)
    {
        return CoreFact::Legacy(structured);
    }
    let tops = PARTS.iter().filter_map(|part| part.split('.').next());
    let names = tops.chain(OTHERS).chain(legacy::names());
    CoreFact::Custom(typing_error(top, names))
}

#[cfg(test)]
mod tests {
    use super::{CoreFact, ON_EVERY_SYSTEM, PARTS, core_fact, starting_with};

    #[test]
    fn what_is_searched_by_halves_is_ordered() {
        assert!(PARTS.is_sorted());
        assert!(ON_EVERY_SYSTEM.is_sorted());
        assert!(super::legacy::names().is_sorted());
    }

    #[test]
    fn facts_of_every_system_are_found_by_their_first_name() {
        let first = |path: &str| path.split('.').next().map(str::to_owned);
        let mut names: Vec<String> = ON_EVERY_SYSTEM.iter().filter_map(|it| first(it)).collect();
        names.extend(["", "a", "kern", "kernelx", "osx", "o", "zz"].map(str::to_owned));
        for name in names {
            let mut same = ON_EVERY_SYSTEM.to_vec();
            same.retain(|path| first(path).is_some_and(|it| it == name));
            assert_eq!(starting_with(&ON_EVERY_SYSTEM, &name), same, "{name}");
        }
    }

    #[test]
    fn every_name_in_the_source_of_facter_is_known() {
        let names = include_str!("../../tests/cases/facter.tsv");
        for line in names.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let device = match fields[1].split('.').next() {
                Some("processor") => "0",
                Some("ssh" | "sshfp_") => "rsa",
                _ => "eth0",
            };
            let name = fields[1].replace(".*", device);
            match (core_fact(&name), fields.as_slice()) {
                (CoreFact::Exists, ["core", _])
                | (CoreFact::Legacy(_), ["legacy", _])
                | (CoreFact::Legacy(None), ["alias", ..]) => {}
                // Parts of a structured fact have names of their own: `os.release.major`.
                (CoreFact::Legacy(Some(same)), ["alias", _, fact]) => {
                    let is_legacy = matches!(core_fact(fact), CoreFact::Legacy(_));
                    assert!(is_legacy || same.starts_with(fact), "{line}: {same}");
                }
                (known, _) => panic!("{line}: {known:?}"),
            }
        }
        assert_eq!(names.lines().count(), 297);
    }

    #[test]
    fn parts_of_structured_facts_are_fixed() {
        assert_eq!(core_fact("os"), CoreFact::Exists);
        assert_eq!(core_fact("os.release.major"), CoreFact::Exists);
        assert_eq!(core_fact("os.selinux.enabled"), CoreFact::Exists);
        assert_eq!(core_fact("networking.interfaces.eth0.ip"), CoreFact::Exists);
        assert_eq!(
            core_fact("os.famly"),
            CoreFact::NoSuchPart(Some("os.family"))
        );
        assert_eq!(core_fact("os.colour"), CoreFact::NoSuchPart(None));
        assert_eq!(core_fact("osfamily"), CoreFact::Legacy(Some("os.family")));
        assert_eq!(core_fact("ipaddress_eth0"), CoreFact::Legacy(None));
        assert_eq!(core_fact("hostnam"), CoreFact::Custom(Some("hostname")));
        assert_eq!(core_fact("role"), CoreFact::Custom(None));
    }
}
