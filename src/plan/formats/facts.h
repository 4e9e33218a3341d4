// Lines that saved plans of one shape and of ranges have in common.
#ifndef STOWAGE_SRC_PLAN_FORMATS_FACTS_H_
#define STOWAGE_SRC_PLAN_FORMATS_FACTS_H_

#include "plan/formats/scan.h"
#include "plan/plan_internal.h"

// `# alignment=` to `# rewrite=`.
stow_status stowi_plan_write_facts(const stowi_plan_facts* facts, stow_writer writer);
stow_status stowi_plan_read_facts(stowi_plan_scan* scan, stowi_plan_facts* facts);

// `# graph=` and `# fingerprint=`: those of |graph|, or STOW_ERR_STALE_PLAN.
stow_status stowi_plan_read_graph(stowi_plan_scan* scan, const stow_graph* graph,
                                  stow_allocator allocator);
// `# strategy=`: a part of the text.
stow_status stowi_plan_read_strategy(stowi_plan_scan* scan, stow_str* out_name);
// A line that is |key| and a number.
stow_status stowi_plan_read_number(stowi_plan_scan* scan, const char* key, uint64_t max,
                                   const char* what, uint64_t* out_number);
// `# end`, and the end of the text.
stow_status stowi_plan_read_end(stowi_plan_scan* scan);

#endif  // STOWAGE_SRC_PLAN_FORMATS_FACTS_H_
