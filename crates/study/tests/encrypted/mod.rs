//! Encrypted connections: the certificate of the server is checked, and its name.

use super::server::Server;
use super::toy;
use postgres::{Client, NoTls};
use std::fs;
use study::storage::{Postgres, Storage};

/// Makes a certificate for a name with the server's own openssl, and switches TLS on; gives the certificate.
fn encrypt(client: &mut Client, name: &str) -> String {
    let request = format!(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=mase -keyout server.key -out server.crt \
         -addext basicConstraints=critical,CA:FALSE -addext subjectAltName={name} 2>/dev/null"
    );
    let copy = format!("COPY (SELECT 1) TO PROGRAM '{request}'");
    client.batch_execute(&copy).unwrap();
    client.batch_execute("ALTER SYSTEM SET ssl = on").unwrap();
    client.batch_execute("SELECT pg_reload_conf()").unwrap();
    let row = client.query_one("SELECT pg_read_file('server.crt')", &[]);
    row.unwrap().get(0)
}

#[test]
fn only_a_server_with_a_trusted_certificate_for_its_name_is_used() {
    let cases = [
        ("IP:127.0.0.1", None),
        ("DNS:elsewhere", Some("not valid for name")),
    ];
    for (name, problem) in cases {
        let Some(server) = Server::start() else {
            return;
        };
        let mut client = Client::connect(&server.url, NoTls).unwrap();
        let path = std::env::temp_dir().join(format!("mase-tls-{}.crt", std::process::id()));
        fs::write(&path, encrypt(&mut client, name)).unwrap();
        let url = format!(
            "{}?sslmode=verify-full&sslrootcert={}",
            server.url,
            path.display()
        );
        let joined = Postgres::create_or_join(&url, &toy::info(), &mut |_| ());
        match (joined, problem) {
            (Ok(mut storage), None) => {
                toy::run(&storage, &mut toy::study("random", 30), 5).unwrap();
                let query = "SELECT count(*) FROM pg_stat_ssl WHERE ssl";
                let encrypted: i64 = client.query_one(query, &[]).unwrap().get(0);
                assert!(encrypted >= 1);
                storage.sync(true).unwrap();
            }
            (Err(error), Some(problem)) => {
                let message = error.to_string();
                assert!(message.contains(problem), "{name}: {message}");
            }
            (joined, _) => panic!("{name}: {:?}", joined.err().map(|error| error.to_string())),
        }
        fs::remove_file(path).unwrap();
    }
}
