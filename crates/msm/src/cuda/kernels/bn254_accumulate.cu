// BN254.
#define MSM_CURVE 254
#define MSM_EDWARDS 0
#define ACCUMULATE_BLOCKS 5
#include "accumulate.cuh"
