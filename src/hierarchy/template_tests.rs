//! Paths that templates match, and the values of their variables.

use super::*;

fn bind(template: &str, path: &str) -> Option<Vec<String>> {
    let bound = Template::parse(template).bind(path)?;
    Some(
        bound
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect(),
    )
}

#[test]
fn a_variable_at_the_end_has_no_extension() {
    for extension in DATA_EXTENSIONS {
        let path = format!("os/RedHat{extension}");
        let template = Template::parse("os/%{facts.os.family}");
        assert!(template.matches("os/RedHat"));
        assert!(!template.matches(&path));
        assert!(template.with_extension_in_name().matches(&path));
        assert!(!Template::parse("%{a}/%{b}").matches(&path));
        // Wildcards, and a variable before another text.
        assert!(Template::parse("os/*").with_wildcards().matches(&path));
    }
    assert!(Template::parse("%{file}/x").matches("a.yaml/x"));
    assert!(Template::parse("%{name}").matches("a.d"));
}

#[test]
fn a_variable_may_be_empty() {
    for (template, path) in [
        ("d/common%{suffix}.yaml", "d/common.yaml"),
        ("d/%{flavor}%{major}.yaml", "d/12.yaml"),
        ("d/%{site}-%{flavor}.yaml", "d/lon-.yaml"),
        ("d/%{a}-%{b}x/%{c}.yaml", "d/-x/y.yaml"),
    ] {
        assert!(Template::parse(template).may_match(path), "{template}");
    }
    let folders = [
        ("d/%{site}/common.yaml", "d/common.yaml"),
        ("d/%{site}/%{tier}/%{role}.yaml", "d/web.yaml"),
    ];
    for (template, path) in folders {
        let template = Template::parse(template);
        assert!(template.matches_without_some(path), "{template}");
    }
    let others = [
        ("d/%{role}.yaml", "d/x/y.json"),
        ("d/%{role}.yaml", "d/.yaml"),
        ("d/%{environment}/common.yaml", "d/common.yaml"),
        ("d/x%{site}.yaml", "d/y.yaml"),
        ("d/x%{site}.yaml", "d/x.json"),
    ];
    for (template, path) in folders.into_iter().chain(others) {
        assert!(!Template::parse(template).may_match(path), "{template}");
    }
    assert!(!Template::parse("d/%{environment}/c.yaml").matches_without_some("d/c.yaml"));
    assert!(!Template::parse("d/%{os.name}/c.yaml").matches_without_some("d/c.yaml"));
}

#[test]
fn a_path_binds_the_variables_of_its_template() {
    assert_eq!(
        bind(
            "nodes/%{::trusted.certname}.yaml",
            "nodes/web01.example.com.yaml"
        ),
        Some(vec!["::trusted.certname=web01.example.com".into()])
    );
    assert_eq!(
        bind(
            "os/%{facts.os.name}/%{facts.os.release.major}.yaml",
            "os/Debian/12.yaml"
        ),
        Some(vec![
            "facts.os.name=Debian".into(),
            "facts.os.release.major=12".into()
        ])
    );
    assert_eq!(bind("role/%{role}.yaml", "role/a/b.yaml"), None);
    assert_eq!(bind("role/%{role}.yaml", "role/.yaml"), None);
    assert_eq!(bind("%{a}/%{a}.yaml", "x/x.yaml"), Some(vec!["a=x".into()]));
    assert_eq!(bind("%{a}/%{a}.yaml", "x/y.yaml"), None);
    assert_eq!(bind("common.yaml", "common.yaml"), Some(vec![]));
}

#[test]
fn a_role_may_have_folders_in_its_name_and_a_fact_may_not() {
    let template = Template::parse("/d/role/%{::_role}.yaml");
    let bound = template.bind_across_folders("/d/role/web/front.yaml");
    assert_eq!(
        bound,
        Some(vec![(Arc::from("::_role"), "web/front".into())])
    );
    assert_eq!(template.bind("/d/role/web/front.yaml"), None);
    let two = Template::parse("/d/role/%{site}/%{_role}.yaml");
    let bound = two.bind_across_folders("/d/role/lon/web/front.yaml");
    let bound = bound.map(|bound| bound.into_iter().map(|(_, value)| value).collect());
    assert_eq!(bound, Some(vec!["lon".to_owned(), "web/front".to_owned()]));
    for template in ["/d/%{facts.role}.yaml", "/d/%{::fqdn}.yaml"] {
        let template = Template::parse(template);
        assert_eq!(template.bind_across_folders("/d/a/b.yaml"), None);
        assert!(!template.may_match("/d/a/b.yaml"));
    }
    assert!(template.may_match("/d/role/web/front.yaml"));
    assert!(template.may_match("/d/role/web.yaml"));
    assert!(!template.matches("/d/role/web/front.yaml"));
}

#[test]
fn two_readings_are_no_certain_binding() {
    assert_eq!(bind("%{a}-%{b}.yaml", "x-y-z.yaml"), None);
    let template = Template::parse("%{a}-%{b}.yaml");
    assert!(template.matches("x-y-z.yaml"));
    assert_eq!(template.count_readings("w-x-y-z.yaml"), 2);
    assert_eq!(template.count_readings("x-y.yaml"), 1);
    assert_eq!(template.count_readings("x.yaml"), 0);
}
