//! The colours of drawings, as those of the page.

/// Colours of a theme.
pub(super) struct Theme {
    pub ground: &'static str,
    pub ink: &'static str,
    pub faint: &'static str,
    pub edge: &'static str,
    pub changed: &'static str,
    pub added: &'static str,
    pub removed: &'static str,
    /// The colour of each kind, as in the page.
    pub kinds: [(&'static str, &'static str); 9],
}

pub(super) const LIGHT: Theme = Theme {
    ground: "#ffffff",
    ink: "#1c1e21",
    faint: "#626a73",
    edge: "#a9b0b8",
    changed: "#c94f00",
    added: "#00786a",
    removed: "#8a929b",
    kinds: [
        ("input", "#3d444c"),
        ("output", "#3d444c"),
        ("product", "#2477b3"),
        ("norm", "#3a9cb0"),
        ("activation", "#d98200"),
        ("arithmetic", "#b0357f"),
        ("pool", "#6b5bb0"),
        ("shape", "#8a929b"),
        ("opaque", "#a1643a"),
    ],
};

pub(super) const DARK: Theme = Theme {
    ground: "#15181c",
    ink: "#e4e7ea",
    faint: "#98a2ad",
    edge: "#59626d",
    changed: "#ff9a4d",
    added: "#35c2ae",
    removed: "#8a929b",
    kinds: [
        ("input", "#c3cad2"),
        ("output", "#c3cad2"),
        ("product", "#4a9bd6"),
        ("norm", "#59bccf"),
        ("activation", "#f0a83a"),
        ("arithmetic", "#e07fb8"),
        ("pool", "#9a8ce0"),
        ("shape", "#7c858f"),
        ("opaque", "#cf9468"),
    ],
};

/// A colour between two, as `#rrggbb`.
pub(super) fn blend(a: &str, b: &str, share: f64) -> String {
    let part = |color: &str, k: usize| {
        let digits = color.get(2 * k + 1..2 * k + 3).unwrap_or("0");
        f64::from(u8::from_str_radix(digits, 16).unwrap_or(0))
    };
    let mixed = |k| (part(a, k) + (part(b, k) - part(a, k)) * share).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2))
}
