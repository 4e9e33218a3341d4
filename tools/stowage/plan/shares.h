// What a plan's decisions about sharing and order come to, and the summary's lines about them.
#ifndef STOWAGE_TOOLS_PLAN_SHARES_H_
#define STOWAGE_TOOLS_PLAN_SHARES_H_

#include <stowage/graph.h>
#include <stowage/plan.h>

#include "files/output.h"

typedef struct cli_tally {
  size_t count;
  uint64_t bytes;
} cli_tally;

typedef struct cli_shares {
  cli_tally in_place;      // results in place of operands
  cli_tally not_in_place;  // results that their op allows in place, but are not
  cli_tally elisions;      // operands of concat made at their place
  cli_tally copied;        // operands of concat that are not
  cli_tally views;
  cli_tally moved;  // results that could be views but for their bytes' order, and are copied
  size_t
      values;  // that lie in others' bytes: in place, or inside the results of one concat or more
  uint64_t unshared;  // bytes of buffers and scratch side by side, as if none lay in another's;
                      // views are no buffers
} cli_shares;

// False where memory is out.
bool cli_shares_count(const stow_plan* plan, cli_shares* out_shares);

// Whether decision |index| is refused and nothing was lost: the result found a place in others'
// bytes by another decision. O(decisions of that node).
bool cli_share_is_moot(const stow_plan* plan, size_t index);

// `  in place  …`, `  without copies  …`; nothing where there is nothing to say.
void cli_print_shares(cli_output* output, const cli_shares* shares);
// Where the order comes from: the graph, --order FILE, or a search.
typedef enum cli_order_kind { CLI_ORDER_GIVEN, CLI_ORDER_FILE, CLI_ORDER_AUTO } cli_order_kind;
// `  any-order bound  …`, after the lower bound of this order; nothing where it is not known.
void cli_print_any_order(cli_output* output, const stow_plan* plan, cli_order_kind kind);
// `  order  …`; nothing where no bytes are reused.
void cli_print_order(cli_output* output, const stow_plan* plan, cli_order_kind kind);

#endif  // STOWAGE_TOOLS_PLAN_SHARES_H_
