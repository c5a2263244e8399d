//! Long work beside the interpreter: the lock is free, Ctrl-C is looked for, and events come back to Python.

use crate::errors::sentence;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The time between two looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// The end of an interrupted piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// The work is told to stop and waited for: it saves what it has.
    Waits,
    /// The work is left to itself, and its result is dropped.
    Leaves,
}

/// The messages of a worker.
enum Message<E, T> {
    Event(E),
    Done(T),
    Panic(String),
}

/// Sends events of the work to Python.
pub struct Events<E, T>(Sender<Message<E, T>>);

impl<E, T> Events<E, T> {
    /// Sends an event; nobody may be there any more to receive it.
    pub fn send(&self, event: E) {
        let _ = self.0.send(Message::Event(event));
    }
}

/// Runs `work` on a thread of its own, whose flag Ctrl-C and errors of `on_event` set. `on_event` runs here.
pub fn observed<E: Send + 'static, T: Send + 'static>(
    py: Python,
    interrupt: Interrupt,
    work: impl FnOnce(&AtomicBool, &Events<E, T>) -> T + Send + 'static,
    mut on_event: impl FnMut(E) -> PyResult<()>,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = channel();
    let flag = Arc::clone(&stop);
    std::thread::spawn(move || {
        let events = Events(sender);
        let ended = catch_unwind(AssertUnwindSafe(|| work(&flag, &events)));
        let message = match ended {
            Ok(result) => Message::Done(result),
            Err(panic) => Message::Panic(panic_text(&*panic)),
        };
        let _ = events.0.send(message);
    });
    let receiver = Mutex::new(receiver);
    let mut failure = None;
    loop {
        let step = match py.detach(|| next(&receiver)) {
            Some(Message::Done(result)) => return failure.map_or(Ok(result), Err),
            Some(Message::Panic(text)) => {
                return Err(sentence(format!(
                    "internal error: {text}; please report it"
                )));
            }
            Some(Message::Event(event)) if failure.is_none() => on_event(event),
            Some(Message::Event(_)) | None => Ok(()),
        };
        if let Err(error) = step.and_then(|()| py.check_signals()) {
            stop.store(true, Ordering::Relaxed);
            if interrupt == Interrupt::Leaves {
                return Err(error);
            }
            failure.get_or_insert(error);
        }
    }
}

/// The next message, or nothing when it is time to look for Ctrl-C.
fn next<E, T>(receiver: &Mutex<Receiver<Message<E, T>>>) -> Option<Message<E, T>> {
    let receiver = receiver.lock().ok()?;
    match receiver.recv_timeout(LOOK) {
        Ok(message) => Some(message),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => {
            Some(Message::Panic("the work ended without a result".to_owned()))
        }
    }
}

/// Runs work that sends no events, and that an interruption leaves to itself.
pub fn run<T: Send + 'static>(
    py: Python,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    observed(
        py,
        Interrupt::Leaves,
        move |_, _: &Events<(), T>| work(),
        |()| Ok(()),
    )
}

/// Runs work that reads arrays of the caller's on a thread of its own, whose flag Ctrl-C sets, and waits for its end.
pub fn scoped<T: Send>(
    py: Python,
    work: impl FnOnce(&AtomicBool) -> PyResult<T> + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    let (sender, receiver) = channel::<()>();
    let receiver = Mutex::new(receiver);
    std::thread::scope(|scope| {
        // The sender is dropped at the end of the work, or when it panics.
        let worker = scope.spawn(|| {
            let _sender = sender;
            work(&stop)
        });
        let mut failure = None;
        while py.detach(|| is_running(&receiver)) {
            if let Err(error) = py.check_signals() {
                stop.store(true, Ordering::Relaxed);
                failure.get_or_insert(error);
            }
        }
        let ended = py.detach(|| worker.join());
        let result = ended.map_err(|panic| {
            let text = panic_text(&*panic);
            sentence(format!("internal error: {text}; please report it"))
        });
        failure.map_or_else(|| result?, Err)
    })
}

/// True when it is time to look for Ctrl-C, false when the work has ended.
fn is_running(receiver: &Mutex<Receiver<()>>) -> bool {
    let receiver = receiver.lock();
    receiver.is_ok_and(|receiver| receiver.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout))
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no reason given").to_owned()
}
