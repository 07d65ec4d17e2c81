//! Area by yosys, on blocks that it maps in seconds.

use std::env;

use fieldspar_fpga::rtl::area::{Area, AreaError, of};

/// The area, or `None` after saying so: in the leg of CI yosys has to be there.
fn area(module: &str, parameters: &[(&str, u32)]) -> Option<Area> {
    match of(module, parameters) {
        Ok(area) => Some(area),
        Err(AreaError::NoYosys(_)) if env::var_os("FIELDSPAR_RTL").is_none() => {
            eprintln!("skipped: yosys is not here");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn rtl_area_counts_registers_and_multipliers() {
    let Some(sum) = area("mod_add", &[("W", 64)]) else {
        return;
    };
    // The sum and the result, one register a bit each.
    assert_eq!(sum.ff, 2 * 64);
    assert_eq!(sum.dsp, 0);
    assert!(sum.lut >= 64, "{sum:?}");
    // One level of Karatsuba: three products that fit one DSP block each.
    let product = area("kmul", &[("W", 32), ("LEV", 1)]).unwrap();
    assert_eq!(product.dsp, 3);
}

#[test]
fn rtl_area_of_an_unknown_module_is_an_error() {
    match of("no_such_module", &[("W", 1)]) {
        Err(AreaError::Failed { module, reason }) => {
            assert_eq!(module, "no_such_module");
            assert!(reason.contains("no_such_module"), "{reason}");
        }
        Err(AreaError::NoYosys(_)) if env::var_os("FIELDSPAR_RTL").is_none() => {}
        other => panic!("{other:?}"),
    }
}
