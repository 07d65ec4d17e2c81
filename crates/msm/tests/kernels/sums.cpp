// The kernels that add, run on the host for the curve MSM_CURVE: one line for each piece of work. `in` and
// `out` are its words.
#include "cuda_host.h"

#include "reduce.cuh"

#include "accumulate.cuh"

struct Operation {
  const char* name;
  u32 in, out;
  void (*run)(const u32* in, u32* out);
};

constexpr u32 BASES = 12, ITEMS = 48;

template <class T>
static T take(const u32*& in) {
  T value;
  for (u32 i = 0; i < sizeof(T) / 4; i++) ((u32*)&value)[i] = *in++;
  return value;
}
template <class T>
static void give(u32*& out, const T& value) {
  for (u32 i = 0; i < sizeof(T) / 4; i++) *out++ = ((const u32*)&value)[i];
}

// The bases as the accumulation reads them, from BASES affine points; `bad` is the first without an image.
static std::vector<Point> take_bases(const u32*& in, u32& bad) {
  std::vector<Affine> affine(BASES);
  for (Affine& p : affine) p = take<Affine>(in);
  std::vector<Point> bases(BASES);
  bad = ~0u;
#if MSM_EDWARDS
  // More threads than a round of points, and not a divisor of them.
  host_run({1, 1, 1}, 5, [&] { convert(affine.data(), BASES, bases.data(), 100, &bad); });
#else
  bases = affine;
#endif
  return bases;
}

// The sum of (b + 1) B_b over the buckets b, from sorted entries: through every kernel.
static void sums(const u32* in, u32* out) {
  u32 length = *in++, total = *in++, buckets = *in++, size = *in++, chunks = *in++, bad;
  std::vector<uint2> entries(ITEMS), ranges(buckets, uint2{0, 0});
  for (uint2& entry : entries) entry = take<uint2>(in);
  std::vector<Point> bases = take_bases(in, bad);
  for (u32 i = 0; i < total; i++) {
    if (i == 0 || entries[i - 1].x != entries[i].x) ranges[entries[i].x].x = i;
    ranges[entries[i].x].y = i + 1;
  }
  u32 segments = (ITEMS + length - 1) / length, longest = 0;
  Shape shape = {ITEMS, buckets, segments, length};
  std::vector<Acc> own(buckets), heads(segments), tails(segments), all(buckets);
  host_run({2, 1, 1}, (segments + 1) / 2, [&] {
    accumulate(entries.data(), &total, ranges.data(), bases.data(), own.data(), heads.data(), tails.data(), &longest,
               shape);
  });
  for (u32 distance = 1; distance < segments; distance *= 2)
    host_run({1, 1, 1}, segments, [&] {
      combine(entries.data(), &total, ranges.data(), heads.data(), tails.data(), &longest, distance, shape);
    });
  // The same entries again and again.
  for (u32 chunk = 0; chunk < chunks; chunk++)
    host_run({1, 1, 1}, buckets, [&] {
      merge(ranges.data(), own.data(), tails.data(), all.data(), chunk == 0, shape);
    });
  u32 groups = (buckets + size - 1) / size, bits = 0;
  while (1u << bits < groups) bits++;
  std::vector<Acc> plain(groups), weighted(groups);
  host_run({1, 1, 1}, groups + 1, [&] {
    reduce_buckets(ranges.data(), (chunks ? all : own).data(), tails.data(), chunks != 0, size, groups, plain.data(),
                   weighted.data(), shape);
  });
  constexpr u32 PARTS = 2;
  std::vector<Acc> found((bits + 1) * PARTS);
  host_run_blocks({bits + 1, 1, PARTS}, REDUCE_THREADS,
                  [&] { reduce_groups(plain.data(), weighted.data(), groups, bits, found.data()); });
  Acc sum = acc_identity();
  for (u32 bit = bits; bit-- > 0;) {
    sum = acc_double(sum);
    for (u32 part = 0; part < PARTS; part++) acc_add(sum, found[bit * PARTS + part]);
  }
  for (u32 k = 1; k < size; k *= 2) sum = acc_double(sum);
  for (u32 part = 0; part < PARTS; part++) acc_add(sum, found[bits * PARTS + part]);
  give(out, acc_canonical(sum));
  *out = bad;
}

// 2^doublings times each base, and what it is made from.
static void powers(const u32* in, u32* out) {
  u32 doublings = *in++, bad;
  std::vector<Point> bases = take_bases(in, bad), to(BASES);
  std::vector<Acc> scratch(BASES);
  std::vector<Fq> prefix(BASES);
  host_run({1, 1, 1}, 5, [&] { multiples(bases.data(), to.data(), BASES, doublings, scratch.data(), prefix.data()); });
  for (const Point& p : bases) give(out, p);
  for (const Point& p : to) give(out, p);
}

constexpr u32 POINTS = BASES * sizeof(Affine) / 4;

static const Operation OPERATIONS[] = {
    {"sums", 5 + 2 * ITEMS + POINTS, sizeof(Acc) / 4 + 1, sums},
    {"powers", 1 + POINTS, 2 * BASES * sizeof(Point) / 4, powers},
};

extern "C" const Operation* operations(size_t* count) {
  *count = sizeof OPERATIONS / sizeof OPERATIONS[0];
  return OPERATIONS;
}
