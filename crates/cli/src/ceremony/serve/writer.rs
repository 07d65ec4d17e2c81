//! The one thread that has the store. It takes what has come, plays it, syncs once, and only then
//! answers; who only reads is served in between and so never sees what is not on disk.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fieldspar_ceremony::rules::v2::{Authentic, BadSignature, Operation};
use fieldspar_ceremony::store::{FileDisk, Reply, Store, StoreError};
use tokio::sync::{oneshot, watch};

use super::metrics::Metrics;

/// The most operations of one commit.
const COMMIT: usize = 4096;

/// How long the thread sleeps at most; deadlines are looked at then.
const NAP: Duration = Duration::from_secs(1);

/// The state's time runs behind the clock by at most this, in milliseconds, when something is played.
const TICK_MS: u64 = 1000;

/// Where time comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Clock {
    /// The system's, in milliseconds since 1970
    #[default]
    System,
    /// Whoever asks, by `POST /v2/tick`
    Manual,
}

type Read = Box<dyn FnOnce(&mut Store<FileDisk>) + Send>;
type Replies = Result<Vec<Reply>, Failed>;

/// The disk refused: what was asked is on it or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failed;

enum Job {
    Submit(
        Vec<Result<Authentic, BadSignature>>,
        oneshot::Sender<Replies>,
    ),
    Read(Read),
}

/// Why a job was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The queue is full.
    Busy,
    /// The thread has ended.
    Stopped,
}

/// What handlers hold.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    queue: SyncSender<Job>,
    metrics: Arc<Metrics>,
}

/// How the thread works.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) clock: Clock,
    /// Jobs that wait at most.
    pub(super) queue: usize,
    /// Operations between snapshots.
    pub(super) snapshot_every: u64,
}

pub(super) type Thread = JoinHandle<Result<Store<FileDisk>, StoreError>>;

impl Writer {
    /// Starts the thread. It ends when every `Writer` is gone and the queue is empty, or when the disk
    /// refuses, which `failed` tells.
    pub(super) fn start(
        store: Store<FileDisk>,
        settings: Settings,
        metrics: Arc<Metrics>,
        failed: watch::Sender<bool>,
    ) -> std::io::Result<(Self, Thread)> {
        let (queue, jobs) = sync_channel(settings.queue);
        let desk = Desk {
            last_snapshot: store.state().operations(),
            store,
            settings,
            metrics: Arc::clone(&metrics),
        };
        let thread = std::thread::Builder::new()
            .name("ceremony writer".into())
            .spawn(move || {
                let result = desk.run(&jobs);
                if result.is_err() {
                    failed.send_replace(true);
                }
                result
            })?;
        Ok((Self { queue, metrics }, thread))
    }

    fn send(&self, job: Job) -> Result<(), Refused> {
        self.metrics.queue.add(1);
        self.queue.try_send(job).map_err(|error| {
            self.metrics.queue.sub(1);
            match error {
                TrySendError::Full(_) => Refused::Busy,
                TrySendError::Disconnected(_) => Refused::Stopped,
            }
        })
    }

    /// Plays operations; the answer comes when they are on disk.
    pub(super) async fn submit(
        &self,
        operations: Vec<Result<Authentic, BadSignature>>,
    ) -> Result<Replies, Refused> {
        let (answer, replies) = oneshot::channel();
        self.send(Job::Submit(operations, answer))?;
        replies.await.map_err(|_| Refused::Stopped)
    }

    /// Looks at the store.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(&mut Store<FileDisk>) -> T + Send + 'static,
    ) -> Result<T, Refused> {
        let (answer, found) = oneshot::channel();
        let read = Box::new(move |store: &mut Store<FileDisk>| {
            // Whoever asked may have gone.
            let _ = answer.send(look(store));
        });
        self.send(Job::Read(read))?;
        found.await.map_err(|_| Refused::Stopped)
    }
}

/// What the thread has.
struct Desk {
    store: Store<FileDisk>,
    settings: Settings,
    metrics: Arc<Metrics>,
    last_snapshot: u64,
}

impl Desk {
    fn run(mut self, jobs: &Receiver<Job>) -> Result<Store<FileDisk>, StoreError> {
        self.count();
        loop {
            match jobs.recv_timeout(NAP) {
                Ok(job) => self.round(job, jobs)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // Also where there is always something to read.
            self.time_alone()?;
            if self.store.state().operations() - self.last_snapshot >= self.settings.snapshot_every
            {
                self.snapshot()?;
            }
        }
        if self.store.state().operations() > self.last_snapshot {
            self.snapshot()?;
        }
        Ok(self.store)
    }

    fn snapshot(&mut self) -> Result<(), StoreError> {
        self.store.snapshot()?;
        self.last_snapshot = self.store.state().operations();
        self.metrics.snapshots.add(1);
        Ok(())
    }

    /// Everything that is waiting, in one commit.
    fn round(&mut self, first: Job, jobs: &Receiver<Job>) -> Result<(), StoreError> {
        let mut operations = Vec::new();
        let mut waiting = Vec::new();
        let mut reads = Vec::new();
        let mut next = Some(first);
        while let Some(job) = next.take() {
            self.metrics.queue.sub(1);
            match job {
                Job::Submit(more, answer) => {
                    waiting.push((more.len(), answer));
                    operations.extend(more);
                }
                Job::Read(read) => reads.push(read),
            }
            if operations.len() < COMMIT {
                next = jobs.try_recv().ok();
            }
        }
        if !operations.is_empty() {
            self.commit(operations, waiting)?;
        }
        for read in reads {
            read(&mut self.store);
        }
        Ok(())
    }

    fn commit(
        &mut self,
        mut operations: Vec<Result<Authentic, BadSignature>>,
        waiting: Vec<(usize, oneshot::Sender<Replies>)>,
    ) -> Result<(), StoreError> {
        let tick = self.tick(TICK_MS);
        let ticks = usize::from(tick.is_some());
        operations.splice(0..0, tick.map(Ok));
        let begin = Instant::now();
        let played = self.store.submit_checked(operations);
        self.metrics.commits.observe(begin.elapsed());
        let replies = match played {
            Ok(replies) => replies,
            Err(error) => {
                for (_, answer) in waiting {
                    let _ = answer.send(Err(Failed));
                }
                return Err(error);
            }
        };
        let mut replies = replies.into_iter().skip(ticks);
        for (count, answer) in waiting {
            let own: Vec<Reply> = replies.by_ref().take(count).collect();
            self.metrics.replies(&own);
            let _ = answer.send(Ok(own));
        }
        self.count();
        Ok(())
    }

    /// Time goes on without operations where a deadline has passed.
    fn time_alone(&mut self) -> Result<(), StoreError> {
        let next = self.store.state().next_deadline();
        let passed = |tick: &u64| next.is_some_and(|deadline| deadline < *tick);
        if let Some(now) = self.clock().filter(passed) {
            self.store.tick(now)?;
            self.count();
        }
        Ok(())
    }

    /// The system's time in milliseconds, if that is the clock and it has not gone back.
    fn clock(&self) -> Option<u64> {
        if self.settings.clock == Clock::Manual {
            return None;
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let now = u64::try_from(since.as_millis()).ok()?;
        (now > self.store.state().now()).then_some(now)
    }

    fn tick(&self, behind: u64) -> Option<Authentic> {
        let now = self.clock()?;
        let late = now - self.store.state().now() >= behind;
        let due = self.store.state().next_deadline();
        let due = due.is_some_and(|deadline| deadline < now);
        (late || due).then(|| Operation::tick(now).trust())
    }

    /// Tells what the state is like.
    fn count(&self) {
        let state = self.store.state();
        let m = &self.metrics;
        m.operations.set(state.operations());
        m.archived.set(state.archive().len() as u64);
        m.evidence.set(state.evidence().len() as u64);
        m.frames.set(self.store.frames());
        m.log_bytes.set(self.store.log_bytes());
        m.sync_micros
            .set(u64::try_from(self.store.spent().sync.as_micros()).unwrap_or(u64::MAX));
    }
}
