//! Reads the unencrypted part of a payload: its recipients.

use std::fmt;

use cms::content_info::ContentInfo;
use cms::enveloped_data::{EnvelopedData, RecipientIdentifier, RecipientInfo};
use der::asn1::ObjectIdentifier;
use der::{Decode, SliceReader};

/// `id-envelopedData` of RFC 5652.
pub(super) const ENVELOPED_DATA: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.3");

/// At most this many recipients are read.
const MAX_RECIPIENTS: usize = 64;

/// A recipient of a payload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Recipient {
    /// The holder of a certificate, by its issuer and serial number. Keys made by `eyaml
    /// createkeys` all have no issuer and serial 1.
    Certificate {
        /// The issuer's name in the format of RFC 4514; empty if there is none.
        issuer: String,
        /// The serial number, hexadecimal, upper case, without leading zeros.
        serial: String,
    },
    /// The holder of a certificate, by its subject key identifier.
    SubjectKey {
        /// The identifier, hexadecimal, upper case.
        id: String,
    },
    /// The holder of an OpenPGP key.
    GpgKey {
        /// The long key id, 16 hexadecimal digits; zeros if the sender hid it.
        id: String,
    },
}

impl fmt::Display for Recipient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Recipient::Certificate { issuer, serial } if issuer.is_empty() => {
                write!(formatter, "certificate {serial}")
            }
            Recipient::Certificate { issuer, serial } => {
                write!(formatter, "certificate {serial} of {issuer}")
            }
            Recipient::SubjectKey { id } => write!(formatter, "certificate with key {id}"),
            Recipient::GpgKey { id } => write!(formatter, "OpenPGP key {id}"),
        }
    }
}

/// The recipients in CMS enveloped data (RFC 5652); `None` if the bytes are something else.
pub(super) fn read_cms(bytes: &[u8]) -> Option<Vec<Recipient>> {
    let data = enveloped_data(bytes)?;
    let recipients = data.recip_infos.0.iter().filter_map(|info| match info {
        RecipientInfo::Ktri(key) => Some(recipient(&key.rid)),
        _ => None,
    });
    Some(recipients.take(MAX_RECIPIENTS).collect())
}

/// The enveloped data in a DER message. Bytes after the message are ignored, as in OpenSSL.
pub(super) fn enveloped_data(bytes: &[u8]) -> Option<EnvelopedData> {
    let info = ContentInfo::decode(&mut SliceReader::new(bytes).ok()?).ok()?;
    if info.content_type != ENVELOPED_DATA {
        return None;
    }
    info.content.decode_as().ok()
}

pub(super) fn recipient(id: &RecipientIdentifier) -> Recipient {
    match id {
        RecipientIdentifier::IssuerAndSerialNumber(id) => Recipient::Certificate {
            issuer: id.issuer.to_string(),
            serial: serial_text(id.serial_number.as_bytes()),
        },
        RecipientIdentifier::SubjectKeyIdentifier(id) => Recipient::SubjectKey {
            id: hexadecimal(id.0.as_bytes()),
        },
    }
}

/// The recipients in the public-key packets at the start of an OpenPGP message (RFC 4880, 4.2 and
/// 5.1); `None` if the bytes start with no packet.
pub(super) fn read_gpg(bytes: &[u8]) -> Option<Vec<Recipient>> {
    const PUBLIC_KEY_ENCRYPTED_SESSION_KEY: u8 = 1;
    let mut recipients = Vec::new();
    let mut rest = bytes;
    while recipients.len() < MAX_RECIPIENTS {
        let Some((tag, body, behind)) = gpg_packet(rest) else {
            break;
        };
        rest = behind;
        match body {
            [3, id @ ..] if tag == PUBLIC_KEY_ENCRYPTED_SESSION_KEY && id.len() >= 8 => {
                let id = hexadecimal(&id[..8]);
                recipients.push(Recipient::GpgKey { id });
            }
            _ => break,
        }
    }
    let looks_like_packets = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    looks_like_packets.then_some(recipients)
}

/// One OpenPGP packet: its tag, its body and the remaining bytes. `None` for a body of unknown
/// length.
fn gpg_packet(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&header, rest) = bytes.split_first()?;
    if header & 0x80 == 0 {
        return None;
    }
    let (tag, length, header_length) = if header & 0x40 != 0 {
        let first = usize::from(*rest.first()?);
        let (length, size) = match first {
            0..192 => (first, 1),
            192..224 => (((first - 192) << 8) + usize::from(*rest.get(1)?) + 192, 2),
            255 => (be_number(rest.get(1..5)?), 5),
            _ => return None,
        };
        (header & 0x3f, length, size)
    } else {
        let size = match header & 3 {
            0 => 1,
            1 => 2,
            2 => 4,
            _ => return None,
        };
        (header >> 2 & 0xf, be_number(rest.get(..size)?), size)
    };
    let body = rest.get(header_length..header_length.checked_add(length)?)?;
    Some((tag, body, &rest[header_length + length..]))
}

fn be_number(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .fold(0, |number, byte| number << 8 | usize::from(*byte))
}

fn serial_text(bytes: &[u8]) -> String {
    let text = hexadecimal(bytes);
    match text.trim_start_matches('0') {
        "" => "0".to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}
