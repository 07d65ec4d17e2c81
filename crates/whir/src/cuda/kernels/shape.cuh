// Blocks that fill a multiprocessor: the compiler has to fit them all.
#pragma once

// Of 256 threads, so many as there is room for.
#if __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ == 1200
#define FULL 6
#elif __CUDA_ARCH__ == 750
#define FULL 4
#else
#define FULL 8
#endif
