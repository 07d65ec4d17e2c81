//! Charts as SVG text. Colours are classes of report.css, so that one drawing serves light and dark.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

use super::table::ms;

/// Text as it may stand in HTML and in attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A logarithmic axis from `low` to `high` over the pixels `from..to`.
#[derive(Clone, Copy)]
pub(crate) struct LogAxis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl LogAxis {
    pub(crate) fn new(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Self {
        let positive = values.into_iter().filter(|v| v.is_finite() && *v > 0.0);
        let (low, high) = positive.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), v| {
            (low.min(v), high.max(v))
        });
        let (low, high) = if high > 0.0 { (low, high) } else { (1.0, 10.0) };
        // A little room, so that no mark sits on the frame.
        Self {
            low: low / 1.25,
            high: high * 1.25,
            from,
            to,
        }
    }

    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        self.from + share * (self.to - self.from)
    }

    /// Round values inside: powers of ten, with 2 and 5 between them where these are few.
    fn ticks(&self) -> Vec<f64> {
        let decades = |steps: &[f64]| -> Vec<f64> {
            let (first, last) = (
                self.low.log10().floor() as i32,
                self.high.log10().ceil() as i32,
            );
            (first..=last)
                .flat_map(|e| steps.iter().map(move |s| s * 10_f64.powi(e)))
                .filter(|&v| v >= self.low && v <= self.high)
                .collect()
        };
        let powers = decades(&[1.0]);
        if powers.len() >= 3 {
            powers
        } else {
            decades(&[1.0, 2.0, 5.0])
        }
    }
}

/// 1500000 as `1.5M`.
pub(crate) fn short(value: f64) -> String {
    let (scaled, unit) = match value {
        v if v >= 1e9 => (v / 1e9, "G"),
        v if v >= 1e6 => (v / 1e6, "M"),
        v if v >= 1e3 => (v / 1e3, "k"),
        v => (v, ""),
    };
    let text = match scaled {
        s if s >= 10.0 => format!("{s:.0}"),
        s if s >= 1.0 => format!("{s:.1}"),
        s if s >= 0.1 => format!("{s:.2}"),
        s => format!("{s:.3}"),
    };
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{text}{unit}")
}

/// One line of a chart.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) class: String,
    /// n and milliseconds.
    pub(crate) points: Vec<(usize, f64)>,
}

/// Time against n, one panel.
pub(crate) fn time_panel(
    title: &str,
    ns: (usize, usize),
    all: &[f64],
    series: &[Series],
) -> String {
    const W: f64 = 230.0;
    const H: f64 = 190.0;
    let y = LogAxis::new(all.iter().copied(), H - 24.0, 26.0);
    let (left, right) = (44.0, W - 12.0);
    let (low, high) = (ns.0 as f64 - 0.5, ns.1 as f64 + 0.5);
    let x = |n: usize| left + (n as f64 - low) / (high - low) * (right - left);
    let mut out = format!(
        r#"<svg viewBox="0 0 {W} {H}" role="img" aria-label="{0}"><text class="title" x="{left}" y="15">{0}</text>"#,
        escape(title)
    );
    for tick in y.ticks() {
        let at = y.at(tick);
        let _ = write!(
            out,
            r#"<line class="grid" x1="{left}" x2="{right}" y1="{at:.1}" y2="{at:.1}"/><text class="tick" x="{0}" y="{1:.1}" text-anchor="end">{2}</text>"#,
            left - 5.0,
            at + 3.5,
            short(tick)
        );
    }
    for n in (ns.0..=ns.1).filter(|n| (n - ns.0).is_multiple_of(2)) {
        let _ = write!(
            out,
            r#"<text class="tick" x="{:.1}" y="{}" text-anchor="middle">{n}</text>"#,
            x(n),
            H - 8.0
        );
    }
    for s in series {
        let path: Vec<String> = s
            .points
            .iter()
            .map(|&(n, t)| format!("{:.1},{:.1}", x(n), y.at(t)))
            .collect();
        let _ = write!(
            out,
            r#"<polyline class="line {}" points="{}"/>"#,
            s.class,
            path.join(" ")
        );
        for &(n, t) in &s.points {
            let _ = write!(
                out,
                r#"<circle class="dot {}" cx="{:.1}" cy="{:.1}" r="3.5"><title>{}, n={n}: {} ms</title></circle>"#,
                s.class,
                x(n),
                y.at(t),
                escape(&s.name),
                ms(t)
            );
        }
    }
    out + "</svg>"
}

/// One bar of shares.
pub(crate) struct Stack {
    pub(crate) name: String,
    /// Phase, class, milliseconds.
    pub(crate) parts: Vec<(String, String, f64)>,
}

/// Bars that each fill the width, with the sum beside them.
pub(crate) fn stacks(bars: &[Stack]) -> String {
    const W: f64 = 960.0;
    const STEP: f64 = 22.0;
    let (left, right) = (190.0, W - 80.0);
    let height = STEP * bars.len() as f64 + 4.0;
    let mut out = format!(r#"<svg viewBox="0 0 {W} {height}" role="img" aria-label="phases">"#);
    for (i, bar) in bars.iter().enumerate() {
        let y = STEP * i as f64 + 2.0;
        let total: f64 = bar.parts.iter().map(|p| p.2).sum();
        let _ = write!(
            out,
            r#"<text class="label" x="{}" y="{:.1}" text-anchor="end">{}</text>"#,
            left - 8.0,
            y + 13.0,
            escape(&bar.name)
        );
        let mut x = left;
        for (name, class, time) in &bar.parts {
            let share = if total > 0.0 { time / total } else { 0.0 };
            let width = share * (right - left);
            let _ = write!(
                out,
                r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{}"><title>{}: {} ms, {:.0} %</title></rect>"#,
                STEP - 4.0,
                escape(name),
                ms(*time),
                share * 100.0
            );
            x += width;
        }
        let _ = write!(
            out,
            r#"<text class="label" x="{}" y="{:.1}">{} ms</text>"#,
            right + 8.0,
            y + 13.0,
            ms(total)
        );
    }
    out + "</svg>"
}

/// One mark under the roof.
pub(crate) struct Mark {
    pub(crate) name: String,
    pub(crate) class: String,
    /// Permutations per byte.
    pub(crate) intensity: f64,
    /// Permutations per second.
    pub(crate) speed: f64,
    /// Written beside it.
    pub(crate) label: Option<String>,
}

/// Permutations per second against permutations per byte, under both roofs.
pub(crate) fn roofline(peak: f64, bandwidth: f64, marks: &[Mark]) -> String {
    const W: f64 = 960.0;
    const H: f64 = 380.0;
    let ridge = peak / bandwidth;
    let xs = marks.iter().map(|m| m.intensity);
    let x = LogAxis::new(
        xs.clone()
            .chain(xs.map(|v| v * 1.6))
            .chain([ridge / 3.0, ridge * 3.0]),
        70.0,
        W - 20.0,
    );
    let slowest = marks.iter().map(|m| m.speed).fold(peak, f64::min);
    let y = LogAxis::new([slowest / 1.3, peak * 1.3], H - 44.0, 14.0);
    let mut out = format!(r#"<svg viewBox="0 0 {W} {H}" role="img" aria-label="roofline">"#);
    for tick in y.ticks() {
        let at = y.at(tick);
        let _ = write!(
            out,
            r#"<line class="grid" x1="{}" x2="{}" y1="{at:.1}" y2="{at:.1}"/><text class="tick" x="{}" y="{:.1}" text-anchor="end">{}</text>"#,
            x.from,
            x.to,
            x.from - 6.0,
            at + 3.5,
            short(tick)
        );
    }
    for tick in x.ticks() {
        let at = x.at(tick);
        let _ = write!(
            out,
            r#"<line class="grid" x1="{at:.1}" x2="{at:.1}" y1="{}" y2="{}"/><text class="tick" x="{at:.1}" y="{}" text-anchor="middle">{}</text>"#,
            y.to,
            y.from,
            H - 26.0,
            short(tick)
        );
    }
    // The slanted roof enters the frame on its left edge or on its floor.
    let start = x.low.max(y.low / bandwidth);
    let _ = write!(
        out,
        r#"<polyline class="roof" points="{:.1},{:.1} {:.1},{:.1} {:.1},{:.1}"/>"#,
        x.at(start),
        y.at(start * bandwidth),
        x.at(ridge),
        y.at(peak),
        x.to,
        y.at(peak)
    );
    let _ = write!(
        out,
        r#"<text class="label" x="{:.1}" y="{:.1}" text-anchor="end">permutation kernel {}/s</text><text class="label" x="{:.1}" y="{:.1}">memory copy {}B/s</text>"#,
        x.to - 4.0,
        y.at(peak) - 6.0,
        short(peak),
        x.at(start) + 34.0,
        y.at(start * bandwidth) - 4.0,
        short(bandwidth)
    );
    for mark in marks {
        let (cx, cy) = (x.at(mark.intensity), y.at(mark.speed));
        let _ = write!(
            out,
            r#"<circle class="dot {}" cx="{cx:.1}" cy="{cy:.1}" r="4.5"><title>{}: {}/s</title></circle>"#,
            mark.class,
            escape(&mark.name),
            short(mark.speed)
        );
        if let Some(label) = &mark.label {
            let _ = write!(
                out,
                r#"<text class="tick" x="{:.1}" y="{:.1}">{}</text>"#,
                cx + 7.0,
                cy - 5.0,
                escape(label)
            );
        }
    }
    let _ = write!(
        out,
        r#"<text class="tick" x="{:.1}" y="{}" text-anchor="end">permutations per byte moved</text><text class="tick" x="{}" y="10">permutations per second, grinding left out</text></svg>"#,
        x.to,
        H - 8.0,
        x.from
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_escapes() {
        assert_eq!(
            escape(r#"<a href='x' b="&">"#),
            "&lt;a href=&#39;x&#39; b=&quot;&amp;&quot;&gt;"
        );
        let panel = time_panel("<script>", (4, 4), &[1.0], &[]);
        assert!(!panel.contains("<script"));
    }

    #[test]
    fn axes_are_monotone_and_have_ticks() {
        for values in [vec![], vec![3.0], vec![1.0, 1e6], vec![f64::NAN, 0.0, 2.0]] {
            let axis = LogAxis::new(values, 100.0, 0.0);
            assert!(axis.at(axis.low) > axis.at(axis.high));
            assert!(
                axis.ticks()
                    .iter()
                    .all(|t| (0.0..=100.0).contains(&axis.at(*t)))
            );
        }
        assert_eq!(LogAxis::new([1.0, 1000.0], 0.0, 1.0).ticks().len(), 4);
    }

    #[test]
    fn short_numbers() {
        let words = [0.005, 0.25, 1.0, 2.5, 20.0, 1500.0, 1e6, 2.34e10].map(short);
        assert_eq!(
            words,
            ["0.005", "0.25", "1", "2.5", "20", "1.5k", "1M", "23G"]
        );
    }
}
