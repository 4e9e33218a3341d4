// The rules: each notes in a pass what it changes. Those that join a pass see what others have
// noted there, and leave dropped nodes alone. rewrite.c has their table.
#ifndef STOWAGE_SRC_REWRITE_RULES_H_
#define STOWAGE_SRC_REWRITE_RULES_H_

#include "rewrite/pass.h"

stow_status stowi_rewrite_qdq_all(stowi_rewrite_pass* pass);
stow_status stowi_rewrite_norms(stowi_rewrite_pass* pass);
stow_status stowi_rewrite_repeats(stowi_rewrite_pass* pass);
stow_status stowi_rewrite_transposes(stowi_rewrite_pass* pass);
stow_status stowi_rewrite_parts(stowi_rewrite_pass* pass);
stow_status stowi_rewrite_splits(stowi_rewrite_pass* pass);  // of the rule `parts`
stow_status stowi_rewrite_identities(stowi_rewrite_pass* pass);
stow_status stowi_rewrite_cse(stowi_rewrite_pass* pass);
stow_status stowi_rewrite_dead(stowi_rewrite_pass* pass);
stow_status stowi_rewrite_fold(stowi_rewrite_pass* pass);
stow_status stowi_rewrite_streams(stowi_rewrite_pass* pass);
stow_status stowi_rewrite_columns(stowi_rewrite_pass* pass);
stow_status stowi_rewrite_clusters(stowi_rewrite_pass* pass);
stow_status stowi_rewrite_products(stowi_rewrite_pass* pass);

// The graph of nodes that were folded, after |made| was built: its outputs are the params of |made|
// that stand for them, in order and by name. The caller destroys it.
stow_status stowi_rewrite_fold_graph(const stowi_rewrite_pass* pass, const stow_graph* made,
                                     stow_graph** out_graph);

#endif  // STOWAGE_SRC_REWRITE_RULES_H_
