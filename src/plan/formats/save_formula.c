// A formula plan as text, for stow_formula_read. Like a saved plan it is lines `# key=value`, in
// one order. Numbers of expressions, parts and buffers are places in the lists before.
#include <inttypes.h>

#include "base/diag.h"
#include "base/text.h"
#include "plan/formats/facts.h"
#include "plan/formulas/formula.h"

// `192*1,320*30`: sizes, and at how many points in a row.
static stow_status write_table(const stow_formula* formula, const uint64_t* table,
                               stow_writer writer) {
  STOW_TRY(stowi_put(writer, "# table="));
  for (size_t i = 0; i < formula->point_count;) {
    size_t end = i + 1;
    while (end < formula->point_count && table[end] == table[i]) {
      ++end;
    }
    STOW_TRY(stowi_printf(writer, "%s%" PRIu64 "*%zu", i == 0 ? "" : ",", table[i], end - i));
    i = end;
  }
  return stowi_put(writer, "\n");
}

static stow_status write_exprs(const stow_formula* formula, stow_writer writer) {
  for (size_t i = 0; i < formula->exprs.count; ++i) {
    const stowi_plan_formula_expr* expr = &formula->exprs.data[i];
    if (expr->table != NULL) {
      STOW_TRY(write_table(formula, expr->table, writer));
      continue;
    }
    STOW_TRY(stowi_put(writer, "# expr="));
    STOW_TRY(stow_dim_print(stow_graph_dims(formula->graph), expr->dim, writer));
    STOW_TRY(stowi_put(writer, "\n"));
  }
  return STOW_OK;
}

static stow_status write_list(const char* key, const uint32_t* list, size_t count,
                              stow_writer writer) {
  STOW_TRY(stowi_put(writer, key));
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(stowi_printf(writer, "%s%" PRIu32, i == 0 ? "" : ",", list[i]));
  }
  return stowi_put(writer, "\n");
}

static stow_status write_values(const stow_formula* formula,
                                const stowi_plan_formula_region* region, stow_writer writer) {
  for (stow_value v = 0; v < formula->value_count; ++v) {
    const stowi_plan_formula_value* value = &region->values[v];
    STOW_TRY(stowi_printf(
        writer, "# value=%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%u,%s\n",
        value->root, value->bytes, value->inner, value->begin, value->end,
        (unsigned)value->alignment_log2, value->has_slot ? "yes" : "no"));
  }
  return STOW_OK;
}

static stow_status write_buffers(const stowi_plan_formula_region* region, stow_writer writer) {
  static const char* const kinds[] = {"root", "scratch", "reserved"};
  for (size_t i = 0; i < region->buffer_count; ++i) {
    const stowi_plan_formula_buffer* buffer = &region->buffers[i];
    const stowi_place_constraint* constraint = &region->constraints[i];
    STOW_TRY(stowi_printf(writer,
                          "# %s=%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64
                          ",%" PRIu64 ",%" PRIu64,
                          kinds[buffer->kind], buffer->id, buffer->index, buffer->size,
                          buffer->guard, buffer->empty_size, buffer->most, constraint->alignment));
    STOW_TRY(constraint->fixed_offset == STOW_PLACE_ANYWHERE
                 ? stowi_put(writer, "\n")
                 : stowi_printf(writer, ",%" PRIu64 "\n", constraint->fixed_offset));
  }
  return STOW_OK;
}

static stow_status write_terms(const uint32_t* terms, size_t count, stow_writer writer) {
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(stowi_printf(writer, "%c%" PRIu32, i == 0 ? ':' : ',', terms[i]));
  }
  return STOW_OK;
}

static stow_status write_parts(const stowi_plan_formula_region* region, stow_writer writer) {
  for (size_t i = 0; i < region->part_count; ++i) {
    const stowi_plan_formula_part* part = &region->parts[i];
    STOW_TRY(stowi_printf(writer, "# part=%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%s,%s", part->buffer,
                          part->begin, part->end, part->at_bottom ? "yes" : "no",
                          part->at_top ? "yes" : "no"));
    STOW_TRY(
        write_terms(&region->terms[part->first_low], part->first_high - part->first_low, writer));
    STOW_TRY(write_terms(&region->terms[part->first_high], part[1].first_low - part->first_high,
                         writer));
    STOW_TRY(stowi_put(writer, "\n"));
  }
  return STOW_OK;
}

static stow_status write_edges(const stowi_place_orientation* orientation, stow_writer writer) {
  for (size_t i = 0; i < orientation->edge_count; ++i) {
    STOW_TRY(stowi_printf(writer, "# above=%" PRIu32 ",%" PRIu32 "\n", orientation->edges[i].above,
                          orientation->edges[i].below));
  }
  return STOW_OK;
}

static stow_status write_boxes(const stow_formula* formula, size_t number, stow_writer writer) {
  for (size_t i = 0; i < formula->boxes.count; ++i) {
    const stowi_plan_formula_box* box = &formula->boxes.data[i];
    if (box->region != number) {
      continue;
    }
    STOW_TRY(stowi_put(writer, "# box="));
    for (size_t k = 0; k < formula->symbol_count; ++k) {
      STOW_TRY(stowi_printf(writer, "%s%" PRIu64 "..%" PRIu64, k == 0 ? "" : ",", box->first[k],
                            box->last[k]));
    }
    STOW_TRY(stowi_put(writer, "\n"));
  }
  return STOW_OK;
}

static stow_status write_region(const stow_formula* formula, size_t number, stow_writer writer) {
  const stowi_plan_formula_region* region = formula->regions.data[number];
  STOW_TRY(stowi_printf(writer, "# region=%zu,%s,%s\n", region->planned_at,
                        region->facts.in_place ? "yes" : "no",
                        region->facts.elide_copies ? "yes" : "no"));
  STOW_TRY(write_boxes(formula, number, writer));
  STOW_TRY(write_list("# order=", region->order, formula->step_count, writer));
  STOW_TRY(write_values(formula, region, writer));
  for (size_t i = 0; i < region->reserved_count; ++i) {
    STOW_TRY(stowi_printf(writer, "# span=%" PRIu64 ",%" PRIu64 "\n", region->reserved[i].offset,
                          region->reserved[i].end));
  }
  STOW_TRY(write_buffers(region, writer));
  STOW_TRY(write_parts(region, writer));
  STOW_TRY(write_list("# rank=", region->orientation->order, region->buffer_count, writer));
  return write_edges(region->orientation, writer);
}

stow_status stowi_plan_formula_write_saved(const stow_formula* formula, stow_writer writer) {
  STOW_TRY(stowi_put(writer, "# stowage_formula=1\n# graph="));
  STOW_TRY(stowi_put_quoted(writer, stow_graph_name(formula->graph)));
  STOW_TRY(stowi_printf(writer, "\n# fingerprint=%016" PRIx64 "\n# strategy=%s\n",
                        formula->fingerprint, formula->strategy));
  if (formula->by_bounds) {
    STOW_TRY(stowi_printf(writer, "# values=%zu\n", formula->most_values));
  }
  STOW_TRY(stowi_plan_write_facts(&formula->regions.data[0]->facts, writer));
  STOW_TRY(write_exprs(formula, writer));
  for (size_t i = 0; i < formula->regions.count; ++i) {
    STOW_TRY(write_region(formula, i, writer));
  }
  return stowi_put(writer, "# end\n");
}
