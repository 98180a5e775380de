//! Puppet data types: parse an expression, check a value, describe a mismatch, convert.
