// Where values have their rows, if nodes may move them: a reshape divides the dims beside them, a
// transpose puts them elsewhere.
//
//     [2, 128, 384]  ─ reshape ─▶  [2, 128, 12, 32]  ─ transpose ─▶  [2, 12, 128, 32]
//      ~  ~~~  ~~~                  ~  ~~~  ~~~~~~                    ~  ~~  ~~~  ~~
//  groups rows inner            groups rows  inner                groups outer rows inner
#ifndef STOWAGE_SRC_REWRITE_ROWS_H_
#define STOWAGE_SRC_REWRITE_ROWS_H_

#include "rewrite/pass.h"

// Groups are the dims [0, groups), rows [first, end), as many in all values. The first and the last
// dim of rows are not 1.
typedef struct stowi_rewrite_rows {
  uint32_t groups, first, end;
} stowi_rewrite_rows;

// In types of parts: the rows of a block, which are not yet those of a function.
#define STOWI_REWRITE_ROWS (INT64_MIN + 1)

// What a block needs of an operand.
typedef struct stowi_rewrite_share {
  bool has_rows;          // false: the same for all rows of a group
  stowi_rewrite_rows at;  // where, if it has rows
  stow_type type;         // of its part
} stowi_rewrite_share;

// What |node| needs of operand |k| for a block of its result, whose rows are at |rows|. False if
// that is not the same rows, or nothing that depends on them.
bool stowi_rewrite_share_of(const stowi_rewrite_pass* pass, stow_node node, size_t k,
                            const stowi_rewrite_rows* rows, stowi_rewrite_share* out_share);
// The same of all operands.
bool stowi_rewrite_can_share(const stowi_rewrite_pass* pass, stow_node node,
                             const stowi_rewrite_rows* rows);
// Whether both have the same dims, as expressions.
bool stowi_rewrite_same_dims(const stow_type* a, const stow_type* b);
// What a block has of |type|.
stow_type stowi_rewrite_part_of(const stow_type* type, const stowi_rewrite_rows* rows);
// The bytes of a part of |type|, whose dims are numbers, for each row.
uint64_t stowi_rewrite_row_bytes(const stow_type* type, const stowi_rewrite_rows* rows);
// How many rows a group has.
uint64_t stowi_rewrite_count_rows(const stow_type* type, const stowi_rewrite_rows* rows);
// The attributes of |node| for parts.
void stowi_rewrite_add_attrs(const stowi_rewrite_pass* pass, stow_call* call, stow_node node,
                             const stowi_rewrite_rows* rows);

#endif  // STOWAGE_SRC_REWRITE_ROWS_H_
