//! What the operating system says of the processor and of memory.
#![forbid(unsafe_code)]

use std::{
    fs,
    path::{Component, Path, PathBuf},
    sync::OnceLock,
};

use serde::Serialize;

/// The machine that the process runs on, as every `--json` object shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Host {
    /// The processor's name.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Operating system and architecture, such as `linux-x86_64`.
    pub os: String,
}

impl Host {
    /// Reads it.
    #[must_use]
    pub fn read() -> Self {
        Self {
            cpu: cpu_name().to_owned(),
            cores: cores(),
            os: format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}

/// Cores that this process may use, at least 1.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The processor's name: `model name` of `/proc/cpuinfo`, or a generic one such as `x86_64 CPU`.
#[must_use]
pub fn cpu_name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        model_name(&cpuinfo).unwrap_or_else(|| format!("{} CPU", std::env::consts::ARCH))
    })
}

fn model_name(cpuinfo: &str) -> Option<String> {
    let (_, value) = cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == "model name")?;
    // Vendors pad the string with runs of blanks.
    let name = value.split_whitespace().collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some(name)
}

/// [`crate::available_memory`] of the file system under `root`.
pub(crate) fn available_memory_at(root: &Path) -> Option<u64> {
    let machine = meminfo(root, "MemAvailable");
    let group = control_groups(root).filter_map(|g| g.left()).min();
    min_some(machine, group)
}

/// [`crate::total_memory`] of the file system under `root`.
pub(crate) fn total_memory_at(root: &Path) -> Option<u64> {
    let machine = meminfo(root, "MemTotal");
    let group = control_groups(root).filter_map(|g| g.limit()).min();
    min_some(machine, group)
}

fn min_some(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.into_iter().chain(b).min()
}

/// A figure of `/proc/meminfo` in bytes.
fn meminfo(root: &Path, key: &str) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let (_, value) = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(k, _)| *k == key)?;
    let kib: u64 = value.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kib.checked_mul(1024)
}

/// One level of the control-group tree that the process is in.
struct ControlGroup {
    folder: PathBuf,
    v2: bool,
}

impl ControlGroup {
    fn number(&self, file: &str) -> Option<u64> {
        // `max` (v2, no limit) is no number.
        fs::read_to_string(self.folder.join(file))
            .ok()?
            .trim()
            .parse()
            .ok()
    }

    fn limit(&self) -> Option<u64> {
        let file = if self.v2 {
            "memory.max"
        } else {
            "memory.limit_in_bytes"
        };
        // v1 writes 'no limit' as the largest multiple of a page.
        self.number(file).filter(|&bytes| bytes < 1 << 60)
    }

    /// The limit less what is in use. Cached file pages that nobody has touched lately count as
    /// free: the kernel drops them before it kills anyone.
    fn left(&self) -> Option<u64> {
        let limit = self.limit()?;
        let (usage, key) = if self.v2 {
            ("memory.current", "inactive_file")
        } else {
            ("memory.usage_in_bytes", "total_inactive_file")
        };
        let stat = fs::read_to_string(self.folder.join("memory.stat")).unwrap_or_default();
        let droppable = stat
            .lines()
            .filter_map(|line| line.split_once(' '))
            .find(|(k, _)| *k == key)
            .and_then(|(_, bytes)| bytes.trim().parse().ok())
            .unwrap_or(0);
        let used = self.number(usage).unwrap_or(0).saturating_sub(droppable);
        Some(limit.saturating_sub(used))
    }
}

/// The groups that hold this process, the innermost first, v1's memory hierarchy and v2's.
fn control_groups(root: &Path) -> impl Iterator<Item = ControlGroup> {
    let text = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let mut groups = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(id), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let (mount, v2) = if id == "0" && controllers.is_empty() {
            (root.join("sys/fs/cgroup"), true)
        } else if controllers.split(',').any(|c| c == "memory") {
            (root.join("sys/fs/cgroup/memory"), false)
        } else {
            continue;
        };
        // Inside a container the path may name folders that only exist outside it; the mount
        // itself is then the container's own group, so every level up to it is tried.
        let names: Vec<_> = Path::new(path)
            .components()
            .filter_map(|c| match c {
                Component::Normal(name) => Some(name),
                _ => None,
            })
            .collect();
        for depth in (0..=names.len()).rev() {
            let folder = names[..depth].iter().fold(mount.clone(), |f, n| f.join(n));
            groups.push(ControlGroup { folder, v2 });
        }
    }
    groups.into_iter()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    const MEMINFO: (&str, &str) = (
        "proc/meminfo",
        "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    800 kB\n",
    );

    #[test]
    fn without_groups_the_machine_counts() {
        let root = tree(&[MEMINFO]);
        assert_eq!(available_memory_at(root.path()), Some(800 << 10));
        assert_eq!(total_memory_at(root.path()), Some(1000 << 10));
    }

    #[test]
    fn no_proc_no_figure() {
        let root = tree(&[]);
        assert_eq!(available_memory_at(root.path()), None);
        assert_eq!(total_memory_at(root.path()), None);
    }

    #[test]
    fn the_tightest_v2_level_counts() {
        let root = tree(&[
            MEMINFO,
            ("proc/self/cgroup", "0::/outer/inner\n"),
            ("sys/fs/cgroup/outer/memory.max", "409600\n"),
            ("sys/fs/cgroup/outer/memory.current", "204800\n"),
            (
                "sys/fs/cgroup/outer/memory.stat",
                "anon 1\ninactive_file 102400\n",
            ),
            ("sys/fs/cgroup/outer/inner/memory.max", "max\n"),
            ("sys/fs/cgroup/outer/inner/memory.current", "1024\n"),
        ]);
        assert_eq!(available_memory_at(root.path()), Some(307_200));
        assert_eq!(total_memory_at(root.path()), Some(409_600));
    }

    #[test]
    fn v1_in_a_container_that_sees_only_its_own_mount() {
        let root = tree(&[
            MEMINFO,
            (
                "proc/self/cgroup",
                "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n",
            ),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "512000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "600000\n"),
        ]);
        assert_eq!(available_memory_at(root.path()), Some(0));
        assert_eq!(total_memory_at(root.path()), Some(512_000));
    }

    #[test]
    fn v1_without_a_limit_writes_a_huge_one() {
        let root = tree(&[
            MEMINFO,
            ("proc/self/cgroup", "4:memory:/\n"),
            (
                "sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
        ]);
        assert_eq!(available_memory_at(root.path()), Some(800 << 10));
    }

    #[test]
    fn a_group_path_cannot_leave_the_mount() {
        let root = tree(&[
            MEMINFO,
            ("proc/self/cgroup", "0::/../../..\nnonsense\n"),
            ("memory.max", "1\n"),
        ]);
        assert_eq!(available_memory_at(root.path()), Some(800 << 10));
    }

    #[test]
    fn names_of_processors() {
        let intel = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R)   CPU  @ 2.0GHz\nflags : a\n";
        assert_eq!(
            model_name(intel).as_deref(),
            Some("Intel(R) Xeon(R) CPU @ 2.0GHz")
        );
        assert_eq!(model_name("processor : 0\nBogoMIPS : 50.00\n"), None);
        assert!(!cpu_name().is_empty());
    }
}
