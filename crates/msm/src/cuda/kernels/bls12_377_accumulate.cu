// BLS12-377 in its twisted Edwards form.
#define MSM_CURVE 377
#define MSM_EDWARDS 1
#include "accumulate.cuh"
