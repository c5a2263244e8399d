//! The table of models, and building one by name.

mod bert;
mod jsc;
mod lenet;
mod lutnet;
mod mobilenet;
mod mobilenet_v3;
mod repvgg;
mod resnet;
mod toy;
mod transformer;
mod vgg;

use crate::{ModelError, ModelInfo, Sizes};
use ir::Graph;

/// One line of the table of models.
#[derive(Clone, Copy, Debug)]
pub struct ModelEntry {
    /// The name in configs and reports; `-` and `_` are the same to [`find`].
    pub name: &'static str,
    /// Other names by which it is found.
    pub aliases: &'static [&'static str],
    /// One line.
    pub about: &'static str,
    /// The shape and meaning of one sample.
    pub input: &'static str,
    /// The shape of a sample when nothing else is said.
    pub input_shape: &'static [usize],
    /// The number of classes it can have.
    pub classes: Classes,
    /// Trained parameters with the default sample and classes.
    pub parameters: usize,
    build: fn(&Sizes) -> Graph,
}

/// The number of classes a model can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classes {
    /// Any number; this one when nothing is said.
    Any(usize),
    /// This number only.
    Only(usize),
    /// Any number, for the sample as a whole; when nothing is said, the model returns something other than them.
    Optional,
}

const JETS: &str = "f32[N, features], 16 features of a jet";
const IMAGE: &str = "f32[N, channels, height, width], an image";
const TOKENS: &str = "i64[N, length], words by their number";

/// Every model, in reading order.
pub static MODELS: &[ModelEntry] = &[
    // jet substructure
    ModelEntry {
        name: "jsc-tiny",
        aliases: &[],
        about: "jets: one linear layer 16-5",
        input: JETS,
        input_shape: &[16],
        classes: Classes::Any(5),
        parameters: 117,
        build: jsc::tiny,
    },
    ModelEntry {
        name: "jsc-toy",
        aliases: &[],
        about: "jets: perceptron 16-8-8-5",
        input: JETS,
        input_shape: &[16],
        classes: Classes::Any(5),
        parameters: 327,
        build: jsc::toy,
    },
    ModelEntry {
        name: "jsc-s",
        aliases: &[],
        about: "jets: perceptron 16-64-32-32-32-5",
        input: JETS,
        input_shape: &[16],
        classes: Classes::Any(5),
        parameters: 5615,
        build: jsc::s,
    },
    ModelEntry {
        name: "jsc-trt",
        aliases: &[],
        about: "jets: perceptron 16-32-48-16-5 with dropout",
        input: JETS,
        input_shape: &[16],
        classes: Classes::Any(5),
        parameters: 3231,
        build: jsc::trt,
    },
    ModelEntry {
        name: "jsc-lab1",
        aliases: &[],
        about: "jets: the first lab's perceptron 16-32-16-8-5",
        input: JETS,
        input_shape: &[16],
        classes: Classes::Any(5),
        parameters: 1407,
        build: jsc::lab1,
    },
    ModelEntry {
        name: "jsc-lab1-large",
        aliases: &[],
        about: "jets: the first lab's large perceptron 16-64-128-8-8-5",
        input: JETS,
        input_shape: &[16],
        classes: Classes::Any(5),
        parameters: 11_015,
        build: jsc::lab1_large,
    },
    // images
    ModelEntry {
        name: "toy",
        aliases: &[],
        about: "images: perceptron with two hidden layers of 8",
        input: IMAGE,
        input_shape: &[1, 28, 28],
        classes: Classes::Any(10),
        parameters: 6442,
        build: toy::toy,
    },
    ModelEntry {
        name: "toy_tiny",
        aliases: &[],
        about: "images: one linear layer, two classes",
        input: IMAGE,
        input_shape: &[1, 28, 28],
        classes: Classes::Only(2),
        parameters: 1570,
        build: toy::tiny,
    },
    ModelEntry {
        name: "toy_convnet",
        aliases: &[],
        about: "images: two convolutions in 2D, two in 1D, one linear layer",
        input: IMAGE,
        input_shape: &[3, 32, 32],
        classes: Classes::Any(10),
        parameters: 9818,
        build: toy::convnet,
    },
    ModelEntry {
        name: "lenet5",
        aliases: &["lenet"],
        about: "images: LeNet-5 with ReLU and max pooling",
        input: IMAGE,
        input_shape: &[1, 28, 28],
        classes: Classes::Any(10),
        parameters: 61_706,
        build: lenet::lenet5,
    },
    ModelEntry {
        name: "lfc",
        aliases: &[],
        about: "images: LUTNet's perceptron with four hidden layers of 256, for binary formats",
        input: IMAGE,
        input_shape: &[1, 28, 28],
        classes: Classes::Any(10),
        parameters: 402_974,
        build: lutnet::lfc,
    },
    ModelEntry {
        name: "cnv",
        aliases: &[],
        about: "images: LUTNet's six convolutions and three linear layers, for binary formats",
        input: IMAGE,
        input_shape: &[3, 32, 32],
        classes: Classes::Any(10),
        parameters: 1_548_638,
        build: lutnet::cnv,
    },
    ModelEntry {
        name: "vgg_tiny",
        aliases: &["vgg7_tiny"],
        about: "images: three narrow convolutions, two linear layers",
        input: IMAGE,
        input_shape: &[3, 32, 32],
        classes: Classes::Any(10),
        parameters: 18_664,
        build: vgg::tiny,
    },
    ModelEntry {
        name: "vgg7",
        aliases: &["vgg"],
        about: "images: VGG-7 for 32×32",
        input: IMAGE,
        input_shape: &[3, 32, 32],
        classes: Classes::Any(10),
        parameters: 14_029_450,
        build: vgg::vgg7,
    },
    ModelEntry {
        name: "repvgg_A0",
        aliases: &["repvgg"],
        about: "images: RepVGG-A0 as it is trained",
        input: IMAGE,
        input_shape: &[3, 224, 224],
        classes: Classes::Any(1000),
        parameters: 9_108_968,
        build: repvgg::a0,
    },
    ModelEntry {
        name: "resnet18",
        aliases: &["resnet"],
        about: "images: ResNet-18 as in torchvision",
        input: IMAGE,
        input_shape: &[3, 224, 224],
        classes: Classes::Any(1000),
        parameters: 11_689_512,
        build: resnet::resnet18,
    },
    ModelEntry {
        name: "mobilenetv2",
        aliases: &["mobilenet-v2", "mobilenet"],
        about: "images: MobileNetV2 as in torchvision",
        input: IMAGE,
        input_shape: &[3, 224, 224],
        classes: Classes::Any(1000),
        parameters: 3_504_872,
        build: mobilenet::v2,
    },
    ModelEntry {
        name: "mobilenetv3_small",
        aliases: &["mobilenet-v3-small", "mobilenetv3"],
        about: "images: MobileNetV3-Small as in torchvision",
        input: IMAGE,
        input_shape: &[3, 224, 224],
        classes: Classes::Any(1000),
        parameters: 2_542_856,
        build: mobilenet_v3::small,
    },
    // text
    ModelEntry {
        name: "bert-tiny",
        aliases: &["bert"],
        about: "text: BERT with 2 layers of width 128, hidden states and pooled output",
        input: "i64[N, length], words by their number, with token types and the mask of attention",
        input_shape: &[128],
        classes: Classes::Optional,
        parameters: 4_385_920,
        build: bert::tiny,
    },
    ModelEntry {
        name: "transformer",
        aliases: &[],
        about: "text: causal transformer with 2 blocks of width 64",
        input: TOKENS,
        input_shape: &[64],
        classes: Classes::Optional,
        parameters: 112_448,
        build: transformer::transformer,
    },
];

/// Inputs that a caller may leave out, as in PyTorch, and their value then.
const OPTIONAL_INPUTS: &[(&str, &str, i64)] = &[
    ("bert-tiny", "token_type_ids", 0),
    ("bert-tiny", "attention_mask", 1),
];

/// The value of an input of a model where nobody gives it; none for an input that must be given.
pub fn default_input(model: &str, input: &str) -> Option<i64> {
    let mut known = OPTIONAL_INPUTS.iter();
    known
        .find(|(of, name, _)| *of == model && *name == input)
        .map(|(.., value)| *value)
}

/// The model of this name or alias; upper and lower case, `-` and `_` are the same.
pub fn find(name: &str) -> Result<&'static ModelEntry, ModelError> {
    let found = MODELS.iter().find(|entry| {
        let mut names = [entry.name]
            .into_iter()
            .chain(entry.aliases.iter().copied());
        names.any(|known| config::is_same_name(known, name))
    });
    found.ok_or_else(|| ModelError::unknown(name))
}

/// The verified graph of a model, without parameters: [`Graph::initialize`] or a checkpoint supplies them.
pub fn build(name: &str, info: &ModelInfo) -> Result<Graph, ModelError> {
    let entry = find(name)?;
    let graph = (entry.build)(&entry.sizes(info)?);
    ir::verify(&graph).map_err(|violations| ModelError::Layers {
        model: entry.name,
        violations,
    })?;
    Ok(graph)
}

impl ModelEntry {
    fn sizes(&self, info: &ModelInfo) -> Result<Sizes, ModelError> {
        let input = info
            .input
            .clone()
            .unwrap_or_else(|| self.input_shape.to_vec());
        if input.len() != self.input_shape.len() || input.contains(&0) {
            return Err(ModelError::Input {
                model: self.name,
                expected: self.input,
                got: input,
            });
        }
        let classes = self.class_count(info.classes)?;
        Ok(Sizes { input, classes })
    }

    fn class_count(&self, asked: Option<usize>) -> Result<usize, ModelError> {
        let rule = match (self.classes, asked) {
            (Classes::Any(default) | Classes::Only(default), None) => return Ok(default),
            (Classes::Optional, None) => return Ok(0),
            (Classes::Any(_) | Classes::Optional, Some(n @ 1..)) => return Ok(n),
            (Classes::Only(only), Some(n)) if n == only => return Ok(n),
            (Classes::Any(_) | Classes::Optional, Some(_)) => "needs at least one class".to_owned(),
            (Classes::Only(only), Some(_)) => format!("has {only} classes"),
        };
        Err(ModelError::Classes {
            model: self.name,
            rule,
            got: asked.unwrap_or(0),
        })
    }
}
