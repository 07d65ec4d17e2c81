//! The delayed scheduler: an order of bucket updates for a device that streams.
//!
//! A pipelined adder takes an update every cycle and gives its sum back `window` cycles later; until then
//! the bucket must not be used. Items are taken in order; one whose bucket is in use is put behind all
//! others and taken again in the next pass. With many buckets that is rare, and nothing ever waits
//! (CycloneMSM: Aasaraai, Beaver, Cesena, Maganti, Stalder, Varela, ePrint 2022/1396, section 5.3).
//!
//! The processor's own method sorts instead: see the documentation of the crate.
#![forbid(unsafe_code)]

/// What a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pass {
    /// Items looked at, one a cycle.
    pub items: u64,
    /// Items whose bucket was in use, left for the next pass.
    pub conflicts: u64,
}

/// What a schedule took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// The passes, in order.
    pub passes: Vec<Pass>,
}

impl Statistics {
    /// Items issued in all.
    #[must_use]
    pub fn issued(&self) -> u64 {
        self.passes.iter().map(|p| p.items - p.conflicts).sum()
    }

    /// Cycles in which an item could have been issued.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.passes.iter().map(|p| p.items).sum()
    }

    /// Conflicts over all passes.
    #[must_use]
    pub fn conflicts(&self) -> u64 {
        self.passes.iter().map(|p| p.conflicts).sum()
    }

    /// Items issued a cycle; 1 for no items.
    #[must_use]
    pub fn efficiency(&self) -> f64 {
        match self.cycles() {
            0 => 1.0,
            cycles => self.issued() as f64 / cycles as f64,
        }
    }
}

/// The scheduler of one column of digits.
#[derive(Clone, Debug)]
pub struct Delayed {
    window: u64,
    /// For each bucket the cycle from which on it may be used.
    free: Vec<u64>,
    now: u64,
    late: Vec<(u32, u32)>,
    pass: Pass,
    statistics: Statistics,
}

impl Delayed {
    /// For so many buckets, each in use for `window` cycles from the one in which it is issued.
    #[must_use]
    pub fn new(buckets: u32, window: u32) -> Self {
        Self {
            window: u64::from(window),
            free: vec![0; buckets as usize],
            now: 0,
            late: Vec::new(),
            pass: Pass::default(),
            statistics: Statistics::default(),
        }
    }

    /// Offers an item in this cycle: whether it may be issued now. One that may not is kept.
    ///
    /// # Panics
    ///
    /// If there is no such bucket.
    #[inline]
    pub fn offer(&mut self, item: u32, bucket: u32) -> bool {
        let free = &mut self.free[bucket as usize];
        let now = self.now;
        self.now += 1;
        self.pass.items += 1;
        if *free > now {
            self.pass.conflicts += 1;
            self.late.push((item, bucket));
            return false;
        }
        *free = now + self.window;
        true
    }

    /// After all items were offered: goes through those that were kept, pass after pass, and calls
    /// `issue(item, bucket)` for each when its turn has come.
    pub fn finish(mut self, mut issue: impl FnMut(u32, u32)) -> Statistics {
        self.end_pass();
        while !self.late.is_empty() {
            for (item, bucket) in core::mem::take(&mut self.late) {
                if self.offer(item, bucket) {
                    issue(item, bucket);
                }
            }
            // A pass shorter than the pipeline would find its first bucket still in use.
            if (self.pass.items) < self.window {
                self.now += self.window - self.pass.items;
            }
            self.end_pass();
        }
        self.statistics
    }

    fn end_pass(&mut self) {
        self.statistics.passes.push(core::mem::take(&mut self.pass));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Stream;

    fn column(count: u64, buckets: u32, window: u32) -> Statistics {
        let mut stream = Stream::new(1, 9);
        let mut scheduler = Delayed::new(buckets, window);
        for item in 0..count {
            let bucket = stream.next_u64() % u64::from(buckets);
            #[allow(clippy::cast_possible_truncation)]
            scheduler.offer(item as u32, bucket as u32);
        }
        scheduler.finish(|_, _| ())
    }

    #[test]
    fn conflicts_are_those_of_the_article() {
        // 2^15 buckets: 0.29 % of a column with the window of 96, 0.35 % with the 114 of the hardware
        for (window, percent) in [(96, 0.289), (114, 0.344)] {
            let statistics = column(1 << 22, 1 << 15, window);
            let first = statistics.passes[0];
            let found = 100.0 * first.conflicts as f64 / first.items as f64;
            assert!((found - percent).abs() < 0.01, "{window}: {found}");
            assert_eq!(statistics.issued(), 1 << 22);
            assert!(statistics.efficiency() > 0.996);
            assert!((2..=4).contains(&statistics.passes.len()), "{statistics:?}");
        }
    }

    #[test]
    fn every_item_is_issued_once_and_no_bucket_in_use() {
        let (buckets, window) = (16, 10);
        let mut stream = Stream::new(2, 9);
        let mut scheduler = Delayed::new(buckets, window);
        let items: Vec<u32> = (0..1000).map(|_| (stream.next_u64() % 16) as u32).collect();
        let mut seen = vec![0; items.len()];
        for (item, &bucket) in (0..).zip(&items) {
            if scheduler.offer(item, bucket) {
                seen[item as usize] += 1;
            }
        }
        let statistics = scheduler.finish(|item, bucket| {
            assert_eq!(items[item as usize], bucket);
            seen[item as usize] += 1;
        });
        assert!(seen.iter().all(|&n| n == 1));
        assert_eq!(statistics.issued(), 1000);
        assert_eq!(statistics.cycles(), 1000 + statistics.conflicts());
    }

    #[test]
    fn all_items_in_one_bucket_are_issued_one_by_one() {
        let mut scheduler = Delayed::new(4, 8);
        for item in 0..100 {
            scheduler.offer(item, 2);
        }
        let statistics = scheduler.finish(|_, bucket| assert_eq!(bucket, 2));
        assert_eq!(statistics.issued(), 100);
        assert!(statistics.efficiency() < 0.5);
        assert_eq!(column(0, 4, 8).efficiency(), 1.0);
    }
}
