//! The sweep as one HTML file that needs nothing else.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

use super::explore::{LABEL, Row, parts};
use crate::bench::svg::escape;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem;\
color:#1c1e21;background:#fff}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
td,th{padding:.15rem .6rem;text-align:right}th{border-bottom:1px solid #888}\
svg text{font:11px system-ui,sans-serif}.note{color:#666}.scroll{overflow-x:auto}";

/// A parameter that a sweep may span.
type Axis = (&'static str, fn(&Row) -> f64);

const AXES: [Axis; 8] = [
    ("log2 of the points", |r| {
        f64::from(r.prediction.points.max(1).ilog2())
    }),
    ("clock, MHz", |r| r.system.clock_mhz),
    ("adder latency, cycles", |r| r.system.machine.latency.into()),
    ("log2 of the buckets", |r| {
        f64::from(r.system.machine.digit_bits - 1)
    }),
    ("columns at once", |r| r.system.machine.columns.into()),
    ("link, GB/s", |r| r.system.link_gbs),
    ("bytes a digit", |r| r.system.digit_bytes),
    ("hot buckets", |r| r.system.machine.hot.into()),
];

/// The page.
pub(super) fn page(preset: &str, rows: &[Row]) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>fpga explore: {0}</title>\
         <style>{STYLE}</style></head>\n<body><h1>fpga explore: {0}</h1><p class=\"note\">{1}</p>\n",
        escape(preset),
        escape(LABEL),
    );
    let spanned: Vec<&Axis> = AXES
        .iter()
        .filter(|axis| values(rows, axis.1).len() > 1)
        .collect();
    for (i, x) in spanned.iter().enumerate() {
        for y in &spanned[i + 1..] {
            map(&mut out, rows, x, y);
        }
    }
    table(&mut out, rows);
    out.push_str("</body></html>\n");
    out
}

/// The values of a parameter, ascending.
fn values(rows: &[Row], of: fn(&Row) -> f64) -> Vec<f64> {
    let mut all: Vec<f64> = rows.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

/// Efficiency over two parameters, and lines where the bottleneck changes. Where others vary too, the
/// first row counts.
fn map(out: &mut String, rows: &[Row], x: &Axis, y: &Axis) {
    const CELL: usize = 58;
    let (xs, ys) = (values(rows, x.1), values(rows, y.1));
    let (left, top) = (70, 10);
    let (width, height) = (left + CELL * xs.len() + 10, top + 28 * ys.len() + 45);
    let _ = write!(
        out,
        "<h2>Additions a cycle: {} by {}</h2><div class=\"scroll\"><svg width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"heat map\">",
        escape(y.0),
        escape(x.0),
    );
    let find = |i: usize, j: usize| {
        let (a, b) = (xs.get(i)?, ys.get(j)?);
        rows.iter().find(|r| (x.1)(r) == *a && (y.1)(r) == *b)
    };
    let row_top = |j: usize| top + 28 * (ys.len() - 1 - j);
    for j in 0..ys.len() {
        for i in 0..xs.len() {
            let Some(row) = find(i, j) else { continue };
            let share = row.prediction.efficiency.clamp(0.0, 1.0);
            let (px, py) = (left + CELL * i, row_top(j));
            let hue = 10.0 + 200.0 * share;
            let _ = write!(
                out,
                "<rect x=\"{px}\" y=\"{py}\" width=\"{CELL}\" height=\"28\" fill=\"hsl({hue:.0} 70% 78%)\">\
                 <title>{:.4} s predicted, {}</title></rect>\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{:.1} %</text>",
                row.prediction.seconds,
                escape(row.prediction.bottleneck),
                px + CELL / 2,
                py + 18,
                100.0 * share,
            );
        }
    }
    // Borders between bottlenecks, over the cells.
    for j in 0..ys.len() {
        for i in 0..xs.len() {
            let Some(own) = find(i, j).map(|r| r.prediction.bottleneck) else {
                continue;
            };
            let other = |r: Option<&Row>| r.is_some_and(|r| r.prediction.bottleneck != own);
            let (px, py) = (left + CELL * i, row_top(j));
            let mut line = |x2: usize, y1: usize, x1: usize, y2: usize| {
                let _ = write!(
                    out,
                    "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"#111\" stroke-width=\"2.5\"/>"
                );
            };
            if other(find(i + 1, j)) {
                line(px + CELL, py, px + CELL, py + 28);
            }
            if other(find(i, j + 1)) {
                line(px + CELL, py, px, py);
            }
        }
    }
    for (i, value) in xs.iter().enumerate() {
        let _ = write!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{value}</text>",
            left + CELL * i + CELL / 2,
            top + 28 * ys.len() + 16,
        );
    }
    for (j, value) in ys.iter().enumerate() {
        let _ = write!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{value}</text>",
            left - 8,
            row_top(j) + 18,
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{left}\" y=\"{}\">{}</text></svg></div>\
         <p class=\"note\">Black lines: the bottleneck changes. Over a cell: predicted seconds and its bottleneck.</p>",
        height - 8,
        escape(x.0),
    );
}

fn table(out: &mut String, rows: &[Row]) {
    out.push_str("<h2>Rows</h2><div class=\"scroll\"><table><thead><tr>");
    for (name, _) in AXES {
        let _ = write!(out, "<th>{}</th>", escape(name));
    }
    out.push_str("<th>policy</th><th>additions a cycle</th><th>bottleneck</th><th>predicted s</th><th>of it additions</th></tr></thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (_, of) in AXES {
            let _ = write!(out, "<td>{}</td>", of(row));
        }
        let additions = parts(row).first().map_or(0.0, |p| p.1);
        let p = &row.prediction;
        let _ = writeln!(
            out,
            "<td>{}</td><td>{:.2} %</td><td>{}</td><td>{:.4}</td><td>{additions:.4}</td></tr>",
            escape(&row.system.machine.policy.name()),
            100.0 * p.efficiency,
            escape(p.bottleneck),
            p.seconds,
        );
    }
    out.push_str("</tbody></table></div>\n");
}
