#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hiera_ls_fuzz::hiera(bytes));
