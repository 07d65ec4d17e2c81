//! A simulated disk that loses, reorders and refuses.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use fieldspar_ceremony::store::Disk;

#[derive(Clone, Debug)]
enum Change {
    Write(u64, Vec<u8>),
    Truncate(u64),
}

/// A disk whose unsynced changes are lost in part when the power goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sim(pub(crate) Rc<RefCell<Inner>>);

#[derive(Clone, Debug, Default)]
pub(crate) struct Inner {
    pub(crate) durable: Vec<u8>,
    pending: Vec<Change>,
    /// Changes and syncs so far.
    steps: usize,
    /// The step at which the power goes.
    pub(crate) dies_at: Option<usize>,
    /// No byte is written at or behind this place; what fits of a write is.
    pub(crate) full_at: Option<u64>,
}

const SECTOR: usize = 64;

fn apply(image: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write(at, bytes) => {
            let at = *at as usize;
            if image.len() < at + bytes.len() {
                image.resize(at + bytes.len(), 0);
            }
            image[at..at + bytes.len()].copy_from_slice(bytes);
        }
        Change::Truncate(len) => image.resize(*len as usize, 0),
    }
}

impl Inner {
    fn view(&self) -> Vec<u8> {
        let mut image = self.durable.clone();
        self.pending
            .iter()
            .for_each(|change| apply(&mut image, change));
        image
    }

    fn step(&mut self) -> io::Result<()> {
        if self.dies_at.is_some_and(|at| self.steps >= at) {
            return Err(io::Error::other("the power is gone"));
        }
        self.steps += 1;
        Ok(())
    }
}

impl Sim {
    pub(crate) fn holding(bytes: Vec<u8>) -> Self {
        Self(Rc::new(RefCell::new(Inner {
            durable: bytes,
            ..Inner::default()
        })))
    }

    /// What is on the disk after the power went: of the unsynced writes any sectors, in any order,
    /// as `chance` says.
    pub(crate) fn after_the_crash(&self, mut chance: impl FnMut() -> bool) -> Vec<u8> {
        let inner = self.0.borrow();
        let mut image = inner.durable.clone();
        for change in &inner.pending {
            match change {
                Change::Truncate(_) if chance() => apply(&mut image, change),
                Change::Truncate(_) => {}
                Change::Write(at, bytes) => {
                    for (i, sector) in bytes.chunks(SECTOR).enumerate() {
                        if chance() {
                            let at = at + (i * SECTOR) as u64;
                            apply(&mut image, &Change::Write(at, sector.to_vec()));
                        }
                    }
                }
            }
        }
        image
    }
}

impl Disk for Sim {
    fn len(&mut self) -> io::Result<u64> {
        Ok(self.0.borrow().view().len() as u64)
    }

    fn read(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let view = self.0.borrow().view();
        let rest = view.get(at as usize..).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.0.borrow_mut();
        inner.step()?;
        let room = inner.full_at.map_or(bytes.len(), |full| {
            (full.saturating_sub(at) as usize).min(bytes.len())
        });
        inner
            .pending
            .push(Change::Write(at, bytes[..room].to_vec()));
        match room == bytes.len() {
            true => Ok(()),
            false => Err(io::Error::from(io::ErrorKind::StorageFull)),
        }
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        let mut inner = self.0.borrow_mut();
        inner.step()?;
        inner.pending.push(Change::Truncate(len));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut inner = self.0.borrow_mut();
        inner.step()?;
        inner.durable = inner.view();
        inner.pending.clear();
        Ok(())
    }
}
