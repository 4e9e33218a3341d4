// Gap sets are B+ trees: records in leaves of up to 16, and above them branches that store, for all
// records below, the width of the widest gap, the latest begin and the earliest end of the pieces.
// That lets a search skip whole subtrees:
//
// A gap alone is useful if it is wide enough. A gap together with pieces that are not live at the
// requested time is useful nearly always: buffers are placed largest first, so room left by a piece
// is room enough for what comes later. So a search stops at the first record whose gap is wide
// enough or whose piece is not live, and in all but odd cases (guards, alignments) that is where it
// ends.
//
// Most sets stay tiny (a chain of ops has two or three records per set), so a lone leaf starts with
// room for 2 records and moves to larger pages as it grows.
#include "place/greedy/gaps.h"

#include <string.h>

#include "base/alloc.h"
#include "place/together.h"

#define FANOUT 16
#define CHUNK_WORDS ((size_t)1 << 13)
#define MAX_CHUNKS ((size_t)1 << 19)  // numbers of pages have 32 bits
#define ALWAYS UINT32_MAX
#define NO_PAGE UINT32_MAX

typedef struct record {
  uint64_t low;  // the gap
  uint64_t high;
  uint32_t begin;  // of the piece above it
  uint32_t end;
} record;

// What a search needs to know about the records of a subtree.
typedef struct digest {
  uint64_t widest;
  uint32_t first_begin;
  uint32_t last_begin;
  uint32_t first_end;
  uint32_t last_end;
} digest;

typedef struct branch {
  uint64_t low;  // where the subtree starts
  uint32_t page;
  digest below;
} branch;

typedef struct page_head {
  uint16_t count;
  uint8_t level;  // 0: a leaf
  uint8_t size_class;
  uint32_t next_free;
} page_head;

typedef struct leaf {
  page_head head;
  record records[];
} leaf;

// Branches by column: a search reads the starts of many and the rest of few.
typedef struct inner {
  page_head head;
  uint64_t lows[FANOUT];
  uint32_t pages[FANOUT];
  digest below[FANOUT];
} inner;

typedef stowi_place_gap_finger cursor;

// ---------------------------------------------------------------------------------------------
// Pages

// Records that a leaf of each class holds; the last class is for inner pages.
static const uint16_t class_capacity[STOWI_PLACE_GAP_CLASSES] = {2, 4, 8, FANOUT, FANOUT};
#define FULL_LEAF_CLASS 3
#define INNER_CLASS 4

static size_t class_words(unsigned size_class) {
  size_t leaf_size = sizeof(leaf) + class_capacity[size_class] * sizeof(record);
  return (size_class == INNER_CLASS ? sizeof(inner) : leaf_size) / sizeof(uint64_t);
}

static page_head* page_at(const stowi_place_gap_pool* pool, uint32_t page) {
  return (page_head*)(void*)&pool->chunks[page / CHUNK_WORDS][page % CHUNK_WORDS];
}

static leaf* leaf_at(const stowi_place_gap_pool* pool, uint32_t page) {
  return (leaf*)page_at(pool, page);
}

static inner* inner_at(const stowi_place_gap_pool* pool, uint32_t page) {
  return (inner*)page_at(pool, page);
}

void stowi_place_gap_pool_init(stowi_place_gap_pool* pool, stow_allocator allocator) {
  memset(pool, 0, sizeof(*pool));
  pool->allocator = allocator;
  pool->used = CHUNK_WORDS;
  for (size_t i = 0; i < STOWI_PLACE_GAP_CLASSES; ++i) {
    pool->free_pages[i] = NO_PAGE;
  }
}

void stowi_place_gap_pool_free(stowi_place_gap_pool* pool) {
  for (size_t i = 0; i < pool->chunk_count; ++i) {
    STOWI_ARRAY_FREE(pool->allocator, pool->chunks[i], CHUNK_WORDS);
  }
  stowi_free(pool->allocator, pool->chunks, pool->chunk_capacity, sizeof(*pool->chunks));
}

static stow_status add_chunk(stowi_place_gap_pool* pool) {
  if (pool->chunk_count == MAX_CHUNKS) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  if (stowi_vec_reserve(pool->allocator, (void**)&pool->chunks, pool->chunk_count,
                        &pool->chunk_capacity, sizeof(*pool->chunks), 1) != STOW_OK) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  uint64_t* chunk = STOWI_ARRAY(pool->allocator, uint64_t, CHUNK_WORDS);
  if (chunk == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  pool->chunks[pool->chunk_count++] = chunk;
  pool->used = 0;
  return STOW_OK;
}

// NO_PAGE if out of memory.
static uint32_t new_page(stowi_place_gap_pool* pool, unsigned size_class, unsigned level) {
  uint32_t page = pool->free_pages[size_class];
  if (page != NO_PAGE) {
    pool->free_pages[size_class] = page_at(pool, page)->next_free;
  } else {
    size_t words = class_words(size_class);
    if (CHUNK_WORDS - pool->used < words && add_chunk(pool) != STOW_OK) {
      return NO_PAGE;
    }
    page = (uint32_t)((pool->chunk_count - 1) * CHUNK_WORDS + pool->used);
    pool->used += words;
  }
  page_head head = {0, (uint8_t)level, (uint8_t)size_class, NO_PAGE};
  *page_at(pool, page) = head;
  return page;
}

static void free_page(stowi_place_gap_pool* pool, uint32_t page) {
  page_head* head = page_at(pool, page);
  head->next_free = pool->free_pages[head->size_class];
  pool->free_pages[head->size_class] = page;
}

// ---------------------------------------------------------------------------------------------
// Digests

static const digest no_digest = {0, UINT32_MAX, 0, UINT32_MAX, 0};

static void digest_add(digest* into, uint64_t widest, uint32_t first_begin, uint32_t last_begin,
                       uint32_t first_end, uint32_t last_end) {
  into->widest = widest > into->widest ? widest : into->widest;
  into->first_begin = first_begin < into->first_begin ? first_begin : into->first_begin;
  into->last_begin = last_begin > into->last_begin ? last_begin : into->last_begin;
  into->first_end = first_end < into->first_end ? first_end : into->first_end;
  into->last_end = last_end > into->last_end ? last_end : into->last_end;
}

static digest digest_of(const stowi_place_gap_pool* pool, uint32_t page) {
  digest sum = no_digest;
  const page_head* head = page_at(pool, page);
  if (head->level == 0) {
    const record* records = leaf_at(pool, page)->records;
    for (size_t i = 0; i < head->count; ++i) {
      const record* r = &records[i];
      digest_add(&sum, r->high - r->low, r->begin, r->begin, r->end, r->end);
    }
    return sum;
  }
  const digest* below = inner_at(pool, page)->below;
  for (size_t i = 0; i < head->count; ++i) {
    const digest* d = &below[i];
    digest_add(&sum, d->widest, d->first_begin, d->last_begin, d->first_end, d->last_end);
  }
  return sum;
}

// Updates the digests on the way up after a change in the cursor's leaf: a gap of |old_width|
// became narrower, or several of which that was the widest; a piece [begin, end) was added. Most
// gaps are not the widest of their leaf, so most changes read no page but the branches.
static void update_above(const stowi_place_gap_pool* pool, const cursor* c, uint64_t old_width,
                         uint32_t begin, uint32_t end) {
  bool is_widest = true;
  for (uint32_t level = 0; level < c->top; ++level) {
    digest* d = &inner_at(pool, c->pages[level + 1])->below[c->slots[level + 1]];
    is_widest = is_widest && old_width >= d->widest;
    if (is_widest) {
      d->widest = digest_of(pool, c->pages[level]).widest;
    }
    digest_add(d, 0, begin, begin, end, end);
  }
}

// ---------------------------------------------------------------------------------------------
// Moving about

// The last branch that starts at or below |at|.
static uint32_t branch_for(const inner* page, uint64_t at) {
  uint32_t slot = 0;
  for (uint32_t i = 1; i < page->head.count; ++i) {
    slot += page->lows[i] <= at ? 1 : 0;
  }
  return slot;
}

static void descend(const stowi_place_gap_pool* pool, stowi_place_gaps set, uint64_t at,
                    cursor* c) {
  uint32_t page = set;
  const page_head* head = page_at(pool, page);
  c->top = head->level;
  for (uint32_t level = c->top; level > 0; --level) {
    const inner* in = inner_at(pool, page);
    c->pages[level] = page;
    c->slots[level] = branch_for(in, at);
    page = in->pages[c->slots[level]];
  }
  c->pages[0] = page;
  c->slots[0] = 0;
}

// Which subtrees a search must enter.
typedef bool (*wanted)(const digest* below, const stowi_place_need* need);

static stowi_place_life life_of(const stowi_place_need* need) {
  return (stowi_place_life){need->begin, need->end};
}

// Lives are intervals: what is together with [last begin, first end), even where that ends before
// it begins, is together with all of them; what is not with [first begin, last end) is with none.
static bool may_fit(const digest* below, const stowi_place_need* need) {
  return below->widest >= need->size ||
         !stowi_place_together((stowi_place_life){below->last_begin, below->first_end},
                               life_of(need));
}

static bool may_block(const digest* below, const stowi_place_need* need) {
  return stowi_place_together((stowi_place_life){below->first_begin, below->last_end},
                              life_of(need));
}

static bool holds_any(const digest* below, const stowi_place_need* need) {
  (void)need;
  return below->first_begin != UINT32_MAX;
}

// Moves to the first record of the next wanted leaf; false if there is none.
static bool next_leaf(const stowi_place_gap_pool* pool, cursor* c, wanted want,
                      const stowi_place_need* need) {
  uint32_t level = 1;
  while (level <= c->top) {
    const inner* in = inner_at(pool, c->pages[level]);
    uint32_t slot = c->slots[level] + 1;
    while (slot < in->head.count && !want(&in->below[slot], need)) {
      ++slot;
    }
    if (slot == in->head.count) {
      ++level;
      continue;
    }
    c->slots[level] = slot;
    c->pages[--level] = in->pages[slot];
    if (level == 0) {
      c->slots[0] = 0;
      return true;
    }
    c->slots[level] = UINT32_MAX;  // the slot before the first
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Adding a record

static void insert_branch(inner* page, uint32_t slot, const branch* value) {
  size_t above = page->head.count - slot;
  memmove(&page->lows[slot + 1], &page->lows[slot], above * sizeof(page->lows[0]));
  memmove(&page->pages[slot + 1], &page->pages[slot], above * sizeof(page->pages[0]));
  memmove(&page->below[slot + 1], &page->below[slot], above * sizeof(page->below[0]));
  page->lows[slot] = value->low;
  page->pages[slot] = value->page;
  page->below[slot] = value->below;
  ++page->head.count;
}

static void insert_record(leaf* page, uint32_t slot, const record* value) {
  memmove(&page->records[slot + 1], &page->records[slot],
          (page->head.count - slot) * sizeof(record));
  page->records[slot] = *value;
  ++page->head.count;
}

static stow_status grow_leaf(stowi_place_gap_pool* pool, stowi_place_gaps* set, cursor* c) {
  const leaf* old = leaf_at(pool, *set);
  uint32_t page = new_page(pool, old->head.size_class + 1u, 0);
  if (page == NO_PAGE) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  old = leaf_at(pool, *set);
  leaf* grown = leaf_at(pool, page);
  memcpy(grown->records, old->records, old->head.count * sizeof(record));
  grown->head.count = old->head.count;
  free_page(pool, *set);
  *set = c->pages[0] = page;
  return STOW_OK;
}

// Where to split a full page. At the upper end of a set, where stacks grow, the old page stays
// full.
static uint32_t cut_of(const stowi_place_gap_pool* pool, const cursor* c, uint32_t level) {
  for (uint32_t above = level; above <= c->top; ++above) {
    if (c->slots[above] + 1 < page_at(pool, c->pages[above])->count) {
      return FANOUT / 2;
    }
  }
  return FANOUT - 1;
}

static stow_status add_root(stowi_place_gap_pool* pool, stowi_place_gaps* set, cursor* c) {
  uint32_t root = new_page(pool, INNER_CLASS, c->top + 1);
  if (root == NO_PAGE) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  branch only = {0, *set, no_digest};
  insert_branch(inner_at(pool, root), 0, &only);
  *set = root;
  ++c->top;
  c->pages[c->top] = root;
  c->slots[c->top] = 0;
  return STOW_OK;
}

// Halves the cursor's page of |level|, which is full, and leaves the cursor at the same slot.
static stow_status split(stowi_place_gap_pool* pool, stowi_place_gaps* set, cursor* c,
                         uint32_t level);

static stow_status hang_in(stowi_place_gap_pool* pool, stowi_place_gaps* set, cursor* c,
                           uint32_t level, const branch* value) {
  if (level > c->top) {
    if (add_root(pool, set, c) != STOW_OK) {
      return STOW_ERR_OUT_OF_MEMORY;
    }
  } else if (page_at(pool, c->pages[level])->count == FANOUT &&
             split(pool, set, c, level) != STOW_OK) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  insert_branch(inner_at(pool, c->pages[level]), c->slots[level] + 1, value);
  return STOW_OK;
}

static stow_status split(stowi_place_gap_pool* pool, stowi_place_gaps* set, cursor* c,
                         uint32_t level) {
  uint32_t from = c->pages[level];
  uint32_t cut = cut_of(pool, c, level);
  uint32_t to = new_page(pool, level == 0 ? FULL_LEAF_CLASS : INNER_CLASS, level);
  if (to == NO_PAGE) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  branch value = {0, to, no_digest};
  if (level == 0) {
    memcpy(leaf_at(pool, to)->records, &leaf_at(pool, from)->records[cut],
           (FANOUT - cut) * sizeof(record));
    value.low = leaf_at(pool, to)->records[0].low;
  } else {
    const inner* lower = inner_at(pool, from);
    inner* upper = inner_at(pool, to);
    memcpy(upper->lows, &lower->lows[cut], (FANOUT - cut) * sizeof(lower->lows[0]));
    memcpy(upper->pages, &lower->pages[cut], (FANOUT - cut) * sizeof(lower->pages[0]));
    memcpy(upper->below, &lower->below[cut], (FANOUT - cut) * sizeof(lower->below[0]));
    value.low = upper->lows[0];
  }
  page_at(pool, from)->count = (uint16_t)cut;
  page_at(pool, to)->count = (uint16_t)(FANOUT - cut);
  value.below = digest_of(pool, to);
  if (hang_in(pool, set, c, level + 1, &value) != STOW_OK) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  // The half without the cursor is done; its digest must be correct before the cursor leaves it.
  inner* parent = inner_at(pool, c->pages[level + 1]);
  parent->below[c->slots[level + 1]] = digest_of(pool, from);
  if (c->slots[level] >= cut) {
    c->pages[level] = to;
    c->slots[level] -= cut;
    ++c->slots[level + 1];
  }
  return STOW_OK;
}

// Makes room for one more record in the cursor's leaf.
static stow_status make_room(stowi_place_gap_pool* pool, stowi_place_gaps* set, cursor* c) {
  const page_head* head = page_at(pool, c->pages[0]);
  if (head->count < class_capacity[head->size_class]) {
    return STOW_OK;
  }
  return head->size_class == FULL_LEAF_CLASS ? split(pool, set, c, 0) : grow_leaf(pool, set, c);
}

// Splits the cursor's gap around [low, high), a piece that is live over [begin, end).
static stow_status cut_gap(stowi_place_gap_pool* pool, stowi_place_gaps* set, cursor* c,
                           uint64_t low, uint64_t high, uint32_t begin, uint32_t end) {
  if (make_room(pool, set, c) != STOW_OK) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  leaf* page = leaf_at(pool, c->pages[0]);
  record* lower = &page->records[c->slots[0]];
  uint64_t old_width = lower->high - lower->low;
  record upper = {high, lower->high, lower->begin, lower->end};
  lower->high = low;
  lower->begin = begin;
  lower->end = end;
  insert_record(page, c->slots[0] + 1, &upper);
  update_above(pool, c, old_width, begin, end);
  return STOW_OK;
}

static stow_status ensure_root(stowi_place_gap_pool* pool, stowi_place_gaps* set) {
  if (*set != STOWI_PLACE_GAPS_EMPTY) {
    return STOW_OK;
  }
  uint32_t page = new_page(pool, 0, 0);
  if (page == NO_PAGE) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  record endless = {0, UINT64_MAX, 0, ALWAYS};
  insert_record(leaf_at(pool, page), 0, &endless);
  *set = page;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Stacks

// The last record of the leaf whose gap starts at or below |at|; 0 if all start above.
static uint32_t record_for(const leaf* page, uint64_t at) {
  uint32_t slot = 0;
  for (uint32_t i = 1; i < page->head.count; ++i) {
    slot += page->records[i].low <= at ? 1 : 0;
  }
  return slot;
}

// Extends a neighbour with the same lifetime over [low, high); false if there is none in this leaf.
// The first record of a leaf keeps its start, which the branch above has copied.
static bool grow_neighbour(leaf* page, uint32_t slot, uint64_t low, uint64_t high, uint32_t begin,
                           uint32_t end) {
  record* at = &page->records[slot];
  if (slot > 0 && low == at->low && at[-1].begin == begin && at[-1].end == end) {
    at->low = high;
    return true;
  }
  if (high == at->high && at->begin == begin && at->end == end) {
    at->high = low;
    return true;
  }
  return false;
}

stow_status stowi_place_gaps_stack(stowi_place_gap_pool* pool, stowi_place_gaps* set, uint64_t low,
                                   uint64_t high, uint32_t begin, uint32_t end) {
  if (ensure_root(pool, set) != STOW_OK) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  cursor c;
  descend(pool, *set, low, &c);
  leaf* page = leaf_at(pool, c.pages[0]);
  c.slots[0] = record_for(page, low);
  const record* at = &page->records[c.slots[0]];
  uint64_t old_width = at->high - at->low;
  if (grow_neighbour(page, c.slots[0], low, high, begin, end)) {
    update_above(pool, &c, old_width, begin, end);
    return STOW_OK;
  }
  return cut_gap(pool, set, &c, low, high, begin, end);
}

// ---------------------------------------------------------------------------------------------
// Shadows

static void remove_record(leaf* page, uint32_t slot) {
  --page->head.count;
  memmove(&page->records[slot], &page->records[slot + 1],
          (page->head.count - slot) * sizeof(record));
}

// What [low, high) leaves of a gap: the part below it or the part above, never both; false if
// neither has |least| bytes.
static bool shade_record(record* r, uint64_t low, uint64_t high, uint64_t least) {
  if (r->low < low && low - r->low >= least) {
    r->high = low;
    return true;
  }
  if (r->high > high && r->high - high >= least) {
    r->low = high;
    return true;
  }
  return false;
}

// Shades the leaf from |slot| on. Returns the width of the widest gap that it changed. |done|
// becomes true if a gap reaches up to |high|.
static uint64_t shade_leaf(leaf* page, uint32_t slot, uint64_t low, uint64_t high, uint64_t least,
                           bool* done) {
  uint64_t widest = 0;
  while (slot < page->head.count && !*done) {
    record* r = &page->records[slot];
    *done = r->high >= high;
    if (r->low >= high || r->high <= low) {
      ++slot;
      continue;
    }
    widest = r->high - r->low > widest ? r->high - r->low : widest;
    if (shade_record(r, low, high, least)) {
      ++slot;
    } else {
      remove_record(page, slot);
    }
  }
  return widest;
}

stow_status stowi_place_gaps_shade(stowi_place_gap_pool* pool, stowi_place_gaps* set, uint64_t low,
                                   uint64_t high, uint64_t least) {
  if (ensure_root(pool, set) != STOW_OK) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  cursor c;
  descend(pool, *set, low, &c);
  leaf* page = leaf_at(pool, c.pages[0]);
  if (page->head.count > 0) {
    c.slots[0] = record_for(page, low);
    const record* at = &page->records[c.slots[0]];
    if (at->low < low && high < at->high && low - at->low >= least && at->high - high >= least) {
      return cut_gap(pool, set, &c, low, high, 0, ALWAYS);
    }
  }
  bool done = false;
  do {
    page = leaf_at(pool, c.pages[0]);
    uint64_t old_width = shade_leaf(page, c.slots[0], low, high, least, &done);
    if (old_width > 0) {
      update_above(pool, &c, old_width, 0, ALWAYS);
    }
  } while (!done && next_leaf(pool, &c, holds_any, NULL));
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Searching

static bool is_live(const record* r, const stowi_place_need* need) {
  return stowi_place_together((stowi_place_life){r->begin, r->end}, life_of(need));
}

static uint64_t align_up(uint64_t at, uint64_t alignment) {
  return (at + (alignment - 1)) & ~(alignment - 1);
}

// Whether |need| fits into the free room that starts at |from|, in the gap of the cursor's record,
// and continues through pieces that are not live. If not, the cursor is at the record whose piece
// ends the room.
static bool fits_at(const stowi_place_gap_pool* pool, cursor* c, const stowi_place_need* need,
                    uint64_t from, uint64_t* out_end) {
  const leaf* page = leaf_at(pool, c->pages[0]);
  uint64_t needed = from + need->size;
  while (true) {
    const record* r = &page->records[c->slots[0]];
    if (r->high >= needed) {
      *out_end = r->high;
      return true;
    }
    if (is_live(r, need)) {
      return false;
    }
    if (++c->slots[0] == page->head.count) {
      next_leaf(pool, c, holds_any, NULL);
      page = leaf_at(pool, c->pages[0]);
    }
  }
}

// Advances to the next record that may start a fit: its gap is wide enough, or its piece is not
// live.
static const record* next_start(const stowi_place_gap_pool* pool, cursor* c,
                                const stowi_place_need* need) {
  ++c->slots[0];
  while (true) {
    const leaf* page = leaf_at(pool, c->pages[0]);
    for (; c->slots[0] < page->head.count; ++c->slots[0]) {
      const record* r = &page->records[c->slots[0]];
      if (r->high - r->low >= need->size || !is_live(r, need)) {
        return r;
      }
    }
    next_leaf(pool, c, may_fit, need);  // the endless gap ends every search
  }
}

// Moves the finger to the record where room at or above |from| may start, and returns that start.
static uint64_t seek_afresh(const stowi_place_gap_pool* pool, cursor* c,
                            const stowi_place_need* need, uint64_t from) {
  descend(pool, c->set, from, c);
  if (c->top > 0 && !may_fit(&inner_at(pool, c->pages[1])->below[c->slots[1]], need)) {
    next_leaf(pool, c, may_fit, need);
    c->slots[0] = UINT32_MAX;  // the slot before the first
    return next_start(pool, c, need)->low;
  }
  const leaf* page = leaf_at(pool, c->pages[0]);
  c->slots[0] = record_for(page, from);
  const record* r = &page->records[c->slots[0]];
  if (r->high < from && is_live(r, need)) {
    return next_start(pool, c, need)->low;
  }
  return r->low > from ? r->low : from;
}

// The same, starting from where the last search ended: everything is free from there up to the end
// of the current gap.
static uint64_t seek(const stowi_place_gap_pool* pool, cursor* c, const stowi_place_need* need,
                     uint64_t from) {
  if (c->top == UINT32_MAX) {
    return seek_afresh(pool, c, need, from);
  }
  const leaf* page = leaf_at(pool, c->pages[0]);
  const record* r = &page->records[c->slots[0]];
  const record* last = &page->records[page->head.count - 1];
  if (from <= r->high) {
    return from;
  }
  if (last->low <= from && last->high != UINT64_MAX) {
    return seek_afresh(pool, c, need, from);
  }
  while (r < last && r[1].low <= from) {
    ++r;
  }
  c->slots[0] = (uint32_t)(r - page->records);
  return r->high < from && is_live(r, need) ? next_start(pool, c, need)->low : from;
}

uint64_t stowi_place_gaps_find(const stowi_place_gap_pool* pool, stowi_place_gap_finger* finger,
                               const stowi_place_need* need, uint64_t from, uint64_t* out_end) {
  uint64_t at = align_up(seek(pool, finger, need, from), need->alignment);
  while (!fits_at(pool, finger, need, at, out_end)) {
    at = align_up(next_start(pool, finger, need)->low, need->alignment);
  }
  return at;
}

uint64_t stowi_place_gaps_end(const stowi_place_gap_pool* pool, stowi_place_gaps set,
                              const stowi_place_need* need, uint64_t at) {
  cursor c;
  descend(pool, set, at, &c);
  const leaf* page = leaf_at(pool, c.pages[0]);
  c.slots[0] = page->head.count == 0 ? 0 : record_for(page, at);
  do {
    page = leaf_at(pool, c.pages[0]);
    for (; c.slots[0] < page->head.count; ++c.slots[0]) {
      const record* r = &page->records[c.slots[0]];
      if (r->high > at && is_live(r, need)) {
        return r->high;
      }
    }
  } while (next_leaf(pool, &c, may_block, need));
  return UINT64_MAX;
}
