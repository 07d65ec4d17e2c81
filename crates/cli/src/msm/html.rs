//! The report of `msm bench`: one file that needs nothing else.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fieldspar_device::Host;
use serde_json::Value;

use crate::bench::svg::{Series, escape, time_panel};

/// The look that the reports share.
const STYLE: &str = include_str!("../bench/report.css");

/// Lines and their colours.
const LINES: [(&str, &str); 4] = [
    ("fieldspar", "d0"),
    ("arkworks", "native"),
    ("blst", "default"),
    ("gnark", "d1"),
];

/// The page.
pub(super) fn page(rows: &[Value], runs: u32, threads: usize) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>MSM bench</title>\n<style>{STYLE}</style></head>\n<body><main>\n\
         <header><h1>MSM bench</h1><p>{}, {threads} threads; medians of {runs}, every sum checked</p></header>\n",
        escape(&Host::read().cpu)
    );
    table(&mut out, rows);
    times(&mut out, rows);
    out.push_str("</main></body></html>\n");
    out
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_default()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

fn table(out: &mut String, rows: &[Value]) {
    out.push_str(
        "<section id=\"table\"><h2>Rows</h2><div class=\"scroll\"><table><thead><tr>\
         <th class=\"text\">curve</th><th>log n</th><th class=\"text\">scalars</th>\
         <th class=\"text\">device</th><th>ms</th><th>ns a point</th><th>window</th>\
         <th>products/s</th><th>of the ceiling</th><th>peak MiB</th>\
         <th class=\"text rival\">rivals: ms, ratio</th></tr></thead>\n<tbody>",
    );
    for row in rows {
        let ms = number(&row["ms"]);
        let points = 2.0_f64.powf(number(&row["log_n"]));
        let share = row["ceiling_share"]
            .as_f64()
            .map_or("-".to_owned(), |share| format!("{:.0} %", share * 100.0));
        let peak = row["peak_memory_bytes"]
            .as_f64()
            .map_or("-".to_owned(), |bytes| {
                format!("{:.0}", bytes / f64::from(1 << 20))
            });
        let mut rivals = Vec::new();
        for (name, rival) in row["rivals"].as_object().into_iter().flatten() {
            rivals.push(format!(
                "{} ({}) {:.2}, {:.2}×",
                escape(name),
                escape(text(rival, "built")),
                number(&rival["ms"]),
                number(&rival["ratio"])
            ));
        }
        let _ = writeln!(
            out,
            "<tr><td class=\"text\">{}</td><td>{}</td><td class=\"text\">{}</td><td class=\"text\">{}</td>\
             <td><b>{ms:.3}</b></td><td>{:.1}</td><td>{} × {}</td><td>{:.2e}</td><td>{share}</td>\
             <td>{peak}</td><td class=\"text\">{}</td></tr>",
            escape(text(row, "curve")),
            row["log_n"],
            escape(text(row, "skew")),
            escape(text(row, "device")),
            ms * 1e6 / points,
            row["window"]["bits"],
            row["window"]["count"],
            number(&row["muls_per_s"]),
            rivals.join("; ")
        );
    }
    out.push_str(
        "</tbody></table></div><p class=\"hint\">Ratio is the rival's time over ours, in turn on the same \
         files. Products are those in the base field that the additions take; the ceiling is what this \
         device does of them alone.</p></section>\n",
    );
}

/// Sizes and times by whose they are.
type Lines<'a> = BTreeMap<&'a str, Vec<(usize, f64)>>;

/// Time against n, a panel for each curve and kind of scalars.
fn times(out: &mut String, rows: &[Value]) {
    let mut panels: BTreeMap<(&str, &str), Lines<'_>> = BTreeMap::new();
    for row in rows {
        let n = row["log_n"].as_u64().unwrap_or_default() as usize;
        let panel = panels
            .entry((text(row, "curve"), text(row, "skew")))
            .or_default();
        panel
            .entry("fieldspar")
            .or_default()
            .push((n, number(&row["ms"])));
        for (name, rival) in row["rivals"].as_object().into_iter().flatten() {
            panel
                .entry(name)
                .or_default()
                .push((n, number(&rival["ms"])));
        }
    }
    out.push_str("<section id=\"times\"><h2>Milliseconds against log n</h2><div class=\"panels\">");
    for ((curve, skew), lines) in panels {
        let points = || lines.values().flatten();
        let ns = points().map(|p| p.0);
        let (Some(low), Some(high)) = (ns.clone().min(), ns.max()) else {
            continue;
        };
        let all: Vec<f64> = points().map(|p| p.1).collect();
        let series: Vec<Series> = LINES
            .iter()
            .filter_map(|&(name, class)| {
                Some(Series {
                    name: name.to_owned(),
                    class: class.to_owned(),
                    points: lines.get(name)?.clone(),
                })
            })
            .collect();
        out.push_str(&time_panel(
            &format!("{curve}, {skew}"),
            (low, high),
            &all,
            &series,
        ));
    }
    out.push_str("</div><p class=\"legend\">");
    for (name, class) in LINES {
        let _ = write!(out, "<span><i class=\"{class}\"></i>{name}</span>");
    }
    out.push_str("</p></section>\n");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn a_page_needs_nothing_else_and_escapes() {
        let row = |log_n: u32, ms: f64| {
            json!({
                "curve": "bls12-377", "log_n": log_n, "skew": "<uniform>", "device": "cpu:adx", "ms": ms,
                "window": {"bits": 13, "count": 20}, "muls_per_s": 2.0e7, "ceiling_share": 0.5,
                "peak_memory_bytes": 1 << 24,
                "rivals": {"blst": {"ms": 2.0 * ms, "ratio": 2.0, "built": "default"}},
            })
        };
        let page = super::page(&[row(10, 5.0), row(12, 17.0)], 5, 1);
        for part in ["bls12-377", "50 %", "2.00×", "<polyline", "16</td>"] {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("<uniform>") && !page.contains("http"));
    }
}
