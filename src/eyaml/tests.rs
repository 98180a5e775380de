//! Decryption, compared with a table that `tests/eyaml/make.rb` made with the real hiera-eyaml.

use super::*;
use crate::eyaml::{BlobProblem, Encryptor, Recipient, block, scan_source};

fn unhex(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

fn private_key(name: &str) -> &'static [u8] {
    match name {
        "first" => include_bytes!("../../tests/eyaml/test-only-first.private.pem"),
        "second" => include_bytes!("../../tests/eyaml/test-only-second.private.pem"),
        _ => include_bytes!("../../tests/eyaml/test-only-third.private.pem"),
    }
}

fn certificate(name: &str) -> &'static [u8] {
    match name {
        "first" => include_bytes!("../../tests/eyaml/test-only-first.certificate.pem"),
        "second" => include_bytes!("../../tests/eyaml/test-only-second.certificate.pem"),
        _ => include_bytes!("../../tests/eyaml/test-only-third.certificate.pem"),
    }
}

fn keys(name: &str) -> Keys {
    Keys::from_pem(private_key(name), certificate(name)).unwrap()
}

const TABLE: &str = include_str!("../../tests/eyaml/blobs.tsv");

#[test]
fn decrypts_as_hiera_eyaml_does() {
    let mut checked = 0;
    for line in TABLE.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [text, private, public, kind, expected] = fields[..] else {
            panic!("bad line {line}")
        };
        let text = String::from_utf8(unhex(text)).unwrap();
        let keys = Keys::from_pem(private_key(private), certificate(public));
        match (keys.and_then(|keys| decrypt(&text, &keys)), kind) {
            (Ok(value), "ok") => {
                let bytes = if let Value::Bytes(bytes) = &value {
                    bytes.to_vec()
                } else {
                    value.to_s().into_bytes()
                };
                assert_eq!(bytes, unhex(expected), "{text}");
            }
            (Err(error), "error") => assert_eq!(error.to_string(), expected, "{text}"),
            (outcome, _) => panic!("{text}: {outcome:?}, not {kind} {expected}"),
        }
        checked += 1;
    }
    assert!(checked > 90, "{checked}");
}

#[test]
fn recipients_are_read_in_the_open() {
    let mut issuers = std::collections::BTreeSet::new();
    for line in TABLE.lines() {
        let text = String::from_utf8(unhex(line.split('\t').next().unwrap())).unwrap();
        for blob in scan(&text).blobs {
            issuers.extend(blob.recipients.iter().map(Recipient::to_string));
        }
    }
    // Keys made by `eyaml createkeys` name no issuer, whatever their subject.
    let expected = [
        "certificate 1",
        "certificate 8F00000000000001 of CN=Test Authority,O=Example,C=XX",
    ];
    assert!(issuers.iter().eq(expected), "{issuers:?}");
}

#[test]
fn gpg_recipients() {
    use base64::Engine as _;
    let engine = base64::engine::general_purpose::STANDARD;
    let mut packet = vec![0x84, 12, 3, 0xab, 0xcd, 0xef, 1, 2, 3, 4, 5, 1, 0, 0];
    packet.extend([0xc1, 12, 3, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0xd2, 1, 0]);
    let text = format!("ENC[GPG,{}]", engine.encode(&packet));
    let blob = &scan(&text).blobs[0];
    assert_eq!(blob.size, packet.len());
    let ids: Vec<String> = blob.recipients.iter().map(Recipient::to_string).collect();
    assert_eq!(
        ids,
        [
            "OpenPGP key ABCDEF0102030405",
            "OpenPGP key 0000000000000000"
        ]
    );
    assert_eq!(
        scan("ENC[GPG,aGVsbG8=]").blobs[0].problem,
        Some(BlobProblem::NotAnEnvelope)
    );
}

#[test]
fn broken_blobs_are_refused_with_a_reason() {
    let problem = |text: &str| {
        let found = scan(text);
        match (found.blobs.first(), found.broken.first()) {
            (Some(blob), None) => blob.problem,
            (None, Some(broken)) => Some(broken.problem),
            _ => panic!("{text}: {found:?}"),
        }
    };
    for (text, expected) in [
        ("ENC[PKCS7,abc", Some(BlobProblem::Unterminated)),
        ("ENC[", Some(BlobProblem::Unterminated)),
        ("ENC[]", Some(BlobProblem::Empty)),
        ("ENC[PKCS7,]", Some(BlobProblem::Empty)),
        ("ENC[PKCS7, ]", Some(BlobProblem::Empty)),
        ("ENC[é]", Some(BlobProblem::BadCharacter { offset: 4 })),
        (
            "ENC[PKCS7,ab_c]",
            Some(BlobProblem::BadCharacter { offset: 12 }),
        ),
        ("ENC[PKCS7,aGVsbG8=]", Some(BlobProblem::NotAnEnvelope)),
        ("ENC[PKCS7,aGVsbG8]", Some(BlobProblem::Truncated)),
        ("ENC[KMS,aGVsbG8=]", None),
    ] {
        assert_eq!(problem(text), expected, "{text}");
    }
    let nested = scan("ENC[ENC[KMS,aGVsbG8=]");
    assert_eq!((nested.blobs.len(), nested.broken.len()), (1, 1));
    assert_eq!(scan("ENC[KMS,aGVs\r\n\tbG8=]").blobs.len(), 0);
    assert_eq!(scan_source("ENC[KMS,aGVs\r\n\tbG8=]").blobs[0].size, 5);
}

#[test]
fn a_literal_block_is_not_encrypted() {
    assert!(!is_encrypted("ENC[PKCS7,abc\ndef]"));
    assert!(is_encrypted("x\nENC[PKCS7,abc def]"));
    let text = "ENC[PKCS7,abc\ndef]\n";
    assert_eq!(decrypt(text, &keys("first")).unwrap(), Value::from(text));
}

#[test]
fn one_blob_is_opened_alone_and_whole() {
    let row = TABLE
        .lines()
        .find(|row| row.ends_with("\t74776f0a6c696e65730a"));
    let lines = String::from_utf8(unhex(row.unwrap().split('\t').next().unwrap())).unwrap();
    let text = format!(
        "'before {} behind\r\n\t'",
        lines.replacen("PKCS7,", "PKCS7,\r\n\t", 1)
    );
    let found = scan_source(&text);
    let opened = decrypt_blob(&text, &found.blobs[0], &keys("first"));
    // No line break is removed, unlike at the end of a whole string.
    assert_eq!(opened.unwrap(), b"two\nlines\n\n");
    let gpg = "ENC[GPG,aGVsbG8=]";
    let method = "GPG".to_owned();
    assert_eq!(
        decrypt_blob(gpg, &scan(gpg).blobs[0], &keys("first")),
        Err(EyamlError::Method { method })
    );
}

#[test]
fn debug_texts_contain_no_secrets() {
    assert_eq!(format!("{:?}", keys("third")), "Keys(redacted)");
    let error = Keys::from_pem(b"-----BEGIN RSA PRIVATE KEY-----\nsecret\n", b"").unwrap_err();
    assert_eq!(format!("{error:?}"), "PrivateKey");
    let message = EyamlError::BadDecrypt.message("ENC[x]", "a::b", "/data/common.yaml");
    let expected = "hiera-eyaml backend error decrypting ENC[x] when looking up a::b in \
                    /data/common.yaml. Error was bad decrypt";
    assert_eq!(message, expected);
}

#[test]
fn encrypted_values_can_be_decrypted() {
    for name in ["first", "second", "third"] {
        let encryptor = Encryptor::from_pem(certificate(name)).unwrap();
        for text in ["", "s3cret", "ü\n\nx", &"long ".repeat(1000)] {
            let blob = encryptor.encrypt(text.as_bytes()).unwrap();
            assert_eq!(scan(&blob).blobs[0].problem, None);
            assert_eq!(decrypt(&blob, &keys(name)).unwrap(), Value::from(text));
            assert_ne!(blob, encryptor.encrypt(text.as_bytes()).unwrap());
        }
    }
    assert!(Encryptor::from_pem(b"").is_err());
    assert!(Encryptor::from_pem(private_key("third")).is_err());
}

#[test]
fn a_block_has_lines_of_sixty_characters() {
    let text = block(&"x".repeat(130), "  ");
    let lines: Vec<usize> = text.lines().map(str::len).collect();
    assert_eq!((lines, &text[..5]), (vec![1, 62, 62, 12], ">\n  x"));
}

proptest::proptest! {
    #[test]
    fn scanning_never_panics(text in "(ENC\\[|PKCS7,|[a-zA-Z0-9+/= \n]{0,8}|\\]|.){0,20}") {
        let found = scan(&text);
        for blob in &found.blobs {
            let range = blob.range.slice(&text);
            proptest::prop_assert!(range.starts_with("ENC[") && range.ends_with(']'));
        }
    }
}
