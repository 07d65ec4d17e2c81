//! The routes, and what each answers. `docs/ceremony-api.yaml` describes them; a test compares.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::time::Duration;

use ed25519_dalek::SigningKey;
use fieldspar_ceremony::rules::v2::{Body, Operation, State};
use fieldspar_ceremony::store::{FileDisk, Reply, Store, check};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderMap};
use hyper::{Method, Request};
use rayon::ThreadPool;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

use super::body::{Budget, Share, read};
use super::metrics::Metrics;
use super::reply::Answer;
use super::request::{Operations, Query};
use super::view;
use super::writer::{Clock, Refused, Writer};
use crate::ceremony::common::{fields_of, hex32};

/// What a route does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Endpoint {
    Health,
    Metrics,
    OpenApi,
    Network,
    Roster,
    Keys,
    Root,
    Evidence,
    Ceremonies,
    Ceremony,
    Messages,
    Proof,
    Operations,
    Tick,
}

/// Method, path with `{id}` for a ceremony, and what is there.
const ROUTES: [(&str, &str, Endpoint); 14] = [
    ("GET", "/healthz", Endpoint::Health),
    ("GET", "/metrics", Endpoint::Metrics),
    ("GET", "/openapi.yaml", Endpoint::OpenApi),
    ("GET", "/v2/network", Endpoint::Network),
    ("GET", "/v2/roster", Endpoint::Roster),
    ("GET", "/v2/keys", Endpoint::Keys),
    ("GET", "/v2/root", Endpoint::Root),
    ("GET", "/v2/evidence", Endpoint::Evidence),
    ("GET", "/v2/ceremonies", Endpoint::Ceremonies),
    ("GET", "/v2/ceremonies/{id}", Endpoint::Ceremony),
    ("GET", "/v2/ceremonies/{id}/messages", Endpoint::Messages),
    ("GET", "/v2/ceremonies/{id}/proof", Endpoint::Proof),
    ("POST", "/v2/operations", Endpoint::Operations),
    ("POST", "/v2/tick", Endpoint::Tick),
];

const OPENAPI: &str = include_str!("../../../../../docs/ceremony-api.yaml");

/// What every handler sees.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) writer: Writer,
    pub(super) metrics: Arc<Metrics>,
    pub(super) budget: Budget,
    /// Where signatures are verified.
    pub(super) pool: ThreadPool,
    pub(super) network: [u8; 32],
    pub(super) clock: Clock,
    /// Signs roots.
    pub(super) root_key: Option<SigningKey>,
    pub(super) max_body: usize,
    /// For a body to come.
    pub(super) patience: Duration,
    pub(super) stopping: watch::Receiver<bool>,
    pub(super) failed: watch::Receiver<bool>,
}

/// The route of a method and path, and the ceremony in it; or the status and the methods that are
/// there.
fn find<'p>(method: &Method, path: &'p str) -> Result<(Endpoint, Option<&'p str>), Answer> {
    let mut allowed = Vec::new();
    for (verb, pattern, endpoint) in ROUTES {
        let mut id = None;
        let mut want = pattern.split('/');
        let mut have = path.split('/');
        let fits = loop {
            match (want.next(), have.next()) {
                (None, None) => break true,
                (Some("{id}"), Some(part)) => id = Some(part),
                (Some(want), Some(have)) if want == have => {}
                _ => break false,
            }
        };
        if fits && method.as_str() == verb {
            return Ok((endpoint, id));
        }
        if fits {
            allowed.push(verb);
        }
    }
    if allowed.is_empty() {
        Err(Answer::error(404, "there is nothing at this path"))
    } else {
        Err(Answer::error(405, "not by this method").allow(allowed.join(", ")))
    }
}

/// Answers one request.
pub(super) async fn answer(shared: &Arc<Shared>, request: Request<Incoming>) -> Answer {
    let result = route(shared, request).await;
    let answer = result.unwrap_or_else(|answer| answer);
    shared.metrics.answered(answer.status);
    answer
}

async fn route(shared: &Arc<Shared>, request: Request<Incoming>) -> Result<Answer, Answer> {
    let path = request.uri().path().to_owned();
    let (endpoint, id) = find(request.method(), &path)?;
    let query = Query::new(request.uri().query().unwrap_or_default());
    let id = match id {
        Some(text) => hex32(text).map_err(|e| Answer::error(400, &format!("the ceremony: {e}")))?,
        None => [0; 32],
    };
    match endpoint {
        Endpoint::Health => Ok(health(shared)),
        Endpoint::Metrics => Ok(Answer::text(
            "text/plain; version=0.0.4",
            shared.metrics.text().into(),
        )),
        Endpoint::OpenApi => Ok(Answer::text("application/yaml", OPENAPI.into())),
        Endpoint::Operations => operations(shared, request).await,
        Endpoint::Tick => tick(shared, request).await,
        Endpoint::Network => look(shared, |s| Some(view::network(s))).await,
        Endpoint::Roster => {
            let page = query.page()?;
            look(shared, move |s| Some(view::roster(s, page))).await
        }
        Endpoint::Keys => {
            let page = query.page()?;
            look(shared, move |s| Some(view::keys(s, page))).await
        }
        Endpoint::Evidence => {
            let page = query.page()?;
            look(shared, move |s| Some(view::evidence(s, page))).await
        }
        Endpoint::Ceremonies => {
            let (page, ended) = (query.page()?, query.ended()?);
            look(shared, move |s| Some(view::ceremonies(s, ended, page))).await
        }
        Endpoint::Ceremony => look(shared, move |s| view::ceremony(s, &id)).await,
        Endpoint::Messages => {
            let (round, from) = (query.number("round", 0)?, query.number("from", 0)?);
            look(shared, move |s| view::messages(s, &id, round, from)).await
        }
        Endpoint::Proof => {
            look_mut(shared, move |store| {
                let proof = store.state_mut().prove(&id)?;
                Some(json!({"proof": serde_json::to_value(proof).ok()?}))
            })
            .await
        }
        Endpoint::Root => {
            let key = shared.root_key.clone();
            look_mut(shared, move |store| Some(view::root(store, key.as_ref()))).await
        }
    }
}

fn health(shared: &Shared) -> Answer {
    let (status, word) = if *shared.failed.borrow() {
        (503, "the disk refused a write")
    } else if *shared.stopping.borrow() {
        (503, "stopping")
    } else {
        (200, "ok")
    };
    Answer::json(status, json!({"status": word}))
}

fn refused(why: Refused) -> Answer {
    match why {
        Refused::Busy => Answer::error(503, "too much is waiting").later(),
        Refused::Stopped => Answer::error(503, "the daemon is stopping").later(),
    }
}

async fn look(
    shared: &Arc<Shared>,
    view: impl FnOnce(&State) -> Option<Value> + Send + 'static,
) -> Result<Answer, Answer> {
    look_mut(shared, |store| view(store.state())).await
}

/// Looks at the store and says what is there; 404 if there is nothing.
async fn look_mut(
    shared: &Arc<Shared>,
    view: impl FnOnce(&mut Store<FileDisk>) -> Option<Value> + Send + 'static,
) -> Result<Answer, Answer> {
    let found = shared.writer.read(view).await.map_err(refused)?;
    let value = found.ok_or_else(|| Answer::error(404, "there is no such thing"))?;
    let answer = Answer::json(200, value);
    // Held until it is sent: slow readers share the budget.
    let share = shared.budget.take(answer.body.len()).ok_or_else(no_room)?;
    Ok(answer.hold(share))
}

fn no_room() -> Answer {
    Answer::error(429, "too many bytes are in flight").later()
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// The body of a request. JSON must be said to be JSON, so that no web page can send it unasked.
async fn body(shared: &Shared, request: Request<Incoming>) -> Result<(Vec<u8>, Share), Answer> {
    if !is_json(request.headers()) {
        return Err(Answer::error(
            415,
            "the content type is not application/json",
        ));
    }
    let body = request.into_body();
    read(body, shared.max_body, &shared.budget, shared.patience)
        .await
        .map_err(|error| Answer::of_body(error, shared.max_body))
}

async fn operations(shared: &Arc<Shared>, request: Request<Incoming>) -> Result<Answer, Answer> {
    let (bytes, share) = body(shared, request).await?;
    let Operations(list) =
        serde_json::from_slice(&bytes).map_err(|e| Answer::error(400, &e.to_string()))?;
    drop(bytes);
    if list.iter().any(|o| matches!(o.body, Body::Tick { .. })) {
        let why = "time does not come with operations: it is the daemon's";
        return Err(Answer::error(400, why));
    }
    let replies = submit(shared, list).await?;
    drop(share);
    let answers: Vec<Value> = replies.iter().map(fields_of).collect();
    Ok(Answer::json(200, json!({"answers": answers})))
}

async fn submit(shared: &Arc<Shared>, list: Vec<Operation>) -> Result<Vec<Reply>, Answer> {
    let (answer, checked) = oneshot::channel();
    let network = shared.network;
    shared.pool.spawn_fifo(move || {
        // Whoever asked may have gone.
        let _ = answer.send(check(list, &network));
    });
    let checked = checked
        .await
        .map_err(|_| Answer::error(500, "a signature was not verified"))?;
    let played = shared.writer.submit(checked).await.map_err(refused)?;
    let failed = "the disk refused a write: what was sent is kept or not, ask again later";
    played.map_err(|_| Answer::error(500, failed))
}

async fn tick(shared: &Arc<Shared>, request: Request<Incoming>) -> Result<Answer, Answer> {
    if shared.clock != Clock::Manual {
        return Err(Answer::error(403, "time is the daemon's own"));
    }
    let (bytes, _share) = body(shared, request).await?;
    let value: Value =
        serde_json::from_slice(&bytes).map_err(|e| Answer::error(400, &e.to_string()))?;
    let Some(now) = value["now"].as_u64() else {
        return Err(Answer::error(400, "`now` is no time"));
    };
    let replies = submit(shared, vec![Operation::tick(now)]).await?;
    let answers: Vec<Value> = replies.iter().map(fields_of).collect();
    Ok(Answer::json(200, json!({"answers": answers})))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Paths and methods of the document: a path stands two spaces in, a method four.
    fn described() -> Vec<(String, String)> {
        let mut all = Vec::new();
        let mut path = String::new();
        let lines = OPENAPI.lines().skip_while(|l| *l != "paths:").skip(1);
        for line in lines.take_while(|l| l.is_empty() || l.starts_with(' ')) {
            if let Some(name) = line.strip_prefix("  /") {
                path = format!("/{}", name.trim_end_matches(':'));
            } else if let Some(method) = line.strip_prefix("    ")
                && !method.starts_with(' ')
                && let Some(method) = method.strip_suffix(':')
                && method != "parameters"
            {
                all.push((method.to_uppercase(), path.clone()));
            }
        }
        all.sort();
        all
    }

    #[test]
    fn the_document_has_the_routes_and_no_others() {
        let mut routes: Vec<(String, String)> = ROUTES
            .iter()
            .map(|(method, path, _)| ((*method).into(), (*path).into()))
            .collect();
        routes.sort();
        assert_eq!(described(), routes);
    }

    #[test]
    fn paths_are_told_apart() {
        let id = "00".repeat(32);
        let path = format!("/v2/ceremonies/{id}/messages");
        let (endpoint, found) = find(&Method::GET, &path).unwrap();
        assert_eq!((endpoint, found), (Endpoint::Messages, Some(id.as_str())));
        assert_eq!(find(&Method::POST, "/v2/root").unwrap_err().status, 405);
        for path in [
            "",
            "/",
            "/v2",
            "/v2/root/",
            "//v2/root",
            "/v2/ceremonies/a/b",
        ] {
            assert_eq!(find(&Method::GET, path).unwrap_err().status, 404, "{path}");
        }
    }
}
