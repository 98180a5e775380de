//! A PuppetDB for tests: a server on this machine.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// A server on this machine, and the queries that it got.
pub(super) struct Server {
    pub(super) url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers each query with a status line, further headers and a body.
    pub(super) fn answering(answer: impl Fn(&str) -> (String, String) + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let known = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                serve(stream.unwrap(), &answer, &known);
            }
        });
        Server { url, asked }
    }

    /// A PuppetDB with these nodes: name → its row of the inventory.
    pub(super) fn with(rows: Vec<Value>) -> Server {
        Server::answering(move |query| match query.starts_with("catalog-inputs") {
            true => ("404 Not Found".to_owned(), String::new()),
            false => ("200 OK".to_owned(), inventory(query, &rows)),
        })
    }

    /// The same, with these answers about what catalogs looked up.
    pub(super) fn with_inputs(rows: Vec<Value>, inputs: &Value) -> Server {
        let inputs = inputs.to_string();
        Server::answering(move |query| match query.starts_with("catalog-inputs") {
            true => ("200 OK".to_owned(), inputs.clone()),
            false => ("200 OK".to_owned(), inventory(query, &rows)),
        })
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, answer: &dyn Fn(&str) -> (String, String), asked: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut first, mut length) = (String::new(), 0);
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).unwrap();
            let header = header.trim().to_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if header.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let query = match &body["query"] {
            Value::String(query) => {
                assert_eq!(first.trim(), "POST /pdb/query/v4 HTTP/1.1");
                query.clone()
            }
            _ => {
                assert_eq!(first.trim(), "POST /pdb/query/v4/catalog-inputs HTTP/1.1");
                format!("catalog-inputs {body}")
            }
        };
        asked.lock().unwrap().push(query.clone());
        let (status, body) = answer(&query);
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let stream = reader.get_mut();
        if stream.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

/// PuppetDB's answer: the number of nodes, or the columns of a page of rows ordered by name.
fn inventory(query: &str, rows: &[Value]) -> String {
    let rest = query.strip_prefix("inventory[").unwrap();
    let (columns, clause) = rest.split_once("] {").unwrap();
    if columns == "count()" {
        return json!([{ "count": rows.len() }]).to_string();
    }
    let number = |name: &str| -> usize {
        let rest = clause.split_once(&format!(" {name} ")).unwrap().1;
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    assert!(clause.contains(" order by certname "), "{query}");
    let mut rows: Vec<&Value> = rows.iter().collect();
    rows.sort_by_key(|row| row["certname"].as_str());
    let page = rows.iter().skip(number("offset")).take(number("limit"));
    let page = page.map(|row| {
        let columns = columns.split(", ").map(str::trim_end);
        let columns = columns.map(|column| {
            let names = column.split('.').map(|name| name.trim_matches('"'));
            let found = names.fold(*row, |part, name| &part[name]);
            (column.to_owned(), found.clone())
        });
        Value::Object(columns.collect())
    });
    Value::Array(page.collect()).to_string()
}
