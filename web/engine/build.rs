//! Gives the module a stack as deep as a program's: data may be nested.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rustc-cdylib-link-arg=-z");
        println!("cargo::rustc-cdylib-link-arg=stack-size=8388608");
    }
}
