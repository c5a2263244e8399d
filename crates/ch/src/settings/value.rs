//! The types of settings: how each is read from a text, and the words of choices.

use super::setting::Accepts;
use config::Sort;
use serde_json::Value as Json;
use std::num::{IntErrorKind, NonZero};
use std::path::{Component, Path, PathBuf};
use train::Augment;

/// The type of a setting.
pub trait Value: Clone {
    /// The values that it accepts, for help and `ch explain`.
    const ACCEPTS: Accepts;

    /// Reads a text, or returns what is wrong with it.
    fn parse(text: &str) -> Result<Self, String>;

    /// The same in JSON.
    fn to_json(&self) -> Json;
}

impl Value for String {
    const ACCEPTS: Accepts = Accepts::Text;

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("the value is empty".to_owned());
        }
        Ok(text.to_owned())
    }

    fn to_json(&self) -> Json {
        self.as_str().into()
    }
}

impl Value for PathBuf {
    const ACCEPTS: Accepts = Accepts::Text;

    fn parse(text: &str) -> Result<Self, String> {
        String::parse(text).map(Self::from)
    }

    fn to_json(&self) -> Json {
        self.to_string_lossy().into()
    }
}

impl Value for f64 {
    const ACCEPTS: Accepts = Accepts::Number;

    fn parse(text: &str) -> Result<Self, String> {
        match text.parse::<Self>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            Ok(_) => Err(format!("{text} is not a finite number of at least 0")),
            Err(_) => Err(format!("'{text}' is not a number")),
        }
    }

    fn to_json(&self) -> Json {
        (*self).into()
    }
}

impl Value for bool {
    const ACCEPTS: Accepts = Accepts::Switch;

    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_| format!("'{text}' is not true or false"))
    }

    fn to_json(&self) -> Json {
        (*self).into()
    }
}

impl Value for u64 {
    const ACCEPTS: Accepts = Accepts::Whole(0);

    fn parse(text: &str) -> Result<Self, String> {
        whole(text, 0).map(i64::cast_unsigned)
    }

    fn to_json(&self) -> Json {
        (*self).into()
    }
}

impl Value for usize {
    const ACCEPTS: Accepts = Accepts::Whole(0);

    fn parse(text: &str) -> Result<Self, String> {
        whole(text, 0).map(|number| number as Self)
    }

    fn to_json(&self) -> Json {
        (*self).into()
    }
}

impl Value for NonZero<u64> {
    const ACCEPTS: Accepts = Accepts::Whole(1);

    fn parse(text: &str) -> Result<Self, String> {
        let number = whole(text, 1)?.cast_unsigned();
        Ok(Self::new(number).unwrap_or(Self::MIN))
    }

    fn to_json(&self) -> Json {
        self.get().into()
    }
}

impl Value for NonZero<usize> {
    const ACCEPTS: Accepts = Accepts::Whole(1);

    fn parse(text: &str) -> Result<Self, String> {
        let number = whole(text, 1)? as usize;
        Ok(Self::new(number).unwrap_or(Self::MIN))
    }

    fn to_json(&self) -> Json {
        self.get().into()
    }
}

/// A largest number, or -1 for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(pub Option<u64>);

impl Value for Limit {
    const ACCEPTS: Accepts = Accepts::Whole(-1);

    fn parse(text: &str) -> Result<Self, String> {
        whole(text, -1).map(|number| Self(u64::try_from(number).ok()))
    }

    fn to_json(&self) -> Json {
        self.0.map_or_else(|| (-1).into(), Json::from)
    }
}

/// A number of epochs, or -1 for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epochs(pub Option<NonZero<u64>>);

impl Value for Epochs {
    const ACCEPTS: Accepts = Accepts::Whole(-1);

    fn parse(text: &str) -> Result<Self, String> {
        match whole(text, -1)? {
            0 => Err("0 is below 1; -1 means no limit".to_owned()),
            number => Ok(Self(u64::try_from(number).ok().and_then(NonZero::new))),
        }
    }

    fn to_json(&self) -> Json {
        self.0.map_or_else(|| (-1).into(), |n| n.get().into())
    }
}

/// The name of one folder within another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderName(pub String);

impl Value for FolderName {
    const ACCEPTS: Accepts = Accepts::Text;

    fn parse(text: &str) -> Result<Self, String> {
        let name = String::parse(text)?;
        let mut parts = Path::new(&name).components();
        let is_one = matches!(parts.next(), Some(Component::Normal(part)) if part == name.as_str());
        if !is_one {
            return Err(format!(
                "'{text}' is not the name of one folder; name the folder above it with --project-dir"
            ));
        }
        Ok(Self(name))
    }

    fn to_json(&self) -> Json {
        self.0.as_str().into()
    }
}

/// The run to go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resume {
    /// The newest run of the same name.
    Latest,
    /// The run in this folder.
    Folder(PathBuf),
}

impl Resume {
    /// The word for the newest run.
    pub const LATEST: &'static str = "latest";
}

impl Value for Resume {
    const ACCEPTS: Accepts = Accepts::Text;

    fn parse(text: &str) -> Result<Self, String> {
        match text {
            Self::LATEST => Ok(Self::Latest),
            _ => PathBuf::parse(text).map(Self::Folder),
        }
    }

    fn to_json(&self) -> Json {
        match self {
            Self::Latest => Self::LATEST.into(),
            Self::Folder(path) => path.to_json(),
        }
    }
}

impl Value for Augment {
    const ACCEPTS: Accepts = Accepts::Form(Self::FORM, &["crop(2)", "flip", "crop(1)+flip"]);

    fn parse(text: &str) -> Result<Self, String> {
        let close = || config::did_you_mean(text, ["none", "crop-flip", "flip"]);
        let lower = text.to_lowercase().replace('_', "-");
        let parsed: Result<Self, String> = lower.parse();
        parsed.map_err(|problem| format!("{problem}{}", close()))
    }

    fn to_json(&self) -> Json {
        self.to_string().into()
    }
}

fn whole(text: &str, min: i64) -> Result<i64, String> {
    match text.parse::<i64>() {
        Ok(number) if number >= min => Ok(number),
        Ok(number) => Err(format!("{number} is below {min}")),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => {
            Err(format!("{text} is above {}", i64::MAX))
        }
        Err(_) => Err(format!("'{text}' is not a whole number")),
    }
}

/// Enums whose variants are words; case, `-` and `_` make no difference. `of Sort` is the sort of names of the original
/// that are not here.
macro_rules! choices {
    ($($(#[$about:meta])* $name:ident $(of $sort:ident)? { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? })+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            /// The word in files and on the command line.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl Value for $name {
            const ACCEPTS: Accepts = Accepts::Choice(&[$($word),+]);

            fn parse(text: &str) -> Result<Self, String> {
                let mut choices = [$(($word, Self::$variant)),+].into_iter();
                let found = choices.find(|(word, _)| config::is_same_name(word, text));
                let sort = None$(.or(Some(Sort::$sort)))?;
                found.map(|(_, choice)| choice).ok_or_else(|| not_one_of(text, &[$($word),+], sort))
            }

            fn to_json(&self) -> Json {
                self.word().into()
            }
        }
    )+};
}

fn not_one_of(text: &str, words: &[&str], sort: Option<Sort>) -> String {
    if let Some(reason) = sort.and_then(|sort| config::not_here(sort, text)) {
        return reason;
    }
    let close = config::did_you_mean(text, words.iter().copied());
    format!("'{text}' is not one of {}{close}", words.join(", "))
}

choices! {
    /// The rows to validate on.
    ValSplit {
        /// Rows that are held out.
        HeldOut = "held-out",
        /// The training rows, as the original does.
        Train = "train",
    }
    /// The standardising of a table of the user's.
    Standardize {
        /// As the network was trained, or by the training part where it learns now.
        Auto = "auto",
        /// By the mean and deviation of its training part.
        Train = "train",
        /// None: the values of the file.
        None = "none",
    }
    /// The axis of a file's inputs that is the batch though the file gives it a size.
    BatchAxis {
        /// None: what the file fixes stays fixed.
        None = "none",
        /// The first.
        First = "0",
    }
    /// The scales of formats that training learns beside the weights.
    LearnScales {
        /// None: formats stay as they are.
        None = "none",
        /// Those of integer formats, as powers of two: the network stays exact in integers.
        PowerOfTwo = "power-of-two",
        /// Real ones; integer formats become affine.
        Real = "real",
    }
    /// The layers with rounded weights that are normalised by the batch while they train.
    TrainNorms {
        /// Those whose batch norm has been folded.
        Folded = "folded",
        /// All whose result is not the network's.
        All = "all",
        /// None: a folded layer trains as it is.
        None = "none",
    }
    /// The elements of a weight that share a learned scale.
    ScalesPer {
        /// All of them.
        Tensor = "tensor",
        /// Those of an output channel.
        Channel = "channel",
    }
    /// The task of a network.
    Task of Task {
        /// One class for every row.
        Classification = "classification",
        /// The same, as files of the original abbreviate it.
        Cls = "cls",
    }
    /// The kind of a checkpoint.
    LoadType {
        /// The kind that its content shows.
        Auto = "auto",
        /// A state dictionary of PyTorch.
        Pt = "pt",
        /// A checkpoint of PyTorch Lightning.
        Pl = "pl",
        /// A graph with its weights.
        Mz = "mz",
        /// A file of safetensors.
        Safetensors = "safetensors",
        /// A folder of Hugging Face's, as files of the original name it.
        Hf = "hf",
    }
    /// An optimiser.
    Optimizer {
        /// Adam.
        Adam = "adam",
        /// Adam with decoupled weight decay.
        AdamW = "adamw",
        /// Stochastic gradient descent with Nesterov momentum.
        Sgd = "sgd",
    }
    /// A precision of Lightning's trainer.
    Precision {
        /// Floats of 32 bits.
        Full = "32",
        /// Mixed with float16.
        Half = "16-mixed",
        /// Mixed with bfloat16.
        Brain = "bf16-mixed",
        /// Floats of 32 bits, as newer files write it.
        FullTrue = "32-true",
        /// Floats of 16 bits, as old files write it.
        Sixteen = "16",
        /// Floats of 16 bits.
        HalfTrue = "16-true",
        /// bfloat16, as old files write it.
        BrainShort = "bf16",
        /// bfloat16.
        BrainTrue = "bf16-true",
        /// Floats of 64 bits, as old files write it.
        Double = "64",
        /// Floats of 64 bits.
        DoubleTrue = "64-true",
    }
    /// A log of metrics besides `metrics.csv`.
    ReportTo {
        /// Event files for TensorBoard.
        TensorBoard = "tensorboard",
        /// No other log.
        Nothing = "none",
        /// Weights & Biases, a service that nothing is sent to.
        Wandb = "wandb",
    }
    /// A machine to run on.
    Accelerator {
        /// The best one there is.
        Auto = "auto",
        /// The processor.
        Cpu = "cpu",
        /// A graphics processor.
        Gpu = "gpu",
        /// The same, as PyTorch names NVIDIA's.
        Cuda = "cuda",
        /// The same, as PyTorch names Apple's.
        Mps = "mps",
        /// A tensor processor.
        Tpu = "tpu",
    }
    /// A level of logging, as Python names it.
    LogLevel {
        /// Every file that is written.
        Debug = "debug",
        /// Progress.
        Info = "info",
        /// Notes.
        Warning = "warning",
        /// Errors alone.
        Error = "error",
        /// The same.
        Critical = "critical",
    }
}
