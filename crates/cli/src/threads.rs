//! How many worker threads there are, and the pool of them.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::num::NonZero;
use std::ops::RangeInclusive;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::{Failure, Kind};

/// What `--threads` and [`VARIABLE`] may ask for; more would take minutes to start.
pub(crate) const ALLOWED: RangeInclusive<i64> = 1..=1024;

/// The environment variable that counts where the flag is absent.
pub(crate) const VARIABLE: &str = "RAYON_NUM_THREADS";

/// What the variable says; unset and empty are the same.
fn of_variable(value: Option<&OsStr>) -> Result<Option<usize>, Failure> {
    let Some(value) = value.filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let number = value.to_str().and_then(|text| text.parse::<u16>().ok());
    match number.filter(|&number| ALLOWED.contains(&i64::from(number))) {
        Some(number) => Ok(Some(usize::from(number))),
        None => Err(Failure::usage(format!(
            "{VARIABLE} is `{}`, not a number from {} to {}",
            value.to_string_lossy(),
            ALLOWED.start(),
            ALLOWED.end()
        ))
        .at(VARIABLE)),
    }
}

/// The pool that a verb runs in, and the number of threads asked for. The pool of a small verb is
/// the calling thread alone: nothing is started.
pub(crate) fn start(flag: Option<u16>, small: bool) -> Result<(ThreadPool, usize), Failure> {
    let variable = std::env::var_os(VARIABLE);
    let asked = match flag {
        Some(flag) => Some(usize::from(flag)),
        None => of_variable(variable.as_deref())?,
    };
    let count = asked
        .or_else(|| std::thread::available_parallelism().ok().map(NonZero::get))
        .unwrap_or(1);
    let builder = ThreadPoolBuilder::new();
    let pool = if small {
        builder.num_threads(1).use_current_thread().build()
    } else {
        builder.num_threads(count).build()
    };
    let pool = pool.map_err(|error| {
        let reason =
            format!("{count} worker threads cannot be started ({error}); --threads asks for fewer");
        Failure::new(Kind::Unavailable, reason).at("--threads")
    })?;
    Ok((pool, count))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_keeps_to_the_bounds_of_the_flag() {
        let read = |text: &str| of_variable(Some(OsStr::new(text)));
        assert_eq!(of_variable(None).unwrap(), None);
        assert_eq!(read("").unwrap(), None);
        assert_eq!(read("1024").unwrap(), Some(1024));
        for text in ["0", "1025", "100000", "-1", "x", "2.5", " 2"] {
            let failure = read(text).unwrap_err();
            assert_eq!(failure.kind, Kind::Usage);
            assert!(failure.message.contains(VARIABLE) && failure.message.contains(text));
        }
    }

    #[test]
    fn a_small_verb_runs_on_the_thread_that_it_is_on() {
        // A thread of its own: a thread is in one pool at most.
        let run = || {
            let (pool, count) = start(Some(7), true).unwrap();
            let own = std::thread::current().id();
            let used = pool.install(|| rayon::join(|| (), || std::thread::current().id()).1);
            (count, pool.current_num_threads(), own == used)
        };
        assert_eq!(std::thread::spawn(run).join().unwrap(), (7, 1, true));
    }
}
