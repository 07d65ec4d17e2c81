//! A line on stderr while a proof is being made: what has been done, and for how long.
#![forbid(unsafe_code)]

use std::io::IsTerminal;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use fieldspar_whir::profile::Profile;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::context::Context;

/// Nothing is shown for work that is done within this time.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);

/// Runs `work`; on a terminal, if it takes longer than a second, says how far it is.
pub(crate) fn watch<R>(
    context: &Context,
    title: &str,
    profile: &Profile,
    work: impl FnOnce() -> R,
) -> R {
    if context.quiet() || !std::io::stderr().is_terminal() {
        return work();
    }
    std::thread::scope(|scope| {
        let (done, finished) = mpsc::channel::<()>();
        scope.spawn(move || {
            if finished.recv_timeout(PATIENCE) != Err(mpsc::RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
                .with_elapsed(PATIENCE);
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {elapsed} {msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(title.to_owned());
            loop {
                let spans = profile.spans();
                if let Some(last) = spans.last() {
                    bar.set_message(format!(
                        "{} steps done, the last: {}",
                        spans.len(),
                        last.name
                    ));
                }
                bar.tick();
                if finished.recv_timeout(REDRAW) != Err(mpsc::RecvTimeoutError::Timeout) {
                    bar.finish_and_clear();
                    return;
                }
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// How long `work` takes.
pub(crate) fn timed<R>(work: impl FnOnce() -> R) -> (R, Duration) {
    let begin = Instant::now();
    let result = work();
    (result, begin.elapsed())
}
