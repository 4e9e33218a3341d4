// Lifetimes and sizes are drawn from splitmix64 with integers only, so that a seed means the same
// problem on every machine.
#include "support/problem_families.h"

#include <stdio.h>
#include <stdlib.h>

struct problem_maker {
  stow_problem* problem;
  uint64_t random;
};

static void require(bool condition, const char* what) {
  if (!condition) {
    fprintf(stderr, "problem families: %s\n", what);
    exit(EXIT_FAILURE);
  }
}

static void* allocate(size_t count, size_t size) {
  void* block = calloc(count + 1, size);
  require(block != NULL, "out of memory");
  return block;
}

static uint64_t draw(problem_maker* maker) {
  uint64_t z = maker->random += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static uint64_t below(problem_maker* maker, uint64_t bound) { return draw(maker) % bound; }

static void add_desc(problem_maker* maker, const stow_buffer* desc) {
  require(stow_problem_add(maker->problem, desc, NULL, NULL) == STOW_OK, "cannot add a buffer");
}

static void add(problem_maker* maker, uint64_t size, uint64_t begin, uint64_t end) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = size;
  desc.begin = begin;
  desc.end = end;
  desc.alignment = 64;
  add_desc(maker, &desc);
}

static void add_window(problem_maker* maker, uint64_t begin, uint64_t end, uint64_t low,
                       uint64_t high) {
  stow_window_desc desc;
  stow_window_desc_init(&desc);
  desc.begin = begin;
  desc.end = end;
  desc.low = low;
  desc.high = high;
  require(stow_problem_add_window(maker->problem, &desc, NULL) == STOW_OK, "cannot add a window");
}

static uint64_t round_up(uint64_t size, uint64_t unit) { return (size + unit - 1) / unit * unit; }

// Spread over 256 bytes … 4 MiB, uniformly on a logarithmic scale, and nearly all different: the
// hard case.
static uint64_t spread_size(problem_maker* maker) {
  uint64_t scale = UINT64_C(256) << below(maker, 14);
  return scale + draw(maker) % scale;
}

// Twice the size is half as frequent, practically unbounded: most bytes are in few buffers.
static uint64_t heavy_size(problem_maker* maker) {
  uint64_t scale = 256;
  for (uint64_t bits = draw(maker); bits % 2 != 0 && scale < UINT64_C(1) << 32; bits /= 2) {
    scale *= 2;
  }
  return scale + draw(maker) % scale;
}

// ---------------------------------------------------------------------------------------------
// Lives that are drawn one by one

typedef struct life {
  uint64_t begin;
  uint64_t end;
} life;

// Of buffer |i| of |count|; |random| is a fresh random number.
typedef life (*draw_life)(uint64_t i, uint64_t count, uint64_t random);

static uint64_t fill_lives(problem_maker* maker, size_t count, draw_life live,
                           uint64_t (*size)(problem_maker* maker)) {
  for (size_t i = 0; i < count; ++i) {
    uint64_t bytes = size(maker);
    life l = live(i, count, draw(maker));
    add(maker, bytes, l.begin, l.end);
  }
  return OPTIMUM_UNKNOWN;
}

static uint64_t at_least_one(uint64_t value) { return value > 0 ? value : 1; }

static life chain_life(uint64_t i, uint64_t count, uint64_t random) {
  (void)count;
  return (life){i, i + 2 + random % 3};
}

static life suffix_life(uint64_t i, uint64_t count, uint64_t random) {
  (void)random;
  return (life){i, count};
}

static life params_life(uint64_t i, uint64_t count, uint64_t random) {
  return random % 10 < 3 ? (life){0, count + 4} : chain_life(i, count, random / 10);
}

static life half_life(uint64_t i, uint64_t count, uint64_t random) {
  return random % 2 == 0 ? (life){i, count + 4} : chain_life(i, count, random / 2);
}

static life mixed_life(uint64_t i, uint64_t count, uint64_t random) {
  uint64_t length = 2;
  for (uint64_t bits = random; length < count && bits % 2 != 0; bits /= 2) {
    length *= 2;
  }
  return (life){i, i + length + random / 65536 % length};
}

static life staircase_life(uint64_t i, uint64_t count, uint64_t random) {
  bool is_kept = i % 2 == 0 && i < count / 2;
  return is_kept ? (life){i, count - i} : chain_life(i, count, random);
}

static life sliding_life(uint64_t i, uint64_t count, uint64_t random) {
  (void)random;
  return (life){i, i + (count / 10 < 1000 ? count / 10 : 1000) + 1};
}

static life layers_life(uint64_t i, uint64_t count, uint64_t random) {
  uint64_t width = at_least_one(count / 8 < 1024 ? count / 8 : 1024);
  (void)random;
  return (life){i / width * 2, i / width * 2 + 4};
}

static life wide_life(uint64_t i, uint64_t count, uint64_t random) {
  uint64_t width = at_least_one(count / 8 < 2048 ? count / 8 : 2048);
  return (life){i, i + width / 2 + random % width + 1};
}

// Births in no order, several at one step.
static life short_life(uint64_t i, uint64_t count, uint64_t random) {
  uint64_t begin = (random >> 16) % count;
  (void)i;
  return (life){begin, begin + 1 + random % 16};
}

static life long_life(uint64_t i, uint64_t count, uint64_t random) {
  uint64_t horizon = 1 + (count < 1000 ? count : 1000);
  uint64_t begin = (random >> 32) % horizon;
  (void)i;
  return (life){begin, begin + 1 + (random & UINT32_MAX) % horizon / 2};
}

static life scattered_life(uint64_t i, uint64_t count, uint64_t random) {
  life l = mixed_life(i, count, random & UINT32_MAX);
  uint64_t begin = (random >> 32) % count;
  return (life){begin, begin + (l.end - l.begin)};
}

#define LIVES_FAMILY(name, size)                                    \
  static uint64_t fill_##name(problem_maker* maker, size_t count) { \
    return fill_lives(maker, count, name##_life, size);             \
  }
LIVES_FAMILY(chain, spread_size)
LIVES_FAMILY(suffix, spread_size)
LIVES_FAMILY(params, spread_size)
LIVES_FAMILY(half, spread_size)
LIVES_FAMILY(mixed, spread_size)
LIVES_FAMILY(staircase, spread_size)
LIVES_FAMILY(sliding, spread_size)
LIVES_FAMILY(layers, spread_size)
LIVES_FAMILY(wide, spread_size)
LIVES_FAMILY(short, spread_size)
LIVES_FAMILY(long, spread_size)
LIVES_FAMILY(scattered, heavy_size)
#undef LIVES_FAMILY

// Gaps and windows in turn, with guards and alignments of all sorts.
static uint64_t fill_windows(problem_maker* maker, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    stow_buffer desc;
    stow_buffer_init(&desc);
    life l = mixed_life(i, count, draw(maker));
    desc.size = spread_size(maker);
    desc.begin = l.begin;
    desc.end = l.end + 4;
    desc.alignment = UINT64_C(1) << below(maker, 9);
    desc.guard = below(maker, 3) == 0 ? below(maker, 64) : 0;
    add_desc(maker, &desc);
    uint64_t begin = desc.begin + 1;
    for (uint64_t left = below(maker, 3); left > 0 && begin + 1 < desc.end; --left) {
      uint64_t middle = begin + (desc.end - begin) / 2;
      uint64_t low = below(maker, desc.size);
      bool is_gap = below(maker, 2) == 0;
      add_window(maker, begin, middle, low, is_gap ? low : low + 1 + below(maker, desc.size - low));
      begin = middle + below(maker, 2);
    }
  }
  return OPTIMUM_UNKNOWN;
}

// As `mixed`, but three in ten are empty for the middle third of their life.
static uint64_t fill_gaps(problem_maker* maker, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint64_t bytes = spread_size(maker);
    life l = mixed_life(i, count, draw(maker));
    bool has_gap = below(maker, 10) < 3;
    l.end += has_gap && l.end - l.begin < 3 ? 1 : 0;  // a middle needs three steps
    add(maker, bytes, l.begin, l.end);
    if (has_gap) {
      uint64_t third = (l.end - l.begin) / 3;
      add_window(maker, l.begin + third, l.end - third, 0, 0);
    }
  }
  return OPTIMUM_UNKNOWN;
}

enum { BURST_PERIOD = 4, BURST_LONGEST = 8 };

// The bytes that are free throughout |l|.
static uint64_t room_in(const uint64_t* load, life l, uint64_t height) {
  uint64_t most = 0;
  for (uint64_t step = l.begin; step < l.end; ++step) {
    most = load[step] > most ? load[step] : most;
  }
  return height - most;
}

// Every fourth step a burst begins: two steps of births, until the load at the second is the same
// as at all other bursts. About half of a burst outlives the next one's birth, which ties them
// together. All are born by the second step, so the load only falls from there to the next burst.
static uint64_t fill_burst(problem_maker* maker, size_t count) {
  const uint64_t height = UINT64_C(16) << 20;
  uint64_t* load =
      (uint64_t*)allocate(BURST_PERIOD * count + BURST_PERIOD + BURST_LONGEST, sizeof(*load));
  uint64_t burst = 0;
  for (size_t made = 0; made < count;) {
    uint64_t begin = burst + below(maker, 2);
    life l = {begin, begin + 2 + below(maker, BURST_LONGEST - 1)};
    uint64_t size = round_up(spread_size(maker), 64);
    if (room_in(load, l, height) == 0) {
      l.begin = burst + 1;
    }
    uint64_t room = room_in(load, l, height);
    if (room == 0) {
      burst += BURST_PERIOD;
      continue;
    }
    size = size < room ? size : room;
    for (uint64_t step = l.begin; step < l.end; ++step) {
      load[step] += size;
    }
    add(maker, size, l.begin, l.end);
    ++made;
  }
  free(load);
  return OPTIMUM_UNKNOWN;
}

// ---------------------------------------------------------------------------------------------
// Shapes of networks

// Stops once all buffers exist, wherever in a layer that is.
typedef struct network {
  problem_maker* maker;
  size_t left;
} network;

static void tensor(network* n, uint64_t size, uint64_t begin, uint64_t end) {
  if (n->left > 0) {
    n->left -= 1;
    add(n->maker, size, begin, end);
  }
}

// One layer of a decoder that fills its caches: ten steps, twelve buffers.
static void transformer_layer(network* n, uint64_t step, uint64_t last, uint64_t rows,
                              uint64_t width) {
  uint64_t stream = rows * width * 2;
  tensor(n, stream, step, step + 6);                      // what comes in
  tensor(n, stream, step, step + 3);                      // normalised
  tensor(n, stream, step + 1, step + 4);                  // queries
  tensor(n, stream, step + 1, last);                      // cache of keys
  tensor(n, stream, step + 2, last);                      // cache of values
  tensor(n, rows * rows * 8 * 4, step + 3, step + 5);     // scores of 8 heads
  tensor(n, stream, step + 4, step + 6);                  // context
  tensor(n, stream, step + 5, step + 11);                 // with what came in
  tensor(n, stream, step + 6, step + 8);                  // normalised
  tensor(n, 4 * stream, step + 7, step + 9);              // hidden
  tensor(n, 4 * stream, step + 8, step + 10);             // activated
  tensor(n, 64 * (1 + width / 16), step + 9, step + 10);  // scratch
}

static uint64_t fill_transformer(problem_maker* maker, size_t count) {
  network n = {maker, count};
  uint64_t rows = 32 + 8 * below(maker, 64);
  uint64_t width = 256 * (1 + below(maker, 8));
  uint64_t last = count / 12 * 10 + 12;
  for (uint64_t step = 0; n.left > 0; step += 10) {
    transformer_layer(&n, step, last, rows, width);
  }
  return OPTIMUM_UNKNOWN;
}

// A block of three convolutions with a shortcut around them, and the columns that each unfolds.
static void cnn_block(network* n, uint64_t step, uint64_t pixels, uint64_t channels) {
  uint64_t narrow = pixels * channels;
  tensor(n, 4 * narrow, step, step + 5);          // the shortcut
  tensor(n, 64 * channels, step, step + 1);       // scratch
  tensor(n, narrow, step + 1, step + 3);          // reduced
  tensor(n, 9 * narrow / 4, step + 2, step + 3);  // columns
  tensor(n, narrow, step + 2, step + 4);          // filtered
  tensor(n, 4 * narrow, step + 3, step + 5);      // widened
  tensor(n, pixels * 4 + channels, step + 4, step + 5);
}

// Five stages: a quarter of the pixels, twice the channels each.
static uint64_t fill_cnn(problem_maker* maker, size_t count) {
  network n = {maker, count};
  uint64_t side = 32 * (3 + below(maker, 6));
  uint64_t channels = 16 * (1 + below(maker, 4));
  uint64_t blocks = count / 7 + 1;
  for (uint64_t block = 0; n.left > 0; ++block) {
    uint64_t stage = block * 5 / blocks;
    uint64_t pixels = (side >> stage) * (side >> stage);
    cnn_block(&n, block * 4, pixels, (channels << stage) + below(maker, 3) * 8);
  }
  return OPTIMUM_UNKNOWN;
}

// ---------------------------------------------------------------------------------------------
// Known optima

// A stack: what is opened last is closed first. Each on top of those open at its birth is a
// placement as high as the highest load.
static uint64_t fill_nested(problem_maker* maker, size_t count) {
  life* lives = (life*)allocate(count, sizeof(*lives));
  uint64_t* sizes = (uint64_t*)allocate(count, sizeof(*sizes));
  size_t* open = (size_t*)allocate(count, sizeof(*open));
  uint64_t bytes = 0;
  uint64_t most = 0;
  size_t depth = 0;
  uint64_t step = 0;
  for (size_t opened = 0; opened < count || depth > 0; ++step) {
    if (opened < count && (depth == 0 || below(maker, 2) == 0)) {
      sizes[opened] = round_up(spread_size(maker), 64);
      lives[opened].begin = step;
      bytes += sizes[opened];
      most = bytes > most ? bytes : most;
      open[depth++] = opened++;
    } else {
      size_t top = open[--depth];
      lives[top].end = step;
      bytes -= sizes[top];
    }
  }
  for (size_t i = 0; i < count; ++i) {
    add(maker, sizes[i], lives[i].begin, lives[i].end);
  }
  free(lives);
  free(sizes);
  free(open);
  return most;
}

// Interval graphs need as many colours as their largest clique has members.
static uint64_t fill_equal(problem_maker* maker, size_t count) {
  uint64_t horizon = 8 * (uint64_t)count;
  int64_t* change = (int64_t*)allocate((size_t)horizon, sizeof(*change));
  for (size_t i = 0; i < count; ++i) {
    life l = scattered_life(i, count, draw(maker));
    add(maker, 4096, l.begin, l.end);
    change[l.begin] += 1;
    change[l.end] -= 1;
  }
  int64_t live = 0;
  int64_t most = 0;
  for (uint64_t step = 0; step < horizon; ++step) {
    live += change[step];
    most = live > most ? live : most;
  }
  free(change);
  return 4096 * (uint64_t)most;
}

typedef struct tile {
  uint64_t left, right;  // steps
  uint64_t low, high;    // in units of TILE_UNIT bytes
} tile;

enum { TILE_UNIT = 1024, TILE_HEIGHT = 1024 };

// Left of the cut stays in the tile, right of it is the new one; or below and above it.
static bool cut_in_two(problem_maker* maker, tile* t, tile* out_new) {
  *out_new = *t;
  uint64_t width = t->right - t->left;
  uint64_t height = t->high - t->low;
  if (below(maker, 2) == 0) {
    if (width < 2) {
      return false;
    }
    t->right = out_new->left = t->left + 1 + below(maker, width - 1);
  } else {
    if (height < 2) {
      return false;
    }
    t->high = out_new->low = t->low + 1 + below(maker, height - 1);
  }
  return true;
}

// Four tiles around a fifth, which no straight cut separates.
//     ┌──────┬───┐
//     ├───┬──┤   │
//     │   ├──┴───┤
//     └───┴──────┘
static bool cut_in_five(problem_maker* maker, tile* t, tile out_new[4]) {
  tile whole = *t;
  if (whole.right - whole.left < 3 || whole.high - whole.low < 3) {
    return false;
  }
  uint64_t left = whole.left + 1 + below(maker, whole.right - whole.left - 2);
  uint64_t right = left + 1 + below(maker, whole.right - left - 1);
  uint64_t low = whole.low + 1 + below(maker, whole.high - whole.low - 2);
  uint64_t high = low + 1 + below(maker, whole.high - low - 1);
  *t = (tile){left, right, low, high};
  out_new[0] = (tile){whole.left, left, whole.low, high};
  out_new[1] = (tile){left, whole.right, whole.low, low};
  out_new[2] = (tile){right, whole.right, low, whole.high};
  out_new[3] = (tile){whole.left, right, high, whole.high};
  return true;
}

static uint64_t area(const tile* t) { return (t->right - t->left) * (t->high - t->low); }

// The largest of three: so no tile becomes much larger than the others.
static size_t pick_tile(problem_maker* maker, const tile* tiles, size_t count) {
  size_t best = below(maker, count);
  for (int i = 0; i < 2; ++i) {
    size_t other = below(maker, count);
    best = area(&tiles[other]) > area(&tiles[best]) ? other : best;
  }
  return best;
}

static void shuffle(problem_maker* maker, tile* tiles, size_t count) {
  for (size_t i = count; i > 1; --i) {
    size_t other = below(maker, i);
    tile swap = tiles[i - 1];
    tiles[i - 1] = tiles[other];
    tiles[other] = swap;
  }
}

// A solid block cut into pieces: at every step every byte is used.
static uint64_t fill_tiled(problem_maker* maker, size_t count) {
  tile* tiles = (tile*)allocate(count, sizeof(*tiles));
  tiles[0] = (tile){0, 2 * (uint64_t)count + 16, 0, TILE_HEIGHT};
  for (size_t made = 1; made < count;) {
    tile* t = &tiles[pick_tile(maker, tiles, made)];
    if (count - made >= 4 && below(maker, 4) == 0) {
      made += cut_in_five(maker, t, &tiles[made]) ? 4 : 0;
    } else {
      made += cut_in_two(maker, t, &tiles[made]) ? 1 : 0;
    }
  }
  shuffle(maker, tiles, count);
  for (size_t i = 0; i < count; ++i) {
    add(maker, (tiles[i].high - tiles[i].low) * TILE_UNIT, tiles[i].left, tiles[i].right);
  }
  free(tiles);
  return (uint64_t)TILE_HEIGHT * TILE_UNIT;
}

// ---------------------------------------------------------------------------------------------

const problem_family problem_families[] = {
    {"chain", "each lives for 2 to 4 steps", false, fill_chain},
    {"suffix", "each lives to the end", false, fill_suffix},
    {"params", "3 of 10 live always, the others for 2 to 4 steps", false, fill_params},
    {"half", "half live to the end, half for 2 to 4 steps", false, fill_half},
    {"short", "born in no order, each lives for 1 to 16 steps", false, fill_short},
    {"long", "born in no order, about a quarter live at once", false, fill_long},
    {"heavy", "lives of all lengths in no order; twice the size is half as frequent", false,
     fill_scattered},
    {"mixed", "lives of all lengths, each length half as often as half of it", false, fill_mixed},
    {"nested", "a stack: two lives are disjoint or one holds the other", true, fill_nested},
    {"staircase", "training: kept from the forward to the backward step, among short ones", false,
     fill_staircase},
    {"sliding", "1000 live at once, in order", false, fill_sliding},
    {"layers", "layers of 1024, each alive with the next", false, fill_layers},
    {"wide", "about 2000 live at once, in no order", false, fill_wide},
    {"windows", "lives of all lengths with gaps and windows, guards and alignments", false,
     fill_windows},
    {"gaps", "as mixed; 3 of 10 are empty for the middle third of their life", false, fill_gaps},
    {"burst", "short lives born in bursts, all of which reach the same load", false, fill_burst},
    {"transformer", "a decoder that fills its caches", false, fill_transformer},
    {"cnn", "convolutions with shortcuts, in five stages", false, fill_cnn},
    {"equal", "all of one size: colours of intervals", true, fill_equal},
    {"tiled", "a solid block cut into pieces: no byte is free at any step", true, fill_tiled},
};
const size_t problem_family_count = sizeof(problem_families) / sizeof(problem_families[0]);

const problem_family* problem_family_find(const char* name) {
  for (size_t i = 0; i < problem_family_count; ++i) {
    if (stow_str_equal(stow_str_of(problem_families[i].name), stow_str_of(name))) {
      return &problem_families[i];
    }
  }
  return NULL;
}

static problem_maker start(uint64_t random) {
  problem_maker maker = {NULL, random};
  require(stow_problem_create(stow_allocator_default(), NULL, &maker.problem) == STOW_OK,
          "out of memory");
  return maker;
}

stow_problem* problem_family_make(const problem_family* family, uint64_t seed, size_t count,
                                  uint64_t* out_optimum) {
  problem_maker maker = start(seed * UINT64_C(0xd1342543de82ef95) + count);
  uint64_t optimum = family->fill(&maker, count);
  if (out_optimum != NULL) {
    *out_optimum = optimum;
  }
  return maker.problem;
}

// ---------------------------------------------------------------------------------------------
// Tiny problems

enum { TINY_BUFFERS = 8, TINY_FULL_BUFFERS = 14, TINY_STEPS = 8, TINY_WINDOW_COUNT = 2 };

typedef struct tiny_buffer {
  stow_buffer desc;
  stow_window_desc windows[TINY_WINDOW_COUNT];
  size_t window_count;
  uint64_t low[TINY_STEPS];  // bytes [low, high) of the footprint at each step
  uint64_t high[TINY_STEPS];
} tiny_buffer;

// A solid block of time and bytes that is being filled, earliest steps first.
typedef struct tiny_block {
  uint64_t height;
  uint64_t load[TINY_STEPS];
} tiny_block;

static void draw_loose(problem_maker* maker, stow_buffer* desc) {
  desc->size = 1 + below(maker, 6);
  desc->begin = below(maker, TINY_STEPS);
  desc->end = desc->begin + 1 + below(maker, TINY_STEPS - desc->begin);
}

// At the first step with room, for as long as the load allows. Returns false if there is none.
static bool draw_filling(problem_maker* maker, tiny_block* block, stow_buffer* desc) {
  uint64_t begin = 0;
  while (begin < TINY_STEPS && block->load[begin] == block->height) {
    ++begin;
  }
  if (begin == TINY_STEPS) {
    return false;
  }
  uint64_t room = block->height - block->load[begin];
  uint64_t size = 2 + below(maker, 4);
  uint64_t last = begin + 1 + below(maker, 4);
  desc->size = size < room ? size : room;
  desc->begin = desc->end = begin;
  while (desc->end < TINY_STEPS && desc->end < last &&
         block->load[desc->end] + desc->size <= block->height) {
    block->load[desc->end++] += desc->size;
  }
  return true;
}

static bool draw_buffer(problem_maker* maker, unsigned kinds, tiny_block* block, tiny_buffer* b) {
  stow_buffer_init(&b->desc);
  b->window_count = 0;
  if (!(kinds & TINY_FULL)) {
    draw_loose(maker, &b->desc);
  } else if (!draw_filling(maker, block, &b->desc)) {
    return false;
  }
  if ((kinds & TINY_ALIGNMENTS) && below(maker, 2) == 0) {
    b->desc.alignment = UINT64_C(1) << below(maker, 3);
  }
  if ((kinds & TINY_GUARDS) && below(maker, 2) == 0) {
    b->desc.guard = below(maker, 3);
  }
  for (uint64_t step = 0; step < TINY_STEPS; ++step) {
    bool is_live = b->desc.begin <= step && step < b->desc.end;
    b->low[step] = 0;
    b->high[step] = is_live ? b->desc.size + b->desc.guard : 0;
  }
  return true;
}

// Up to two windows, one in two a gap. The birth stays whole, so that some byte is occupied then.
static void draw_windows(problem_maker* maker, tiny_buffer* b) {
  uint64_t footprint = b->desc.size + b->desc.guard;
  uint64_t from = b->desc.begin + 1;
  while (b->window_count < TINY_WINDOW_COUNT && from < b->desc.end && below(maker, 3) != 0) {
    stow_window_desc* w = &b->windows[b->window_count++];
    stow_window_desc_init(w);
    w->begin = from + below(maker, b->desc.end - from);
    w->end = w->begin + 1 + below(maker, b->desc.end - w->begin);
    if (below(maker, 2) == 0) {
      w->low = below(maker, footprint);
      w->high = w->low + 1 + below(maker, footprint - w->low);
    }
    for (uint64_t step = w->begin; step < w->end; ++step) {
      b->low[step] = w->low;
      b->high[step] = w->high;
    }
    from = w->end;
  }
}

static bool collide(const tiny_buffer* a, const tiny_buffer* b) {
  uint64_t x = a->desc.fixed_offset;
  uint64_t y = b->desc.fixed_offset;
  for (int step = 0; step < TINY_STEPS; ++step) {
    bool both = a->low[step] < a->high[step] && b->low[step] < b->high[step];
    if (both && x + a->low[step] < y + b->high[step] && y + b->low[step] < x + a->high[step]) {
      return true;
    }
  }
  return false;
}

// Fixes the last of |count| buffers if that overlaps no other fixed one.
static void try_to_fix(problem_maker* maker, tiny_buffer* buffers, size_t count) {
  tiny_buffer* last = &buffers[count - 1];
  last->desc.fixed_offset = round_up(below(maker, 10), last->desc.alignment);
  for (size_t i = 0; i + 1 < count; ++i) {
    if (buffers[i].desc.fixed_offset != STOW_PLACE_ANYWHERE && collide(&buffers[i], last)) {
      last->desc.fixed_offset = STOW_PLACE_ANYWHERE;
      return;
    }
  }
}

static void add_tiny(problem_maker* maker, const tiny_buffer* b) {
  add_desc(maker, &b->desc);
  for (size_t i = 0; i < b->window_count; ++i) {
    const stow_window_desc* w = &b->windows[i];
    add_window(maker, w->begin, w->end, w->low, w->high);
  }
}

stow_problem* tiny_problem_make(uint64_t seed, unsigned kinds) {
  problem_maker maker = start(seed * TINY_KINDS + kinds);
  tiny_buffer buffers[TINY_FULL_BUFFERS];
  tiny_block block = {7 + below(&maker, 5), {0}};
  size_t count = kinds & TINY_FULL ? TINY_FULL_BUFFERS : 3 + below(&maker, TINY_BUFFERS - 2);
  for (size_t i = 0; i < count && draw_buffer(&maker, kinds, &block, &buffers[i]); ++i) {
    if ((kinds & TINY_WINDOWS) && below(&maker, 2) == 0) {
      draw_windows(&maker, &buffers[i]);
    }
    if ((kinds & TINY_FIXED) && below(&maker, 3) == 0) {
      try_to_fix(&maker, buffers, i + 1);
    }
    add_tiny(&maker, &buffers[i]);
  }
  return maker.problem;
}
