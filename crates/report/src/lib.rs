//! Tables and charts: text, CSV, Markdown, JSON, SVG.
#![forbid(unsafe_code)]
