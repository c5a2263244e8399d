//! The opcodes of Python's pickle protocols 0 to 5, by the names of `pickletools`.

macro_rules! opcodes {
    ($($byte:literal $name:ident,)*) => {
        $(pub const $name: u8 = $byte;)*
    };
}

opcodes! {
    // control
    0x80 PROTO, 0x95 FRAME, b'.' STOP, b'(' MARK, b'0' POP, b'1' POP_MARK, b'2' DUP,
    // constants and numbers
    b'N' NONE, 0x88 NEWTRUE, 0x89 NEWFALSE, b'I' INT, b'J' BININT, b'K' BININT1, b'M' BININT2, b'L' LONG,
    0x8a LONG1, 0x8b LONG4, b'F' FLOAT, b'G' BINFLOAT,
    // text and bytes
    b'S' STRING, b'T' BINSTRING, b'U' SHORT_BINSTRING, b'V' UNICODE, b'X' BINUNICODE, 0x8c SHORT_BINUNICODE,
    0x8d BINUNICODE8, b'B' BINBYTES, b'C' SHORT_BINBYTES, 0x8e BINBYTES8, 0x96 BYTEARRAY8,
    0x97 NEXT_BUFFER, 0x98 READONLY_BUFFER,
    // containers
    b']' EMPTY_LIST, b'l' LIST, b'a' APPEND, b'e' APPENDS, b')' EMPTY_TUPLE, b't' TUPLE, 0x85 TUPLE1, 0x86 TUPLE2,
    0x87 TUPLE3, b'}' EMPTY_DICT, b'd' DICT, b's' SETITEM, b'u' SETITEMS, 0x8f EMPTY_SET, 0x90 ADDITEMS,
    0x91 FROZENSET,
    // memo
    b'p' PUT, b'q' BINPUT, b'r' LONG_BINPUT, 0x94 MEMOIZE, b'g' GET, b'h' BINGET, b'j' LONG_BINGET,
    // names, calls and references
    b'c' GLOBAL, 0x93 STACK_GLOBAL, 0x82 EXT1, 0x83 EXT2, 0x84 EXT4, b'R' REDUCE, b'b' BUILD, b'i' INST, b'o' OBJ,
    0x81 NEWOBJ, 0x92 NEWOBJ_EX, b'P' PERSID, b'Q' BINPERSID,
}
