//! The names of legacy facts (`osfamily`, `ipaddress_eth0`) and of the structured ones that they are
//! other names of, as in Facter 4 (`facter/facts/*`, `ALIASES`). A node has only those that its facts
//! contain.

/// A legacy fact and the structured one that it is another name of.
const SAME: [(&str, &str); 96] = [
    ("architecture", "os.architecture"),
    ("augeasversion", "augeas.version"),
    ("bios_release_date", "dmi.bios.release_date"),
    ("bios_vendor", "dmi.bios.vendor"),
    ("bios_version", "dmi.bios.version"),
    ("boardassettag", "dmi.board.asset_tag"),
    ("boardmanufacturer", "dmi.board.manufacturer"),
    ("boardproductname", "dmi.board.product"),
    ("boardserialnumber", "dmi.board.serial_number"),
    ("chassisassettag", "dmi.chassis.asset_tag"),
    ("chassistype", "dmi.chassis.type"),
    ("domain", "networking.domain"),
    ("fqdn", "networking.fqdn"),
    ("gid", "identity.group"),
    ("hardwareisa", "processors.isa"),
    ("hardwaremodel", "os.hardware"),
    ("hostname", "networking.hostname"),
    ("id", "identity.user"),
    ("ipaddress", "networking.ip"),
    ("ipaddress6", "networking.ip6"),
    ("lsbdistcodename", "os.distro.codename"),
    ("lsbdistdescription", "os.distro.description"),
    ("lsbdistid", "os.distro.id"),
    ("lsbdistrelease", "os.distro.release.full"),
    ("lsbmajdistrelease", "os.distro.release.major"),
    ("lsbminordistrelease", "os.distro.release.minor"),
    ("lsbrelease", "os.distro.specification"),
    ("macaddress", "networking.mac"),
    ("macosx_buildversion", "os.macosx.build"),
    ("macosx_productname", "os.macosx.product"),
    ("macosx_productversion", "os.macosx.version.full"),
    ("macosx_productversion_major", "os.macosx.version.major"),
    ("macosx_productversion_minor", "os.macosx.version.minor"),
    ("macosx_productversion_patch", "os.macosx.version.patch"),
    ("manufacturer", "dmi.manufacturer"),
    ("memoryfree", "memory.system.available"),
    ("memorysize", "memory.system.total"),
    ("netmask", "networking.netmask"),
    ("netmask6", "networking.netmask6"),
    ("network", "networking.network"),
    ("network6", "networking.network6"),
    ("operatingsystem", "os.name"),
    ("operatingsystemmajrelease", "os.release.major"),
    ("operatingsystemrelease", "os.release.full"),
    ("osfamily", "os.family"),
    ("physicalprocessorcount", "processors.physicalcount"),
    ("processorcount", "processors.count"),
    ("productname", "dmi.product.name"),
    ("rubyplatform", "ruby.platform"),
    ("rubysitedir", "ruby.sitedir"),
    ("rubyversion", "ruby.version"),
    ("scope6", "networking.scope6"),
    ("selinux", "os.selinux.enabled"),
    ("selinux_config_mode", "os.selinux.config_mode"),
    ("selinux_config_policy", "os.selinux.config_policy"),
    ("selinux_current_mode", "os.selinux.current_mode"),
    ("selinux_enforced", "os.selinux.enforced"),
    ("selinux_policyversion", "os.selinux.policy_version"),
    ("serialnumber", "dmi.product.serial_number"),
    ("sp_boot_mode", "system_profiler.boot_mode"),
    ("sp_boot_rom_version", "system_profiler.boot_rom_version"),
    ("sp_boot_volume", "system_profiler.boot_volume"),
    ("sp_cpu_type", "system_profiler.processor_name"),
    (
        "sp_current_processor_speed",
        "system_profiler.processor_speed",
    ),
    ("sp_kernel_version", "system_profiler.kernel_version"),
    ("sp_l2_cache_core", "system_profiler.l2_cache_per_core"),
    ("sp_l3_cache", "system_profiler.l3_cache"),
    ("sp_local_host_name", "system_profiler.computer_name"),
    ("sp_machine_model", "system_profiler.model_identifier"),
    ("sp_machine_name", "system_profiler.model_name"),
    ("sp_number_processors", "system_profiler.cores"),
    ("sp_os_version", "system_profiler.system_version"),
    ("sp_packages", "system_profiler.processors"),
    ("sp_physical_memory", "system_profiler.memory"),
    ("sp_platform_uuid", "system_profiler.hardware_uuid"),
    ("sp_secure_vm", "system_profiler.secure_virtual_memory"),
    ("sp_serial_number", "system_profiler.serial_number"),
    ("sp_smc_version_system", "system_profiler.smc_version"),
    ("sp_uptime", "system_profiler.uptime"),
    ("sp_user_name", "system_profiler.username"),
    ("swapencrypted", "memory.swap.encrypted"),
    ("swapfree", "memory.swap.available"),
    ("swapsize", "memory.swap.total"),
    ("system32", "os.windows.system32"),
    ("uptime", "system_uptime.uptime"),
    ("uptime_days", "system_uptime.days"),
    ("uptime_hours", "system_uptime.hours"),
    ("uptime_seconds", "system_uptime.seconds"),
    ("uuid", "dmi.product.uuid"),
    ("windows_display_version", "os.windows.display_version"),
    ("windows_edition_id", "os.windows.edition_id"),
    ("windows_installation_type", "os.windows.installation_type"),
    ("windows_product_name", "os.windows.product_name"),
    ("windows_release_id", "os.windows.release_id"),
    ("xendomains", "xen.domains"),
    ("zonename", "solaris_zones.current"),
];

/// Legacy facts in megabytes.
const MEGABYTES: [&str; 4] = [
    "memoryfree_mb",
    "memorysize_mb",
    "swapfree_mb",
    "swapsize_mb",
];

/// Legacy facts of each network interface: the prefixes of their names.
const INTERFACE: [&str; 9] = [
    "ipaddress",
    "ipaddress6",
    "macaddress",
    "mtu",
    "netmask",
    "netmask6",
    "network",
    "network6",
    "scope6",
];

/// Legacy facts of each Solaris zone: the suffix of their names.
const ZONE: [&str; 7] = [
    "_brand", "_id", "_iptype", "_name", "_path", "_status", "_uuid",
];

const SSH_KEYS: [&str; 4] = ["sshdsakey", "sshecdsakey", "sshed25519key", "sshrsakey"];

/// Whether a fact is a legacy one, and its structured equivalent if it has one.
pub(super) fn structured(name: &str) -> Option<Option<&'static str>> {
    if let Ok(at) = SAME.binary_search_by_key(&name, |(legacy, _)| legacy) {
        return Some(Some(SAME[at].1));
    }
    let is_numbered = |start: &str| {
        let number = name.strip_prefix(start);
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let starts = ["blockdevice_", "ldom_domain", "sshfp_"];
    let of_zone = ZONE.iter().any(|end| {
        let zone = name.strip_prefix("zone_");
        zone.is_some_and(|zone| zone.ends_with(end))
    });
    let is_legacy = MEGABYTES.contains(&name)
        || is_of_interface(name)
        || matches!(
            name,
            "blockdevices" | "dhcp_servers" | "interfaces" | "zones"
        )
        || starts.iter().any(|start| name.starts_with(start))
        || of_zone
        || SSH_KEYS.contains(&name)
        || is_numbered("processor");
    is_legacy.then_some(None)
}

fn is_of_interface(name: &str) -> bool {
    let mut starts = INTERFACE.iter();
    starts.any(|start| {
        let device = name.strip_prefix(start);
        device.is_some_and(|device| device.starts_with('_'))
    })
}

/// The names of legacy facts that are the same on every machine.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SAME.iter().map(|(legacy, _)| *legacy)
}
