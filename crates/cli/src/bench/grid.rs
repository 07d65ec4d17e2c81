//! Which sizes and shapes are measured.
#![forbid(unsafe_code)]

use std::fmt;

use clap::ValueEnum;
use fieldspar_whir::params::{Assumption, ExtensionDegree, Folds, Params, RateSchedule};

/// A named set of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Grid {
    /// A few rows of n = 16 and 18, under a minute.
    Quick,
    /// The grid of the published WHIR-on-Apple-GPU comparison: n = 20, 22, 24.
    Published,
    /// `published`, and n = 16 and 18.
    Full,
    /// The four rows that the README's ratios come from.
    Reach,
    /// What one GPU is measured by: n = 20 to 27, from the memory of a small card to that of a large
    /// one.
    Gpu,
}

impl Grid {
    /// Its name on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |v| v.get_name().to_owned())
    }
}

/// Size and shape of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Point {
    /// log2 of the number of elements.
    pub(crate) n: usize,
    /// Variables folded per round.
    pub(crate) fold: usize,
    /// log2 of the inverse rate of the first code.
    pub(crate) rate: usize,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n, fold, rate } = self;
        write!(f, "n={n} fold {fold} rate {rate}")
    }
}

fn cross(n: usize, folds: &[usize], rates: &[usize]) -> impl Iterator<Item = Point> {
    folds.iter().flat_map(move |&fold| {
        rates
            .iter()
            .map(move |&rate| Point { n, fold, rate })
            .collect::<Vec<_>>()
    })
}

/// The rows of a grid, smallest first.
pub(crate) fn points(grid: Grid) -> Vec<Point> {
    let mut points: Vec<Point> = match grid {
        Grid::Quick => cross(16, &[1, 4], &[1])
            .chain(cross(18, &[4], &[1, 2]))
            .collect(),
        Grid::Published => cross(20, &[1, 2, 4], &[1, 2, 3])
            .chain(cross(22, &[1, 2, 3, 4, 6], &[1, 2, 3]))
            .chain(cross(22, &[1, 2, 3, 4, 6], &[5]))
            .chain(cross(22, &[1, 2], &[6]))
            .chain(cross(24, &[1, 2, 3, 4, 6], &[1]))
            .collect(),
        Grid::Full => cross(16, &[1, 2, 4], &[1, 2, 3])
            .chain(cross(18, &[1, 2, 4], &[1, 2, 3]))
            .chain(points(Grid::Published))
            .collect(),
        Grid::Reach => cross(20, &[4], &[1])
            .chain(cross(22, &[1, 4], &[1]))
            .chain(cross(24, &[4], &[1]))
            .collect(),
        Grid::Gpu => cross(20, &[1, 4], &[1])
            .chain(cross(22, &[1, 4], &[1]))
            .chain(cross(22, &[1], &[6]))
            .chain(cross(22, &[6], &[5]))
            .chain(cross(24, &[1, 3, 4], &[1]))
            .chain(cross(26, &[4], &[1]))
            .chain(cross(27, &[4], &[1]))
            .collect(),
    };
    points.sort_unstable();
    points
}

/// What all rows of a bench have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) assumption: Assumption,
    pub(crate) extension: ExtensionDegree,
    pub(crate) security_level: usize,
    pub(crate) pow_bits: usize,
    pub(crate) rates: RateSchedule,
}

impl Setting {
    /// That of the published comparison: conjectural, and weaker than what `prove` would choose.
    pub(crate) fn published() -> Self {
        Self {
            assumption: Assumption::Capacity,
            extension: ExtensionDegree::Four,
            security_level: 90,
            pow_bits: 16,
            rates: RateSchedule::Article,
        }
    }

    /// The bounds that are proven, at the level that `prove` defaults to.
    pub(crate) fn proven() -> Self {
        Self {
            assumption: Assumption::Johnson,
            extension: ExtensionDegree::Five,
            security_level: 100,
            pow_bits: 16,
            rates: RateSchedule::Article,
        }
    }

    /// The parameters of one row.
    pub(crate) fn params(&self, point: Point) -> Params {
        Params {
            security_level: self.security_level,
            assumption: self.assumption,
            folds: Folds::Constant(point.fold),
            log_inv_rate: point.rate,
            rates: self.rates.clone(),
            pow_bits: self.pow_bits,
            degree: self.extension,
            ..Params::default()
        }
    }
}

/// The level that a row runs at: the one asked for, or the highest below it that p3-whir accepts,
/// with the refusal in words. `None` if it accepts none.
pub(crate) fn level(params: &Params, n: usize) -> Option<(usize, Option<String>)> {
    let Err(refusal) = params.check(n) else {
        return Some((params.security_level, None));
    };
    let highest = params.max_security_level(n)?.min(params.security_level);
    let lowered = Params {
        security_level: highest,
        ..params.clone()
    };
    lowered.check(n).ok()?;
    Some((highest, Some(refusal.to_string())))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn grids_have_the_published_rows() {
        let count = |grid, n| points(grid).iter().filter(|p| p.n == n).count();
        assert_eq!(points(Grid::Quick).len(), 4);
        assert_eq!(count(Grid::Published, 20), 9);
        assert_eq!(count(Grid::Published, 22), 15 + 5 + 2);
        assert_eq!(count(Grid::Published, 24), 5);
        assert_eq!(points(Grid::Published).len(), 36);
        assert_eq!(points(Grid::Full).len(), 36 + 18);
        let reach: Vec<_> = points(Grid::Reach)
            .iter()
            .map(|p| (p.n, p.fold, p.rate))
            .collect();
        assert_eq!(reach, [(20, 4, 1), (22, 1, 1), (22, 4, 1), (24, 4, 1)]);
        assert_eq!((points(Grid::Gpu).len(), count(Grid::Gpu, 22)), (11, 4));
    }

    #[test]
    fn no_row_stands_twice() {
        for grid in Grid::value_variants() {
            let rows = points(*grid);
            let distinct: BTreeSet<_> = rows.iter().collect();
            assert_eq!(rows.len(), distinct.len(), "{}", grid.name());
        }
    }

    #[test]
    fn every_row_runs_at_some_level() {
        for setting in [Setting::published(), Setting::proven()] {
            for point in points(Grid::Full) {
                let found = level(&setting.params(point), point.n);
                assert!(found.is_some(), "{point:?}");
            }
        }
    }

    #[test]
    fn the_largest_rows_run_below_the_level_asked_for() {
        let levels: Vec<_> = points(Grid::Gpu)
            .into_iter()
            .map(|p| level(&Setting::published().params(p), p.n).map(|(level, _)| level))
            .filter(|&level| level != Some(90))
            .collect();
        // 22/1/6, 22/6/5, 26/4/1 and 27/4/1
        assert_eq!(levels, [Some(83), Some(85), Some(89), Some(86)]);
    }

    #[test]
    fn an_accepted_level_is_kept_and_a_refused_one_lowered() {
        let point = Point {
            n: 20,
            fold: 4,
            rate: 1,
        };
        let mut params = Setting::published().params(point);
        assert_eq!(level(&params, 20), Some((90, None)));
        params.security_level = 200;
        let (lowered, why) = level(&params, 20).unwrap_or_default();
        assert!(lowered > 90 && lowered < 200 && why.is_some());
    }
}
