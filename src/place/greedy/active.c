// A treap of pieces, ordered by address. Each node stores the addresses that its subtree spans and
// the widest gap between two of its neighbours, so that a search for room skips whole subtrees that
// have none. Priorities are a hash of the piece's number: balanced with high probability, and the
// same on every machine. Nodes are the pieces themselves: one allocation.
#include "place/greedy/active.h"

#include "base/alloc.h"
#include "base/hash.h"

#define NONE UINT32_MAX

typedef struct node {
  uint64_t low;
  uint64_t high;
  uint64_t first;   // lowest address of the subtree
  uint64_t last;    // where its highest piece ends
  uint64_t widest;  // gap between two neighbours in the subtree
  uint32_t left;
  uint32_t right;
  uint32_t priority;
} node;

struct stowi_place_active {
  stow_allocator allocator;
  size_t count;
  uint32_t root;
  node nodes[];
};

static size_t bytes_for(size_t count) { return sizeof(stowi_place_active) + count * sizeof(node); }

stow_status stowi_place_active_create(size_t count, stow_allocator allocator,
                                      stowi_place_active** out_active) {
  *out_active = NULL;
  if (count > (SIZE_MAX - sizeof(stowi_place_active)) / sizeof(node)) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  stowi_place_active* active = (stowi_place_active*)stowi_alloc(allocator, bytes_for(count), 1);
  if (active == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  active->allocator = allocator;
  active->count = count;
  active->root = NONE;
  *out_active = active;
  return STOW_OK;
}

void stowi_place_active_destroy(stowi_place_active* active) {
  if (active != NULL) {
    stowi_free(active->allocator, active, bytes_for(active->count), 1);
  }
}

void stowi_place_active_clear(stowi_place_active* active) { active->root = NONE; }

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Rounded-up ends may exceed the next piece's start: no gap then.
static uint64_t gap_between(uint64_t end, uint64_t start) { return start > end ? start - end : 0; }

static void update(stowi_place_active* active, uint32_t at) {
  node* n = &active->nodes[at];
  n->first = n->low;
  n->last = n->high;
  n->widest = 0;
  if (n->left != NONE) {
    const node* left = &active->nodes[n->left];
    n->first = left->first;
    n->widest = larger(left->widest, gap_between(left->last, n->low));
    n->last = larger(left->last, n->high);
  }
  if (n->right != NONE) {
    const node* right = &active->nodes[n->right];
    n->widest = larger(n->widest, larger(right->widest, gap_between(n->last, right->first)));
    n->last = larger(n->last, right->last);
  }
}

// Splits the tree at |at| by address: pieces below |address| go left. The depth is that of the
// treap, O(log n).
static void split(stowi_place_active* active, uint32_t at, uint64_t address, uint32_t* out_left,
                  uint32_t* out_right) {
  if (at == NONE) {
    *out_left = NONE;
    *out_right = NONE;
    return;
  }
  node* n = &active->nodes[at];
  if (n->low < address) {
    split(active, n->right, address, &n->right, out_right);
    *out_left = at;
  } else {
    split(active, n->left, address, out_left, &n->left);
    *out_right = at;
  }
  update(active, at);
}

static uint32_t join(stowi_place_active* active, uint32_t left, uint32_t right) {
  if (left == NONE || right == NONE) {
    return left == NONE ? right : left;
  }
  if (active->nodes[left].priority > active->nodes[right].priority) {
    active->nodes[left].right = join(active, active->nodes[left].right, right);
    update(active, left);
    return left;
  }
  active->nodes[right].left = join(active, left, active->nodes[right].left);
  update(active, right);
  return right;
}

void stowi_place_active_insert(stowi_place_active* active, uint32_t id, uint64_t low,
                               uint64_t high) {
  node* n = &active->nodes[id];
  *n = (node){.low = low, .high = high, .left = NONE, .right = NONE};
  n->priority = (uint32_t)stowi_hash_u64(STOWI_HASH_SEED, id);
  update(active, id);
  uint32_t left;
  uint32_t right;
  split(active, active->root, low, &left, &right);
  active->root = join(active, join(active, left, id), right);
}

void stowi_place_active_remove(stowi_place_active* active, uint32_t id) {
  uint64_t low = active->nodes[id].low;
  uint32_t left;
  uint32_t middle;
  uint32_t right;
  split(active, active->root, low, &left, &right);
  split(active, right, low + 1, &middle, &right);
  active->root = join(active, left, right);
}

// A search for room: where the free range below the next piece begins.
typedef struct search {
  const stowi_place_active* active;
  uint64_t size;
  uint64_t mask;  // alignment - 1
  uint64_t floor;
} search;

static uint64_t aligned_floor(const search* s) { return (s->floor + s->mask) & ~s->mask; }

// Passes the pieces of the subtree, lowest first, until there is room below one of them. False if
// there is none.
static bool find_room(search* s, uint32_t at) {
  while (at != NONE) {
    const node* n = &s->active->nodes[at];
    if (n->last <= s->floor) {
      return false;
    }
    // No gap inside is wide enough, nor is the one below it: skip all of it at once.
    if (n->widest < s->size && n->first < aligned_floor(s) + s->size) {
      s->floor = n->last;
      return false;
    }
    if (find_room(s, n->left)) {
      return true;
    }
    if (n->low >= aligned_floor(s) + s->size) {
      return true;
    }
    s->floor = larger(s->floor, n->high);
    at = n->right;
  }
  return false;
}

uint64_t stowi_place_active_find(const stowi_place_active* active, uint64_t size,
                                 uint64_t alignment, uint64_t from) {
  search s = {active, size, alignment - 1, from};
  find_room(&s, active->root);
  return aligned_floor(&s);
}
