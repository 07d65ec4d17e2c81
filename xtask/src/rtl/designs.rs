//! The designs: what is verilated, with which parameters, and what yosys has to read.
#![forbid(unsafe_code)]

/// One design as it is built.
pub(super) struct Top {
    /// The shared object's name.
    pub(super) name: &'static str,
    /// The top module; its file has its name.
    pub(super) module: &'static str,
    /// Folder of that file.
    pub(super) folder: &'static str,
    pub(super) parameters: &'static [(&'static str, u32)],
    /// Whether CI builds it.
    pub(super) ci: bool,
}

/// Every design that a test or the program opens.
pub(super) const TOPS: [Top; 15] = [
    Top {
        name: "blocks_l2",
        module: "blocks",
        folder: "rtl/sim",
        parameters: &[("LEV", 2)],
        ci: true,
    },
    Top {
        name: "blocks_l3",
        module: "blocks",
        folder: "rtl/sim",
        parameters: &[("LEV", 3)],
        ci: true,
    },
    Top {
        name: "blocks_l4",
        module: "blocks",
        folder: "rtl/sim",
        parameters: &[("LEV", 4)],
        ci: true,
    },
    Top {
        name: "ec_adder_l3",
        module: "ec_adder",
        folder: "rtl",
        parameters: &[("LEV", 3), ("FULL", 1)],
        ci: true,
    },
    Top {
        name: "ec_adder_l2_mixed",
        module: "ec_adder",
        folder: "rtl",
        parameters: &[("LEV", 2), ("FULL", 0)],
        ci: false,
    },
    Top {
        name: "sched_stall",
        module: "msm_column",
        folder: "rtl",
        parameters: &[
            ("W", 32),
            ("DELAY", 1),
            ("C", 5),
            ("LATENCY", 20),
            ("REENTRY", 9),
            ("POLICY", 0),
            ("QUEUE", 2),
        ],
        ci: true,
    },
    Top {
        name: "sched_fifo",
        module: "msm_column",
        folder: "rtl",
        parameters: &[
            ("W", 32),
            ("DELAY", 1),
            ("C", 8),
            ("LATENCY", 70),
            ("REENTRY", 35),
            ("POLICY", 1),
            ("DEPTH", 16),
        ],
        ci: true,
    },
    Top {
        name: "sched_fifo_turns",
        module: "msm_column",
        folder: "rtl",
        parameters: &[
            ("W", 32),
            ("DELAY", 1),
            ("C", 6),
            ("LATENCY", 33),
            ("REENTRY", 7),
            ("POLICY", 1),
            ("DEPTH", 5),
            ("COLUMNS", 3),
            ("QUEUE", 1),
        ],
        ci: true,
    },
    Top {
        name: "sched_fifo_hot",
        module: "msm_column",
        folder: "rtl",
        parameters: &[
            ("W", 32),
            ("DELAY", 1),
            ("C", 8),
            ("LATENCY", 52),
            ("REENTRY", 27),
            ("POLICY", 1),
            ("DEPTH", 8),
            ("HOT", 4),
            ("REPLICAS", 16),
        ],
        ci: true,
    },
    Top {
        name: "sched_append",
        module: "msm_column",
        folder: "rtl",
        parameters: &[
            ("W", 32),
            ("DELAY", 1),
            ("C", 7),
            ("LATENCY", 52),
            ("REENTRY", 27),
            ("POLICY", 2),
        ],
        ci: true,
    },
    Top {
        name: "sched_append_hot",
        module: "msm_column",
        folder: "rtl",
        parameters: &[
            ("W", 32),
            ("DELAY", 1),
            ("C", 5),
            ("LATENCY", 18),
            ("REENTRY", 10),
            ("POLICY", 2),
            ("COLUMNS", 2),
            ("HOT", 3),
            ("REPLICAS", 8),
        ],
        ci: true,
    },
    Top {
        name: "sched_append_zero",
        module: "msm_column",
        folder: "rtl",
        parameters: &[
            ("W", 32),
            ("DELAY", 1),
            ("C", 4),
            ("LATENCY", 12),
            ("REENTRY", 5),
            ("POLICY", 2),
            ("ZERO_BYPASS", 0),
            ("QUEUE", 3),
        ],
        ci: true,
    },
    Top {
        name: "msm_c8",
        module: "msm_column",
        folder: "rtl",
        parameters: &[
            ("LEV", 3),
            ("C", 8),
            ("COLUMNS", 4),
            ("POLICY", 1),
            ("DEPTH", 16),
            ("HOT", 4),
            ("REPLICAS", 16),
        ],
        ci: true,
    },
    Top {
        name: "msm_c9",
        module: "msm_column",
        folder: "rtl",
        parameters: &[("LEV", 3), ("C", 9), ("COLUMNS", 1), ("POLICY", 2)],
        ci: false,
    },
    Top {
        name: "msm_c10",
        module: "msm_column",
        folder: "rtl",
        parameters: &[
            ("LEV", 3),
            ("C", 10),
            ("COLUMNS", 2),
            ("POLICY", 1),
            ("DEPTH", 64),
        ],
        ci: false,
    },
];

impl Top {
    pub(super) fn source(&self) -> String {
        format!("{}/{}.sv", self.folder, self.module)
    }

    pub(super) fn parameters(&self) -> impl Iterator<Item = String> {
        self.parameters
            .iter()
            .map(|(name, value)| format!("-G{name}={value}"))
    }
}

/// Modules that yosys reads and checks as tops of their own, with parameters.
pub(super) const SYNTHESISABLE: [(&str, &[(&str, u32)]); 8] = [
    ("kmul", &[("LEV", 2)]),
    ("kmul", &[("LEV", 3)]),
    ("kmul", &[("LEV", 4)]),
    ("mont_mul", &[("LEV", 3)]),
    ("barrett_mul", &[("LEV", 3)]),
    ("ec_adder", &[("LEV", 3), ("FULL", 0)]),
    ("ec_adder", &[("LEV", 3), ("FULL", 1)]),
    (
        "msm_column",
        &[
            ("W", 32),
            ("DELAY", 1),
            ("LATENCY", 12),
            ("REENTRY", 5),
            ("C", 5),
        ],
    ),
];
