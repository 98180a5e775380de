//! The main forms were compared with `puppet apply` of 7.23, each with its message.

use super::super::RULE;
use crate::rules::marked::check_rule;

/// The messages for some data, with a defined type `net::iface` and a class `net` with this body.
fn messages(body: &str, rest: &str) -> Vec<String> {
    let text = format!(
        "#- hiera.yaml\nversion: 5\nhierarchy: [{{name: all, paths: [high.yaml, 'node/%{{trusted.certname}}.yaml', common.yaml]}}]\n\
         #- modules/net/manifests/iface.pp\n\
         define net::iface(String $address, Integer $mtu = 1500, Optional[String] $gateway = undef) {{ }}\n\
         #- modules/net/manifests/init.pp\nclass net(Hash $ifaces = {{}}, Boolean $on = true) {{\n  {body}\n}}\n\
         #- data/common.yaml\n{rest}"
    );
    let found = check_rule(RULE, &text);
    found.into_iter().map(|finding| finding.message).collect()
}

const CREATED: &str = "create_resources('net::iface', $ifaces)";

#[test]
fn each_mistake_has_the_words_of_puppet() {
    let of = |entry: &str| {
        messages(
            CREATED,
            &format!("net::ifaces:\n  eth0: {entry} #~ type-mismatch\n"),
        )
    };
    for (entry, message) in [
        (
            "{address: a, mtu: large}",
            "Net::Iface[eth0]: parameter 'mtu' expects an Integer value, got String",
        ),
        (
            "{mtu: 1}",
            "Net::Iface[eth0]: expects a value for parameter 'address'",
        ),
        (
            "{address: ~}",
            "Net::Iface[eth0]: parameter 'address' expects a String value, got Undef",
        ),
        (
            "{address: a, gatewai: b}",
            "Net::Iface[eth0]: has no parameter named 'gatewai'; did you mean 'gateway'?",
        ),
        (
            "{address: a, title: b}",
            "Net::Iface[eth0]: has no parameter named 'title'",
        ),
        (
            "~",
            "Net::Iface[eth0]: the entry must be a hash of parameters, and has no value: Puppet fails",
        ),
        (
            "text",
            "Net::Iface[eth0]: the entry must be a hash of parameters, and has another value: Puppet fails",
        ),
    ] {
        assert_eq!(of(entry), [message], "{entry}");
    }
}

#[test]
fn every_form_is_known() {
    let data = "net::ifaces:\n  eth0: {address: 1} #~ type-mismatch\n";
    for body in [
        CREATED,
        "create_resources(net::iface, $ifaces, {mtu => 9000})",
        "$ifaces.each |$name, $all| { net::iface { $name: * => $all } }",
        "$ifaces.each |String $name, Hash $all| {\n    net::iface { \"if-${name}\": gateway => 'x', * => $all }\n  }",
        "$ifaces.each |$name, $all| { create_resources('net::iface', {$name => $all}, {mtu => 1}) }",
    ] {
        assert_eq!(messages(body, data).len(), 1, "{body}");
    }
    let data = "ifaces:\n  eth0: {address: 1} #~ type-mismatch\n";
    for body in [
        "create_resources('net::iface', lookup('ifaces'))",
        "create_resources('net::iface', lookup('ifaces', Hash, 'deep', {}))",
        "create_resources('net::iface', hiera_hash('ifaces', {}))",
        "$all = lookup('ifaces', Hash)\n  create_resources('net::iface', $all)",
        "lookup('ifaces').each |$name, $all| { net::iface { $name: * => $all } }",
    ] {
        assert_eq!(messages(body, data).len(), 1, "{body}");
    }
}

#[test]
fn what_may_not_reach_the_type_is_not_reported() {
    let data = "net::ifaces:\n  eth0: {address: 1}\nifaces: {eth0: {address: 1}}\n";
    for body in [
        "if $on { create_resources('net::iface', $ifaces) }",
        "$ifaces.each |$name, $all| { if $on { net::iface { $name: * => $all } } }",
        "if $on { return() }\n  create_resources('net::iface', $ifaces)",
        "$ifaces.each |$name, $all| {\n    if $on { next() }\n    net::iface { $name: * => $all }\n  }",
        "create_resources('net::iface', $ifaces.filter |$name, $all| { $on })",
        "create_resources('net::iface', $ifaces + {})",
        "create_resources('net::iface', $other)",
        "create_resources($type, $ifaces)",
        "create_resources('net::other', $ifaces)",
        "$ifaces.each |$name, $all| { net::iface { $name: * => $all + {address => 'a'} } }",
        "$ifaces.each |$name, $all| { net::iface { $name: address => $all['address'] } }",
        "Net::Iface { address => 'a' }\n  create_resources('net::iface', $ifaces)",
        "create_resources('net::iface', $ifaces)\n  Net::Iface <| |> { address => 'a' }",
        "create_resources('net::iface', lookup(['other', 'ifaces']))",
    ] {
        assert_eq!(messages(body, data), [""; 0], "{body}");
    }
}

#[test]
fn what_may_be_another_value_is_not_reported() {
    let wrong = "net::ifaces:\n  eth0: {address: 1}\n";
    for rest in [
        // It is overridden.
        "#- data/high.yaml\nnet::ifaces: {}\n",
        // A manifest gives the parameter.
        "#- manifests/site.pp\nclass { 'net': ifaces => {} }\n",
        "lookup_options: {'net::ifaces': {merge: hash}}\n#- data/high.yaml\nnet::ifaces: {eth0: {address: a}}\n",
    ] {
        assert_eq!(
            messages(CREATED, &format!("{wrong}{rest}")),
            [""; 0],
            "{rest}"
        );
    }
    for fine in [
        "net::ifaces:\n  eth0: {address: a, mtu: ~, require: 'Class[x]', tag: t, noop: true, alias: b}\n",
        "net::ifaces:\n  eth0: {address: '%{facts.ip}', mtu: '%{x}'}\n",
        "net::ifaces:\n  eth0: {address: 'ENC[PKCS7,MIIBeQYJKoZIhvcNAQcDoIIBajCCAWYCAQAxggEhMIIBHQIBADAFMAACAQEw]'}\n",
        "net::ifaces: {}\n",
    ] {
        assert_eq!(messages(CREATED, fine), [""; 0], "{fine}");
    }
}

#[test]
fn nodes_that_do_not_include_the_class_make_it_a_warning() {
    let site = "#- manifests/site.pp\nnode 'n1' { include net }\nnode default { }\n";
    let data = "net::ifaces:\n  eth0: {address: 1} #~ type-mismatch\n";
    let nodes = "#- nodes.yaml\nn1: {facts: {a: 1}}\nn2: {facts: {a: 1}}\n";
    let found = |node: &str| {
        let data = format!("x: 1\n#- data/node/{node}.yaml\n{data}{site}{nodes}");
        messages(CREATED, &data)
    };
    let message = "Net::Iface[eth0]: parameter 'address' expects a String value, got Integer";
    assert_eq!(found("n1"), [message]);
    let other = "; none of the known nodes that read this file includes the class";
    assert_eq!(found("n2"), [format!("{message}{other}")]);
}
