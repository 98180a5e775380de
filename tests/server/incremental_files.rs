//! Random numbers and random texts of files.

use std::fmt::Write as _;

pub const FILES: [&str; 9] = [
    "hiera.yaml",
    "nodes.json",
    "data/common.yaml",
    "data/os/RedHat.yaml",
    "data/os/Debian.yaml",
    "data/node/a.x.yaml",
    "data/node/b.x.yaml",
    "modules/m/hiera.yaml",
    "modules/m/data/common.yaml",
];

/// Random numbers from a seed (xorshift64*).
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }

    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// A possible text of a file, valid or not.
pub fn text(dice: &mut Dice, file: &str) -> String {
    if file == "nodes.json" {
        return dice
            .one(&[
                r#"{"a.x": {"facts": {"os": {"family": "RedHat"}}}, "b.x": {"facts": {"os": {"family": "Debian"}}}}"#,
                r#"{"a.x": {"facts": {"os": {"family": "Debian"}}}}"#,
                r#"{"a.x": "#,
            ])
            .to_owned();
    }
    if file.ends_with("hiera.yaml") {
        let levels = [
            "  - {name: node, path: \"node/%{trusted.certname}.yaml\"}\n",
            "  - {name: os, path: \"os/%{facts.os.family}.yaml\"}\n",
            "  - {name: common, path: common.yaml}\n",
            "  - {name: all, glob: \"*.yaml\"}\n",
        ];
        let mut text = "version: 5\nhierarchy:\n".to_owned();
        for level in levels {
            if dice.below(4) > 0 {
                text.push_str(level);
            }
        }
        if dice.below(8) == 0 {
            text.push_str("  - {name: broken\n");
        }
        return text;
    }
    let mut text = String::new();
    for _ in 0..dice.below(6) {
        let key = dice.one(&["a", "b", "c", "m::d", "m::e"]);
        let value = dice.one(&[
            "1",
            "text",
            "[x, y]",
            "{k: 1, l: {n: 2}}",
            "\"%{lookup('a')}\"",
            "\"%{lookup('b')}\"",
            "\"%{alias('c')}\"",
            "\"x%{alias('c')}\"",
            "\"%{facts.os.family}\"",
            "\"%{Lookup('a')}\"",
            "\"%{lookup('m::d')\"",
            "2024-01-01",
            "[",
            "*nobody",
        ]);
        let _ = writeln!(text, "{key}: {value}");
    }
    if dice.below(3) == 0 {
        let options = dice.one(&[
            "{a: {merge: unique}}",
            "{\"^m::.*\": {merge: deep}}",
            "{\"m::.*\": {merge: hash}}",
            "{\"^(\": {merge: hash}}",
            "{c: {merge: {strategy: deep}}}",
        ]);
        let _ = writeln!(text, "lookup_options: {options}");
    }
    text
}
