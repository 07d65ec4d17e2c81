// The device code that the test calls: one line for each function. `in` and `out` are one item's words.
#include "cuda_host.h"

#include "field.cuh"
#include "generated/dft16.cuh"
#include "generated/poseidon2_16.cuh"
#include "row.cuh"

struct Operation {
  const char* name;
  u32 in, out;
  void (*run)(const u32* in, u32* out);
};

// A procedure that changes its array.
template <int N, void (*PROCEDURE)(u32*)>
static void in_place(const u32* in, u32* out) {
  for (int i = 0; i < N; i++) out[i] = in[i];
  PROCEDURE(out);
}

// Two states, each by one half of a warp.
static void row_permute_two(const u32* in, u32* out) {
  alignas(16) static u32 tables[ROW_WORDS];
  alignas(16) static u32 scratch[32];
  host_run_warp([&] {
    row_load(tables);
    __syncwarp();
    out[threadIdx.x] = row_permute(in[threadIdx.x], tables, scratch);
  });
}

static const Operation OPERATIONS[] = {
    {"add", 2, 1, [](const u32* in, u32* out) { *out = add(in[0], in[1]); }},
    {"sub", 2, 1, [](const u32* in, u32* out) { *out = sub(in[0], in[1]); }},
    {"mul", 2, 1, [](const u32* in, u32* out) { *out = mul(in[0], in[1]); }},
    {"mul_lazy", 2, 1, [](const u32* in, u32* out) { *out = mul_lazy(in[0], in[1]); }},
    {"reduce_once", 1, 1, [](const u32* in, u32* out) { *out = reduce_once(in[0]); }},
    {"halve", 1, 1, [](const u32* in, u32* out) { *out = halve(in[0]); }},
    {"div_2exp_2", 1, 1, [](const u32* in, u32* out) { *out = div_2exp<2>(in[0]); }},
    {"div_2exp_3", 1, 1, [](const u32* in, u32* out) { *out = div_2exp<3>(in[0]); }},
    {"div_2exp_4", 1, 1, [](const u32* in, u32* out) { *out = div_2exp<4>(in[0]); }},
    {"div_2exp_8", 1, 1, [](const u32* in, u32* out) { *out = div_2exp<8>(in[0]); }},
    {"div_2exp_27", 1, 1, [](const u32* in, u32* out) { *out = div_2exp<27>(in[0]); }},
    {"mul_known", 3, 1, [](const u32* in, u32* out) { *out = mul_known(in[0], in[1], in[2]); }},
    {"dft2", 2, 2, in_place<2, dft2>},
    {"dft4", 4, 4, in_place<4, dft4>},
    {"dft8", 8, 8, in_place<8, dft8>},
    {"dft16", 16, 16, in_place<16, dft16>},
    {"external_linear", 16, 16, in_place<16, poseidon2_16_external_linear>},
    {"row_permute", 32, 32, row_permute_two},
    {"permute", 16, 16, in_place<16, poseidon2_16_permute>},
};

extern "C" const Operation* operations(size_t* count) {
  *count = sizeof OPERATIONS / sizeof OPERATIONS[0];
  return OPERATIONS;
}
