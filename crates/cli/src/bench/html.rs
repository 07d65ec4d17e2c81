//! The report: one file that needs nothing else.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::Report;
use super::row::Row;
use super::stats::geometric_mean;
use super::svg::{Mark, Series, Stack, escape, roofline, stacks, time_panel};
use super::table::{mib, ms};

const STYLE: &str = include_str!("report.css");

/// Phases in the order of a proof; others follow by name.
const PHASES: [&str; 10] = [
    "encode", "merkle", "evaluate", "fold", "sumcheck", "weights", "open", "grind", "stack",
    "other",
];

/// The page.
pub(super) fn page(report: &Report) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>WHIR bench: {}</title>\n<style>{STYLE}</style></head>\n<body><main>\n",
        escape(&report.grid)
    );
    header(&mut out, report);
    table(&mut out, report);
    times(&mut out, report);
    phases(&mut out, report);
    roofs(&mut out, report);
    out.push_str("</main></body></html>\n");
    out
}

fn header(out: &mut String, report: &Report) {
    let _ = writeln!(
        out,
        "<header><h1>WHIR bench</h1><p>fieldspar {}, grid <b>{}</b>, {}, {} threads, {}; medians of {}</p>",
        escape(report.version),
        escape(&report.grid),
        escape(&report.host.cpu),
        report.threads,
        escape(&report.host.os),
        report.runs,
    );
    out.push_str("<div class=\"tiles\">");
    let mut tile = |figure: String, what: &str| {
        let _ = write!(
            out,
            "<div><b>{figure}</b><span>{}</span></div>",
            escape(what)
        );
    };
    for built in ["native", "default"] {
        let ratios: Vec<f64> = report.rows.iter().filter_map(|r| r.ratio(built)).collect();
        if let Some(mean) = geometric_mean(ratios.iter().copied()) {
            let what = format!(
                "faster than p3-whir ({built}), geometric mean of {} rows",
                ratios.len()
            );
            tile(format!("{mean:.2}×"), &what);
        }
    }
    let rivals = || report.rows.iter().flat_map(|r| &r.p3);
    if rivals().next().is_some() {
        let equal = report
            .rows
            .iter()
            .filter(|r| r.p3.iter().all(|p| p.bytes_equal));
        let figure = format!("{}/{}", equal.count(), report.rows.len());
        tile(figure, "rows whose proofs equal p3-whir's byte for byte");
    }
    let verified = report.rows.iter().filter(|r| r.verified).count();
    let figure = format!("{verified}/{}", report.rows.len());
    tile(figure, "rows whose every timed proof was verified");
    out.push_str("</div>\n");
    let notes: Vec<String> = report
        .failures()
        .into_iter()
        .chain(report.warnings.clone())
        .collect();
    if !notes.is_empty() {
        out.push_str("<ul class=\"notes\">");
        for note in notes {
            let _ = write!(out, "<li>{}</li>", escape(&note));
        }
        out.push_str("</ul>");
    }
    out.push_str("</header>\n");
}

fn table(out: &mut String, report: &Report) {
    let versus = report.rows.iter().any(|r| !r.p3.is_empty());
    out.push_str(
        "<section id=\"table\"><h2>Rows</h2><div class=\"scroll\"><table><thead><tr>\
         <th>n</th><th>fold</th><th>rate</th><th class=\"text\">device</th><th>level</th><th>prove ms</th>\
         <th>min–max</th><th>no PoW</th><th>commit</th><th>open</th><th>verify</th><th>proof B</th>\
         <th>peak MiB</th>",
    );
    if versus {
        out.push_str(
            "<th class=\"rival\">p3 native ms</th><th>ratio</th><th>no PoW</th><th>peak MiB</th>\
             <th class=\"rival\">p3 default ms</th><th>ratio</th><th>bytes</th>",
        );
    }
    out.push_str("</tr></thead>\n<tbody>");
    for row in &report.rows {
        table_row(out, row, versus);
    }
    out.push_str(
        "</tbody></table></div>\
         <p class=\"hint\">Rate is log2 of the inverse rate. Ratio is p3-whir's time over ours, same inputs, same run. \
         PoW is the proof-of-work search, whose length is luck, the same on both sides. \
         Proof sizes are those of p3-whir's PcsProof.</p></section>\n",
    );
}

fn table_row(out: &mut String, row: &Row, versus: bool) {
    let lowered = match row.security_level == row.requested_security_level {
        true => "",
        false => " class=\"warn\" title=\"the highest level that p3-whir accepts\"",
    };
    let _ = write!(
        out,
        "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"text\">{}</td><td{lowered}>{}</td><td><b>{}</b></td>\
         <td class=\"faint\">{}–{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>",
        row.n,
        row.fold,
        row.rate,
        escape(&row.device),
        row.security_level,
        ms(row.prove_ms),
        ms(row.prove_min_ms),
        ms(row.prove_max_ms),
        ms(row.prove_without_grinding_ms),
        ms(row.commit_ms),
        ms(row.open_ms),
        ms(row.verify_ms),
        row.proof_bytes,
        mib(row.peak_memory_bytes),
    );
    if versus {
        for built in ["native", "default"] {
            let Some(rival) = row.p3.iter().find(|r| r.built == built) else {
                out.push_str("<td colspan=\"2\">–</td>");
                continue;
            };
            let class = if rival.ratio >= 1.0 { "good" } else { "bad" };
            let _ = write!(
                out,
                "<td class=\"rival\">{}</td><td class=\"{class}\"><b>{:.2}×</b></td>",
                ms(rival.prove_ms),
                rival.ratio
            );
            if built == "native" {
                let _ = write!(
                    out,
                    "<td>{:.2}×</td><td>{}</td>",
                    rival.ratio_without_grinding,
                    mib(rival.peak_memory_bytes)
                );
            }
        }
        out.push_str(match row.p3.iter().all(|r| r.bytes_equal) {
            true => "<td class=\"good\">equal</td>",
            false => "<td class=\"bad\">differ</td>",
        });
    }
    out.push_str("</tr>\n");
}

/// The class of a device's colour.
fn device_class(report: &Report, device: &str) -> String {
    let index = report.devices.iter().position(|d| d.spec == device);
    format!("d{}", index.unwrap_or(0) % 3)
}

fn legend(out: &mut String, entries: impl IntoIterator<Item = (String, String)>) {
    out.push_str("<p class=\"legend\">");
    for (name, class) in entries {
        let _ = write!(
            out,
            "<span><i class=\"{class}\"></i>{}</span>",
            escape(&name)
        );
    }
    out.push_str("</p>");
}

/// Our devices, then the rival's builds.
fn sides(report: &Report) -> Vec<(String, String)> {
    let mut sides: Vec<_> = report
        .devices
        .iter()
        .map(|d| (d.spec.clone(), device_class(report, &d.spec)))
        .collect();
    if report.rows.iter().any(|r| !r.p3.is_empty()) {
        sides.push(("p3-whir (native)".into(), "native".into()));
        sides.push(("p3-whir (default)".into(), "default".into()));
    }
    sides
}

fn times(out: &mut String, report: &Report) {
    let mut panels: BTreeMap<(usize, usize), Vec<&Row>> = BTreeMap::new();
    for row in &report.rows {
        panels.entry((row.fold, row.rate)).or_default().push(row);
    }
    let ns: BTreeSet<usize> = report.rows.iter().map(|r| r.n).collect();
    let (Some(&low), Some(&high)) = (ns.first(), ns.last()) else {
        return;
    };
    let all: Vec<f64> = report
        .rows
        .iter()
        .flat_map(|r| r.p3.iter().map(|p| p.prove_ms).chain([r.prove_ms]))
        .collect();
    out.push_str("<section id=\"time\"><h2>Proving time against n</h2>");
    legend(out, sides(report));
    out.push_str("<div class=\"panels\">");
    for ((fold, rate), rows) in panels {
        let mut series: BTreeMap<(usize, String), Series> = BTreeMap::new();
        let mut add = |rank, name: &str, class: String, n, t| {
            let key = (rank, name.to_owned());
            let line = series.entry(key).or_insert_with(|| Series {
                name: name.to_owned(),
                class,
                points: Vec::new(),
            });
            // The rival's figures stand in the row of every device.
            if line.points.last().is_none_or(|&(last, _)| last != n) {
                line.points.push((n, t));
            }
        };
        for row in rows {
            for rival in &row.p3 {
                let name = format!("p3-whir ({})", rival.built);
                add(0, &name, rival.built.into(), row.n, rival.prove_ms);
            }
            let class = device_class(report, &row.device);
            add(1, &row.device, class, row.n, row.prove_ms);
        }
        let series: Vec<Series> = series.into_values().collect();
        out.push_str(&time_panel(
            &format!("fold {fold}, rate {rate}"),
            (low, high),
            &all,
            &series,
        ));
    }
    out.push_str("</div><p class=\"hint\">Milliseconds, logarithmic, the same scale in every panel.</p></section>\n");
}

/// Position of a phase, and its colour.
fn phase_rank(name: &str) -> usize {
    PHASES
        .iter()
        .position(|p| *p == name)
        .unwrap_or(PHASES.len())
}

fn phases(out: &mut String, report: &Report) {
    let mut names: Vec<&String> = report
        .rows
        .iter()
        .flat_map(|r| r.phases.keys())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    names.sort_by_key(|name| phase_rank(name));
    let class = |name: &str| format!("f{}", phase_rank(name));
    let bars: Vec<Stack> = report
        .rows
        .iter()
        .map(|row| Stack {
            name: row_name(report, row),
            parts: names
                .iter()
                .filter_map(|name| Some(((*name).clone(), class(name), *row.phases.get(*name)?)))
                .collect(),
        })
        .collect();
    out.push_str("<section id=\"phases\"><h2>Where the time goes</h2>");
    legend(out, names.iter().map(|name| ((*name).clone(), class(name))));
    out.push_str(&stacks(&bars));
    out.push_str(
        "<p class=\"hint\">Medians of each phase; every bar is the whole proof.</p></section>\n",
    );
}

fn row_name(report: &Report, row: &Row) -> String {
    let name = format!("n {} fold {} rate {}", row.n, row.fold, row.rate);
    match report.devices.len() {
        1 => name,
        _ => format!("{name} {}", row.device),
    }
}

fn roofs(out: &mut String, report: &Report) {
    out.push_str("<section id=\"roofline\"><h2>Under the roofs</h2>");
    for roof in &report.roofs {
        let mut marks = Vec::new();
        for row in report.rows.iter().filter(|r| r.device == roof.device) {
            let intensity = row.work.permutations as f64 / row.work.bytes_moved as f64;
            let name = format!("n={} fold {} rate {}", row.n, row.fold, row.rate);
            for rival in &row.p3 {
                marks.push(Mark {
                    name: format!("{name}, p3-whir ({})", rival.built),
                    class: format!("{} hollow", rival.built),
                    intensity,
                    speed: row.work.permutations as f64 / rival.prove_without_grinding_ms * 1e3,
                    label: None,
                });
            }
            marks.push(Mark {
                class: device_class(report, &row.device),
                intensity,
                speed: row.work.permutations_per_s,
                // More would lie on top of each other.
                label: (report.rows.len() <= 12)
                    .then(|| format!("{}/{}/{}", row.n, row.fold, row.rate)),
                name,
            });
        }
        let _ = write!(out, "<h3>{}</h3>", escape(&roof.device));
        let shown = sides(report)
            .into_iter()
            .filter(|(name, _)| *name == roof.device || name.starts_with("p3"));
        legend(out, shown);
        out.push_str(&roofline(roof.permutations_per_s, roof.bytes_per_s, &marks));
    }
    out.push_str(
        "<p class=\"hint\">Both roofs were measured in this run with all threads: the permutation kernel by a \
         proof-of-work search, which touches no memory, and memory by copying large buffers. \
         Permutations are those of all leaves and nodes; bytes are an estimate from the parameters: what passes \
         through memory if nothing stays in cache and nothing is done twice. Marks read n/fold/rate.</p></section>\n",
    );
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(super) mod tests {
    use fieldspar_device::{Device, Host};
    use serde_json::json;

    use super::super::roof::Roof;
    use super::super::row::tests::example;
    use super::*;

    pub(in super::super) fn report() -> Report {
        let mut device = Device::open(&"cpu:portable".parse().unwrap())
            .unwrap()
            .info()
            .clone();
        device.spec = "cpu:avx2".into();
        let mut host = Host::read();
        host.cpu = "<CPU>".into();
        let roof = Roof {
            device: device.spec.clone(),
            threads: 2,
            permutations_per_s: 2e7,
            bytes_per_s: 2e10,
        };
        Report {
            schema: 1,
            version: "0",
            command: "whir bench",
            device: device.clone(),
            devices: vec![device],
            threads: 2,
            host,
            grid: "quick".into(),
            runs: 3,
            seed: 1,
            environment: json!({}),
            rivals: Vec::new(),
            roofs: vec![roof],
            rows: vec![
                example(14, 4, 1.0),
                example(16, 4, 4.0),
                example(16, 2, 5.0),
            ],
            warnings: vec!["a & b".into()],
        }
    }

    /// Tags that matter, with their ids and classes, runs of the same counted.
    fn outline(page: &str) -> Vec<String> {
        let mut outline: Vec<(String, usize)> = Vec::new();
        for tag in page.split('<').skip(1).filter(|t| !t.starts_with('/')) {
            let name = tag.split([' ', '>']).next().unwrap();
            let id = tag
                .split_once("id=\"")
                .and_then(|(_, r)| r.split('"').next());
            let line = match (name, id) {
                ("section", Some(id)) => format!("section {id}"),
                ("h1" | "h2" | "h3" | "svg" | "tr" | "polyline" | "circle" | "rect" | "li", _) => {
                    name.into()
                }
                _ => continue,
            };
            match outline.last_mut() {
                Some((last, count)) if *last == line => *count += 1,
                _ => outline.push((line, 1)),
            }
        }
        outline
            .iter()
            .map(|(line, count)| format!("{line} x{count}"))
            .collect()
    }

    #[test]
    fn structure() {
        insta::assert_snapshot!(outline(&page(&report())).join("\n"), @r"
        h1 x1
        li x1
        section table x1
        h2 x1
        tr x4
        section time x1
        h2 x1
        svg x1
        polyline x1
        circle x1
        polyline x1
        circle x1
        polyline x1
        circle x1
        svg x1
        polyline x1
        circle x2
        polyline x1
        circle x2
        polyline x1
        circle x2
        section phases x1
        h2 x1
        svg x1
        rect x9
        section roofline x1
        h2 x1
        h3 x1
        svg x1
        polyline x1
        circle x9
        ");
    }

    #[test]
    fn it_opens_offline_and_is_escaped() {
        let page = page(&report());
        for word in ["http", "src=", "url(", "@import", "<script", "<link"] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(
            page.contains("&lt;CPU&gt;") && !page.contains("<CPU>") && page.contains("a &amp; b")
        );
        assert!(!page.contains("NaN") && !page.contains("inf"));
    }

    #[test]
    fn an_empty_report_is_a_page_too() {
        let mut empty = report();
        empty.rows.clear();
        assert!(page(&empty).ends_with("</html>\n"));
    }
}
