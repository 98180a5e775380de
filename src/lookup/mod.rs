//! The engine: layers, hierarchy walk, lookup_options, merges, interpolation, and the trace of it all.
