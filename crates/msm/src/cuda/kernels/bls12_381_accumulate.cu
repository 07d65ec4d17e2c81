// BLS12-381.
#define MSM_CURVE 381
#define MSM_EDWARDS 0
#include "accumulate.cuh"
