//! Fetching from a server of the test's own, which answers the requests of one fetch in order and then goes away.

use super::check::sha256;
use super::*;
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread::{self, JoinHandle};

/// The server's answer to a request.
#[derive(Clone, Copy)]
enum Answer {
    /// Sends the rest of the file from the byte asked for.
    Whole,
    /// Promises the rest, sends so many bytes of it, hangs up.
    Broken(usize),
    /// Sends the whole file whatever was asked.
    NoRanges,
    NotFound,
    /// Tells the size alone, as asked by HEAD.
    Size,
}

fn content() -> Vec<u8> {
    (0..200_000_u32).flat_map(u32::to_le_bytes).collect()
}

/// The address and the thread, which gives the first byte each request asked for.
fn serve(answers: Vec<Answer>) -> (String, JoinHandle<Vec<usize>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/file.bin", listener.local_addr().unwrap());
    let answer_all = move || {
        let answer = |answer: &Answer| {
            let (mut stream, _) = listener.accept().unwrap();
            let start = requested_start(&stream);
            respond(&mut stream, *answer, start);
            start
        };
        answers.iter().map(answer).collect()
    };
    (url, thread::spawn(answer_all))
}

/// The first byte that the request asks for.
fn requested_start(stream: &TcpStream) -> usize {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut start = 0;
    for line in lines.take_while(|line| !line.is_empty()) {
        if let Some(range) = line.to_lowercase().strip_prefix("range: bytes=") {
            start = range.trim_end_matches('-').parse().unwrap();
        }
    }
    start
}

fn respond(stream: &mut TcpStream, answer: Answer, start: usize) {
    let content = content();
    let total = content.len();
    let (start, sent) = match answer {
        Answer::NotFound => {
            write!(
                stream,
                "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            .unwrap();
            return;
        }
        Answer::Whole => (start, total - start),
        Answer::Broken(n) => (start, n),
        Answer::NoRanges => (0, total),
        Answer::Size => (0, 0),
    };
    let length = total - start;
    let status = if start > 0 {
        format!(
            "206 Partial Content\r\nContent-Range: bytes {start}-{}/{total}",
            total - 1
        )
    } else {
        "200 OK".to_owned()
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    // A client that has seen enough may hang up first.
    let _ = stream.write_all(&content[start..start + sent]);
}

fn has_curl() -> bool {
    let found = Command::new("curl").arg("--version").output().is_ok();
    if !found {
        println!("no curl at hand: fetching is not tested");
    }
    found
}

fn target(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("data-download-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder.join("file.bin")
}

/// The SHA-256 of [`content`].
const PUBLISHED: &str = "2fadeb03b6d797daf4d2a3fdfdbe5662d50eaa343fc153b249894a336bf0ebba";

/// An address whose file has this check.
fn origin(url: &str, check: Check) -> Origin<'_> {
    Origin {
        url,
        n_bytes: None,
        check,
    }
}

/// Fetches a file that must have a SHA-256.
fn fetch_published(
    url: &str,
    target: &Path,
    sha256: &'static str,
    options: &OpenOptions,
) -> Result<(), DataError> {
    fetch(&origin(url, Check::Sha256(sha256)), target, options)
}

#[test]
fn files_arrive_whole_however_the_server_behaves() {
    use Answer::{Broken, NoRanges, Whole};
    if !has_curl() {
        return;
    }
    let cases = [
        ("whole", vec![Whole], vec![0]),
        ("broken", vec![Broken(300_000), Whole], vec![0, 300_000]),
        (
            "twice",
            vec![Broken(1000), Broken(500), Whole],
            vec![0, 1000, 1500],
        ),
        (
            "no_ranges",
            vec![Broken(1000), NoRanges, Whole],
            vec![0, 1000, 0],
        ),
    ];
    for (name, answers, starts) in cases {
        let target = target(name);
        let (url, server) = serve(answers);
        fetch_published(&url, &target, PUBLISHED, &OpenOptions::default()).unwrap();
        assert_eq!(server.join().unwrap(), starts, "{name}");
        assert!(fs::read(&target).unwrap() == content(), "{name}");
        let left: Vec<_> = fs::read_dir(target.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "{name}: {left:?}");
        fs::remove_dir_all(target.parent().unwrap()).unwrap();
    }
}

/// The server of the test goes away after its one answer: another attempt would fail to connect.
#[test]
fn a_transfer_that_brings_nothing_is_not_tried_again() {
    if !has_curl() {
        return;
    }
    let target = target("nothing");
    let (url, server) = serve(vec![Answer::Broken(0)]);
    let error = fetch_published(&url, &target, PUBLISHED, &OpenOptions::default()).unwrap_err();
    assert_eq!(server.join().unwrap(), [0]);
    assert!(error.to_string().contains("(18)"), "{error}");
    fs::remove_dir_all(target.parent().unwrap()).unwrap();
}

#[test]
fn a_later_run_goes_on_where_an_earlier_one_was_killed() {
    if !has_curl() {
        return;
    }
    let target = target("killed");
    fs::create_dir_all(target.parent().unwrap()).unwrap();
    fs::write(beside(&target, "part"), &content()[..5000]).unwrap();
    let (url, server) = serve(vec![Answer::Whole]);
    let reported = RefCell::new(Vec::new());
    let progress = |name: &str, n_bytes, total| {
        reported
            .borrow_mut()
            .push((name.to_owned(), n_bytes, total));
    };
    let options = OpenOptions {
        progress: Some(&progress),
        ..OpenOptions::default()
    };
    fetch_published(&url, &target, PUBLISHED, &options).unwrap();
    assert_eq!(server.join().unwrap(), [5000]);
    assert!(fs::read(&target).unwrap() == content());
    let reported = reported.into_inner();
    assert_eq!(
        reported.last(),
        Some(&("file.bin".to_owned(), 800_000, Some(800_000)))
    );
    // The size is known from the first bytes on, of which the earlier ones are no news.
    assert!(
        reported
            .iter()
            .all(|(_, n_bytes, total)| *n_bytes > 5000 && *total == Some(800_000))
    );
    fs::remove_dir_all(target.parent().unwrap()).unwrap();
}

/// The notices of a fetch, in order.
fn notices(fetch: impl FnOnce(&OpenOptions)) -> Vec<String> {
    let reported = RefCell::new(Vec::new());
    let notice = |sentence: &str| reported.borrow_mut().push(sentence.to_owned());
    fetch(&OpenOptions {
        notice: Some(&notice),
        ..OpenOptions::default()
    });
    reported.into_inner()
}

#[test]
fn a_fetch_is_announced_with_its_size_before_it_begins() {
    struct Case {
        name: &'static str,
        n_bytes: Option<u64>,
        /// Bytes of an earlier fetch.
        there: usize,
        answers: Vec<Answer>,
        expected: &'static str,
    }
    if !has_curl() {
        return;
    }
    let cases = [
        Case {
            name: "published_size",
            n_bytes: Some(800_000),
            there: 0,
            answers: vec![Answer::Whole],
            expected: "0.8 MB",
        },
        Case {
            name: "asked_size",
            n_bytes: None,
            there: 0,
            answers: vec![Answer::Size, Answer::Whole],
            expected: "0.8 MB",
        },
        Case {
            name: "no_size",
            n_bytes: None,
            there: 200_000,
            answers: vec![Answer::NotFound, Answer::Whole],
            expected: "size unknown, 0.2 MB of it there already",
        },
    ];
    for case in cases {
        let target = target(case.name);
        let folder = target.parent().unwrap();
        fs::create_dir_all(folder).unwrap();
        fs::write(beside(&target, "part"), &content()[..case.there]).unwrap();
        let (url, server) = serve(case.answers);
        let origin = Origin {
            n_bytes: case.n_bytes,
            ..origin(&url, Check::Sha256(PUBLISHED))
        };
        let notices = notices(|options| fetch(&origin, &target, options).unwrap());
        let expected = format!(
            "fetching file.bin ({}) from {url} into {}",
            case.expected,
            folder.display()
        );
        assert_eq!(notices, [expected], "{}", case.name);
        assert_eq!(server.join().unwrap().last(), Some(&case.there));
        fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn a_part_of_another_file_is_fetched_again_from_its_first_byte() {
    if !has_curl() {
        return;
    }
    let target = target("stale");
    fs::create_dir_all(target.parent().unwrap()).unwrap();
    fs::write(beside(&target, "part"), [7; 5000]).unwrap();
    let (url, server) = serve(vec![Answer::Whole, Answer::Whole]);
    fetch_published(&url, &target, PUBLISHED, &OpenOptions::default()).unwrap();
    assert_eq!(server.join().unwrap(), [5000, 0]);
    assert!(fs::read(&target).unwrap() == content());
    fs::remove_dir_all(target.parent().unwrap()).unwrap();
}

#[test]
fn a_whole_part_is_verified_without_the_network() {
    let target = target("whole_part");
    fs::create_dir_all(target.parent().unwrap()).unwrap();
    fs::write(beside(&target, "part"), content()).unwrap();
    let origin = Origin {
        n_bytes: Some(800_000),
        // Nothing listens on port 1.
        ..origin("http://127.0.0.1:1/file.bin", Check::Sha256(PUBLISHED))
    };
    fetch(&origin, &target, &OpenOptions::default()).unwrap();
    assert!(fs::read(&target).unwrap() == content());
    fs::remove_dir_all(target.parent().unwrap()).unwrap();
}

#[test]
fn a_file_without_a_checksum_is_checked_by_its_kind() {
    if !has_curl() {
        return;
    }
    let cases = [
        (Kind::Arff, "% jets\n@relation jets\n", None),
        (
            Kind::Arff,
            "<html>log in first</html>",
            Some("the file is not an ARFF table; it was discarded"),
        ),
        (
            Kind::Hdf5,
            "<html>log in first</html>",
            Some("the file is not an HDF5 file; it was discarded"),
        ),
    ];
    for (kind, text, problem) in cases {
        let target = target("kind");
        let (url, server) = serve_text(text.to_owned());
        let fetched = fetch(
            &origin(&url, Check::Kind(kind)),
            &target,
            &OpenOptions::default(),
        );
        server.join().unwrap();
        let expected = problem.map(|problem| format!("{url}: {problem}"));
        assert_eq!(fetched.err().map(|error| error.to_string()), expected);
        assert_eq!(target.exists(), problem.is_none(), "{text}");
        fs::remove_dir_all(target.parent().unwrap()).unwrap();
    }
}

#[test]
fn a_wrong_file_is_discarded_and_a_missing_one_named() {
    if !has_curl() {
        return;
    }
    let target = target("wrong");
    for (answer, expected) in [
        (Answer::Whole, "not 00ff as published"),
        (Answer::NotFound, "404"),
    ] {
        let (url, server) = serve(vec![answer]);
        let error = fetch_published(&url, &target, "00ff", &OpenOptions::default()).unwrap_err();
        server.join().unwrap();
        let message = error.to_string();
        assert!(
            message.starts_with(&url) && message.contains(expected),
            "{message}"
        );
        assert!(!target.exists());
    }
    assert!(
        !beside(&target, "part").exists()
            || fs::metadata(beside(&target, "part")).unwrap().len() == 0
    );
    fs::remove_dir_all(target.parent().unwrap()).unwrap();
}

/// Answers one request with a text.
fn serve_text(text: String) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/42468", listener.local_addr().unwrap());
    let answer = move || {
        let (mut stream, _) = listener.accept().unwrap();
        requested_start(&stream);
        let length = text.len();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
        )
        .unwrap();
    };
    (url, thread::spawn(answer))
}

#[test]
fn a_description_leads_to_the_file_it_names() {
    if !has_curl() {
        return;
    }
    let target = target("described");
    let (file, server) = serve(vec![Answer::Whole]);
    let (url, description) = serve_text(format!(
        "{{\"data_set_description\": {{\"id\": \"42468\", \"url\": \"{file}\"}}}}"
    ));
    let progress = |name: &str, _, _| panic!("a description is no progress: {name}");
    let notices = notices(|options| {
        let options = OpenOptions {
            progress: Some(&progress),
            ..options.clone()
        };
        assert_eq!(described(&url, &target, &options).unwrap(), file);
    });
    description.join().unwrap();
    // The description itself is too small to be announced.
    assert_eq!(
        notices,
        [format!("asking {url} for the address of file.bin")]
    );
    fetch_published(&file, &target, PUBLISHED, &OpenOptions::default()).unwrap();
    server.join().unwrap();
    assert!(fs::read(&target).unwrap() == content());
    for (text, expected) in [
        ("<html>", "is not a description"),
        ("{}", "names no file"),
        (
            "{\"data_set_description\": {\"url\": \"file:///etc/passwd\"}}",
            "names no file",
        ),
    ] {
        let (url, description) = serve_text(text.to_owned());
        let error = described(&url, &target, &OpenOptions::default()).unwrap_err();
        description.join().unwrap();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let left: Vec<_> = fs::read_dir(target.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    fs::remove_dir_all(target.parent().unwrap()).unwrap();
}

#[test]
fn a_checksum_is_the_published_one() {
    let million = vec![b'a'; 1_000_000];
    let expected = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    assert_eq!(sha256(million.as_slice()).unwrap(), expected);
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sha256(b"abc".as_slice()).unwrap(), expected);
}
