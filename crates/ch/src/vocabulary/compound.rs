//! Words made of others: `LinearInteger` of a layer and a format, `weight_width` of an operand and a field of a format.

use super::{Word, plain};
use format::{Format, FormatEntry};
use ir::{Op, OpEntry};

/// The operands that keys of `[passes.quantize]` begin with.
const OPERANDS: [&str; 4] = ["data_in", "weight", "bias", "data_out"];

/// The meaning of a word that is made of others.
pub fn explain(word: &str) -> Option<(&'static str, Word)> {
    layer(word)
        .map(|word| ("layer", word))
        .or_else(|| key(word).map(|word| ("key of a format", word)))
}

/// The words that are made of others: every operator as a class, alone and with every format, and every key.
pub fn names() -> Vec<String> {
    let suffixes = [""].into_iter();
    let suffixes = suffixes.chain(Format::TABLE.iter().map(|format| format.class_suffix));
    let classes = Op::TABLE.iter().flat_map(|op| {
        let class = camel_case(op.name);
        let quantized = suffixes
            .clone()
            .map(move |suffix| format!("{class}{suffix}"));
        quantized.collect::<Vec<_>>()
    });
    let fields = Format::TABLE.iter().flat_map(|format| format.fields);
    let keys = fields.flat_map(|field| OPERANDS.map(|operand| format!("{operand}_{}", field.name)));
    let mut all: Vec<String> = classes.chain(keys).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn camel_case(name: &str) -> String {
    let capitalized = name.split('_').map(|part| {
        let (first, rest) = part.split_at(part.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    capitalized.collect()
}

/// A layer by its class in PyTorch, alone or with a format behind it.
fn layer(word: &str) -> Option<Word> {
    let plain_word = letters(word);
    let suffixes = || {
        Format::TABLE
            .iter()
            .map(|format| (format, letters(format.class_suffix)))
    };
    let quantized = suffixes().find_map(|(format, suffix)| {
        let class = plain_word.strip_suffix(&suffix)?;
        Some((operator(class)?, Some(format)))
    });
    let (op, format) = quantized.or_else(|| Some((operator(&plain_word)?, None)))?;
    Some(plain(word, &about(op, format)))
}

fn about(op: &OpEntry, format: Option<&FormatEntry>) -> String {
    let layer = format!("the layer that PyTorch has for {}: {}", op.name, op.about);
    match format {
        None => layer,
        Some(format) => format!(
            "{layer} Its operands have the format {}: {}",
            format.name, format.about
        ),
    }
}

/// The operator whose name has these letters: a class of PyTorch is the name in camel case.
fn operator(letters_of_class: &str) -> Option<&'static OpEntry> {
    let mut table = Op::TABLE.iter();
    table.find(|entry| letters(entry.name) == letters_of_class)
}

/// The lower-case letters and digits of a name.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

/// A key of a rule: an operand, and a field of its format.
fn key(word: &str) -> Option<Word> {
    let mut pairs = OPERANDS.iter().filter_map(|operand| {
        let field = word.strip_prefix(operand)?.strip_prefix('_')?;
        Some((operand, field))
    });
    let (operand, field) = pairs.next()?;
    let mut fields = Format::TABLE.iter().flat_map(|format| format.fields);
    let about = fields.find(|known| known.name == field)?.about;
    let formats = Format::TABLE.iter().filter(|format| {
        let mut fields = format.fields.iter();
        fields.any(|known| known.name == field)
    });
    let formats: Vec<&str> = formats.map(|format| format.name).collect();
    Some(Word {
        details: format!("formats that have it: {}", formats.join(", ")),
        ..plain(
            word,
            &format!("{field} of the format of {operand}: {about}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{explain, names};
    use format::Format;

    /// The classes of all layers of the zoo, alone and with every format.
    #[test]
    fn every_layer_with_every_format_is_explained() {
        for entry in models::MODELS {
            let graph = models::build(entry.name, &models::ModelInfo::default()).unwrap();
            let nodes = graph.nodes().iter();
            for class in nodes.filter_map(|node| ir::torch_class(&node.op)) {
                assert!(explain(class).is_some(), "{}: {class}", entry.name);
                for format in Format::TABLE {
                    let quantized = format!("{class}{}", format.class_suffix);
                    assert!(explain(&quantized).is_some(), "{quantized}");
                }
            }
        }
    }

    #[test]
    fn every_name_is_explained() {
        for name in names() {
            assert!(explain(&name).is_some(), "{name}");
        }
    }

    #[test]
    fn keys_of_formats_are_explained_and_others_are_not() {
        for format in Format::TABLE {
            for field in format.fields {
                let key = format!("data_in_{}", field.name);
                assert!(explain(&key).is_some(), "{key}");
            }
        }
        assert!(explain("weight_with").is_none());
        assert!(explain("LinearIntegre").is_none());
    }
}
