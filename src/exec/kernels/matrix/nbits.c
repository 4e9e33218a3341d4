// Weights of a few bits, and matmul_nbits, a product with them.
#include "exec/kernels/matrix/nbits.h"

#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/matrix/part_room.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

#if defined(STOWI_KERNEL_X86)
#include <immintrin.h>
#endif

// ---------------------------------------------------------------------------------------------
// Unpacking: a loop over bytes for each width that divides a byte; other widths go bit by bit.

size_t stowi_kernel_nbits_zero_bytes(const stowi_kernel_nbits* w, size_t columns) {
  return (columns * w->zero_bits + 7) / 8;
}

// |bits| of them from |bit| on.
static unsigned bits_at(const uint8_t* from, size_t bits, size_t bit) {
  unsigned value = (unsigned)from[bit / 8] >> (bit % 8);
  if (bit % 8 + bits > 8) {
    value |= (unsigned)from[bit / 8 + 1] << (8 - bit % 8);
  }
  return value & ((1U << bits) - 1);
}

enum { RUN = 32 };  // blocks whose scales and zero points are loaded together

static void load_zeros(const stowi_kernel_nbits* w, size_t column, size_t block, size_t count,
                       float* out) {
  if (w->zeros != NULL && w->zeros->dtype != STOW_U8) {
    stowi_kernel_load_f32(w->zeros->dtype, w->zeros->data,
                          w->first_zero + column * w->blocks + block, count, out);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    out[i] = (float)(1U << (w->bits - 1));
    if (w->zeros != NULL) {
      const uint8_t* from = (const uint8_t*)w->zeros->data + w->first_zero;
      out[i] = (float)bits_at(from, w->bits, column * w->zero_bits + (block + i) * w->bits);
    }
  }
}

static void load_scales(const stowi_kernel_nbits* w, size_t column, size_t block, size_t count,
                        float* out) {
  stowi_kernel_load_f32(w->scales->dtype, w->scales->data,
                        w->first_scale + column * w->blocks + block, count, out);
}

// Eight weights of four bytes.
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 9)
typedef uint32_t eight_words __attribute__((vector_size(32)));
typedef int32_t eight_ints __attribute__((vector_size(32)));
typedef float eight_floats __attribute__((vector_size(32), aligned(4), may_alias));

STOWI_KERNEL_INLINE void load_eight(const uint8_t* from, float zero, float scale, float* out) {
  uint32_t word = (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
                  (uint32_t)from[3] << 24;
  eight_words words = {word, word, word, word, word, word, word, word};
  eight_words codes = words >> (eight_words){0, 4, 8, 12, 16, 20, 24, 28} & 15;
  *(eight_floats*)out = (__builtin_convertvector((eight_ints)codes, eight_floats) - zero) * scale;
}
#else
STOWI_KERNEL_INLINE void load_eight(const uint8_t* from, float zero, float scale, float* out) {
  for (size_t i = 0; i < 8; ++i) {
    out[i] = ((float)(from[i / 2] >> (i % 2 * 4) & 15) - zero) * scale;
  }
}
#endif

// Two weights in each byte, of whole blocks or of a part of one.
STOWI_KERNEL_LOOP(load_halves,
                  (const uint8_t* restrict from, size_t blocks, size_t bytes, const float* zeros,
                   const float* scales, float* restrict out),
                  (from, blocks, bytes, zeros, scales, out)) {
  for (size_t b = 0; b < blocks; ++b, from += bytes, out += 2 * bytes) {
    float zero = zeros[b];
    float scale = scales[b];
    size_t i = 0;
    for (; i + 4 <= bytes; i += 4) {
      load_eight(from + i, zero, scale, out + 2 * i);
    }
    for (; i < bytes; ++i) {
      int byte = from[i];
      out[2 * i] = ((float)(byte & 15) - zero) * scale;
      out[2 * i + 1] = ((float)(byte >> 4) - zero) * scale;
    }
  }
}

// Elements of one block.
static void load_block(const uint8_t* from, size_t bits, size_t first, size_t count, float zero,
                       float scale, float* out) {
  if (bits == 4 && first % 2 == 0 && count % 2 == 0) {
    load_halves(from + first / 2, 1, count / 2, &zero, &scale, out);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    unsigned value = bits == 8 ? from[first + i] : bits_at(from, bits, (first + i) * bits);
    out[i] = ((float)(int)value - zero) * scale;
  }
}

static void load_grouped(const stowi_kernel_nbits* w, size_t column, size_t first, size_t count,
                         float* out) {
  for (size_t i = 0; i < count; ++i) {
    size_t k = first + i;
    size_t group = (size_t)stowi_kernel_int_at(w->groups, k);
    float zero;
    float scale;
    load_zeros(w, column, group, 1, &zero);
    load_scales(w, column, group, 1, &scale);
    const uint8_t* from = w->packed + (column * w->blocks + k / w->block) * w->blob;
    load_block(from, w->bits, k % w->block, 1, zero, scale, out + i);
  }
}

void stowi_kernel_nbits_load(const stowi_kernel_nbits* w, size_t column, size_t first, size_t count,
                             float* out) {
  if (w->groups != NULL) {
    load_grouped(w, column, first, count, out);
    return;
  }
  size_t end = first + count;
  while (first < end) {
    size_t block = first / w->block;
    size_t blocks = (end - 1) / w->block - block + 1;
    blocks = blocks < RUN ? blocks : RUN;
    float zeros[RUN];
    float scales[RUN];
    load_zeros(w, column, block, blocks, zeros);
    load_scales(w, column, block, blocks, scales);
    if (w->bits == 4 && w->block % 2 == 0 && first % w->block == 0 && end - first >= w->block) {
      blocks = stowi_kernel_smaller(blocks, (end - first) / w->block);
      load_halves(w->packed + (column * w->blocks + block) * w->blob, blocks, w->block / 2, zeros,
                  scales, out);
      first += blocks * w->block;
      out += blocks * w->block;
      continue;
    }
    for (size_t i = 0; i < blocks; ++i) {
      size_t inside = first % w->block;
      size_t run = w->block - inside < end - first ? w->block - inside : end - first;
      const uint8_t* from = w->packed + (column * w->blocks + block + i) * w->blob;
      load_block(from, w->bits, inside, run, zeros[i], scales[i], out);
      first += run;
      out += run;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// A row times weights of 4 bits, which are unpacked in registers: sixteen columns are read side by
// side, 32 steps of each, and turned in squares of 4 × 4 words, so that a vector has the same steps
// of all columns. Two vectors of columns take turns, as each waits for its last sum.

enum { GROUP = 16, QUAD = 32, CHAINS = 2, LINE = 64 };

// One chain of sums of up to CHAINS * GROUP columns.
typedef struct row_chain {
  const uint8_t* from;
  size_t pitch;  // bytes from one column to the next one
  size_t quads;  // times QUAD steps
  size_t left;   // quads of the first block
  size_t quads_of_block;
  const float* a;
  const uint8_t* next;  // as many bytes of the next columns
  float zeros[STOWI_KERNEL_PART_DEPTH / QUAD + 1][CHAINS * GROUP];  // of each block
  float scales[STOWI_KERNEL_PART_DEPTH / QUAD + 1][CHAINS * GROUP];
} row_chain;

#if defined(STOWI_KERNEL_X86)

// While columns are multiplied, the next ones come from memory: from its one end to the other, as
// columns follow each other.
STOWI_KERNEL_INLINE void fetch_ahead(const row_chain* chain, size_t quad) {
  enum { BYTES = CHAINS * GROUP * QUAD / 2 };
  for (size_t i = 0; i < BYTES; i += LINE) {
    __builtin_prefetch(chain->next + quad * BYTES + i);
  }
}

// Shifts by constants.
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif
#define WORDS(i) _mm_loadu_si128((const __m128i*)(const void*)(from + (i)*pitch))

#define PART(i) _mm256_inserti128_si256(_mm256_castsi128_si256(WORDS(i)), WORDS((i) + 4), 1)

// Eight steps of 8 columns in each of 4 vectors.
STOWI_KERNEL_INLINE STOWI_KERNEL_AVX2 void turn_avx2(const uint8_t* from, size_t pitch,
                                                     __m256i words[4]) {
  __m256i r0 = PART(0), r1 = PART(1), r2 = PART(2), r3 = PART(3);
  __m256i low = _mm256_unpacklo_epi32(r0, r1), high = _mm256_unpackhi_epi32(r0, r1);
  __m256i next_low = _mm256_unpacklo_epi32(r2, r3), next_high = _mm256_unpackhi_epi32(r2, r3);
  words[0] = _mm256_unpacklo_epi64(low, next_low);
  words[1] = _mm256_unpackhi_epi64(low, next_low);
  words[2] = _mm256_unpacklo_epi64(high, next_high);
  words[3] = _mm256_unpackhi_epi64(high, next_high);
}
#undef PART

// Of step |i| of a quad.
#define CODES(k, i) \
  _mm256_and_si256(_mm256_srli_epi32(words[k][(i) / 8], (int)(4 * ((i) % 8))), mask)
#define WEIGHTS(k, i)                                                                           \
  _mm256_mul_ps(_mm256_sub_ps(_mm256_cvtepi32_ps(CODES(k, i)), _mm256_loadu_ps(zeros + (k)*8)), \
                _mm256_loadu_ps(scales + (k)*8))

// Adds a chain of 2 × 8 columns, from |column| on, to |sums|.
STOWI_KERNEL_AVX2 static void add_halves_avx2(const row_chain* chain, size_t column, float* sums) {
  const __m256i mask = _mm256_set1_epi32(15);
  const uint8_t* from = chain->from + column * chain->pitch;
  const float* a = chain->a;
  size_t left = chain->left;
  size_t block = 0;
  __m256 sum[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
  for (size_t quad = 0; quad < chain->quads; ++quad, --left, from += QUAD / 2, a += QUAD) {
    if (left == 0) {
      left = chain->quads_of_block;
      ++block;
    }
    if (column == 0) {
      fetch_ahead(chain, quad);
    }
    const float* zeros = chain->zeros[block] + column;
    const float* scales = chain->scales[block] + column;
    __m256i words[2][4];
    turn_avx2(from, chain->pitch, words[0]);
    turn_avx2(from + 8 * chain->pitch, chain->pitch, words[1]);
    UNROLL
    for (size_t i = 0; i < QUAD; ++i) {
      __m256 element = _mm256_set1_ps(a[i]);
      sum[0] = _mm256_fmadd_ps(element, WEIGHTS(0, i), sum[0]);
      sum[1] = _mm256_fmadd_ps(element, WEIGHTS(1, i), sum[1]);
    }
  }
  _mm256_storeu_ps(sums, _mm256_add_ps(_mm256_loadu_ps(sums), sum[0]));
  _mm256_storeu_ps(sums + 8, _mm256_add_ps(_mm256_loadu_ps(sums + 8), sum[1]));
}

#undef WEIGHTS
#undef CODES

static void add_chain_avx2(const row_chain* chain, size_t columns, float* sums) {
  for (size_t column = 0; column < columns; column += GROUP) {
    add_halves_avx2(chain, column, sums + column);
  }
}

#define PART(i)                                                                                   \
  _mm512_inserti32x4(                                                                             \
      _mm512_inserti32x4(_mm512_inserti32x4(_mm512_castsi128_si512(WORDS(i)), WORDS((i) + 4), 1), \
                         WORDS((i) + 8), 2),                                                      \
      WORDS((i) + 12), 3)

STOWI_KERNEL_INLINE STOWI_KERNEL_AVX512 void turn_avx512(const uint8_t* from, size_t pitch,
                                                         __m512i words[4]) {
  __m512i r0 = PART(0), r1 = PART(1), r2 = PART(2), r3 = PART(3);
  __m512i low = _mm512_unpacklo_epi32(r0, r1), high = _mm512_unpackhi_epi32(r0, r1);
  __m512i next_low = _mm512_unpacklo_epi32(r2, r3), next_high = _mm512_unpackhi_epi32(r2, r3);
  words[0] = _mm512_unpacklo_epi64(low, next_low);
  words[1] = _mm512_unpackhi_epi64(low, next_low);
  words[2] = _mm512_unpacklo_epi64(high, next_high);
  words[3] = _mm512_unpackhi_epi64(high, next_high);
}
#undef PART
#undef WORDS

// Of step |i| of a quad. Only the low 4 bits of a code choose its number.
#define CODES(k, i) _mm512_srli_epi32(words[k][(i) / 8], (unsigned)(4 * ((i) % 8)))
#define WEIGHTS(k, i) \
  _mm512_mul_ps(_mm512_sub_ps(_mm512_permutexvar_ps(CODES(k, i), numbers), zero[k]), scale[k])

// |chains|, a constant once this is inlined, vectors of columns.
STOWI_KERNEL_INLINE STOWI_KERNEL_AVX512 void add_chains_avx512(const row_chain* chain,
                                                               size_t chains, float* sums) {
  const __m512 numbers = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const uint8_t* from = chain->from;
  const float* a = chain->a;
  size_t left = chain->left;
  size_t block = 0;
  __m512 sum[CHAINS] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
  for (size_t quad = 0; quad < chain->quads; ++quad, --left, from += QUAD / 2, a += QUAD) {
    if (left == 0) {
      left = chain->quads_of_block;
      ++block;
    }
    __m512i words[CHAINS][4];
    const float* zeros = chain->zeros[block];
    const float* scales = chain->scales[block];
    const __m512 zero[CHAINS] = {_mm512_loadu_ps(zeros), _mm512_loadu_ps(zeros + GROUP)};
    const __m512 scale[CHAINS] = {_mm512_loadu_ps(scales), _mm512_loadu_ps(scales + GROUP)};
    fetch_ahead(chain, quad);
    turn_avx512(from, chain->pitch, words[0]);
    if (chains > 1) {
      turn_avx512(from + GROUP * chain->pitch, chain->pitch, words[1]);
    }
    UNROLL
    for (size_t i = 0; i < QUAD; ++i) {
      __m512 element = _mm512_set1_ps(a[i]);
      sum[0] = _mm512_fmadd_ps(element, WEIGHTS(0, i), sum[0]);
      if (chains > 1) {
        sum[1] = _mm512_fmadd_ps(element, WEIGHTS(1, i), sum[1]);
      }
    }
  }
  for (size_t k = 0; k < chains; ++k) {
    float* to = sums + k * GROUP;
    _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), sum[k]));
  }
}
#undef UNROLL
#undef WEIGHTS
#undef CODES

STOWI_KERNEL_AVX512 static void add_chain_avx512(const row_chain* chain, size_t columns,
                                                 float* sums) {
  if (columns == CHAINS * GROUP) {
    add_chains_avx512(chain, CHAINS, sums);
  } else {
    add_chains_avx512(chain, 1, sums);
  }
}

// |columns| is GROUP or CHAINS * GROUP.
typedef void (*add_chain)(const row_chain* chain, size_t columns, float* sums);

static add_chain find_add_chain(void) {
  stowi_kernel_machine machine = stowi_kernel_machine_is();
  return machine >= STOWI_KERNEL_MACHINE_AVX512 ? add_chain_avx512
         : machine >= STOWI_KERNEL_MACHINE_AVX2 ? add_chain_avx2
                                                : NULL;
}

// Scales of |count| blocks of some columns, side by side; those of the next blocks are on their
// way.
static void load_chain_scales(const stowi_kernel_nbits* w, size_t column, size_t columns,
                              size_t block, size_t count, row_chain* chain) {
  if (w->scales->dtype == STOW_F32) {
    const float* from = (const float*)w->scales->data + w->first_scale + column * w->blocks + block;
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < columns; ++j) {
        chain->scales[i][j] = from[j * w->blocks + i];
      }
    }
    const float* next = from - block + columns * (w->blocks + block);
    for (size_t j = 0; j < columns * count; j += LINE / sizeof(float)) {
      __builtin_prefetch(next + j);
    }
    return;
  }
  for (size_t j = 0; j < columns; ++j) {
    float own[STOWI_KERNEL_PART_DEPTH / QUAD + 1];
    load_scales(w, column + j, block, count, own);
    for (size_t i = 0; i < count; ++i) {
      chain->scales[i][j] = own[i];
    }
  }
}

static void load_chain_zeros(const stowi_kernel_nbits* w, size_t column, size_t columns,
                             size_t block, size_t count, row_chain* chain) {
  for (size_t j = 0; j < columns; ++j) {
    float own[STOWI_KERNEL_PART_DEPTH / QUAD + 1];
    load_zeros(w, column + j, block, count, own);
    for (size_t i = 0; i < count; ++i) {
      chain->zeros[i][j] = own[i];
    }
  }
}

// Adds the products of the row |a| and of columns of |w| to |sums|, as many whole groups as there
// are, from step |step| to |step| + |steps|; returns how many. None where another way is needed.
static size_t add_row(const stowi_kernel_nbits* w, const float* a, size_t column, size_t columns,
                      size_t step, size_t steps, float* sums) {
  add_chain add = find_add_chain();
  if (add == NULL || w->bits != 4 || w->block % QUAD != 0 || w->groups != NULL ||
      steps % QUAD != 0) {
    return 0;
  }
  size_t block = step / w->block;
  size_t inside = step % w->block;
  size_t blocks = (step + steps - 1) / w->block - block + 1;
  size_t done = 0;
  row_chain chain;
  chain.pitch = w->blocks * w->blob;
  chain.quads = steps / QUAD;
  chain.left = (w->block - inside) / QUAD;
  chain.quads_of_block = w->block / QUAD;
  chain.a = a;
  for (size_t i = 0; w->zeros == NULL && i < blocks; ++i) {
    for (size_t j = 0; j < CHAINS * GROUP; ++j) {
      chain.zeros[i][j] = 8;
    }
  }
  for (size_t some; done + GROUP <= columns; done += some) {
    some = columns - done < CHAINS * GROUP ? GROUP : CHAINS * GROUP;
    chain.from = w->packed + ((column + done) * w->blocks + block) * w->blob + inside / 2;
    chain.next = w->packed + (column + done + some) * chain.pitch + step * some / 2;
    load_chain_scales(w, column + done, some, block, blocks, &chain);
    if (w->zeros != NULL) {
      load_chain_zeros(w, column + done, some, block, blocks, &chain);
    }
    add(&chain, some, sums + done);
  }
  return done;
}

#else

static size_t add_row(const stowi_kernel_nbits* w, const float* a, size_t column, size_t columns,
                      size_t step, size_t steps, float* sums) {
  (void)w, (void)a, (void)column, (void)columns, (void)step, (void)steps, (void)sums;
  return 0;
}

#endif

// ---------------------------------------------------------------------------------------------
// matmul_nbits. Weights are converted to f32 part by part, 256 steps of k at a time.

enum { FEW_ROWS = 4 };

typedef struct nbits_product {
  stowi_kernel_product product;
  stowi_kernel_nbits weights;
  const stow_tensor* a;
  const stow_tensor* bias;
  stow_tensor* result;
  char* scratch;
  uint64_t scratch_size;  // of a worker
  uint32_t gemm_variant;
} nbits_product;

// All rows of a, however many dims they are spread over, and the columns of the weights.
static stowi_kernel_product product_of(const stow_kernel_call* call) {
  stow_tensor weights = {.dtype = STOW_F32, .rank = 2};
  weights.dims[0] = stowi_kernel_int(call, STOWI_KERNEL_ATTR_ROWS, 0);
  weights.dims[1] = stowi_kernel_int(call, STOWI_KERNEL_ATTR_COLUMNS, 0);
  return stowi_kernel_product_of(stow_kernel_operand(call, 0), (stowi_kernel_turn){0}, &weights,
                                 (stowi_kernel_turn){0});
}

static stowi_kernel_matrix load_a(const nbits_product* x, const stowi_kernel_part* part,
                                  size_t step, size_t steps, float* to) {
  size_t first = part->row * x->product.k + step;
  if (x->a->dtype == STOW_F32) {
    return (stowi_kernel_matrix){(const float*)x->a->data + first, x->product.k, 1};
  }
  for (size_t i = 0; i < part->rows; ++i) {
    stowi_kernel_load_f32(x->a->dtype, x->a->data, first + i * x->product.k, steps, to + i * steps);
  }
  return (stowi_kernel_matrix){to, steps, 1};
}

static void begin_part(const nbits_product* x, const stowi_kernel_part* part, float* c) {
  for (size_t i = 0; i < part->rows; ++i) {
    float* row = c + i * part->columns;
    for (size_t j = 0; j < part->columns; ++j) {
      row[j] = 0;
    }
    if (x->bias != NULL) {
      stowi_kernel_load_f32(x->bias->dtype, x->bias->data, part->column, part->columns, row);
    }
  }
}

static void finish_part(const nbits_product* x, const stowi_kernel_part* part, const float* c) {
  for (size_t i = 0; i < part->rows; ++i) {
    stowi_kernel_store_f32(
        x->result->dtype, x->result->data,
        stowi_kernel_product_element(&x->product, 0, part->row + i, part->column), part->columns,
        c + i * part->columns);
  }
}

// |count| columns of |part| from |first| on, over |steps| steps of k.
static void add_columns(const nbits_product* x, const stowi_kernel_part* part,
                        const stowi_kernel_part_room* r, size_t first, size_t count, size_t step,
                        size_t steps) {
  for (size_t j = 0; j < count; ++j) {
    stowi_kernel_nbits_load(&x->weights, part->column + first + j, step, steps, r->b + j * steps);
  }
  stowi_kernel_gemm g = {.m = part->rows, .n = count, .k = steps, .alpha = 1, .accumulate = true};
  g.a = load_a(x, part, step, steps, r->a);
  g.b = (stowi_kernel_matrix){r->b, 1, steps};
  g.c = r->c + first;
  g.c_row = part->columns;
  g.variant = x->gemm_variant;
  stowi_kernel_gemm_alone(&g, r->gemm);
}

// Where rows are few, so are the columns that are unpacked at a time: they stay in the first cache.
static void multiply_part(const nbits_product* x, const stowi_kernel_part* part,
                          const stowi_kernel_part_room* r) {
  const stowi_kernel_product* p = &x->product;
  size_t group = part->rows <= FEW_ROWS ? GROUP : part->columns;
  begin_part(x, part, r->c);
  for (size_t step = 0; step < p->k; step += STOWI_KERNEL_PART_DEPTH) {
    size_t steps = stowi_kernel_smaller(p->k - step, STOWI_KERNEL_PART_DEPTH);
    for (size_t first = 0; first < part->columns; first += group) {
      add_columns(x, part, r, first, stowi_kernel_smaller(part->columns - first, group), step,
                  steps);
    }
  }
  finish_part(x, part, r->c);
}

static void multiply_parts(void* user, size_t begin, size_t end, uint32_t worker) {
  const nbits_product* x = user;
  stowi_kernel_part_room r =
      stowi_kernel_part_room_at(&x->product, x->scratch + worker * x->scratch_size);
  for (size_t i = begin; i < end; ++i) {
    stowi_kernel_part part = stowi_kernel_part_at(&x->product, i);
    multiply_part(x, &part, &r);
  }
}

// ---------------------------------------------------------------------------------------------
// One row at a time, without scratch: sums of some columns stay on the stack, and with vectors
// weights are unpacked in registers.

enum { COLUMNS = 8, STEPS = 64 };

// Chains of sums of up to COLUMNS columns, from step |step| on.
STOWI_KERNEL_LOOP(chain_columns,
                  (const stowi_kernel_nbits* w, const float* a, size_t column, size_t columns,
                   size_t step, size_t steps, float* chains),
                  (w, a, column, columns, step, steps, chains)) {
  float weights[COLUMNS][STEPS];
  for (size_t done = 0; done < steps; done += STEPS) {
    size_t some = stowi_kernel_smaller(STEPS, steps - done);
    for (size_t j = 0; j < columns; ++j) {
      stowi_kernel_nbits_load(w, column + j, step + done, some, weights[j]);
    }
    for (size_t i = 0; i < some; ++i) {
      for (size_t j = 0; j < columns; ++j) {
        chains[j] = stowi_kernel_fma(has_fma, a[done + i], weights[j][i], chains[j]);
      }
    }
  }
}

static void multiply_columns(const nbits_product* x, size_t row, size_t column, size_t columns) {
  stowi_kernel_part part = {0, row, 1, column, columns};
  float sums[CHAINS * GROUP];
  float room[STOWI_KERNEL_PART_DEPTH];
  begin_part(x, &part, sums);
  for (size_t step = 0; step < x->product.k; step += STOWI_KERNEL_PART_DEPTH) {
    size_t steps = stowi_kernel_smaller(x->product.k - step, STOWI_KERNEL_PART_DEPTH);
    const float* a = load_a(x, &part, step, steps, room).data;
    size_t first = add_row(&x->weights, a, column, columns, step, steps, sums);
    for (; first < columns; first += COLUMNS) {
      size_t count = stowi_kernel_smaller(COLUMNS, columns - first);
      float chains[COLUMNS] = {0};
      chain_columns(&x->weights, a, column + first, count, step, steps, chains);
      for (size_t j = 0; j < count; ++j) {
        sums[first + j] += chains[j];
      }
    }
  }
  finish_part(x, &part, sums);
}

// All rows of some columns, then of the next ones: their weights are in the cache.
static void multiply_rows(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const nbits_product* x = user;
  for (size_t i = begin; i < end; ++i) {
    size_t column = i / x->product.m * CHAINS * GROUP;
    multiply_columns(x, i % x->product.m, column,
                     stowi_kernel_smaller(CHAINS * GROUP, x->product.n - column));
  }
}

// Sets the size of parts and what a worker needs, and returns whether rows are taken one by one.
static bool choose(const stow_kernel_call* call, nbits_product* x) {
  uint32_t variant = stowi_kernel_variant(call);
  x->gemm_variant = variant == 0 ? 0 : 1;
  stowi_kernel_part_choose(&x->product, x->gemm_variant);
  bool is_by_row = variant >= 2 || x->product.m == 1;
  x->scratch_size = is_by_row ? 0 : stowi_kernel_part_room_size(&x->product, x->gemm_variant);
  return is_by_row;
}

static stow_status scratch_nbits(const stow_kernel_call* call, uint64_t* out_bytes) {
  nbits_product x = {.product = product_of(call)};
  (void)choose(call, &x);
  *out_bytes = x.scratch_size * call->workers;
  return STOW_OK;
}

// Whether every group is a block.
static bool are_groups_blocks(const stow_tensor* groups, size_t k, size_t blocks) {
  if (groups == NULL) {
    return true;
  }
  if (stow_tensor_elements(groups) < k) {
    return false;
  }
  for (size_t i = 0; i < k; ++i) {
    int64_t group = stowi_kernel_int_at(groups, i);
    if (group < 0 || (uint64_t)group >= blocks) {
      return false;
    }
  }
  return true;
}

static bool has_all_weights(const stow_kernel_call* call, const nbits_product* x) {
  const stowi_kernel_nbits* w = &x->weights;
  size_t count = x->product.n * w->blocks;
  const stow_tensor* packed = stow_kernel_operand(call, 1);
  if (stow_tensor_bytes(packed) < count * w->blob || stow_tensor_elements(w->scales) < count) {
    return false;
  }
  size_t zeros = w->zeros != NULL && w->zeros->dtype == STOW_U8
                     ? stowi_kernel_nbits_zero_bytes(w, x->product.n)
                     : count;
  return (w->zeros == NULL || stow_tensor_elements(w->zeros) >= zeros) &&
         (x->bias == NULL || stow_tensor_elements(x->bias) == x->product.n);
}

static stowi_kernel_nbits weights_of(const stow_kernel_call* call, size_t k) {
  stowi_kernel_nbits w = {.bits = (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_BITS, 4)};
  w.block = (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_BLOCK_SIZE, 32);
  w.blocks = (k + w.block - 1) / w.block;
  w.blob = (w.block * w.bits + 7) / 8;
  w.packed = stow_kernel_operand(call, 1)->data;
  w.scales = stow_kernel_operand(call, 2);
  w.zeros = stow_kernel_operand(call, 3);
  w.zero_bits = (w.blocks * w.bits + 7) / 8 * 8;
  w.groups = stow_kernel_operand(call, 4);
  return w;
}

static stow_status run_nbits(stow_kernel_call* call) {
  nbits_product x = {.a = stow_kernel_operand(call, 0), .bias = stow_kernel_operand(call, 5)};
  if (stowi_kernel_int(call, STOWI_KERNEL_ATTR_WEIGHT_PREPACKED, 0) != 0) {
    return stow_kernel_fail(
        call, STOW_ERR_UNSUPPORTED,
        "weights packed for a device are unsupported; weight_prepacked must be 0");
  }
  if (x.a->dtype != STOW_F32 && x.a->dtype != STOW_F16 && x.a->dtype != STOW_BF16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "operand 0 must be f32, f16 or bf16");
  }
  x.product = product_of(call);
  x.weights = weights_of(call, x.product.k);
  x.result = stow_kernel_result(call, 0);
  if (!has_all_weights(call, &x)) {
    return stow_kernel_fail(
        call, STOW_ERR_TYPE,
        "too few weights, scales, zeros or biases for %zu columns of %zu blocks", x.product.n,
        x.weights.blocks);
  }
  if (!are_groups_blocks(x.weights.groups, x.product.k, x.weights.blocks)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "groups must have an index below %zu for each row", x.weights.blocks);
  }
  x.scratch = call->scratch;
  if (choose(call, &x)) {
    size_t groups = (x.product.n + CHAINS * GROUP - 1) / (CHAINS * GROUP);
    stow_kernel_split(call, x.product.m * groups, 16384 / (CHAINS * GROUP * x.product.k + 1) + 1,
                      multiply_rows, &x);
  } else {
    stowi_kernel_part_divide(&x.product, call->workers);
    stow_kernel_split(call, stowi_kernel_part_count(&x.product),
                      stowi_kernel_part_grain(&x.product), multiply_parts, &x);
  }
  return STOW_OK;
}

STOWI_KERNEL(MATMUL_NBITS, scratch_nbits, run_nbits, .variant_count = 3);
