#!/usr/bin/env python3
"""Plants wrong behaviours in the engine, one at a time, and shows that the parity tests see each.

A copy of the project under target/mutations takes all patches, each behind a switch, and is built once;
the tests of this checkout then ask it (PARITY_OURS) with one switch on at a time. Fails if a patch no
longer applies, does not compile, or survives, and if the copy without a mistake differs from Puppet.
Random requests are sent where the case files saw nothing.

usage: mutations.py [--count N] [--only WORD] [--list]
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
COPY = PROJECT / "target" / "mutations" / "project"
BUILD = PROJECT / "target" / "mutations" / "build"

# What it does wrong, the file, the text it replaces (white space does not matter), the replacement.
# PLANTED is true while this mistake is asked for.
MUTATIONS = [
    (
        "deep merges knock out hash keys",
        "src/lookup/deep_merge.rs",
        "for (key, value) in entries.iter() {",
        """for (key, value) in entries.iter() {
            if PLANTED && let (Some(knockout), Some(name)) = (&self.options.knockout, key.as_str())
                && knockout.strip(name)?.is_some() { continue; }""",
    ),
    (
        "deep merges put higher elements first",
        "src/lookup/deep_merge.rs",
        "let all = below.iter().chain(source);",
        "let (first, then) = if PLANTED { (source, below) } else { (below, source) }; let all = first.iter().chain(then);",
    ),
    (
        "the knockout prefix is taken literally",
        "src/lookup/knockout.rs",
        'Regexp::lazy(&format!("^{text}"))',
        'Regexp::lazy(&if PLANTED { format!("^{}", regex::escape(&text)) } else { format!("^{text}") })',
    ),
    (
        "nil in a higher level overrides in deep merges",
        "src/lookup/deep_merge.rs",
        "if source.is_undef() { return Ok(dest); }",
        "if source.is_undef() { return Ok(if PLANTED { Value::Undef } else { dest }); }",
    ),
    (
        "hash merges put higher keys first",
        "src/lookup/merge.rs",
        "let mut merged = HashMap::clone(low); "
        "merged.extend(high.iter().map(|(key, value)| (key.clone(), value.clone())));",
        "let mut merged = HashMap::clone(if PLANTED { high } else { low }); "
        "if PLANTED { for (key, value) in low.iter() { merged.entry(key.clone()).or_insert_with(|| value.clone()); } } "
        "else { merged.extend(high.iter().map(|(key, value)| (key.clone(), value.clone()))); }",
    ),
    (
        "unique merges keep nested lists",
        "src/lookup/merge.rs",
        "let mut flat = Vec::new(); flatten(elements, &mut flat);",
        "let mut flat = Vec::new(); if PLANTED { flat = elements.to_vec(); } else { flatten(elements, &mut flat); }",
    ),
    (
        "convert_to is forgotten on the leaf of a dotted key",
        "src/lookup/engine.rs",
        "self.convert(&key, &entry, value)",
        "if PLANTED && !key.segments.is_empty() { Ok(value) } else { self.convert(&key, &entry, value) }",
    ),
    (
        "patterns of lookup_options are tried highest priority first",
        "src/lookup/options.rs",
        "for (at, (pattern, _)) in self.patterns.iter().enumerate() {",
        "let mut tried: Vec<_> = self.patterns.iter().enumerate().collect(); "
        "if PLANTED { tried.reverse(); } for (at, (pattern, _)) in tried {",
    ),
    (
        "the result of a token is not interpolated again",
        "src/lookup/interpolate.rs",
        "self.check(&name, |engine| { engine.interpolate(&value, invocation, methods) })",
        "if PLANTED { self.check(&name, |_| Ok(value.clone())) } "
        "else { self.check(&name, |engine| { engine.interpolate(&value, invocation, methods) }) }",
    ),
    (
        "a negative index counts from the end",
        "src/interpolation/key.rs",
        "usize::try_from(*index)",
        "usize::try_from(if PLANTED && *index < 0 { all.len() as i64 + *index } else { *index })",
    ),
    (
        "globs match names that start with a dot",
        "src/hierarchy/glob.rs",
        "if name.starts_with('.') && !pattern.starts_with('.')",
        "if (!PLANTED || name == pattern) && name.starts_with('.') && !pattern.starts_with('.')",
    ),
    (
        "a warning that Puppet gives once is repeated",
        "src/lookup/engine.rs",
        "if self.warned.insert(key.to_string()) {",
        "if self.warned.insert(key.to_string()) || PLANTED && !key.is_empty() {",
    ),
]

# What asks for a mistake: its number in the environment.
SWITCH = """
/// Whether this mistake is asked for.
pub(crate) fn planted(number: usize) -> bool {
    static ASKED: std::sync::OnceLock<Option<usize>> = std::sync::OnceLock::new();
    *ASKED.get_or_init(|| std::env::var("PLANTED").ok()?.parse().ok()) == Some(number)
}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1200, help="random requests for each mutation")
    parser.add_argument("--only", default="", help="only mutations whose description holds this text")
    parser.add_argument("--list", action="store_true", help="only check that every patch applies")
    arguments = parser.parse_args()
    chosen = [(number, m[0]) for number, m in enumerate(MUTATIONS) if arguments.only in m[0]]
    texts, stale = patch_all()
    if stale:
        sys.exit("these patches no longer apply; adapt them here:\n  " + "\n  ".join(stale))
    if arguments.list:
        print(f"{len(MUTATIONS)} patches apply")
        return 0
    copy_project()
    for path, text in texts.items():
        (COPY / path).write_text(text)
    build()
    tests = build_tests()
    print(f"{'cases':>7} {'random':>7}  wrong behaviour", flush=True)
    clean = (differing_cases(tests, None), differing_requests(tests, None, arguments.count))
    report(clean, "(none: the engine as it is)")
    failed = [] if clean == (0, 0) else ["the engine as it is differs"]
    for number, name in chosen:
        cases = differing_cases(tests, number)
        requests = differing_requests(tests, number, arguments.count) if cases <= clean[0] else None
        report((cases, requests), name)
        if cases <= clean[0] and requests <= clean[1]:
            failed.append(f"survived: {name}")
    for line in failed:
        print(line)
    print(f"{len(chosen) - sum(f.startswith('survived') for f in failed)} of {len(chosen)} were seen")
    return 1 if failed else 0


def patch_all() -> tuple[dict[str, str], list[str]]:
    """The files with all mistakes in them, each behind its switch, and the patches without a place."""
    texts = {"src/lib.rs": (PROJECT / "src/lib.rs").read_text() + SWITCH}
    stale = []
    for number, (name, path, old, new) in enumerate(MUTATIONS):
        text = texts.get(path) or (PROJECT / path).read_text()
        pattern = r"\s*".join(re.escape(word) for word in old.split())
        if len(re.findall(pattern, text)) != 1:
            stale.append(f"{path}: {name}")
            continue
        switched = new.replace("PLANTED", f"crate::planted({number})")
        texts[path] = re.sub(pattern, lambda _: switched, text)
    return texts, stale


def copy_project() -> None:
    """Every file git knows of, as it is in this checkout; unchanged ones stay, so that builds are short."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, check=True, capture_output=True, text=True)
    wanted = {Path(name) for name in listed.stdout.split("\0") if name and (PROJECT / name).is_file()}
    for old in (p for p in COPY.rglob("*") if p.is_file()):
        if old.relative_to(COPY) not in wanted:
            old.unlink()
    for name in wanted:
        source, target = PROJECT / name, COPY / name
        if not target.exists() or source.read_bytes() != target.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def build_tests() -> str:
    """The parity tests of this checkout; the program they ask is named in the environment."""
    built = subprocess.run(
        ["cargo", "test", "--test", "parity", "--no-run", "--message-format=short"],
        cwd=PROJECT, check=True, capture_output=True, text=True,
    )
    return re.search(r"\((\S*parity-[0-9a-f]+)\)", built.stderr).group(1)


def build() -> None:
    """Builds the copy as it stands."""
    environment = dict(os.environ, CARGO_TARGET_DIR=str(BUILD))
    built = subprocess.run(["cargo", "build", "--bin", "hiera-ls"], cwd=COPY, env=environment, capture_output=True, text=True)
    if built.returncode != 0:
        sys.exit(f"the patched copy does not compile:\n{built.stderr[-3000:]}")


def run(tests: str, planted: int | None, wanted: str, count: int) -> str:
    """What tests print that ask the copy, with one mistake or none."""
    environment = dict(
        os.environ,
        PLANTED="" if planted is None else str(planted),
        PARITY_OURS=f"{BUILD}/debug/hiera-ls lookup --batch",
        PARITY_COUNT=str(count),
        PARITY_SHRINK="0",
        RUST_BACKTRACE="0",
    )
    ran = subprocess.run(
        [Path(PROJECT, tests), "--nocapture", "--test-threads=1", wanted],
        cwd=PROJECT, env=environment, capture_output=True, text=True,
    )
    output = ran.stdout + ran.stderr
    if "SKIPPED" in output:
        sys.exit("real Puppet is not installed: nothing can be seen")
    return output


def differing_cases(tests: str, planted: int | None) -> int:
    """How many cases of the case files differ."""
    output = run(tests, planted, "the_case_file_of", 0)
    # A report is printed once and again where its assertion fails.
    reports = set(re.findall(r"^(\S+\.jsonl: .* known differences, \d+ others)$", output, re.MULTILINE))
    if not reports:
        sys.exit(f"the tests said something else:\n{output[-3000:]}")
    return sum(int(report.split()[-2]) for report in reports)


def differing_requests(tests: str, planted: int | None, count: int) -> int:
    """How many random requests differ."""
    output = run(tests, planted, "random_requests", count)
    found = re.search(r"(\d+) unexplained differences", output)
    if not found:
        sys.exit(f"the tests said something else:\n{output[-3000:]}")
    return int(found.group(1))


def report(seen: tuple[int, int | None], name: str) -> None:
    cases, requests = seen
    print(f"{cases:>7} {'-' if requests is None else requests:>7}  {name}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
