// The device code that the test calls: one line for each function. `in` and `out` are one item's words.
#include "cuda_host.h"

#include "permute.cuh"

struct Operation {
  const char* name;
  u32 in, out;
  void (*run)(const u64* in, u64* out);
};

// A procedure that changes its array.
template <int N, void (*PROCEDURE)(u64*)>
static void in_place(const u64* in, u64* out) {
  for (int i = 0; i < N; i++) out[i] = in[i];
  PROCEDURE(out);
}

// The state, then the constants of all rounds.
static void whole(const u64* in, u64* out) {
  Constants c;
  for (int i = 0; i < WIDTH; i++) out[i] = in[i];
  for (int i = 0; i < 2 * ROUNDS * WIDTH; i++) c.k[i / WIDTH][i % WIDTH] = in[WIDTH + i];
  permute(out, c);
}

static void linear(const u64* in, u64* out) {
  for (int i = 0; i < WIDTH; i++) out[i] = in[i];
  mds(out, in + WIDTH);
}

static const Operation OPERATIONS[] = {
    {"square", 1, 1, [](const u64* in, u64* out) { *out = square(in[0]); }},
    {"multiply", 2, 1, [](const u64* in, u64* out) { *out = multiply(in[0], in[1]); }},
    {"canonical", 1, 1, [](const u64* in, u64* out) { *out = canonical(in[0]); }},
    {"power_7", 1, 1, in_place<1, power_7<1>>},
    {"power_inverse_7", 1, 1, in_place<1, power_inverse_7<1>>},
    {"mds", 2 * WIDTH, WIDTH, linear},
    {"permute", (2 * ROUNDS + 1) * WIDTH, WIDTH, whole},
};

extern "C" const Operation* operations(size_t* count) {
  *count = sizeof OPERATIONS / sizeof OPERATIONS[0];
  return OPERATIONS;
}
