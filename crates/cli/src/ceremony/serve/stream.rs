//! A connection that waits for its peer only so long.
#![forbid(unsafe_code)]

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// A deadline that runs while something is waited for.
#[derive(Debug)]
struct Patience {
    sleep: Pin<Box<Sleep>>,
    most: Duration,
    runs: bool,
}

impl Patience {
    fn new(most: Duration) -> Self {
        Self {
            sleep: Box::pin(sleep(most)),
            most,
            runs: false,
        }
    }

    /// Pending until it has lasted too long, then an error.
    fn wait<T>(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if !self.runs {
            self.sleep.as_mut().reset(Instant::now() + self.most);
            self.runs = true;
        }
        ready!(self.sleep.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

/// Reading fails when nothing comes for a while; writing when what was written since the last flush
/// is not taken in that time, however slowly it trickles.
#[derive(Debug)]
pub(super) struct Patient<S> {
    inner: S,
    read: Patience,
    write: Patience,
}

impl<S> Patient<S> {
    pub(super) fn new(inner: S, idle: Duration, stall: Duration) -> Self {
        Self {
            inner,
            read: Patience::new(idle),
            write: Patience::new(stall),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.inner).poll_read(cx, buffer) {
            Poll::Pending => self.read.wait(cx),
            done => {
                self.read.runs = false;
                done
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.inner).poll_write(cx, bytes) {
            Poll::Pending => self.write.wait(cx),
            done => done,
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.inner).poll_flush(cx) {
            Poll::Pending => self.write.wait(cx),
            done => {
                self.write.runs = false;
                // The peer has work to do before it says more.
                self.read.runs = false;
                done
            }
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.inner).poll_shutdown(cx) {
            Poll::Pending => self.write.wait(cx),
            done => done,
        }
    }
}
