//! Table entries, and the macro that makes the formats' enum and its dispatch from one line a format.

/// The table's entry for one format.
#[derive(Clone, Copy, Debug)]
pub struct FormatEntry {
    /// The name in configs.
    pub name: &'static str,
    /// The name as the end of a quantised layer's class, `BlockFP` in `LinearBlockFP`, as the labs write it.
    pub class_suffix: &'static str,
    /// Other names it is known by.
    pub aliases: &'static [&'static str],
    /// One line.
    pub about: &'static str,
    /// The formula and a worked example of 8 bits.
    pub doc: &'static str,
    /// The fields, in positional order.
    pub fields: &'static [FieldEntry],
}

/// The table's entry for one field.
#[derive(Clone, Copy, Debug)]
pub struct FieldEntry {
    /// The name in configs, without the operand's prefix.
    pub name: &'static str,
    /// The default, as a formula of the other fields; `None` if the field must be given.
    pub default: Option<&'static str>,
    /// One line.
    pub about: &'static str,
    /// True when a printed format shows the field even if it has its default.
    pub always_shown: bool,
}

impl FieldEntry {
    pub(crate) const fn required(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            default: None,
            about,
            always_shown: true,
        }
    }

    pub(crate) const fn optional(
        name: &'static str,
        default: &'static str,
        about: &'static str,
    ) -> Self {
        Self {
            name,
            default: Some(default),
            about,
            always_shown: false,
        }
    }

    pub(crate) const fn shown(self) -> Self {
        Self {
            always_shown: true,
            ..self
        }
    }
}

/// `width` without a default.
pub(crate) const WIDTH: FieldEntry = FieldEntry::required("width", "bits of an element");
/// `exponent_width` without a default.
pub(crate) const EXPONENT_WIDTH: FieldEntry =
    FieldEntry::required("exponent_width", "bits of the exponent");
/// `exponent_bias`, in the middle of its range by default.
pub(crate) const EXPONENT_BIAS: FieldEntry = FieldEntry::optional(
    "exponent_bias",
    "2^(exponent_width-1) - 1",
    "what is subtracted from the stored exponent",
);
/// `exponent_bias_width` without a default.
pub(crate) const EXPONENT_BIAS_WIDTH: FieldEntry =
    FieldEntry::required("exponent_bias_width", "bits of a block's shared exponent");
/// `block_size` of a format with blocks of so many elements by default.
pub(crate) const fn block_size(default: &'static str) -> FieldEntry {
    FieldEntry::optional(
        "block_size",
        default,
        "a number: consecutive elements of a row; a list: along the last axes, -1 or a missing axis the whole axis",
    )
}
/// `skip_first_dim`, false by default.
pub(crate) const SKIP_FIRST_DIM: FieldEntry = FieldEntry::optional(
    "skip_first_dim",
    "false",
    "whether a block never spans two rows of axis 0",
);

/// `axis`, for formats whose fields may be stored.
pub(crate) const AXIS: FieldEntry = FieldEntry::optional(
    "axis",
    "none",
    "the axis along which stored fields lie; without one they lie element by element",
);

/// Makes `enum Format`, its table and the dispatch to the format's own file.
macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident($module:ident),)* ; $($(#[$stored_doc:meta])* $stored:ident($of:ident::$base:ident),)*) => {
        /// A number format with its parameters.
        ///
        /// ```
        /// use format::Format;
        ///
        /// let format = Format::parse("integer(8, 4)")?;
        /// let (x, shape) = ([1.97, 0.03125, 8.0], [3]);
        /// let mut y = [0.0; 3];
        /// format.quantize(&x, &shape, &mut y);
        /// assert_eq!(y, [2.0, 0.0, 7.9375]);
        ///
        /// let codes = format.encode(&x, &shape);
        /// assert_eq!((0..3).map(|i| codes.get(i)).collect::<Vec<_>>(), [0x20, 0x00, 0x7f]);
        /// assert_eq!(format.decode(&codes, &shape), y);
        /// # Ok::<(), format::FormatError>(())
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        pub enum Format {
            $($(#[$doc])* $variant($module::$variant),)*
            $($(#[$stored_doc])* $stored(Stored<$of::$base>),)*
        }

        $(impl From<$module::$variant> for Format {
            fn from(format: $module::$variant) -> Self {
                Self::$variant(format)
            }
        })*

        $(impl From<Stored<$of::$base>> for Format {
            fn from(format: Stored<$of::$base>) -> Self {
                Self::$stored(format)
            }
        })*

        /// Runs an expression with the format's own type.
        macro_rules! with_format {
            ($format:expr, $name:ident => $body:expr) => {
                match $format {
                    $($crate::Format::$variant($name) => $body,)*
                    $($crate::Format::$stored($name) => $body,)*
                }
            };
        }

        impl Format {
            /// Every format, in reading order.
            pub const TABLE: &[FormatEntry] = &[$(<$module::$variant as NumberFormat>::ENTRY,)*];

            /// The format of table entry `index` with fields whose names have been checked.
            pub(crate) fn read(index: usize, fields: &Fields<'_>) -> Result<Self, FormatError> {
                const READERS: &[fn(&Fields<'_>) -> Result<Format, FormatError>] =
                    &[$(|fields| Ok(Format::$variant(NumberFormat::read(fields)?)),)*];
                if !fields.values.iter().any(|(_, value)| is_stored(value)) {
                    return READERS[index](fields);
                }
                $(if fields.format == <$of::$base as NumberFormat>::ENTRY.name {
                    return Ok(Self::$stored(Stored::read(fields)?));
                })*
                // The reader finds the word in a field that takes another one.
                READERS[index](fields)
            }

            /// The format's line of the table.
            pub fn entry(&self) -> &'static FormatEntry {
                with_format!(self, format => ArrayFormat::entry(format))
            }
        }

        pub(crate) use with_format;
    };
}
pub(crate) use formats;
