//! No content of a repository makes the program hang or run out of memory or stack: every exceeded
//! limit is an error that names it, or makes an answer unknown and names it there.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const ONE_FILE: &str = "version: 5\nhierarchy:\n  - {name: C, path: c.yaml}\n";

/// A request that exceeds a limit, and the limit's message.
struct Excess {
    files: Vec<(String, String)>,
    request: Value,
    message: &'static str,
}

fn excess(
    configuration: &str,
    files: &[(&str, &str)],
    request: Value,
    message: &'static str,
) -> Excess {
    let own = files
        .iter()
        .map(|(path, text)| (format!("data/{path}"), (*text).to_owned()));
    let mut files = vec![("hiera.yaml".to_owned(), configuration.to_owned())];
    files.extend(own);
    Excess {
        files,
        request,
        message,
    }
}

/// The same with a single file of YAML.
fn data(text: &str, request: Value, message: &'static str) -> Excess {
    excess(ONE_FILE, &[("c.yaml", text)], request, message)
}

fn nested(depth: usize, inside: &str) -> String {
    format!("{}{inside}{}", "[".repeat(depth), "]".repeat(depth))
}

/// Lines `aN: …` that each refer to the previous line.
fn chain(first: &str, length: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = format!("a0: {first}\n");
    for i in 1..length {
        let _ = writeln!(text, "a{i}: {}", line(i - 1));
    }
    text
}

fn of_syntax() -> Vec<Excess> {
    let of = |function: &str, path: &str| {
        format!("version: 5\nhierarchy:\n  - {{name: C, data_hash: {function}, path: {path}}}\n")
    };
    let laughs = chain("&a0 [x, x, x, x, x, x, x, x, x, x]", 9, |below| {
        format!(
            "&a{} [{}]",
            below + 1,
            vec![format!("*a{below}"); 10].join(", ")
        )
    });
    vec![
        data(
            &format!("k: {}\n", nested(600, "")),
            json!({"key": "k"}),
            "collections nested deeper than the limit of 500",
        ),
        data(
            &laughs,
            json!({"key": "a8"}),
            "aliases expand to more than the limit of 1000000 nodes",
        ),
        data(
            "a: &a [*a]\n",
            json!({"key": "a"}),
            "anchor 'a' contains itself",
        ),
        excess(
            &of("json_data", "c.json"),
            &[("c.json", &format!("{{\"k\": {}}}", nested(600, "")))],
            json!({"key": "k"}),
            "nesting of 101 is too deep",
        ),
        excess(
            &of("hocon_data", "c.conf"),
            &[("c.conf", &format!("k: {}", nested(600, "")))],
            json!({"key": "k"}),
            "nesting of 128 is too deep",
        ),
    ]
}

fn of_interpolation() -> Vec<Excess> {
    let twice = |method: &str, below: usize| format!("%{{{method}('a{below}')}}");
    vec![
        data(
            &chain(&"x".repeat(1000), 40, |below| {
                format!("\"{0}{0}\"", twice("lookup", below))
            }),
            json!({"key": "a30"}),
            "interpolation made more than 67108864 bytes of text",
        ),
        data(
            &chain("x", 40, |below| {
                format!("[\"{0}\", \"{0}\"]", twice("alias", below))
            }),
            json!({"key": "a30"}),
            "more than 100000 nested lookups for one key",
        ),
        data(
            &chain("x", 400, |below| format!("\"{}\"", twice("lookup", below))),
            json!({"key": "a300"}),
            "lookups nested deeper than 120",
        ),
    ]
}

fn of_merges() -> Vec<Excess> {
    let wide = format!(
        "b: &b [{}]\nbig: [{}]\n",
        vec!["x"; 1000].join(", "),
        vec!["*b"; 900].join(", ")
    );
    let levels =
        |names: &str| format!("version: 5\nhierarchy:\n  - {{name: C, paths: [{names}]}}\n");
    let repeated = format!(
        "{wide}k: [{}]\n",
        vec!["\"%{alias('big')}\""; 60].join(", ")
    );
    let tokens = repeated.replacen("[x, ", "['%{facts.x}', ", 1);
    let hashes = |inside: &str| format!("{}{inside}{}", "{a: ".repeat(400), "}".repeat(400));
    let deep = chain(&hashes("b"), 6, |below| {
        hashes(&format!("\"%{{alias('a{below}')}}\""))
    });
    vec![
        excess(
            &levels(&vec!["c.yaml"; 60].join(", ")),
            &[(
                "c.yaml",
                &wide.replace("big: [", "big: {k: [").replace("*b]", "*b]}"),
            )],
            json!({"key": "big", "merge": "hash"}),
            "one key has more than 30000000 values to interpolate and merge",
        ),
        data(
            &repeated,
            json!({"key": "k"}),
            "one key has more than 30000000 values",
        ),
        data(
            &tokens,
            json!({"key": "k"}),
            "one key has more than 30000000 values",
        ),
        excess(
            &levels("c.yaml, d.yaml"),
            &[("c.yaml", &deep), ("d.yaml", &deep)],
            json!({"key": "a3", "merge": "deep"}),
            "values nested deeper than 512 are not merged",
        ),
    ]
}

/// Ruby patterns that no engine here can run, and values that only Puppet's own process knows.
fn of_unsupported() -> Vec<Excess> {
    let option =
        |pattern: &str| format!("lookup_options: {{'{pattern}': {{merge: first}}}}\nk: 1\n");
    let key = || json!({"key": "k"});
    vec![
        data(&option(r"^k\X"), key(), "regular expression not supported"),
        data(
            &option("^(?~(?~k))"),
            key(),
            "regular expression not supported",
        ),
        excess(
            "version: 5\nhierarchy:\n  - {name: C, data_hash: hocon_data, path: c.conf}\n",
            &[("c.conf", "k = ${HOME}\n")],
            key(),
            "Could not resolve substitution to a value: ${HOME}",
        ),
    ]
}

fn of_patterns() -> Vec<Excess> {
    let option =
        |pattern: &str| format!("lookup_options:\n  ? '{pattern}'\n  : {{merge: first}}\nk: 1\n");
    let runaway = format!("{}!", "a".repeat(64));
    vec![
        data(
            &option(r"^(?=a)(a|aa|\1)+$"),
            json!({"key": runaway}),
            "regular expression takes too many steps",
        ),
        excess(
            "version: 5\nhierarchy:\n  - {name: C, paths: [c.yaml, d.yaml]}\n",
            &[
                ("c.yaml", &format!("k: ['{runaway}']\n")),
                ("d.yaml", "k: [b]\n"),
            ],
            json!({"key": "k", "merge": {"strategy": "deep", "knockout_prefix": r"(?=a)(a|aa|\1)+$"}}),
            "regular expression takes too many steps",
        ),
        data(
            &option(&format!("^{}", "a".repeat(70_000))),
            json!({"key": "k"}),
            "the pattern is longer than 65536 bytes",
        ),
        data(
            &option(&format!("^{}a{}", "(".repeat(200), ")".repeat(200))),
            json!({"key": "k"}),
            "groups are nested more than 120 deep",
        ),
    ]
}

fn of_locations() -> Vec<Excess> {
    let level = |location: &str| format!("version: 5\nhierarchy:\n  - {{name: C, {location}}}\n");
    let deep = format!("{}a.yaml", "d/".repeat(80));
    vec![
        excess(
            &level("mapped_paths: [facts.list, x, 'c%{x}.yaml']"),
            &[],
            json!({"key": "k", "facts": {"list": vec!["x"; 100_001]}}),
            "level 'C' has more than 100000 locations",
        ),
        excess(
            &level(&format!("glob: '{}.yaml'", "{a,b}".repeat(14))),
            &[],
            json!({"key": "k"}),
            "has braces for more than 4096 patterns",
        ),
        excess(
            &level("glob: '**/*.yaml'"),
            &[(&deep, "k: 1\n")],
            json!({"key": "k"}),
            "leads into more than 64 folders",
        ),
    ]
}

fn of_types() -> Vec<Excess> {
    let mut aliases = data(
        "k: 1\n",
        json!({"key": "k", "value_type": "M::T99"}),
        "type aliases are nested too deeply",
    );
    for i in 0..100 {
        let path = format!("modules/m/types/t{i}.pp");
        let below = if i == 0 {
            "String".into()
        } else {
            format!("M::T{}", i - 1)
        };
        aliases
            .files
            .push((path, format!("type M::T{i} = Array[{below}]\n")));
    }
    let wanted = |text: String| json!({"key": "k", "value_type": text});
    vec![
        aliases,
        data(
            "k: 1\n",
            wanted(format!("{}String{}", "Array[".repeat(100), "]".repeat(100))),
            "code is nested too deeply",
        ),
        data(
            "k: 1\n",
            wanted(format!("Enum[{}]", vec!["'abcdefghij'"; 30_000].join(","))),
            "type expression is too long",
        ),
        data(
            "k: 10000000\nlookup_options: {k: {convert_to: Array}}\n",
            json!({"key": "k"}),
            "counting to 10000000 gives too long a list",
        ),
        data(
            &format!(
                "k: {}\nlookup_options: {{k: {{convert_to: String}}}}\n",
                nested(300, "")
            ),
            json!({"key": "k"}),
            "value is nested too deeply to be converted to a string",
        ),
    ]
}

#[test]
fn every_bound_names_itself() {
    let folder = tempfile::tempdir().unwrap();
    let all = [
        of_syntax(),
        of_interpolation(),
        of_merges(),
        of_patterns(),
        of_unsupported(),
        of_locations(),
        of_types(),
    ];
    let all: Vec<Excess> = all.into_iter().flatten().collect();
    let mut requests = String::new();
    for (number, one) in all.iter().enumerate() {
        let environment = folder.path().join(number.to_string());
        for (path, text) in &one.files {
            let path = environment.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut request = one.request.clone();
        request["environment_dir"] = environment.to_str().unwrap().into();
        request["puppet_version"] = 7.into();
        let _ = writeln!(requests, "{request}");
    }
    let answers = answer(requests.as_bytes());
    assert_eq!(answers.len(), all.len(), "an answer for every request");
    for (one, answer) in all.iter().zip(&answers) {
        let error = answer["error"].as_str().or(answer["unknown"].as_str());
        let error = error.unwrap_or_default();
        let request = one.request.to_string();
        let shown: String = request.chars().take(200).collect();
        assert!(
            error.contains(one.message),
            "{shown}\n{error} does not say {:?}",
            one.message
        );
    }
    eprintln!("{} bounds", all.len());
}

#[test]
fn an_endless_request_is_refused() {
    let answers = answer(&vec![b'x'; (64 << 20) + 2]);
    let [only] = answers.as_slice() else {
        panic!("{answers:?}")
    };
    assert_eq!(only["error"], "a request is longer than 67108864 bytes");
}

/// The program's answers to a whole input.
fn answer(input: &[u8]) -> Vec<Value> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hiera-ls"))
        .args(["lookup", "--batch"])
        .current_dir(Path::new("/"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // The program may stop reading.
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().unwrap()
    });
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
