//! The text form of a graph, `.mg`: [`Graph::parse`] reads it, `Display` prints it, and the two are inverse.
//!
//! ```text
//! graph "jsc-tiny" {
//!   x: f32[N, 16] = placeholder
//!   seq_blocks_1 = relu(x) { target = "seq_blocks.1" }
//!   seq_blocks_2 = linear(seq_blocks_1: integer(8, 4)) {      # rounds its input and its weights
//!     target = "seq_blocks.2", in_features = 16, out_features = 5, weight: integer(8, 4), bias: integer(8, 4),
//!   }
//!   return seq_blocks_2
//! }
//! ```
//!
//! The grammar, with `{ }` for repetition, `[ ]` for what may be missing and quotes around what is meant literally:
//!
//! ```text
//! graph     = "graph" string "{" { statement } "}"
//! statement = name ":" type "=" "placeholder" [ body ]
//!           | name "=" "constant" [ body ]
//!           | name "=" op "(" [ arguments ] ")" [ body ]
//!           | "return" arguments
//! arguments = value [ ":" format ] { "," value [ ":" format ] } [ "," ]
//! value     = name [ "." digits ]                                  the second result of a node a is a.1
//! body      = "{" [ entry { "," entry } [ "," ] ] "}"
//! entry     = attribute "=" literal | "target" "=" string | port ":" format
//! literal   = number | string | "true" | "false" | "[" [ item { "," item } [ "," ] ] "]"
//! item      = literal | dim
//! type      = ( "f32" | "i64" | "bool" ) "[" [ dim { "," dim } [ "," ] ] "]"
//! dim       = digits | symbol | digits "*" symbol
//! format    = name [ "(" … ")" ]                                   as `format::Format::parse` reads it
//! name      = ( letter | "_" ) { letter | digit | "_" }
//! string    = '"' { character | \" | \\ | \n | \r | \t | \u{hex} } '"'
//! ```
//!
//! `#` starts a comment that ends with its line. The format of a data input stands behind the argument, all other
//! formats in the body. Only placeholders state a type; the others are inferred. Parameters are not part of the text.

mod body;
mod error;
mod lexer;
mod parse;
mod print;
mod statement;

pub use error::{TextError, TextErrors};
