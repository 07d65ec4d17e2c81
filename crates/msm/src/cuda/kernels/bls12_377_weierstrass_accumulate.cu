// BLS12-377, for points outside the subgroup.
#define MSM_CURVE 377
#define MSM_EDWARDS 0
#define ACCUMULATE_BLOCKS 4
#include "accumulate.cuh"
