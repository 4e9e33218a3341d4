// Clusters: nodes that compute each row from the same row alone become one `blocks` node, so that
// values between them are only as large as a block of rows.
//
// A cluster grows from its last node backwards. A node joins if only the cluster reads its result
// and both can be computed over the same rows (space.h). Producers are tried in descending order,
// so that all readers of a value are known when its producer is; every beginning of the list is a
// cluster too, and the one that saves most is taken, if any saves (load.h). Only the last node's
// result is read outside, hence nothing outside lies between the nodes of a cluster.
//
// A product with weights is slower in small blocks, each of which reads all of them: products.c.
//
// The size of clusters is limited, and so is their span: O(nodes) altogether.
#include "rewrite/clusters.h"

#include <string.h>

#include "base/diag.h"
#include "rewrite/blocks.h"
#include "rewrite/load.h"
#include "rewrite/rewritten.h"
#include "rewrite/rules.h"
#include "rewrite/space.h"

#define MOST_NODES 32
#define MOST_USES 64
#define MOST_SPAN 1024
#define LARGE_UNIT 16384   // bytes of a row; rows should have less
#define LARGE_GROUP 65536  // bytes of a group; blocks have no more
// About what an executor needs for the smallest blocks: for two values or one product, and for each
// value of the function.
#define BLOCK_BYTES 2048
#define PRODUCT_BYTES 36864
#define FRAME_BYTES 144
#define FUSED UINT32_MAX

typedef struct cluster {
  stowi_rewrite_space space;
  size_t first;  // in the pass's list of nodes, ascending
  size_t count;
} cluster;

typedef struct finder {
  stowi_rewrite_pass* pass;
  const stow_graph* graph;
  stowi_rewrite_load* load;
  uint32_t* place;  // by node: 1 + its number in the cluster that grows; 0: none; FUSED
  // The cluster that grows, the last node first.
  stow_node nodes[MOST_NODES];
  stowi_rewrite_space spaces[MOST_NODES];  // with the nodes up to each
  size_t count;
  stow_node pending[MOST_USES];  // producers to try, ascending
  size_t pending_count;
  // What a trial reads from outside.
  stow_value operands[MOST_USES];
  stowi_rewrite_use uses[MOST_USES];
  size_t operand_count;
  STOWI_VEC(cluster) clusters;  // the last one first
} finder;

// ---------------------------------------------------------------------------------------------
// Nodes

static bool is_candidate(const finder* f, stow_node node) {
  return f->place[node] == 0 && stowi_rewrite_can_fuse(f->load, &f->pass->facts, f->graph, node);
}

// How often nodes of the cluster read |value|; SIZE_MAX if one reads more than the same row.
static size_t count_reads(const finder* f, stow_value value) {
  size_t reads = 0;
  for (size_t i = 0; i < f->count; ++i) {
    for (size_t k = 0; k < stow_graph_operand_count(f->graph, f->nodes[i]); ++k) {
      bool reads_it = stow_graph_operands(f->graph, f->nodes[i])[k] == value;
      if (reads_it && stowi_rewrite_use_of(f->graph, f->nodes[i], k) != STOWI_REWRITE_ALIGNED) {
        return SIZE_MAX;
      }
      reads += reads_it;
    }
  }
  return reads;
}

static bool can_join(const finder* f, stow_node node) {
  stow_value value = stow_graph_first_result(f->graph, node);
  return is_candidate(f, node) && f->nodes[0] - node < MOST_SPAN &&
         stow_graph_node_region(f->graph, node) == stow_graph_node_region(f->graph, f->nodes[0]) &&
         !stowi_bits_has(&f->pass->facts.fixed, value) &&
         !stowi_bits_has(&f->pass->facts.outputs, value) &&
         count_reads(f, value) == f->pass->facts.readers[value];
}

// ---------------------------------------------------------------------------------------------
// Growing

static void push(finder* f, stow_node node) {
  size_t at = f->pending_count;
  while (at > 0 && f->pending[at - 1] > node) {
    --at;
  }
  bool is_there = at > 0 && f->pending[at - 1] == node;
  if (!is_there && f->pending_count < MOST_USES) {
    memmove(f->pending + at + 1, f->pending + at, (f->pending_count - at) * sizeof(stow_node));
    f->pending[at] = node;
    ++f->pending_count;
  }
}

static void add(finder* f, stow_node node, const stowi_rewrite_space* space) {
  f->nodes[f->count] = node;
  f->spaces[f->count] = *space;
  f->place[node] = (uint32_t)++f->count;
  for (size_t k = 0; k < stow_graph_operand_count(f->graph, node); ++k) {
    stow_value operand = stow_graph_operands(f->graph, node)[k];
    if (operand != STOW_VALUE_NONE) {
      push(f, stow_graph_producer(f->graph, operand));
    }
  }
}

static void grow(finder* f, stow_node last) {
  stowi_rewrite_space space;
  f->count = f->pending_count = 0;
  if (!is_candidate(f, last) ||
      !stowi_rewrite_space_begin(&space, f->graph, f->pass->sized, last)) {
    return;
  }
  add(f, last, &space);
  while (f->pending_count > 0 && f->count < MOST_NODES) {
    stow_node node = f->pending[--f->pending_count];
    if (can_join(f, node) && stowi_rewrite_space_join(&space, f->graph, node)) {
      add(f, node, &space);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Trying the first nodes of a cluster

// False if there are too many.
static bool add_operand(finder* f, stow_value value, stowi_rewrite_use use) {
  for (size_t i = 0; i < f->operand_count; ++i) {
    if (f->operands[i] == value && f->uses[i] == use) {
      return true;
    }
  }
  if (f->operand_count == MOST_USES) {
    return false;
  }
  f->operands[f->operand_count] = value;
  f->uses[f->operand_count++] = use;
  return true;
}

static bool is_inside(const finder* f, stow_value value, size_t count) {
  uint32_t place = f->place[stow_graph_producer(f->graph, value)];
  return place != 0 && place <= count;
}

static bool find_operands(finder* f, size_t count) {
  bool fits = true;
  f->operand_count = 0;
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; fits && k < stow_graph_operand_count(f->graph, f->nodes[i]); ++k) {
      stow_value operand = stow_graph_operands(f->graph, f->nodes[i])[k];
      if (operand != STOW_VALUE_NONE && !is_inside(f, operand, count)) {
        fits = add_operand(f, operand, stowi_rewrite_use_of(f->graph, f->nodes[i], k));
      }
    }
  }
  return fits;
}

static uint64_t largest_unit(const finder* f, const stowi_rewrite_space* space, size_t count) {
  uint64_t largest = 0;
  for (size_t i = 0; i < count; ++i) {
    const stow_type* type =
        stow_graph_type(f->pass->sized, stow_graph_first_result(f->graph, f->nodes[i]));
    uint64_t bytes = stowi_rewrite_space_unit(space, type);
    largest = bytes > largest ? bytes : largest;
  }
  return largest;
}

static bool can_cut_all(const finder* f, const stowi_rewrite_space* space) {
  stowi_rewrite_part part;
  for (size_t i = 0; i < f->operand_count; ++i) {
    if (!stowi_rewrite_space_cut(space, stow_graph_type(f->graph, f->operands[i]), f->uses[i],
                                 &part)) {
      return false;
    }
  }
  return true;
}

// What is better is smaller: rows that are not large, then few groups, then small rows.
typedef struct choice {
  uint64_t excess, groups, unit;
} choice;

static bool is_better(const choice* a, const choice* b) {
  return a->excess != b->excess   ? a->excess < b->excess
         : a->groups != b->groups ? a->groups < b->groups
                                  : a->unit < b->unit;
}

// Samples of a batch, if they are large, are groups, although that is not needed: each can then be
// computed by itself (stowi_graph_takes_rows).
static bool is_sample(const stowi_rewrite_space* space, uint64_t unit) {
  return space->groups == 1 && space->dims[0] > 1 && !space->has_product &&
         stowi_rewrite_space_rows(space) * unit >= LARGE_GROUP;
}

// Divides dims into groups, rows and units. False if operands fit no way of doing that.
static bool choose_space(const finder* f, size_t count, stowi_rewrite_space* space) {
  stowi_rewrite_space trial = *space = f->spaces[count - 1];
  choice best = {UINT64_MAX, 0, 0};
  for (trial.units = trial.has_product ? trial.most : 1; trial.units <= trial.most; ++trial.units) {
    uint64_t unit = largest_unit(f, &trial, count);
    for (trial.groups = 0; trial.groups < trial.units; ++trial.groups) {
      choice now = {unit > LARGE_UNIT ? unit : 0,
                    is_sample(&trial, unit) ? 0 : stowi_rewrite_space_groups(&trial), unit};
      if (stowi_rewrite_space_rows(&trial) > 1 && is_better(&now, &best) &&
          can_cut_all(f, &trial)) {
        best = now;
        *space = trial;
      }
    }
  }
  return best.excess != UINT64_MAX;
}

static bool reads(const finder* f, stow_node node, stow_value value) {
  bool does = false;
  for (size_t k = 0; k < stow_graph_operand_count(f->graph, node); ++k) {
    does = does || stow_graph_operands(f->graph, node)[k] == value;
  }
  return does;
}

// Whether the result may be in place of operand |i|: the same row is read before it is written.
static bool may_take(const finder* f, const stowi_rewrite_space* space, size_t i) {
  const stow_type* result =
      stow_graph_type(f->graph, stow_graph_first_result(f->graph, f->nodes[0]));
  const stow_type* type = stow_graph_type(f->graph, f->operands[i]);
  stow_value root = f->load->lives.roots[f->operands[i]];
  stowi_rewrite_part part;
  return f->uses[i] == STOWI_REWRITE_ALIGNED && !stow_graph_is_boundary(f->graph, root) &&
         f->load->lives.ends[root] <= f->nodes[0] &&
         stow_dtype_bits(type->dtype) == stow_dtype_bits(result->dtype) &&
         stowi_rewrite_space_cut(space, type, f->uses[i], &part) && part.by_rows &&
         part.slices == stowi_rewrite_space_groups(space) &&
         memcmp(part.unit, result->dims + space->units, part.rank * sizeof(part.unit[0])) == 0 &&
         (stowi_graph_is_elementwise(f->graph, f->nodes[0]) ||
          !reads(f, f->nodes[0], f->operands[i]));
}

static stow_value operand_to_take(const finder* f, const stowi_rewrite_space* space) {
  for (size_t i = 0; i < f->operand_count; ++i) {
    if (may_take(f, space, i)) {
      return f->operands[i];
    }
  }
  return STOW_VALUE_NONE;
}

// A product alone, at the end, is computed as well where it is.
static bool has_scores(const finder* f, size_t count) {
  bool has = !f->spaces[count - 1].has_product;
  for (size_t i = 1; i < count; ++i) {
    has = has || stow_graph_op(f->graph, f->nodes[i]) == STOW_OP_MATMUL;
  }
  return has;
}

static uint64_t estimate_scratch(const finder* f, const stowi_rewrite_space* space, size_t count) {
  uint64_t row = largest_unit(f, space, count) * (space->has_product ? 1 : 2);
  uint64_t room = space->has_product ? PRODUCT_BYTES : BLOCK_BYTES;
  uint64_t rows = room / row < 1 ? 1 : room / row;
  uint64_t most = stowi_rewrite_space_rows(space);
  return row * (rows < most ? rows : most) + FRAME_BYTES * (count + f->operand_count);
}

static bool try_nodes(finder* f, size_t count, stowi_rewrite_space* out_space,
                      stowi_rewrite_fusion* out_fusion) {
  if (!has_scores(f, count) || !find_operands(f, count) || !choose_space(f, count, out_space)) {
    return false;
  }
  *out_fusion = (stowi_rewrite_fusion){.nodes = f->nodes,
                                       .count = count,
                                       .operands = f->operands,
                                       .operand_count = f->operand_count,
                                       .taken = operand_to_take(f, out_space),
                                       .scratch = estimate_scratch(f, out_space, count)};
  return true;
}

// ---------------------------------------------------------------------------------------------
// Finding

// Keeps the first |count| nodes as a cluster.
static stow_status keep(finder* f, size_t count) {
  stowi_rewrite_pass* pass = f->pass;
  cluster kept = {.first = pass->nodes.count, .count = count};
  stowi_rewrite_fusion fusion;
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(pass->allocator, &pass->nodes, count) == STOW_OK &&
                                 STOWI_VEC_RESERVE(pass->allocator, &f->clusters, 1) == STOW_OK,
                             pass->diag));
  (void)try_nodes(f, count, &kept.space, &fusion);
  stowi_rewrite_note(f->load, &fusion);
  for (size_t i = count; i-- > 0;) {
    pass->nodes.data[pass->nodes.count++] = f->nodes[i];
    f->place[f->nodes[i]] = FUSED;
  }
  f->clusters.data[f->clusters.count++] = kept;
  return STOW_OK;
}

// What is gained if the first |count| nodes become one; 0: they should not.
static uint64_t gain(finder* f, size_t count) {
  stowi_rewrite_space space;
  stowi_rewrite_fusion fusion;
  if (!try_nodes(f, count, &space, &fusion)) {
    return 0;
  }
  stowi_rewrite_effect effect = stowi_rewrite_try(f->load, &fusion);
  return effect.after <= effect.before && effect.sum < 0 ? (uint64_t)-effect.sum : 0;
}

static stow_status visit(finder* f, stow_node last) {
  uint64_t best = 0;
  size_t count = 0;
  grow(f, last);
  for (size_t i = 2; i <= f->count; ++i) {
    uint64_t now = gain(f, i);
    count = now > best ? i : count;
    best = now > best ? now : best;
  }
  STOW_TRY(count == 0 ? STOW_OK : keep(f, count));
  for (size_t i = count; i < f->count; ++i) {
    f->place[f->nodes[i]] = 0;
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Fusing

static stow_status fuse(stowi_rewrite_pass* pass, const cluster* c) {
  const stow_node* nodes = pass->nodes.data + c->first;
  for (size_t i = 0; i < c->count; ++i) {
    pass->is_dropped[nodes[i]] = true;
  }
  STOW_TRY(stowi_rewrite_blocks_at(pass, &c->space, c->first, c->count));
  return stowi_rewrite_fire(pass, nodes, c->count);
}

static stow_status find_all(finder* f) {
  uint32_t count = stow_graph_node_count(f->graph);
  f->place = STOWI_ARRAY_ZERO(f->pass->allocator, uint32_t, count);
  STOW_TRY(stowi_need_memory(f->place != NULL, f->pass->diag));
  for (stow_node node = count; node-- > 0;) {
    STOW_TRY(visit(f, node));
  }
  return STOW_OK;
}

static void free_finder(finder* f) {
  STOWI_ARRAY_FREE(f->pass->allocator, f->place, stow_graph_node_count(f->graph));
  STOWI_VEC_FREE(f->pass->allocator, &f->clusters);
}

stow_status stowi_rewrite_clusters(stowi_rewrite_pass* pass) {
  stowi_rewrite_load load;
  finder f = {.pass = pass, .graph = pass->graph, .load = &load};
  stow_status status = stowi_rewrite_load_init(&load, pass->sized, pass->allocator, pass->diag);
  if (status == STOW_OK) {
    status = find_all(&f);
  }
  for (size_t i = f.clusters.count; status == STOW_OK && i-- > 0;) {
    status = fuse(pass, &f.clusters.data[i]);
  }
  free_finder(&f);
  stowi_rewrite_load_free(&load);
  return status;
}

static stow_status name_homes(const finder* f, stowi_rewrite_homes* homes) {
  for (size_t i = 0; i < f->clusters.count; ++i) {
    const cluster* c = &f->clusters.data[i];
    STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(f->pass->allocator, &homes->counts, 1) == STOW_OK,
                               f->pass->diag));
    homes->counts.data[homes->counts.count++] = (uint32_t)c->count;
    for (size_t j = 0; j < c->count; ++j) {
      homes->of[f->pass->nodes.data[c->first + j]] = (uint32_t)homes->counts.count;
    }
  }
  return STOW_OK;
}

stow_status stowi_rewrite_note_clusters(stowi_rewrite_pass* pass, stowi_rewrite_load* load,
                                        stowi_rewrite_homes* homes) {
  finder f = {.pass = pass, .graph = pass->graph, .load = load};
  bool is_off = (pass->rewritten->options.off & stow_rewrite_bit(STOW_REWRITE_BLOCKS)) != 0;
  size_t nodes = pass->nodes.count;
  stow_status status = is_off ? STOW_OK : find_all(&f);
  if (status == STOW_OK && homes != NULL) {
    status = name_homes(&f, homes);
  }
  pass->nodes.count = nodes;
  free_finder(&f);
  return status;
}
