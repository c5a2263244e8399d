//! Running a program with a time limit. Its output is captured, and its children end with it.

use super::{ToolError, Toolbox};
use crate::simulate::Scratch;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The output of a program that has ended.
#[derive(Clone, Debug)]
pub struct Captured {
    /// True for the exit code 0.
    pub success: bool,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Seconds that it ran.
    pub seconds: f64,
}

/// Bytes of each stream that are kept; a program that prints more goes on and the rest is lost.
const MAX_OUTPUT: usize = 64 << 20;

/// Bytes of an answer that an error quotes.
const MAX_QUOTE: usize = 300;

/// The time between two looks at a program that runs.
const POLL: Duration = Duration::from_millis(5);

impl Toolbox<'_> {
    /// Runs a program to its end. Whatever it has started ends with it: on Unix they are one process group.
    pub fn run(&self, tool: &'static str, command: &mut Command) -> Result<Captured, ToolError> {
        // What a program that is ended leaves in its temporary files goes with this folder.
        let scratch = Scratch::new()?;
        command.env("TMPDIR", scratch.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let start = Instant::now();
        let child = command.spawn();
        let child = child.map_err(|source| ToolError::Start { tool, source })?;
        let mut group = Group(child);
        let stdout = reader(group.0.stdout.take());
        let stderr = reader(group.0.stderr.take());
        let status = loop {
            let status = group.0.try_wait();
            if let Some(status) = status.map_err(|source| ToolError::Start { tool, source })? {
                break status;
            }
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(ToolError::Interrupted { tool });
            }
            if start.elapsed() > self.limit {
                let seconds = self.limit.as_secs();
                return Err(ToolError::TimeLimit { tool, seconds });
            }
            thread::sleep(POLL);
        };
        // What the program left running holds the pipes open.
        drop(group);
        Ok(Captured {
            success: status.success(),
            stdout: text(stdout),
            stderr: text(stderr),
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Runs a program that must end well.
    pub fn run_ok(&self, tool: &'static str, command: &mut Command) -> Result<Captured, ToolError> {
        let answer = self.run(tool, command)?;
        if answer.success {
            Ok(answer)
        } else {
            Err(failure(tool, &answer))
        }
    }
}

/// The error of a program that ended badly: its first line that speaks of an error, or its last line.
pub fn failure(tool: &'static str, answer: &Captured) -> ToolError {
    let lines = || {
        answer
            .stderr
            .lines()
            .chain(answer.stdout.lines())
            .map(str::trim)
    };
    let is_error = |line: &&str| line.to_ascii_lowercase().contains("error");
    let last = |text: &str| {
        text.lines()
            .map(str::trim)
            .rfind(|line| !line.is_empty())
            .map(str::to_owned)
    };
    let line = lines().find(is_error).map(str::to_owned);
    let line = line
        .or_else(|| last(&answer.stderr))
        .or_else(|| last(&answer.stdout));
    let mut message = line.unwrap_or_else(|| "it printed nothing".to_owned());
    message.truncate(message.floor_char_boundary(MAX_QUOTE));
    let message = with_room(message);
    ToolError::Failed { tool, message }
}

/// Bytes below which a disk has no room for what tools write.
const MIN_ROOM: u64 = 1 << 20;

/// A sentence on a tool that failed, with the likely reason where the disk that tools write to is full.
pub(crate) fn with_room(message: String) -> String {
    let folder = std::env::temp_dir();
    #[cfg(unix)]
    let room = rustix::fs::statvfs(&folder).map_or(u64::MAX, |disk| disk.f_bavail * disk.f_frsize);
    #[cfg(not(unix))]
    let room = u64::MAX;
    if room >= MIN_ROOM {
        return message;
    }
    format!(
        "{message}; the disk of {} has no room left: free some, or name another folder with $TMPDIR",
        folder.display()
    )
}

/// A program with all that it starts, ended when this is dropped.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = i32::try_from(self.0.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw)
        {
            // No such group: all have ended.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        // Ended already, or ended now; a program that is gone leaves nothing to wait for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A thread that reads a stream to its end.
fn reader(stream: Option<impl Read + Send + 'static>) -> Option<JoinHandle<Vec<u8>>> {
    let mut stream = stream?;
    Some(thread::spawn(move || {
        let (mut kept, mut buffer) = (Vec::new(), [0; 8192]);
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let room = MAX_OUTPUT - kept.len();
            kept.extend_from_slice(&buffer[..count.min(room)]);
        }
        kept
    }))
}

fn text(reader: Option<JoinHandle<Vec<u8>>>) -> String {
    let bytes = reader
        .and_then(|thread| thread.join().ok())
        .unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn toolbox(millis: u64) -> Toolbox<'static> {
        Toolbox {
            limit: Duration::from_millis(millis),
            stop: None,
        }
    }

    #[test]
    fn output_and_failures_are_captured() {
        let tools = toolbox(60_000);
        let answer = tools
            .run("sh", &mut shell("echo out; echo aside >&2"))
            .unwrap();
        assert_eq!(
            (answer.stdout.as_str(), answer.stderr.as_str()),
            ("out\n", "aside\n")
        );
        let error = tools.run_ok(
            "sh",
            &mut shell("echo fine; echo 'ERROR: no such pass' >&2; echo bye; exit 3"),
        );
        assert_eq!(
            error.unwrap_err().to_string(),
            "sh failed: ERROR: no such pass"
        );
        let error = tools.run_ok("sh", &mut shell("exit 3")).unwrap_err();
        assert_eq!(error.to_string(), "sh failed: it printed nothing");
        let error = tools
            .run("gone", &mut Command::new("/no/such/program"))
            .unwrap_err();
        assert!(
            error.to_string().starts_with("gone did not start: "),
            "{error}"
        );
    }

    /// A child of the program holds its output open; without the group, reading it would wait for a minute.
    #[test]
    fn children_end_with_the_program() {
        let start = Instant::now();
        let error = toolbox(200).run("sh", &mut shell("sleep 60 & sleep 60"));
        assert_eq!(
            error.unwrap_err().to_string(),
            "sh did not end within 0 s and was stopped; $MASE_TOOL_SECONDS allows it more seconds"
        );
        let answer = toolbox(60_000)
            .run("sh", &mut shell("sleep 60 & echo $!"))
            .unwrap();
        assert!(start.elapsed() < Duration::from_secs(50));
        let alive = shell(&format!("kill -0 {}", answer.stdout.trim()))
            .output()
            .unwrap();
        let is_zombie = || {
            let path = format!("/proc/{}/stat", answer.stdout.trim());
            std::fs::read_to_string(path).is_ok_and(|stat| stat.contains(") Z "))
        };
        assert!(!alive.status.success() || is_zombie());
    }

    #[test]
    fn temporary_files_go_with_the_program() {
        let leave = "mktemp; mktemp -d; test -n \"$(ls \"$TMPDIR\")\"";
        let answer = toolbox(60_000).run_ok("sh", &mut shell(leave)).unwrap();
        let left = answer.stdout.lines();
        assert_eq!(left.clone().count(), 2, "{}", answer.stdout);
        left.for_each(|file| assert!(!std::path::Path::new(file).exists(), "{file}"));
    }

    #[test]
    fn a_flag_stops_the_program() {
        let stop = AtomicBool::new(true);
        let tools = Toolbox {
            limit: Duration::from_mins(1),
            stop: Some(&stop),
        };
        let error = tools.run("sh", &mut shell("sleep 60")).unwrap_err();
        assert_eq!(error.to_string(), "sh was stopped by Ctrl-C");
    }
}
