// BLS12-381.
#define MSM_CURVE 381
#define MSM_EDWARDS 0
#define ACCUMULATE_BLOCKS 4
#include "accumulate.cuh"
