//! Encrypted values: recognise, validate and, only when the user says so, decrypt `ENC[…]` blobs.
