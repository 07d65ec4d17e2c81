// BN254.
#define MSM_CURVE 254
#define MSM_EDWARDS 0
#include "accumulate.cuh"
