//! How fast the CUDA kernels are, each alone: `gpu_kernels`.
#![forbid(unsafe_code)]

use fieldspar_device::cuda::Cuda;
use fieldspar_whir::cuda::CudaEngine;
use fieldspar_whir::cuda::measure::figures;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cuda = Cuda::open(0)?;
    let info = cuda.info();
    println!(
        "{} ({}), {} multiprocessors",
        info.name,
        info.architecture(),
        info.multiprocessors
    );
    for figure in figures(&CudaEngine::new(&cuda)?)? {
        println!(
            "{:<40} {:>9.4} ms {:>8.0} GB/s {:>7.3} Gperm/s",
            figure.name,
            figure.ms,
            figure.gb_per_s(),
            figure.gperm_per_s()
        );
    }
    Ok(())
}
