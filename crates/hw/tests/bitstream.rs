//! Bitstreams of small networks by the tools themselves.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod emitted;

use emitted::{combinational, edit, pipelined, there};
use hw::bitstream::{Made, bitstream};
use hw::boards::Board;
use hw::folder::Emitted;
use hw::tools::Toolbox;

fn make(emitted: &Emitted, board: &str) -> Option<Made> {
    let board = Board::find(board).unwrap();
    there(bitstream(emitted, &Toolbox::new(None), board, 1))
}

#[test]
fn boards_get_their_files() {
    let fixture = combinational("bitstream");
    for (board, file, magic) in [
        ("icebreaker", "bitstream/icebreaker.bin", [0xff, 0x00]),
        ("ulx3s-85f", "bitstream/ulx3s-85f.bit", [0xff, 0x00]),
    ] {
        let Some(made) = make(&fixture, board) else {
            return;
        };
        let Made::Done(made) = made else {
            panic!("{made:?}");
        };
        assert_eq!(made.file, fixture.path.join(file));
        assert_eq!(made.rows, 20);
        assert!(made.placed.fmax_mhz > Board::find(board).unwrap().clock_mhz());
        let bytes = std::fs::read(&made.file).unwrap();
        assert_eq!(bytes[..2], magic, "{board}: {:x?}", &bytes[..8]);
        assert_eq!(made.bytes, bytes.len() as u64);
    }
    assert!(fixture.path.join("constraints/icebreaker.pcf").exists());
}

#[test]
fn a_network_that_differs_gets_none() {
    let fixture = pipelined("bitstream_wrong");
    edit(&fixture, "fc2_n0_s0 + fc2_n0_s1", "fc2_n0_s0 - fc2_n0_s1");
    let Some(made) = make(&fixture, "icebreaker") else {
        return;
    };
    let sentence = made.refusal(Board::find("icebreaker").unwrap()).unwrap();
    assert!(
        sentence.contains("rows differ over the simulated line: row 0: y[0] is "),
        "{sentence}"
    );
    assert!(!fixture.path.join("bitstream").exists());
}
