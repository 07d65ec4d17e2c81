//! The plain port of the public engine, `fieldspar_ceremony::reference`, as a process of its own.
//!
//! Each line of standard input names a scenario. It is run once, its states one after another, with
//! the arenas made and cleared outside the timer, and answered by one line:
//! `{"ms": <time>, "root": "<state root of the last state>"}`, or `{"error": "<why>"}`.
#![forbid(unsafe_code)]

use std::io::{BufRead, Write};
use std::time::Instant;

use fieldspar_ceremony::hex;
use fieldspar_ceremony::reference::Engine;
use fieldspar_ceremony::rules::v1::Capacities;
use fieldspar_ceremony::rules::v1::scenario::{self, Round, Scenario};

fn main() -> std::io::Result<()> {
    let mut kept: Option<(String, Vec<Round>, Vec<Engine>)> = None;
    for line in std::io::stdin().lock().lines() {
        let name = line?;
        if kept.as_ref().is_none_or(|(last, ..)| *last != name) {
            kept = Scenario::ALL.into_iter().find(|s| s.name() == name).map(|scenario| {
                let chunks = scenario.chunks();
                let engines = vec![Engine::new(Capacities::default()); chunks.len()];
                (name.clone(), chunks, engines)
            });
        }
        let answer = match &mut kept {
            Some((_, chunks, engines)) => run(chunks, engines),
            None => serde_json::json!({"error": format!("no scenario `{name}`")}),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn run(chunks: &[Round], engines: &mut [Engine]) -> serde_json::Value {
    engines.iter_mut().for_each(Engine::clear);
    let descriptor = scenario::descriptor();
    let mut root = [0; 32];
    let start = Instant::now();
    for (engine, chunk) in engines.iter_mut().zip(chunks) {
        let result = engine.round(&descriptor, &chunk.ceremony_ops, &chunk.contributions);
        root = result.state.state_root;
    }
    let ms = start.elapsed().as_secs_f64() * 1e3;
    serde_json::json!({"ms": ms, "root": hex::encode(&root)})
}
