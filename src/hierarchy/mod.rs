//! `hiera.yaml` as a typed, spanned model, and the expansion of its locations.
