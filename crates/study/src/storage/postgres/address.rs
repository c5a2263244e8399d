//! The address of a database: what PostgreSQL understands, and a few words of ours behind the question mark.

use super::tls::Connector;
use crate::storage::StorageError;
use postgres::config::{Host, SslMode};
use postgres::{Client, Config, NoTls};
use std::path::Path;
use std::time::Duration;

/// The address of a study, and the patience of its workers.
#[derive(Clone, Debug)]
pub(super) struct Address {
    pub config: Config,
    /// The database for messages: without the password.
    pub place: String,
    /// `study=NAME`: another name than that of the network.
    pub study: Option<String>,
    /// `grace=SECONDS`: how long a worker may be silent before others take over its trials.
    pub grace: Duration,
    /// `reconnect=SECONDS`: how long a lost connection is tried again.
    pub reconnect: Duration,
    /// `sslmode=require`, `verify-ca` or `verify-full`: the connector that encrypts, and checks the server's certificate
    /// by those of `sslrootcert=FILE`.
    tls: Option<Connector>,
}

const SECONDS: Duration = Duration::from_secs(30);

impl Address {
    /// Reads `postgresql://user:password@host:port/database?study=…&grace=…&reconnect=…`. A driver of Python's, as in
    /// `postgresql+psycopg2`, is left out.
    pub fn read(url: &str) -> Result<Self, StorageError> {
        let wrong = |message: String| StorageError::Foreign {
            place: "--storage".to_owned(),
            message,
        };
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let scheme = scheme.split('+').next().unwrap_or_default();
        let (base, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (mut study, mut grace, mut reconnect) = (None, SECONDS, SECONDS);
        let (mut is_encrypted, mut roots) = (false, None);
        let mut theirs = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("study", "")) => return Err(wrong("study has no name".to_owned())),
                Some(("study", name)) => study = Some(name.to_owned()),
                Some(("grace", text)) => grace = seconds("grace", text).map_err(wrong)?,
                Some(("reconnect", text)) => {
                    reconnect = seconds("reconnect", text).map_err(wrong)?;
                }
                Some(("sslmode", "require" | "verify-ca" | "verify-full")) => is_encrypted = true,
                Some(("sslrootcert", path)) => roots = Some(Path::new(path)),
                _ => theirs.push(pair),
            }
        }
        let plain = format!("{scheme}://{base}?{}", theirs.join("&"));
        let mut config: Config = plain
            .parse()
            .map_err(|error: postgres::Error| wrong(described(&error)))?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(10));
        }
        if config.get_application_name().is_none() {
            config.application_name("mase");
        }
        let tls = is_encrypted.then(|| Connector::new(roots));
        let tls = tls.transpose().map_err(wrong)?;
        if tls.is_some() {
            config.ssl_mode(SslMode::Require);
        }
        // A host that has gone silently is noticed, instead of being waited for.
        config.tcp_user_timeout(SECONDS);
        Ok(Self {
            place: place(&config),
            config,
            study,
            grace,
            reconnect,
            tls,
        })
    }

    /// Connects, encrypted if the address asks for it.
    pub fn connect(&self) -> Result<Client, postgres::Error> {
        match &self.tls {
            Some(connector) => connector.connect(&self.config),
            None => self.config.connect(NoTls),
        }
    }
}

fn seconds(name: &str, text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok();
    number
        .filter(|number| (0.1..=86_400.0).contains(number))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("{name} is '{text}', not a number of seconds from 0.1 to 86400"))
}

fn place(config: &Config) -> String {
    let user = config
        .get_user()
        .map_or_else(String::new, |user| format!("{user}@"));
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(other) => format!("{other:?}"),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().unwrap_or(&5432);
    format!(
        "postgresql://{user}{host}:{port}/{}",
        config.get_dbname().unwrap_or_default()
    )
}

/// An error with what lies beneath it.
pub(super) fn described(error: &postgres::Error) -> String {
    if let Some(server) = error.as_db_error() {
        return server.message().to_owned();
    }
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}")
            .replace(&format!(": {source}: {source}"), &format!(": {source}")),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_used_and_never_shown() {
        for url in [
            "postgresql://ada:secret@db.example:5433/studies?study=s1&grace=5&reconnect=0.5",
            "postgresql+psycopg2://ada@db.example:5433/studies?password=secret&study=s1&grace=5&reconnect=0.5",
        ] {
            let address = Address::read(url).unwrap();
            assert_eq!(address.config.get_password(), Some("secret".as_bytes()));
            assert_eq!(address.place, "postgresql://ada@db.example:5433/studies");
            assert_eq!(address.study.as_deref(), Some("s1"));
            assert_eq!(address.grace, Duration::from_secs(5));
            assert_eq!(address.reconnect, Duration::from_millis(500));
        }
    }

    #[test]
    fn nonsense_is_refused_without_the_password() {
        for (url, said) in [
            ("postgresql://ada:secret@db:x/studies", "invalid"),
            (
                "postgresql://ada:secret@db/studies?grace=soon",
                "grace is 'soon'",
            ),
            ("postgresql://ada:secret@db/studies?color=red", "color"),
            (
                "postgresql://ada:secret@db/studies?sslmode=verify-full",
                if cfg!(feature = "tls") {
                    "needs sslrootcert=FILE"
                } else {
                    "build it with `--features tls`"
                },
            ),
        ] {
            let message = Address::read(url).unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }
}
