//! The only file-system access of the library: scan, read, watch.
