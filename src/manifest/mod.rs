//! Facts of Puppet code that lookups need: data functions that modules define.
