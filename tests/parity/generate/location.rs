//! Templates of paths, globs and mapped paths.

use super::config::{Builder, Format, extension};
use super::doc::{Doc, plain, quoted};

impl Builder<'_> {
    pub(super) fn template(&mut self, datadir: Option<&str>, format: Format) -> String {
        let of_site = if self.dice.has_site() { 45 } else { 0 };
        let stem = match self.dice.weighted(&[
            30,
            46,
            5,
            4,
            4,
            3,
            2,
            self.dice.if_risky(3),
            self.dice.if_risky(2),
            of_site,
        ]) {
            0 => self.dice.pick(&["common", "base", "sub/common"]),
            1 => {
                self.dice.mark("path: token");
                self.dice.pick(&[
                    "role/%{role}",
                    "role/%{facts.role}",
                    "os/%{facts.os.family}",
                    "os/%{facts.os.family}/%{facts.os.release.major}",
                    "nodes/%{trusted.certname}",
                    "nodes/%{::trusted.certname}",
                    "tier/%{tier}",
                    "%{environment}",
                    "site/%{enc.site}",
                    "ext/%{trusted.extensions.pp_role}",
                    "%{facts.os.family}-%{role}",
                    "role/%{::role}",
                    "l/%{facts.list.0}",
                ])
            }
            2 => {
                self.dice.mark("path: undefined variable");
                self.dice.pick(&[
                    "x%{nope}",
                    "nodes/%{::nope}",
                    "x%{nope.a}",
                    "x%{m::nope}",
                    "x%{calling_module}",
                ])
            }
            3 => {
                self.dice.mark("path: fact that is absent, nil or empty");
                self.dice.pick(&[
                    "x%{facts.nope}",
                    "x%{facts.nilf}",
                    "x%{empty}",
                    "x%{facts.os.nope.x}",
                    "x%{enc.undef}",
                ])
            }
            4 => {
                self.dice.mark("path: fact that is no string");
                self.dice.pick(&[
                    "n%{num}",
                    "n%{facts.flt}",
                    "n%{yes}",
                    "n%{facts.svcs}",
                    "n%{facts.hash.n}",
                ])
            }
            5 => {
                self.dice.mark("path: absolute");
                self.dice.pick(&["@@ROOT@@/abs/common", "%{facts.abs}/x"])
            }
            6 => {
                self.dice.mark("path: climbs out");
                self.dice.pick(&["../up", "../../up", "./common"])
            }
            7 => {
                self.dice.mark("path: a folder");
                let stem = "folder";
                self.file(datadir, "folder.yaml/x.yaml", Format::Yaml);
                stem
            }
            8 => {
                self.dice.mark("path: sub-key of a string");
                "x%{facts.role.y}"
            }
            _ => {
                self.dice.mark("path: variable of a site manifest");
                self.dice.pick(&[
                    "kind/%{kind}",
                    "top/%{::kind}",
                    "kind/%{kind}",
                    "place/%{place}",
                    "%{kind}-%{facts.os.family}",
                    "spot/%{spot.a}",
                    "role/%{role}",
                    "role/%{::role}",
                ])
            }
        };
        let extension = extension(format);
        let template = if format == Format::Yaml && self.dice.rarely(35) {
            self.dice.mark("path: no extension");
            stem.to_string()
        } else {
            format!("{stem}.{extension}")
        };
        self.file(datadir, &template, format);
        template
    }

    pub(super) fn glob(&mut self, datadir: Option<&str>, format: Format) -> String {
        let x = extension(format);
        for stem in [
            "a",
            "b",
            "B",
            "10",
            "9",
            ".hid",
            "sub/a",
            "sub/deep/z",
            "é",
            "a-b",
            "aa/z",
            "aa",
        ] {
            if self.dice.chance(40) {
                self.file(datadir, &format!("g/{stem}.{x}"), format);
            }
        }
        if self.dice.chance(5) {
            self.dice.mark("glob: a folder with a file's name");
            self.file(datadir, &format!("g/dir.{x}/in.{x}"), format);
        }
        let pattern = self.dice.pick(&[
            "g/*",
            "g/*",
            "g/**/*",
            "g/**",
            "g/{b,a}",
            "g/[ab]",
            "g/[^a]",
            "g/?",
            "**/a",
            "g/{%{role},a}",
            "g/%{facts.os.family}*",
            "g/{a,{b,9}}",
            "g/[!a]*",
            "g/\\*",
            "none/*",
            "g/**/sub/*",
            "g/{a,a,b}",
            "g/.*",
            "g/[a-b]*",
            "g/*-*",
            "g/{,a}a",
            "./g/*",
            "g//*",
            "g/*b",
            "g/%{nope}*",
            "g/[[:alpha:]]",
            "g/{a",
            "g/a]",
            "*/a",
            "**/**/a",
        ]);
        if self.dice.chance(10) {
            format!("g/{{*.{x},*/*.{x}}}")
        } else {
            format!("{pattern}.{x}")
        }
    }

    pub(super) fn mapped(&mut self, datadir: Option<&str>, format: Format) -> Doc {
        let x = extension(format);
        for stem in ["s1", "s2", "web", "db", "x"] {
            self.file(datadir, &format!("mp/{stem}.{x}"), format);
        }
        let var = if self.dice.risk(150) {
            self.dice.mark("mapped_paths: not a list");
            self.dice.pick(&["facts.num", "facts.yes", "num"])
        } else {
            self.dice.pick(&[
                "facts.svcs",
                "svcs",
                "facts.list",
                "role",
                "facts.hash",
                "nope",
                "empty",
                "facts.os",
                "::svcs",
                "facts.nilf",
                "facts.svcs.0",
                "%{svcs}",
                "facts.role",
            ])
        };
        let (name, template) = *self.dice.pick(&[
            &("item", "mp/%{item}"),
            &("item", "mp/%{item}"),
            &("svc", "mp/%{svc}"),
            &("item", "mp/%{::item}"),
            &("facts", "mp/%{facts}"),
            &("item", "mp/%{role}"),
            &("item", "mp/%{item}-%{facts.os.family}"),
            &("item", "mp/%{item.k}"),
        ]);
        let parts = vec![quoted(var), plain(name), quoted(format!("{template}.{x}"))];
        Doc::Flow(Box::new(Doc::Seq(parts)))
    }
}
