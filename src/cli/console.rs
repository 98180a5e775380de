//! Where a command prints: on the streams of the process or, for a call of `hiera-ls mcp`, into its answer; and
//! whether the answer is still wanted. It must not know what the commands print.

use std::cell::RefCell;
use std::io::{self, IsTerminal as _, Write};
use std::ops::Deref;
use std::sync::Arc;

use crate::disk::{self, KeptFolder};

/// Maximum number of bytes that a called command prints.
const MAX_PRINTED: usize = 64 << 20;

/// Why a called command ends before its time.
pub(super) const CANCELLED: &str = "cancelled";

/// Whether an answer is no longer wanted.
pub(super) type IsCancelled = Arc<dyn Fn() -> bool + Send + Sync>;

/// What a called command printed.
#[derive(Default)]
pub(super) struct Printed {
    /// On standard output.
    pub(super) text: Vec<u8>,
    /// On standard error, without the name of the program.
    pub(super) notes: Vec<String>,
    /// Why not all of it is there.
    pub(super) failure: Option<String>,
}

/// A call: a command that runs on this thread for a client instead of for the whole process.
#[derive(Clone)]
pub(super) struct CommandCall {
    pub(super) is_cancelled: IsCancelled,
    /// The folder of the workspace, absolute: nothing outside of it is read unasked.
    pub(super) folder: Arc<str>,
    /// The workspace, kept between calls.
    pub(super) kept: Arc<KeptFolder>,
}

thread_local! {
    static CALL: RefCell<Option<(CommandCall, Printed)>> = const { RefCell::new(None) };
}

/// Runs a command for a call.
#[cfg_attr(
    not(feature = "mcp"),
    allow(dead_code, reason = "without it nobody calls commands")
)]
pub(super) fn called<T>(call: CommandCall, run: impl FnOnce() -> T) -> (T, Printed) {
    /// Ends the call, also if the command panics.
    struct EndOfCall;
    impl Drop for EndOfCall {
        fn drop(&mut self) {
            CALL.take();
        }
    }
    CALL.set(Some((call, Printed::default())));
    let _end = EndOfCall;
    let result = run();
    let printed = CALL.take().map(|(_, printed)| printed);
    (result, printed.unwrap_or_default())
}

/// The call that this thread works for; `None` for the command of the process.
pub(super) fn call() -> Option<CommandCall> {
    CALL.with_borrow(|call| call.as_ref().map(|(call, _)| call.clone()))
}

/// Whether the answer of this thread's call is no longer wanted.
pub(super) fn is_cancelled() -> bool {
    CALL.with_borrow(|call| call.as_ref().is_some_and(|(call, _)| (call.is_cancelled)()))
}

/// Whether a path is none that this thread's call may read.
pub(super) fn is_forbidden(at: &str) -> bool {
    call().is_some_and(|call| disk::leads_outside(at, &call.folder))
}

/// Changes what was printed; `None` for the command of the process.
fn with_printed<T>(change: impl FnOnce(&mut Printed) -> T) -> Option<T> {
    CALL.with_borrow_mut(|call| call.as_mut().map(|(_, printed)| change(printed)))
}

/// Standard output, or that of a call.
pub(super) struct ConsoleOutput;

impl Write for ConsoleOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let captured = with_printed(|printed| {
            if printed.text.len() + bytes.len() > MAX_PRINTED {
                let most = MAX_PRINTED >> 20;
                let failure = format!("the answer has more than {most} MiB: ask for less");
                printed.failure = Some(failure.clone());
                return Err(io::Error::other(failure));
            }
            printed.text.extend_from_slice(bytes);
            Ok(bytes.len())
        });
        captured.unwrap_or_else(|| io::stdout().lock().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        if call().is_some() {
            Ok(())
        } else {
            io::stdout().lock().flush()
        }
    }
}

/// Standard error, or the notes of a call; `text` ends its lines.
pub(super) fn print_message(text: &str) {
    /// Maximum number of notes of a call.
    const MAX_NOTES: usize = 100;
    let captured = with_printed(|printed| {
        if printed.notes.len() < MAX_NOTES {
            let text = text.strip_prefix("hiera-ls: ").unwrap_or(text);
            printed.notes.push(text.trim_end().to_owned());
        }
    });
    if captured.is_none() {
        let _ = write!(io::stderr(), "{text}");
    }
}

/// A value that is freed only in a call. The process of a command ends with its answer, so that freeing memory
/// would only cost time.
pub(super) struct Unfreed<T>(Option<T>);

impl<T> Unfreed<T> {
    pub(super) fn new(value: T) -> Unfreed<T> {
        Unfreed(Some(value))
    }
}

impl<T> Deref for Unfreed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        let value = self.0.as_ref();
        value.unwrap_or_else(|| unreachable!("it is there until it is dropped"))
    }
}

impl<T> Drop for Unfreed<T> {
    fn drop(&mut self) {
        if call().is_none() {
            std::mem::forget(self.0.take());
        }
    }
}

/// Whether a person sees standard output.
pub(super) fn is_output_seen() -> bool {
    call().is_none() && io::stdout().is_terminal()
}

/// Whether a person sees standard error.
pub(super) fn are_messages_seen() -> bool {
    call().is_none() && io::stderr().is_terminal()
}
