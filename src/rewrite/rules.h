// The rules: each notes in a pass what it changes. rewrite.c has their table.
#ifndef STOWAGE_SRC_REWRITE_RULES_H_
#define STOWAGE_SRC_REWRITE_RULES_H_

#include "rewrite/pass.h"

stow_status stowi_rewrite_identities(stowi_rewrite_pass* pass);
stow_status stowi_rewrite_cse(stowi_rewrite_pass* pass);
stow_status stowi_rewrite_dead(stowi_rewrite_pass* pass);

#endif  // STOWAGE_SRC_REWRITE_RULES_H_
