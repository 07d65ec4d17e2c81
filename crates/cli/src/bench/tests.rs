use clap::Parser;

use super::*;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    bench: BenchArgs,
}

pub(super) fn parse(args: &[&str]) -> BenchArgs {
    let args = std::iter::once(&"bench").chain(args);
    Cli::try_parse_from(args).unwrap().bench
}

#[test]
fn defaults_are_those_of_the_published_comparison() {
    let args = parse(&[]);
    assert_eq!(setting(&args).unwrap(), Setting::published());
    assert_eq!((args.runs, args.grid), (None, Grid::Quick));
    let args = parse(&["--proven", "--rate-schedule", "standard"]);
    let proven = setting(&args).unwrap();
    assert_eq!((proven.security_level, proven.extension.get()), (100, 5));
    assert_eq!(proven.rates, RateSchedule::Standard);
}

#[test]
fn json_takes_a_file_here_and_nowhere_else() {
    let rewrite = |line: &str| {
        let words = arguments(line.split(' ').map(OsString::from).collect());
        words.join(std::ffi::OsStr::new(" ")).into_string().unwrap()
    };
    let same = |line| assert_eq!(rewrite(line), line);
    assert_eq!(
        rewrite("f whir bench --json x --n 4"),
        "f whir bench --json-file x --n 4"
    );
    assert_eq!(
        rewrite("f --threads 2 whir bench --json -"),
        "f --threads 2 whir bench --json-file -"
    );
    same("f whir bench --json");
    same("f whir bench --json --html x");
    same("f --json whir bench");
    same("f whir prove --json bench");
    same("f whir verify --json x");
}

#[test]
fn filters_choose_rows() {
    let args = parse(&["--grid", "published", "--n", "22", "--rate", "5"]);
    assert_eq!(chosen(&args).unwrap().len(), 5);
    let args = parse(&["--n", "11", "--fold", "3", "--rate", "2"]);
    let other = Point {
        n: 11,
        fold: 3,
        rate: 2,
    };
    assert_eq!(chosen(&args).unwrap(), [other]);
    let error = chosen(&parse(&["--n", "23"])).unwrap_err();
    assert!(error.to_string().contains("n 23"), "{error}");
}

#[test]
fn nonsense_is_refused_with_its_reason() {
    let check = |args: &[&str]| {
        let args = parse(args);
        check_rows(&setting(&args)?, &chosen(&args)?)
    };
    check(&[]).unwrap();
    check(&["--proven"]).unwrap();
    check(&["--security-level", "150"]).unwrap();
    let row = |n, fold, rate| ["--n", n, "--fold", fold, "--rate", rate];
    check(&row("16", "4", "1")).unwrap();
    for args in [
        &row("99", "4", "1")[..],
        &row("64", "4", "1"),
        &row("16", "0", "1"),
        &row("16", "99", "1"),
        &row("16", "4", "99"),
        &["--security-level", "0"],
        &["--pow-bits", "99"],
    ] {
        let error = check(args).unwrap_err();
        assert!(matches!(error, BenchError::Refused { .. }), "{args:?}");
        assert_eq!(Failure::from(error).kind, Kind::Usage);
    }
}
