// Rewriting graphs: other nodes that give the same outputs in less memory: bit for bit, unless a
// rule is *near*.
//
//     graph ─ stow_rewrite ─▶ rewritten ─ stow_rewritten_graph ─▶ prepare, plan, run
//                                 └ stow_rewritten_fold_graph ─▶ weights, computed once
//
// A rule is a pass over the graph. Rules run in the order of their table; each can be switched off.
// What they leave alone: inputs, and names, order and types of outputs; nodes with `with` clauses,
// nodes that own regions, ops that the core does not define, random ops, ops that write into an
// operand. Random nodes keep their numbers.
//
// *Folding* moves nodes that depend on weights alone into a second graph, the fold graph. What
// other nodes read of their results becomes a param, `folded`, without data. It is decided by sizes
// alone, so that a plan needs no numbers; who runs the graph computes the fold graph first
// (stow_folded_create in exec.h).
//
//     #include <stowage/rewrite.h>
//
//     // The value of the rewritten graph that has the elements of |value|.
//     stow_status rewrite(const stow_graph* graph, stow_value value, stow_diag* diag,
//                         stow_rewritten** out_rewritten, stow_value* out_value) {
//       stow_rewrite_options options;
//       stow_rewrite_options_init(&options);
//       options.off |= stow_rewrite_bit(STOW_REWRITE_FOLD);
//       stow_status status =
//           stow_rewrite(graph, &options, stow_allocator_default(), diag, out_rewritten);
//       if (status == STOW_OK) *out_value = stow_rewritten_value(*out_rewritten, value);
//       return status;
//     }
#ifndef STOWAGE_REWRITE_H_
#define STOWAGE_REWRITE_H_

#include <stowage/base.h>
#include <stowage/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// Rules

// name, text, summary
#define STOW_REWRITE_RULE_LIST(X)                                                            \
  X(IDENTITIES, "identities",                                                                \
    "nodes that change nothing, transposes of transposes, reshapes of reshapes")             \
  X(CSE, "cse", "nodes that compute the same as another one")                                \
  X(DEAD, "dead", "nodes that no output needs")                                              \
  X(FOLD, "fold", "nodes that depend on weights alone, computed once")                       \
  X(BLOCKS, "blocks", "nodes that compute each row from the same row, block by block")       \
  X(PRODUCTS, "products", "the same with products of weights, where the peak is")            \
  X(COLUMNS, "columns", "products with what is computed for them alone, where the peak is")  \
  X(QDQ, "qdq", "near: what is computed between dequantising and quantising, with integers") \
  X(NORMS, "norms", "near: batch-norms and scales, as part of the weights before them")      \
  X(REPEATS, "repeats", "products of repeated matrices, which need them once")               \
  X(TRANSPOSES, "transposes", "transposes of which a part is read: the part is transposed")  \
  X(PARTS, "parts", "parts of what is computed element by element, each by itself")          \
  X(STREAM, "stream", "images row by row, where the peak is; off by default")

typedef enum stow_rewrite_rule {
#define STOW_REWRITE_ENUM(name, text, summary) STOW_REWRITE_##name,
  STOW_REWRITE_RULE_LIST(STOW_REWRITE_ENUM)
#undef STOW_REWRITE_ENUM
      STOW_REWRITE_RULE_COUNT
} stow_rewrite_rule;

// Grows whenever a rule gives another graph than before: plans of rewritten graphs are then stale.
#define STOW_REWRITE_VERSION 6

static inline uint32_t stow_rewrite_bit(stow_rewrite_rule rule) { return UINT32_C(1) << rule; }
// "?" past the end.
STOW_API const char* stow_rewrite_rule_name(stow_rewrite_rule rule);
STOW_API const char* stow_rewrite_rule_summary(stow_rewrite_rule rule);
// Whether its outputs may have other bits: those of a quantised model by one quantum, others by
// roundings. Near rules come first: what they do does not depend on exact rules.
STOW_API bool stow_rewrite_rule_is_near(stow_rewrite_rule rule);
// False if no rule has this name.
STOW_API bool stow_rewrite_rule_find(stow_str name, stow_rewrite_rule* out_rule);

// ---------------------------------------------------------------------------------------------
// Rewriting

typedef struct stow_rewrite_options {
  size_t struct_size;    // written by stow_rewrite_options_init
  uint32_t off;          // rules that are not applied, as stow_rewrite_bit; 0: none; those
                         // that are near, except STOW_REWRITE_QDQ, and STOW_REWRITE_STREAM
  double fold_limit;     // folding makes weights at most this many times as large: 1 to
                         // 1e9, rounded to thousandths; 2
  uint32_t stream_rows;  // `stream` nodes need about as many bytes as for so many rows at a time;
                         // 0: as many as it takes for about the time of whole images; 0
} stow_rewrite_options;

STOW_API void stow_rewrite_options_defaults(stow_rewrite_options* options);
static inline void stow_rewrite_options_init(stow_rewrite_options* options) {
  options->struct_size = sizeof(*options);
  stow_rewrite_options_defaults(options);
}

typedef struct stow_rewritten stow_rewritten;

// Rewrites |graph|, whose dims are numbers or expressions of symbols with ranges
// (STOW_ERR_UNBOUND_DIM): what is decided by sizes is decided at the largest point, and the new
// graph, over the same ranges, is right at all of them. |graph| is borrowed and must outlive the
// result: names and data are shared. |options| may be NULL. Free the result with
// stow_rewritten_destroy. Each pass is O(size of the graph); folding, that times the number of
// steps at which another group of nodes pays.
STOW_API stow_status stow_rewrite(const stow_graph* graph, const stow_rewrite_options* options,
                                  stow_allocator allocator, stow_diag* diag,
                                  stow_rewritten** out_rewritten);
STOW_API void stow_rewritten_destroy(stow_rewritten* rewritten);

// The new graph; the one that was handed in if no rule fired.
STOW_API const stow_graph* stow_rewritten_graph(const stow_rewritten* rewritten);
// Its outputs are the params of the new graph that are `folded`, under the same names; NULL: there
// are none.
STOW_API const stow_graph* stow_rewritten_fold_graph(const stow_rewritten* rewritten);
// The value of the new graph that has the elements of |value|; STOW_VALUE_NONE if none has.
STOW_API stow_value stow_rewritten_value(const stow_rewritten* rewritten, stow_value value);
// The rule that removed |value|; STOW_REWRITE_RULE_COUNT if it is there, itself or another one with
// its elements.
STOW_API stow_rewrite_rule stow_rewritten_removed_by(const stow_rewritten* rewritten,
                                                     stow_value value);

// How often a rule fired.
STOW_API size_t stow_rewritten_count(const stow_rewritten* rewritten, stow_rewrite_rule rule);
// What it did each time, in order; |index| must be below the sum of the counts.
typedef struct stow_rewrite_firing {
  stow_rewrite_rule rule;
  stow_str nodes;  // names, or `%7` with ids of the old graph: `conv_3 + bn_3`; borrowed
} stow_rewrite_firing;
STOW_API stow_rewrite_firing stow_rewritten_firing(const stow_rewritten* rewritten, size_t index);

// Both kinds of facts in one line, for saved plans (stow_plan_options.rewrite): the version of the
// rules, how often each fired or that it was off, and the limit of folding, as in
// `v2 identities=3 cse=off dead=0 fold=7 qdq=0 norms=off fold_limit=2`.
#define STOW_REWRITE_STAMP_SIZE 256
STOW_API void stow_rewritten_stamp(const stow_rewritten* rewritten,
                                   char out_stamp[STOW_REWRITE_STAMP_SIZE]);
// The options with which the graph of a stamp was rewritten, in a struct that was initialised.
// STOW_ERR_STALE_PLAN if that was done by another version of the rules, STOW_ERR_SYNTAX if it is
// not a stamp.
STOW_API stow_status stow_rewrite_read_stamp(stow_str stamp, stow_diag* diag,
                                             stow_rewrite_options* out_options);

// Bytes, before and after.
typedef struct stow_rewritten_info {
  size_t struct_size;       // sizeof(stow_rewritten_info), set by the caller
  uint64_t weights_before;  // params and constants
  uint64_t weights_after;
  uint64_t live_before;  // the most that other values need at the same time, in the graph's order,
  uint64_t live_after;   // without results in place and the like: what folding looks at
  uint64_t streamed_nodes;  // nodes in `stream` nodes
  uint64_t streamed_work;   // their multiply-adds, and elements of those that have none
} stow_rewritten_info;
// Fills |out_info|. STOW_ERR_INVALID_ARGUMENT if its |struct_size| is out of range.
STOW_API stow_status stow_rewritten_describe(const stow_rewritten* rewritten,
                                             stow_rewritten_info* out_info);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_REWRITE_H_
