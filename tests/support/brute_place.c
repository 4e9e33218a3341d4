// Depth-first over every aligned offset of every buffer, on a bitmap of bytes for each step:
//     step 0   1 1 1 . . 2 2      a bit per byte; a buffer goes where none of the bits that it
//     step 1   . . 3 3 3 2 2      occupies at any step is set
// Nothing is tried if the bytes of a step exceed the capacity; buffers that share no step, not even
// through others, are placed independently; and a branch ends if some buffer has no place left. No
// other pruning: it must be obvious that nothing is missed.
#include "support/brute_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = BRUTE_MAX_HEIGHT / 64 };

typedef struct shape {
  uint64_t footprint;
  uint64_t alignment;
  uint64_t fixed;  // or STOW_PLACE_ANYWHERE
  uint64_t low[BRUTE_MAX_STEPS];
  uint64_t high[BRUTE_MAX_STEPS];
  uint32_t steps;  // a bit per step at which it occupies bytes
} shape;

typedef struct board {
  size_t count;
  shape shapes[BRUTE_MAX_BUFFERS];  // in the order in which they are tried
  uint64_t capacity;
  uint64_t used[BRUTE_MAX_STEPS][WORDS];
} board;

static void require(bool condition, const char* what) {
  if (!condition) {
    fprintf(stderr, "brute force: %s\n", what);
    exit(EXIT_FAILURE);
  }
}

// ---------------------------------------------------------------------------------------------
// Reading

static void set_steps(shape* s, uint64_t begin, uint64_t end, uint64_t low, uint64_t high) {
  require(end <= BRUTE_MAX_STEPS, "too many steps");
  for (uint64_t step = begin; step < end; ++step) {
    s->low[step] = low;
    s->high[step] = high;
  }
}

static shape read_shape(const stow_problem* problem, size_t buffer) {
  shape s;
  stow_buffer desc = {.struct_size = sizeof(desc)};
  memset(&s, 0, sizeof(s));
  stow_problem_describe_buffer(problem, buffer, &desc);
  s.footprint = desc.size + desc.guard;
  s.alignment = desc.alignment;
  s.fixed = desc.fixed_offset;
  set_steps(&s, desc.begin, desc.end, 0, s.footprint);
  for (size_t i = 0; i < stow_problem_window_count(problem, buffer); ++i) {
    stow_window_desc window = {.struct_size = sizeof(window)};
    stow_problem_describe_window(problem, buffer, i, &window);
    set_steps(&s, window.begin, window.end, window.low, window.high);
  }
  for (uint32_t step = 0; step < BRUTE_MAX_STEPS; ++step) {
    s.steps |= (s.low[step] < s.high[step] ? UINT32_C(1) : 0) << step;
  }
  return s;
}

static uint64_t weight(const shape* s) {
  uint64_t sum = s->fixed == STOW_PLACE_ANYWHERE ? 0 : UINT32_MAX;
  for (int step = 0; step < BRUTE_MAX_STEPS; ++step) {
    sum += s->high[step] - s->low[step];
  }
  return sum;
}

// Fixed ones first, then the largest.
static void insert(board* b, const shape* s) {
  size_t at = b->count++;
  for (; at > 0 && weight(&b->shapes[at - 1]) < weight(s); --at) {
    b->shapes[at] = b->shapes[at - 1];
  }
  b->shapes[at] = *s;
}

static void read_board(const stow_problem* problem, uint64_t members, board* out_board) {
  size_t count = stow_problem_count(problem);
  require(count <= BRUTE_MAX_BUFFERS, "too many buffers");
  out_board->count = 0;
  for (size_t i = 0; i < count; ++i) {
    if (members >> i & 1) {
      shape s = read_shape(problem, i);
      insert(out_board, &s);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Trying

// Bits [from, to) of word |word|.
static uint64_t bits(uint64_t from, uint64_t to, uint64_t word) {
  uint64_t low = from < word * 64 ? 0 : from - word * 64;
  uint64_t high = to < word * 64 ? 0 : to - word * 64;
  if (low >= 64 || high <= low) {
    return 0;
  }
  uint64_t below_high = high >= 64 ? UINT64_MAX : (UINT64_C(1) << high) - 1;
  return below_high & ~((UINT64_C(1) << low) - 1);
}

static bool is_free(const board* b, const shape* s, uint64_t at) {
  for (uint32_t step = 0; step < BRUTE_MAX_STEPS; ++step) {
    for (uint64_t w = 0; w < WORDS && (s->steps >> step & 1); ++w) {
      if (b->used[step][w] & bits(at + s->low[step], at + s->high[step], w)) {
        return false;
      }
    }
  }
  return true;
}

// Puts it down, or removes it again.
static void flip(board* b, const shape* s, uint64_t at) {
  for (uint32_t step = 0; step < BRUTE_MAX_STEPS; ++step) {
    for (uint64_t w = 0; w < WORDS && (s->steps >> step & 1); ++w) {
      b->used[step][w] ^= bits(at + s->low[step], at + s->high[step], w);
    }
  }
}

// The lowest offset from |from| on at which it fits; UINT64_MAX if there is none.
static uint64_t next_spot(const board* b, const shape* s, uint64_t from) {
  bool is_fixed = s->fixed != STOW_PLACE_ANYWHERE;
  uint64_t at = is_fixed ? s->fixed : from;
  for (; at >= from && at + s->footprint <= b->capacity; at += s->alignment) {
    if (is_free(b, s, at)) {
      return at;
    }
    if (is_fixed) {
      break;
    }
  }
  return UINT64_MAX;
}

static bool all_have_spots(const board* b, const size_t* order, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (next_spot(b, &b->shapes[order[i]], 0) == UINT64_MAX) {
      return false;
    }
  }
  return true;
}

static bool place_from(board* b, const size_t* order, size_t count) {
  if (count == 0) {
    return true;
  }
  const shape* s = &b->shapes[order[0]];
  bool fits = false;
  for (uint64_t at = 0; !fits; at += s->alignment) {
    at = next_spot(b, s, at);
    if (at == UINT64_MAX) {
      return false;
    }
    flip(b, s, at);
    fits = all_have_spots(b, order + 1, count - 1) && place_from(b, order + 1, count - 1);
    flip(b, s, at);
  }
  return true;
}

// The total at every step is within the capacity.
static bool sums_fit(const board* b) {
  for (int step = 0; step < BRUTE_MAX_STEPS; ++step) {
    uint64_t sum = 0;
    for (size_t i = 0; i < b->count; ++i) {
      sum += b->shapes[i].high[step] - b->shapes[i].low[step];
    }
    if (sum > b->capacity) {
      return false;
    }
  }
  return true;
}

// Takes from |left| its first buffer and all that share a step with it, directly or through others.
static size_t take_group(const board* b, uint64_t* left, size_t* out_order) {
  uint32_t steps = 0;
  uint64_t group = *left & (~*left + 1);
  for (uint64_t before = 0; group != before;) {
    before = group;
    for (size_t i = 0; i < b->count; ++i) {
      if ((group >> i & 1) || ((*left >> i & 1) && (b->shapes[i].steps & steps))) {
        group |= UINT64_C(1) << i;
        steps |= b->shapes[i].steps;
      }
    }
  }
  *left &= ~group;
  size_t count = 0;
  for (size_t i = 0; i < b->count; ++i) {
    if (group >> i & 1) {
      out_order[count++] = i;
    }
  }
  return count;
}

static bool fits(board* b, uint64_t capacity) {
  require(capacity <= BRUTE_MAX_HEIGHT, "too high");
  b->capacity = capacity;
  if (!sums_fit(b)) {
    return false;
  }
  for (uint64_t left = (UINT64_C(1) << b->count) - 1; left != 0;) {
    size_t order[BRUTE_MAX_BUFFERS];
    size_t count = take_group(b, &left, order);
    memset(b->used, 0, sizeof(b->used));
    if (!place_from(b, order, count)) {
      return false;
    }
  }
  return true;
}

bool brute_fits(const stow_problem* problem, uint64_t members, uint64_t capacity) {
  board b;
  read_board(problem, members, &b);
  return fits(&b, capacity);
}

uint64_t brute_height(const stow_problem* problem) {
  board b;
  read_board(problem, BRUTE_ALL, &b);
  uint64_t height = 0;
  while (!fits(&b, height)) {
    ++height;
  }
  return height;
}
