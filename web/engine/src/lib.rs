//! [`ReportEngine`] behind four functions that any host of WebAssembly can call. Texts are UTF-8 in two buffers of the
//! module's memory: the host fills the input, a function takes it and fills the output.
//!
//! `docs/report.md` describes the questions and answers. One module has one engine.

#[cfg(feature = "server")]
mod server;

use std::cell::RefCell;

use hiera_ls::report::{DATA_VERSION, ReportEngine};

thread_local! {
    static ENGINE: RefCell<Option<ReportEngine>> = const { RefCell::new(None) };
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The version of the data and of the questions.
#[unsafe(no_mangle)]
pub extern "C" fn version() -> u32 {
    DATA_VERSION
}

/// Makes room for an input of so many bytes and returns where it begins.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// Where the output begins.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(Vec::as_ptr)
}

/// Takes the input as the data of a report. Returns the length of the output: empty, or why it cannot be opened.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> usize {
    let data = taken();
    let opened = std::str::from_utf8(&data)
        .map_err(|error| error.to_string())
        .and_then(ReportEngine::open);
    put(match opened {
        Ok(engine) => {
            ENGINE.set(Some(engine));
            String::new()
        }
        Err(words) => words,
    })
}

/// Takes the input as a name and, after a line break, a question. Returns the length of the output: the answer.
#[unsafe(no_mangle)]
pub extern "C" fn call() -> usize {
    let asked = taken();
    let asked = String::from_utf8_lossy(&asked);
    let (name, question) = asked.split_once('\n').unwrap_or((&asked, "{}"));
    put(ENGINE.with_borrow(|engine| match engine {
        Some(engine) => engine.call(name, question),
        None => r#"{"error":"no report is open"}"#.to_owned(),
    }))
}

/// Takes the input as the path of a file and, after a line break, its new text. Returns the length of the output: empty,
/// or why it is not taken.
#[unsafe(no_mangle)]
pub extern "C" fn edit() -> usize {
    let given = taken();
    let given = String::from_utf8_lossy(&given);
    let (path, text) = given.split_once('\n').unwrap_or((&given, ""));
    let edited = ENGINE.with_borrow_mut(|engine| match engine {
        Some(engine) => engine.edit(path, text),
        None => Err("no report is open".to_owned()),
    });
    put(edited.err().unwrap_or_default())
}

fn taken() -> Vec<u8> {
    INPUT.take()
}

fn put(text: String) -> usize {
    let length = text.len();
    OUTPUT.set(text.into_bytes());
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_calls_it() {
        let ask = |text: &str, function: extern "C" fn() -> usize| {
            INPUT.set(text.as_bytes().to_vec());
            let length = function();
            OUTPUT.with_borrow(|output| String::from_utf8(output[..length].to_vec()).unwrap())
        };
        assert_eq!(
            ask("overview\n{}", call),
            r#"{"error":"no report is open"}"#
        );
        assert!(ask("{}", open).starts_with("missing field"));
    }
}
