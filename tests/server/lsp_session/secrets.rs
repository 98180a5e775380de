//! Encrypted values: their plain text is shown on request, one value at a time, if the user has
//! turned decryption on; no other message of the server contains any of it.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::VSCODE;
use super::commands::percent_decoded;
use super::program::{PLAIN_CLIENT, Program, uri};

/// Blobs made by the real hiera-eyaml: the blob, the key, `ok`, and the plain text, in hex.
const BLOBS: &str = include_str!("../../eyaml/blobs.tsv");

/// A plain text that occurs nowhere else.
const PLAIN: &str = "é ü 日本語 😀";

fn of_hex(hex: &str) -> Option<String> {
    let digits = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    String::from_utf8(hex.as_bytes().chunks(2).map(digits).collect()).ok()
}

/// The first blob with this key name and plain text.
fn blob(key: &str, plain: &str) -> String {
    let rows = BLOBS.lines().map(|row| row.split('\t').collect::<Vec<_>>());
    let mut fitting = rows.filter(|row| {
        row[1] == key && row[2] == key && row[3] == "ok" && of_hex(row[4]).as_deref() == Some(plain)
    });
    of_hex(fitting.next().expect("a blob")[0]).unwrap()
}

struct Sealed {
    folder: PathBuf,
    file: PathBuf,
    text: String,
    _temporary: tempfile::TempDir,
}

impl Sealed {
    fn new() -> Sealed {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().canonicalize().unwrap();
        let (ours, spoken) = (blob("first", PLAIN), blob("first", "hello"));
        let theirs = blob("second", "for the second");
        let authority = blob("third", "for the third");
        let (start, end) = ours.split_at(100);
        let text = format!(
            "db::password: {ours}\ndb::users:\n  admin: >\n    {start}\n    {end}\n  \
             two: 'a {spoken} and {ours}'\ntheirs: {theirs}\ngpg: ENC[GPG,aGVsbG8=]\n\
             broken: ENC[PKCS7,#]\nplain: text\nuses: \"%{{lookup('db::password')}}\"\n\
             authority: {authority}\n"
        );
        let hiera = "version: 5\nhierarchy:\n  - name: sealed\n    lookup_key: eyaml_lookup_key\n    \
                     path: sealed.eyaml\n    options: {pkcs7_private_key: /none, pkcs7_public_key: /none}\n";
        std::fs::create_dir(folder.join("data")).unwrap();
        std::fs::write(folder.join("hiera.yaml"), hiera).unwrap();
        let nodes = r#"{"a.x": {"facts": {}}, "b.x": {"facts": {}}}"#;
        std::fs::write(folder.join("nodes.json"), nodes).unwrap();
        let file = folder.join("data/sealed.eyaml");
        std::fs::write(&file, &text).unwrap();
        Sealed {
            folder,
            file,
            text,
            _temporary: temporary,
        }
    }

    /// The position of the `nth` encrypted value, inside it.
    fn place(&self, nth: usize) -> Value {
        let at = self.text.match_indices("ENC[").nth(nth).unwrap().0 + 2;
        let before = &self.text[..at];
        let line = before.matches('\n').count();
        let column = at - before.rfind('\n').map_or(0, |at| at + 1);
        json!({ "uri": uri(&self.file), "position": { "line": line, "character": column } })
    }

    fn hover(&self, program: &mut Program, nth: usize) -> String {
        let place = self.place(nth);
        let file = place["uri"].as_str().unwrap();
        program.hover_at(file, &place["position"]).unwrap()
    }
}

fn key_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/eyaml")
        .join(name)
}

fn decrypting() -> Value {
    json!({
        "decrypt": true,
        "pkcs7PrivateKey": key_file("test-only-first.private.pem"),
        "pkcs7PublicKey": key_file("test-only-first.certificate.pem"),
        "hover": { "maxLines": 1000 },
    })
}

#[test]
fn the_plain_text_of_one_encrypted_value_is_behind_the_link_of_its_hover() {
    let sealed = Sealed::new();
    let mut program = Program::start(&sealed.folder, &decrypting(), VSCODE);
    program.open(&sealed.file);
    let hover = sealed.hover(&mut program, 0);
    assert!(
        hover.contains("encrypted with PKCS7") && !hover.contains(PLAIN),
        "{hover}"
    );
    let link = hover.split("  \n[show the plain text](command:hiera.reveal?");
    let link = link.last().unwrap().strip_suffix(')').expect("a link");
    let arguments: Value = serde_json::from_str(&percent_decoded(link)).unwrap();
    assert_eq!(arguments[0]["uri"], uri(&sealed.file).as_str());
    let shown = program.command("hiera.reveal", &arguments[0]);
    let title = "Plain text of db::password in data/sealed.eyaml:1";
    assert_eq!(
        shown,
        json!({
            "title": title, "language": "text", "content": PLAIN, "secret": true,
            "uri": "hiera-ls:/Plain%20text%20of%20db%3A%3Apassword%20in%20data%2Fsealed.eyaml%3A1",
        })
    );
    // A folded one; and of two in one string exactly the requested one.
    let mut content = |nth| program.command("hiera.reveal", &sealed.place(nth))["content"].clone();
    assert_eq!(
        [content(1), content(2), content(3)],
        [PLAIN, "hello", PLAIN]
    );
    program.end();
}

#[test]
fn values_that_cannot_be_decrypted_have_a_reason() {
    let sealed = Sealed::new();
    let mut program = Program::start(&sealed.folder, &decrypting(), VSCODE);
    program.open(&sealed.file);
    let of_second = sealed.hover(&mut program, 4);
    assert!(of_second.contains("hiera.reveal"), "{of_second}");
    let mut refused = |place: &Value| program.refused("hiera.reveal", place).1;
    assert_eq!(
        refused(&sealed.place(4)),
        "the key in the settings cannot decrypt this value: it is for another key, or damaged"
    );
    assert_eq!(
        refused(&sealed.place(7)),
        "the key in the settings cannot decrypt this value: it is encrypted for certificate \
         8F00000000000001 of CN=Test Authority,O=Example,C=XX"
    );
    assert_eq!(
        refused(&sealed.place(5)),
        "this value is encrypted with GPG: only PKCS7 can be decrypted here"
    );
    assert_eq!(
        refused(&sealed.place(6)),
        "what begins here is not an encrypted value: it has a character that is not base64"
    );
    let on_key = json!({ "uri": uri(&sealed.file), "position": { "line": 0, "character": 2 } });
    assert_eq!(
        refused(&on_key),
        "there is no encrypted value at this place"
    );
    let by_name = json!({ "uri": uri(&sealed.file), "key": "db::password" });
    assert_eq!(
        refused(&by_name),
        "'hiera.reveal' needs {\"uri\": a file, \"position\"}"
    );
    for nth in [5, 6] {
        let hover = sealed.hover(&mut program, nth);
        assert!(!hover.contains("hiera.reveal"), "{hover}");
    }
    program.end();
}

#[test]
fn without_decryption_nothing_opens_an_encrypted_value() {
    let sealed = Sealed::new();
    let off = json!({
        "pkcs7PrivateKey": key_file("test-only-first.private.pem"),
        "pkcs7PublicKey": key_file("test-only-first.certificate.pem"),
    });
    let missing = json!({
        "decrypt": true,
        "pkcs7PrivateKey": sealed.folder.join("none.pem"),
        "pkcs7PublicKey": key_file("test-only-first.certificate.pem"),
    });
    for (settings, why) in [
        (
            off,
            "decryption is off: 'hiera-ls.decrypt' in the user's settings turns it on, with the \
             keys in 'hiera-ls.pkcs7PrivateKey' and 'hiera-ls.pkcs7PublicKey'",
        ),
        (
            missing,
            "there are no keys to decrypt with: 'hiera-ls.pkcs7PrivateKey' and \
             'hiera-ls.pkcs7PublicKey' must name a private key and its certificate",
        ),
    ] {
        let mut program = Program::start(&sealed.folder, &settings, VSCODE);
        program.open(&sealed.file);
        let hover = sealed.hover(&mut program, 0);
        assert!(!hover.contains("hiera.reveal"), "{hover}");
        let refused = program.refused("hiera.reveal", &sealed.place(0));
        assert_eq!(refused, (-32602, why.to_owned()));
        program.end();
    }
}

#[test]
fn a_client_without_links_gets_the_command() {
    let sealed = Sealed::new();
    let mut program = Program::start(&sealed.folder, &decrypting(), "Neovim");
    program.open(&sealed.file);
    let hover = sealed.hover(&mut program, 0);
    assert!(
        hover.ends_with("  \nplain text: command hiera.reveal"),
        "{hover}"
    );
    program.end();
}

#[test]
fn a_secret_is_written_to_no_file() {
    let sealed = Sealed::new();
    let state = tempfile::tempdir().unwrap();
    let mut program =
        Program::start_again(&sealed.folder, &decrypting(), PLAIN_CLIENT, state.path());
    program.open(&sealed.file);
    let shown = program.command("hiera.reveal", &sealed.place(0));
    assert_eq!(shown["content"], PLAIN);
    let notification = program.wait("a message", |message| {
        message["method"] == "window/showMessage"
    });
    let message = notification["params"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("the plain text is not shown"),
        "{message}"
    );
    assert_eq!(std::fs::read_dir(state.path()).unwrap().count(), 0);
    program.end();
}

#[test]
fn with_decryption_no_other_answer_contains_a_plain_text() {
    let sealed = Sealed::new();
    let mut settings = decrypting();
    settings["codeLens"] = super::commands::all_lenses()["codeLens"].clone();
    let mut program = Program::start(&sealed.folder, &settings, VSCODE);
    program.notify("$/setTrace", &json!({ "value": "verbose" }));
    program.open(&sealed.file);
    let file = json!({ "uri": uri(&sealed.file) });
    let mut answers = String::new();
    for nth in 0..5 {
        answers += &sealed.hover(&mut program, nth);
    }
    for key in ["db::password", "db::users", "uses"] {
        let line = sealed.text.lines().position(|line| line.starts_with(key));
        let at =
            json!({ "textDocument": file, "position": { "line": line.unwrap(), "character": 1 } });
        answers += &program.ask("textDocument/hover", &at).to_string();
        let arguments = json!({ "uri": uri(&sealed.file), "key": key, "data": true });
        for command in ["hiera.value", "hiera.matrix", "hiera.explain", "hiera.uses"] {
            answers += &program.command(command, &arguments).to_string();
        }
    }
    let between = json!({ "uri": uri(&sealed.file), "from": "a.x", "to": "b.x", "data": true });
    answers += &program.command("hiera.diff", &between).to_string();
    program.rewrite(
        &sealed.file,
        &sealed.text.replace("plain: text", "plain: other"),
    );
    answers += &program
        .command(
            "hiera.impact",
            &json!({ "uri": uri(&sealed.file), "data": true }),
        )
        .to_string();
    answers += &program
        .ask("textDocument/codeLens", &json!({ "textDocument": file }))
        .to_string();
    let whole = json!({
        "textDocument": file,
        "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } },
    });
    answers += &program.ask("textDocument/inlayHint", &whole).to_string();
    // The requested value is only in its own answer.
    let shown = program.command("hiera.reveal", &sealed.place(0));
    assert_eq!(shown["content"], PLAIN);
    program.ask(
        "textDocument/hover",
        &json!({
            "textDocument": file, "position": { "line": 0, "character": 1 },
        }),
    );
    let has_plain_text = |message: &Value| message.to_string().contains("日本");
    assert!(
        !program.has_received(has_plain_text),
        "a message beside the answer has it"
    );
    assert!(program.has_received(|message| message["method"] == "$/logTrace"));
    assert!(
        !answers.contains("日本") && answers.contains("(encrypted, PKCS7)"),
        "{answers}"
    );
    program.end();
}
