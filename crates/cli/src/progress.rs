//! A bar on stderr while a proof is being made: how much is done, and for how long.
#![forbid(unsafe_code)]

use std::io::IsTerminal;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use fieldspar_whir::profile::{Profile, Span};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::context::Context;

/// Nothing is shown for work that is done within this time.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);

/// Of a codeword's cost, how much is encoding; hashing is the rest.
const ENCODE_PERCENT: u64 = 40;

/// How much of the work is done. Committing to codewords is nearly all of it, so each counts by its
/// size; `sizes` are in the order of the proof.
fn done(sizes: &[u64], spans: &[Span]) -> u64 {
    let finished = |name: &str, percent: u64| -> u64 {
        let count = spans.iter().filter(|span| span.name == name).count();
        sizes.iter().take(count).sum::<u64>() * percent
    };
    finished("encode", ENCODE_PERCENT) + finished("merkle", 100 - ENCODE_PERCENT)
}

fn bar(title: &str, length: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr())
        .with_elapsed(PATIENCE);
    if let Ok(style) =
        ProgressStyle::with_template("{prefix} {wide_bar} {percent:>3} % {elapsed} {msg}")
    {
        bar.set_style(style);
    }
    bar.set_prefix(title.to_owned());
    bar
}

/// A bar for the caller to move, on a terminal.
pub(crate) fn count(context: &Context, title: &str) -> Option<ProgressBar> {
    let shown = !context.quiet() && !context.json() && std::io::stderr().is_terminal();
    shown.then(|| bar(title, 0))
}

/// Runs `work`; on a terminal, if it takes longer than a second, says how far it is. `sizes` are
/// the elements of each codeword that the work commits to.
pub(crate) fn watch<R>(
    context: &Context,
    title: &str,
    profile: &Profile,
    sizes: &[u64],
    work: impl FnOnce() -> R,
) -> R {
    if context.quiet() || context.json() || !std::io::stderr().is_terminal() {
        return work();
    }
    std::thread::scope(|scope| {
        let (sender, finished) = mpsc::channel::<()>();
        scope.spawn(move || {
            // The sender is dropped, and never sends, when the work is done.
            let running =
                |wait| finished.recv_timeout(wait) == Err(mpsc::RecvTimeoutError::Timeout);
            if !running(PATIENCE) {
                return;
            }
            let bar = bar(title, sizes.iter().sum::<u64>() * 100);
            loop {
                let spans = profile.spans();
                if let Some(last) = spans.last() {
                    bar.set_message(format!("after {}", last.name));
                }
                bar.set_position(done(sizes, &spans));
                bar.tick();
                if !running(REDRAW) {
                    bar.finish_and_clear();
                    return;
                }
            }
        });
        let result = work();
        drop(sender);
        result
    })
}

/// How long `work` takes.
pub(crate) fn timed<R>(work: impl FnOnce() -> R) -> (R, Duration) {
    let begin = Instant::now();
    let result = work();
    (result, begin.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_ends_at_its_length() {
        let span = |name| Span {
            name,
            start: Duration::ZERO,
            length: Duration::ZERO,
        };
        let mut spans = Vec::new();
        let mut before = 0;
        for name in ["encode", "merkle", "grind", "encode", "merkle"] {
            spans.push(span(name));
            let now = done(&[8, 4], &spans);
            assert!(now >= before);
            before = now;
        }
        assert_eq!(before, 12 * 100);
    }
}
