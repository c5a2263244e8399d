//! The stack machine that reads a stream.

use super::scan::{Escapes, Scanned, Scanner, signed, unescape, unquote};
use super::{Id, Node, Object, Pickle, PickleError, opcode as op};
use crate::Budget;
use std::collections::HashMap;

/// Nodes of one stream; a checkpoint of a large network has some hundred thousand.
pub const MAX_NODES: usize = 1 << 23;
/// Open marks; Python's own limit of recursion is 1000.
pub const MAX_MARKS: usize = 10_000;

/// Reads one stream; the second value is the number of bytes it takes.
pub fn parse(bytes: &[u8], budget: &Budget) -> Result<(Pickle, usize), PickleError> {
    let mut machine = Machine {
        scan: Scanner::new(bytes),
        budget,
        nodes: Vec::new(),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
    };
    loop {
        let at = machine.scan.at;
        let located = |message| PickleError { at, message };
        let code = machine.scan.byte();
        let code = code.map_err(|_| located("the stream ends before its STOP".to_owned()))?;
        if code == op::STOP {
            let root = machine.pop().map_err(located)?;
            let length = machine.scan.at;
            let nodes = machine.nodes;
            return Ok((Pickle { nodes, root }, length));
        }
        machine.step(code).map_err(located)?;
    }
}

/// Bytes of a place in the memo.
const MEMO_BYTES: usize = 32;

impl Node {
    /// Bytes that the value holds outside of the arena.
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Str(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Sequence(items) => size_of_val(items.as_slice()),
            Self::Dict(pairs) => size_of_val(pairs.as_slice()),
            Self::Object(_) => size_of::<Object>(),
            _ => 0,
        }
    }
}

struct Machine<'a> {
    scan: Scanner<'a>,
    budget: &'a Budget,
    nodes: Vec<Node>,
    stack: Vec<Id>,
    /// Heights of the stack where marks are.
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
}

impl Machine<'_> {
    fn step(&mut self, code: u8) -> Scanned<()> {
        match code {
            op::PROTO => self.protocol(),
            op::FRAME => self.scan.take(8).map(drop),
            op::MARK => self.mark(),
            op::POP => self.discard(),
            op::POP_MARK => self.pop_mark().map(drop),
            op::DUP => self.top().map(|id| self.stack.push(id)),
            op::PUT | op::BINPUT | op::LONG_BINPUT | op::MEMOIZE => self.put(code),
            op::GET | op::BINGET | op::LONG_BINGET => self.get(code),
            op::APPEND | op::APPENDS | op::ADDITEMS => self.append(code),
            op::SETITEM | op::SETITEMS => self.set_items(code),
            op::REDUCE | op::NEWOBJ | op::NEWOBJ_EX | op::INST | op::OBJ => self.call(code),
            op::BUILD => self.build(),
            op::READONLY_BUFFER => Ok(()),
            _ => {
                let node = self.value(code)?;
                self.push(node)
            }
        }
    }

    /// Opcodes that push one new value.
    fn value(&mut self, code: u8) -> Scanned<Node> {
        Ok(match code {
            op::NONE => Node::None,
            op::NEWTRUE => Node::Bool(true),
            op::NEWFALSE => Node::Bool(false),
            op::STRING => Node::Str(unquote(&self.scan.latin1_line()?)?),
            op::UNICODE => Node::Str(unescape(&self.scan.latin1_line()?, Escapes::Unicode)?),
            op::BINSTRING | op::BINUNICODE => Node::Str(self.scan.counted_text(4)?),
            op::SHORT_BINSTRING | op::SHORT_BINUNICODE => Node::Str(self.scan.counted_text(1)?),
            op::BINUNICODE8 => Node::Str(self.scan.counted_text(8)?),
            op::BINBYTES => Node::Bytes(self.scan.counted(4)?.to_vec()),
            op::SHORT_BINBYTES => Node::Bytes(self.scan.counted(1)?.to_vec()),
            op::BINBYTES8 | op::BYTEARRAY8 => Node::Bytes(self.scan.counted(8)?.to_vec()),
            op::EMPTY_LIST | op::EMPTY_TUPLE | op::EMPTY_SET => Node::Sequence(Vec::new()),
            op::LIST | op::TUPLE | op::FROZENSET => Node::Sequence(self.pop_mark()?),
            op::TUPLE1 => Node::Sequence(self.pop_many(1)?),
            op::TUPLE2 => Node::Sequence(self.pop_many(2)?),
            op::TUPLE3 => Node::Sequence(self.pop_many(3)?),
            op::EMPTY_DICT => Node::Dict(Vec::new()),
            op::DICT => Node::Dict(pairs(&self.pop_mark()?)?),
            op::GLOBAL | op::STACK_GLOBAL => self.global(code)?,
            op::PERSID => {
                let id = Node::Str(self.scan.line()?.to_owned());
                Node::Persistent(self.add(id)?)
            }
            op::BINPERSID => Node::Persistent(self.pop()?),
            op::EXT1 | op::EXT2 | op::EXT4 => {
                return Err("extension codes are a private matter of the writer".to_owned());
            }
            op::NEXT_BUFFER => return Err("out-of-band buffers are not in the file".to_owned()),
            _ => self.number(code)?,
        })
    }

    fn number(&mut self, code: u8) -> Scanned<Node> {
        let int = |number: Option<i128>| number.map_or(Node::HugeInt, Node::Int);
        Ok(match code {
            op::BININT => Node::Int(i128::from(self.scan.unsigned(4)? as u32 as i32)),
            op::BININT1 => Node::Int(i128::from(self.scan.unsigned(1)?)),
            op::BININT2 => Node::Int(i128::from(self.scan.unsigned(2)?)),
            op::LONG1 => int(signed(self.scan.counted(1)?)),
            op::LONG4 => int(signed(self.scan.counted(4)?)),
            op::INT | op::LONG => match self.scan.line()? {
                "00" => Node::Bool(false),
                "01" => Node::Bool(true),
                line => decimal(line)?,
            },
            op::FLOAT => Node::Float(self.scan.line_number()?),
            op::BINFLOAT => {
                // The only big-endian number of the format.
                Node::Float(f64::from_bits(self.scan.unsigned(8)?.swap_bytes()))
            }
            _ => return Err(format!("unknown opcode {code:#04x}")),
        })
    }

    fn protocol(&mut self) -> Scanned<()> {
        match self.scan.byte()? {
            0..=5 => Ok(()),
            version => Err(format!("pickle protocol {version}; 0 to 5 are read")),
        }
    }

    fn global(&mut self, code: u8) -> Scanned<Node> {
        if code == op::GLOBAL {
            let module = self.scan.line()?.to_owned();
            return Ok(Node::Global(module, self.scan.line()?.to_owned()));
        }
        let parts = self.pop_many(2)?;
        match (
            &self.nodes[parts[0].0 as usize],
            &self.nodes[parts[1].0 as usize],
        ) {
            (Node::Str(module), Node::Str(name)) => {
                // Charged before the copy: both may be shared by many globals.
                self.charge(module.len() + name.len())?;
                Ok(Node::Global(module.clone(), name.clone()))
            }
            _ => Err("a global whose name is not text".to_owned()),
        }
    }

    fn call(&mut self, code: u8) -> Scanned<()> {
        let (callable, args) = match code {
            op::INST => {
                let global = self.global(op::GLOBAL)?;
                (self.add(global)?, self.pop_mark()?)
            }
            op::OBJ => {
                let mut items = self.pop_mark()?;
                if items.is_empty() {
                    return Err("an object without a class".to_owned());
                }
                (items.remove(0), items)
            }
            op::NEWOBJ_EX => {
                let mut parts = self.pop_many(3)?;
                (parts.remove(0), parts)
            }
            _ => {
                let parts = self.pop_many(2)?;
                return self.push_object(parts[0], parts[1]);
            }
        };
        let args = self.add(Node::Sequence(args))?;
        self.push_object(callable, args)
    }

    fn push_object(&mut self, callable: Id, args: Id) -> Scanned<()> {
        self.push(Node::Object(Box::new(Object {
            callable,
            args,
            state: None,
            items: Vec::new(),
            pairs: Vec::new(),
        })))
    }

    fn build(&mut self) -> Scanned<()> {
        let state = self.pop()?;
        let target = self.top()?;
        // Python would change attributes of the value; only a call that was not made has a place for them.
        if let Node::Object(object) = &mut self.nodes[target.0 as usize] {
            object.state = Some(state);
        }
        Ok(())
    }

    fn append(&mut self, code: u8) -> Scanned<()> {
        let items = match code {
            op::APPEND => self.pop_many(1)?,
            _ => self.pop_mark()?,
        };
        self.charge(size_of_val(items.as_slice()))?;
        let target = self.top()?;
        match &mut self.nodes[target.0 as usize] {
            Node::Sequence(list) => list.extend(items),
            Node::Object(object) => object.items.extend(items),
            _ => return Err("items are added to what is not a list".to_owned()),
        }
        Ok(())
    }

    fn set_items(&mut self, code: u8) -> Scanned<()> {
        let items = match code {
            op::SETITEM => self.pop_many(2)?,
            _ => self.pop_mark()?,
        };
        let pairs = pairs(&items)?;
        self.charge(size_of_val(items.as_slice()))?;
        let target = self.top()?;
        match &mut self.nodes[target.0 as usize] {
            Node::Dict(dict) => dict.extend(pairs),
            Node::Object(object) => object.pairs.extend(pairs),
            _ => return Err("keys are set in what is not a dict".to_owned()),
        }
        Ok(())
    }

    fn put(&mut self, code: u8) -> Scanned<()> {
        let slot = match code {
            op::PUT => self.scan.line_number()?,
            op::BINPUT => self.scan.unsigned(1)?,
            op::LONG_BINPUT => self.scan.unsigned(4)?,
            _ => self.memo.len() as u64,
        };
        let top = self.top()?;
        self.charge(MEMO_BYTES)?;
        self.memo.insert(slot, top);
        Ok(())
    }

    fn get(&mut self, code: u8) -> Scanned<()> {
        let slot = match code {
            op::GET => self.scan.line_number()?,
            op::BINGET => self.scan.unsigned(1)?,
            _ => self.scan.unsigned(4)?,
        };
        let id = self
            .memo
            .get(&slot)
            .ok_or_else(|| format!("memo {slot} is empty"))?;
        self.stack.push(*id);
        Ok(())
    }

    fn mark(&mut self) -> Scanned<()> {
        if self.marks.len() == MAX_MARKS {
            return Err(format!("more than {MAX_MARKS} open marks"));
        }
        self.marks.push(self.stack.len());
        Ok(())
    }

    fn discard(&mut self) -> Scanned<()> {
        if self.marks.last() == Some(&self.stack.len()) {
            self.marks.pop();
            return Ok(());
        }
        self.pop().map(drop)
    }

    fn add(&mut self, node: Node) -> Scanned<Id> {
        self.charge(size_of::<Node>() + node.heap_bytes())?;
        if self.nodes.len() == MAX_NODES {
            return Err(format!("more than {MAX_NODES} values"));
        }
        self.nodes.push(node);
        Ok(Id(self.nodes.len() as u32 - 1))
    }

    fn charge(&self, bytes: usize) -> Scanned<()> {
        let charged = self.budget.take(bytes as u64);
        charged.map_err(|over| over.to_string())
    }

    fn push(&mut self, node: Node) -> Scanned<()> {
        let id = self.add(node)?;
        self.stack.push(id);
        Ok(())
    }

    /// The lowest place from which values may be taken.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn top(&self) -> Scanned<Id> {
        let above = &self.stack[self.floor()..];
        above
            .last()
            .copied()
            .ok_or_else(|| "the stack is empty".to_owned())
    }

    fn pop(&mut self) -> Scanned<Id> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    fn pop_many(&mut self, n: usize) -> Scanned<Vec<Id>> {
        let have = self.stack.len() - self.floor();
        if have < n {
            return Err(format!("{n} values are taken from a stack of {have}"));
        }
        Ok(self.stack.split_off(self.stack.len() - n))
    }

    fn pop_mark(&mut self) -> Scanned<Vec<Id>> {
        let mark = self.marks.pop().ok_or("no mark is open")?;
        Ok(self.stack.split_off(mark))
    }
}

fn pairs(items: &[Id]) -> Scanned<Vec<(Id, Id)>> {
    let (pairs, rest) = items.as_chunks::<2>();
    match rest {
        [] => Ok(pairs.iter().map(|&[key, value]| (key, value)).collect()),
        _ => Err("a key has no value".to_owned()),
    }
}

fn decimal(line: &str) -> Scanned<Node> {
    let digits = line.trim_end_matches(['L', '\r']);
    let bare = digits.trim_start_matches(['-', '+']);
    if bare.is_empty() || !bare.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!(
            "'{}' is not a number",
            line.chars().take(40).collect::<String>()
        ));
    }
    Ok(digits.parse().map_or(Node::HugeInt, Node::Int))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory that a stream of these opcodes is charged, with the `STOP` behind them.
    fn charged(opcodes: &[u8]) -> u64 {
        let budget = Budget::of_size(0);
        let mut stream = opcodes.to_vec();
        stream.push(op::STOP);
        let (_, length) = parse(&stream, &budget).unwrap();
        assert_eq!(length, stream.len());
        budget.max() - budget.left()
    }

    /// A value takes its place in the arena and what it holds beside it; a place in the memo is charged too.
    #[test]
    fn every_value_is_charged() {
        let node = size_of::<Node>() as u64;
        assert_eq!(charged(b"K\x05"), node);
        assert_eq!(charged(b"K\x05K\x06"), 2 * node);
        assert_eq!(charged(b"U\x03abc"), node + 3);
        assert_eq!(charged(b"C\x04abcd"), node + 4);
        assert_eq!(
            charged(b"K\x05K\x06\x86"),
            3 * node + 2 * size_of::<Id>() as u64
        );
        assert_eq!(
            charged(b"(K\x05K\x06d"),
            3 * node + 2 * size_of::<Id>() as u64
        );
        assert_eq!(charged(b"K\x05q\x00"), node + MEMO_BYTES as u64);
    }
}
