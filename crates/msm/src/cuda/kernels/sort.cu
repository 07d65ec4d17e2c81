// Scalars to digits, and the digits of each column in the order of their buckets.
//
// A column is a set of buckets. Its items are digits: that of scalar i in the m-th window of the column
// stands at m count + i. Sorted, it is a list of entries (bucket, base with the sign in the top bit), by a
// radix sort from the lowest bits up: every pass counts the values of some bits in each tile, sums up the
// counts, and moves the entries of a tile, in their order, to where they belong. What a pass takes does
// not depend on how the buckets are distributed.
#include "block.cuh"

typedef unsigned char u8;

constexpr u32 ITEMS = 16;              // of a thread
constexpr u32 TILE = THREADS * ITEMS;  // of a block
constexpr u32 MAX_BINS = 256;

// ---- digits ----

struct Recoding {
    u32 order[8];
    u32 offset[8];  // 2^(width - 1) at the place of every window but the top one
    u32 signs;      // whether the order less the scalar, if smaller, is taken with a minus
    u32 bytes;      // of a scalar: 32, or 1, 2, 4, 8 for a number that is below the order for sure
    u32 width, windows, columns;
};

struct Wide {
    u32 l[8];
};

FN Wide wide_sub(const Wide& a, const Wide& b, u32& borrow) {
    Wide r;
    r.l[0] = sub_cc(a.l[0], b.l[0]);
#pragma unroll
    for (int i = 1; i < 8; i++) r.l[i] = subc_cc(a.l[i], b.l[i]);
    borrow = subc(0, 0);
    return r;
}

FN Wide load_scalar(const u8* scalars, u32 bytes, u32 i) {
    Wide s = {};
    if (bytes == 32) {
        const uint4* from = (const uint4*)scalars + 2 * (u64)i;
        uint4 low = from[0], high = from[1];
        s.l[0] = low.x, s.l[1] = low.y, s.l[2] = low.z, s.l[3] = low.w;
        s.l[4] = high.x, s.l[5] = high.y, s.l[6] = high.z, s.l[7] = high.w;
    } else if (bytes == 8) {
        uint2 both = ((const uint2*)scalars)[i];
        s.l[0] = both.x, s.l[1] = both.y;
    } else if (bytes == 4) {
        s.l[0] = ((const u32*)scalars)[i];
    } else if (bytes == 2) {
        s.l[0] = ((const unsigned short*)scalars)[i];
    } else {
        s.l[0] = scalars[i];
    }
    return s;
}

// The digits of `count` scalars: twice the absolute value, plus one for a minus. A scalar that is the order
// or more has its index, from `first` on, put to *bad if it is the lowest.
extern "C" __global__ void digits(const u8* scalars, u32 count, u32 first, Recoding r, u32* out, u32* bad) {
    u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    Wide s = load_scalar(scalars, r.bytes, i), order, offset;
#pragma unroll
    for (int k = 0; k < 8; k++) order.l[k] = r.order[k], offset.l[k] = r.offset[k];
    u32 borrow, minus = 0;
    Wide other = wide_sub(order, s, borrow);
    u32 any = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) any |= other.l[k];
    if (borrow || any == 0) {
        atomicMin(bad, first + i);
        s = Wide{};
    } else if (r.signs) {
        wide_sub(other, s, borrow);
        if (borrow) s = other, minus = 1;
    }
    s.l[0] = add_cc(s.l[0], offset.l[0]);
#pragma unroll
    for (int k = 1; k < 7; k++) s.l[k] = addc_cc(s.l[k], offset.l[k]);
    s.l[7] = addc(s.l[7], offset.l[7]);

    u32 multiples = (r.windows + r.columns - 1) / r.columns;
    u32 mask = (1u << r.width) - 1, middle = 1u << (r.width - 1);
    u32 column = 0, multiple = 0;
    for (u32 w = 0; w < multiples * r.columns; w++) {
        u32 digit = 0;
        if (w < r.windows) {
            bool top = w + 1 == r.windows;
            u32 value = top ? s.l[0] : (s.l[0] & mask) - middle;
            bool negative = (int)value < 0;
            u32 absolute = negative ? 0 - value : value;
            digit = absolute << 1 | (absolute ? (negative ? 1 : 0) ^ minus : 0);
#pragma unroll
            for (int k = 0; k < 7; k++) s.l[k] = __funnelshift_r(s.l[k], s.l[k + 1], r.width);
            s.l[7] >>= r.width;
        }
        out[((u64)column * multiples + multiple) * count + i] = digit;
        if (++column == r.columns) column = 0, multiple++;
    }
}

// ---- the sort ----

// Where a digit's base lies: item m count + i is multiple m of base first + i.
struct Place {
    u32 count;  // scalars
    u32 bases;
    u32 first;
};

FN bool load_first(const u32* digits, u64 column, u32 items, u32 i, const Place& place, uint2& entry) {
    if (i >= items) return false;
    u32 digit = digits[column * items + i];
    if (digit < 2) return false;
    u32 base = i;
    if (place.count != place.bases) {
        u32 m = i / place.count;
        base = m * place.bases + place.first + (i - m * place.count);
    }
    entry.x = (digit >> 1) - 1;
    entry.y = base | (digit & 1) << 31;
    return true;
}

FN void count_bins(u32 bin, bool valid, u32* bins) {
    if (valid) atomicAdd(&bins[bin], 1);
}

FN void write_counts(const u32* bins, u32 bits, u32* counts) {
    for (u32 bin = threadIdx.x; bin < 1u << bits; bin += THREADS)
        counts[(((u64)blockIdx.y << bits) + bin) * gridDim.x + blockIdx.x] = bins[bin];
}

// How often each value of `bits` bits from `shift` on is there in a tile: counts[column][value][tile].
extern "C" __global__ void __launch_bounds__(THREADS)
    count_first(const u32* digits, u32 items, u32 shift, u32 bits, u32* counts) {
    __shared__ u32 bins[MAX_BINS];
    bins[threadIdx.x] = 0;
    __syncthreads();
    const u32* own = digits + (u64)blockIdx.y * items;
#pragma unroll
    for (u32 r = 0; r < ITEMS; r++) {
        u64 i = (u64)blockIdx.x * TILE + r * THREADS + threadIdx.x;
        u32 digit = i < items ? own[i] : 0;
        count_bins(((digit >> 1) - 1) >> shift & ((1u << bits) - 1), digit >= 2, bins);
    }
    __syncthreads();
    write_counts(bins, bits, counts);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    count_again(const uint2* entries, u32 items, const u32* totals, u32 shift, u32 bits, u32* counts) {
    __shared__ u32 bins[MAX_BINS];
    bins[threadIdx.x] = 0;
    __syncthreads();
    const uint2* own = entries + (u64)blockIdx.y * items;
    u32 total = totals[blockIdx.y];
#pragma unroll
    for (u32 r = 0; r < ITEMS; r++) {
        u64 i = (u64)blockIdx.x * TILE + r * THREADS + threadIdx.x;
        bool valid = i < total;
        count_bins(valid ? own[i].x >> shift & ((1u << bits) - 1) : 0, valid, bins);
    }
    __syncthreads();
    write_counts(bins, bits, counts);
}

// Sums of the counts before each, column by column, in three steps: of chunks of TILE, of all before a
// chunk, and inside the chunks.
extern "C" __global__ void __launch_bounds__(THREADS) scan_chunks(const u32* counts, u64 length, u32* chunks) {
    __shared__ u32 shared[WARPS];
    const u32* own = counts + blockIdx.y * length;
    u32 sum = 0, all;
#pragma unroll
    for (u32 r = 0; r < ITEMS; r++) {
        u64 i = (u64)blockIdx.x * TILE + r * THREADS + threadIdx.x;
        if (i < length) sum += own[i];
    }
    block_prefix(sum, shared, all);
    if (threadIdx.x == 0) chunks[blockIdx.y * gridDim.x + blockIdx.x] = all;
}

extern "C" __global__ void __launch_bounds__(THREADS) scan_top(u32* chunks, u32 length, u32* totals) {
    __shared__ u32 shared[WARPS];
    u32* own = chunks + (u64)blockIdx.x * length;
    u32 carried = 0;
    for (u32 start = 0; start < length; start += THREADS) {
        u32 i = start + threadIdx.x, all;
        u32 value = i < length ? own[i] : 0;
        u32 before = block_prefix(value, shared, all);
        if (i < length) own[i] = carried + before;
        carried += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) totals[blockIdx.x] = carried;
}

extern "C" __global__ void __launch_bounds__(THREADS) scan_apply(u32* counts, u64 length, const u32* chunks) {
    __shared__ u32 shared[WARPS];
    u32* own = counts + blockIdx.y * length;
    u32 carried = chunks[blockIdx.y * gridDim.x + blockIdx.x];
    for (u32 r = 0; r < ITEMS; r++) {
        u64 i = (u64)blockIdx.x * TILE + r * THREADS + threadIdx.x;
        u32 value = i < length ? own[i] : 0, all;
        u32 before = block_prefix(value, shared, all);
        if (i < length) own[i] = carried + before;
        carried += all;
        __syncthreads();
    }
}

struct Tile {
    u32 ranks[WARPS][MAX_BINS];
    u32 starts[MAX_BINS];
    u32 bases[MAX_BINS];
    uint2 staged[TILE];
    u32 sums[WARPS];
};

// Moves a tile's entries. A warp has 32 ITEMS of them one after another, so that their order is kept.
template <class Load>
FN void move_tile(Tile& tile, const Load& load, u32 shift, u32 bits, const u32* counts, uint2* out) {
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, bins = 1u << bits;
    for (u32 w = 0; w < WARPS; w++) tile.ranks[w][threadIdx.x] = 0;
    __syncthreads();
    uint2 entries[ITEMS];
    u32 places[ITEMS];
#pragma unroll
    for (u32 r = 0; r < ITEMS; r++) {
        u32 at = blockIdx.x * TILE + warp * (32 * ITEMS) + r * 32 + lane;
        bool valid = load(at, entries[r]);
        u32 bin = valid ? entries[r].x >> shift & (bins - 1) : MAX_BINS;
        u32 peers = __match_any_sync(0xffffffffu, bin);
        u32 rank = __popc(peers & ((1u << lane) - 1));
        u32 before = valid ? tile.ranks[warp][bin] : 0;
        __syncwarp();
        if (valid && rank == 0) tile.ranks[warp][bin] = before + __popc(peers);
        __syncwarp();
        places[r] = valid ? before + rank : ~0u;
    }
    __syncthreads();
    u32 total = 0;
    for (u32 w = 0; w < WARPS; w++) {
        u32 own = tile.ranks[w][threadIdx.x];
        tile.ranks[w][threadIdx.x] = total;
        total += own;
    }
    u32 all;
    tile.starts[threadIdx.x] = block_prefix(total, tile.sums, all);
    if (threadIdx.x < bins)
        tile.bases[threadIdx.x] = counts[(((u64)blockIdx.y << bits) + threadIdx.x) * gridDim.x + blockIdx.x];
    __syncthreads();
#pragma unroll
    for (u32 r = 0; r < ITEMS; r++) {
        if (places[r] == ~0u) continue;
        u32 bin = entries[r].x >> shift & (bins - 1);
        tile.staged[tile.starts[bin] + tile.ranks[warp][bin] + places[r]] = entries[r];
    }
    __syncthreads();
    for (u32 p = threadIdx.x; p < all; p += THREADS) {
        uint2 entry = tile.staged[p];
        u32 bin = entry.x >> shift & (bins - 1);
        out[tile.bases[bin] + p - tile.starts[bin]] = entry;
    }
}

struct FirstLoad {
    const u32* digits;
    u32 items;
    Place place;
    FN bool operator()(u32 at, uint2& entry) const {
        return load_first(digits, blockIdx.y, items, at, place, entry);
    }
};

struct AgainLoad {
    const uint2* entries;
    u32 total;
    FN bool operator()(u32 at, uint2& entry) const {
        if (at >= total) return false;
        entry = entries[at];
        return true;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS)
    move_first(const u32* digits, u32 items, Place place, u32 shift, u32 bits, const u32* counts, uint2* out) {
    __shared__ Tile tile;
    move_tile(tile, FirstLoad{digits, items, place}, shift, bits, counts, out + (u64)blockIdx.y * items);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    move_again(const uint2* entries, u32 items, const u32* totals, u32 shift, u32 bits, const u32* counts,
               uint2* out) {
    __shared__ Tile tile;
    u64 start = (u64)blockIdx.y * items;
    u32 total = totals[blockIdx.y];
    if (blockIdx.x * TILE >= total) return;
    move_tile(tile, AgainLoad{entries + start, total}, shift, bits, counts, out + start);
}

// Where each bucket's entries begin and end; ranges are zero before, and stay so for an empty bucket.
extern "C" __global__ void __launch_bounds__(THREADS)
    find_ranges(const uint2* entries, u32 items, const u32* totals, u32 buckets, uint2* ranges) {
    u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    u32 total = totals[blockIdx.y];
    if (i >= total) return;
    const uint2* own = entries + (u64)blockIdx.y * items;
    uint2* to = ranges + (u64)blockIdx.y * buckets;
    u32 bucket = own[i].x;
    if (i == 0 || own[i - 1].x != bucket) to[bucket].x = (u32)i;
    if (i + 1 == total || own[i + 1].x != bucket) to[bucket].y = (u32)i + 1;
}
