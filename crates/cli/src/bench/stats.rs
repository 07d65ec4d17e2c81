//! Medians and spreads.
#![forbid(unsafe_code)]

/// The middle value, or the mean of the two middle ones; 0 of nothing.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        len if len % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

/// Smallest and largest; zeros of nothing.
pub(crate) fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    values
        .into_iter()
        .fold(None, |range, x| match range {
            None => Some((x, x)),
            Some((low, high)) => Some((f64::min(low, x), f64::max(high, x))),
        })
        .unwrap_or_default()
}

/// The geometric mean of positive values; `None` of nothing.
pub(crate) fn geometric_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (count, logs) = values
        .into_iter()
        .fold((0_u32, 0.0), |(count, sum), x| (count + 1, sum + x.ln()));
    (count > 0).then(|| (logs / f64::from(count)).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median([]), 0.0);
        assert_eq!(median([3.0]), 3.0);
        assert_eq!(median([9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 100.0]), 3.0);
    }

    #[test]
    fn ranges() {
        assert_eq!(range([]), (0.0, 0.0));
        assert_eq!(range([2.0, -1.0, 5.0]), (-1.0, 5.0));
    }

    #[test]
    fn geometric_means() {
        assert_eq!(geometric_mean([]), None);
        let mean = geometric_mean([2.0, 8.0]).unwrap_or_default();
        assert!((mean - 4.0).abs() < 1e-12);
    }
}
