// BN254.
#define MSM_CURVE 254
#define MSM_EDWARDS 0
#define ACCUMULATE_THREADS 768
#include "accumulate.cuh"
