// What outputs are called. Names are sorted once: which of several equal ones comes first, and
// whether a name is taken, is then a binary search. O(n log n).
#include <stdio.h>
#include <stdlib.h>

#include "run/run.h"

typedef struct named {
  stow_str name;
  size_t index;
} named;

static stow_str own_name(const cli_run* run, size_t index) {
  const cli_model* model = &run->job.source.model;
  if (model->model != NULL && index < cli_model_info(model).output_count) {
    return cli_model_port(model, STOW_MODEL_OUTPUTS, index);
  }
  return stow_graph_value_name(run->job.graph, stow_graph_outputs(run->job.graph)[index]);
}

static int compare_named(const void* a, const void* b) {
  const named* x = a;
  const named* y = b;
  int order = stow_str_compare(x->name, y->name);
  return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

// The first output that is called so; |count| where none is.
static size_t first_called(const named* sorted, size_t count, stow_str name) {
  size_t begin = 0;
  size_t end = count;
  while (begin < end) {
    size_t middle = begin + (end - begin) / 2;
    bool is_before = stow_str_compare(sorted[middle].name, name) < 0;
    begin = is_before ? middle + 1 : begin;
    end = is_before ? end : middle;
  }
  return begin < count && stow_str_equal(sorted[begin].name, name) ? sorted[begin].index : count;
}

static stow_status make_name(const named* sorted, size_t count, size_t index, stow_str own,
                             stow_string* out) {
  if (own.size > 0 && first_called(sorted, count, own) == index) {
    return stow_string_append(out, own.data, own.size);
  }
  char number[32];
  int size = snprintf(number, sizeof number, "output_%zu", index);
  stow_status status = stow_string_append(out, number, (size_t)size);
  while (status == STOW_OK &&
         first_called(sorted, count, (stow_str){out->data, out->size}) < count) {
    status = stow_string_append(out, "_", 1);
  }
  return status;
}

cli_exit cli_run_name_outputs(cli_run* run) {
  size_t count = stow_graph_output_count(run->job.graph);
  named* sorted = calloc(count + 1, sizeof *sorted);
  cli_exit code = sorted == NULL ? cli_fail_memory() : CLI_YES;
  for (size_t i = 0; i < count && code == CLI_YES; ++i) {
    sorted[i] = (named){own_name(run, i), i};
  }
  if (code == CLI_YES) {
    qsort(sorted, count, sizeof *sorted, compare_named);
  }
  for (size_t i = 0; i < count && code == CLI_YES; ++i) {
    stow_string name;
    stow_string_init(&name, stow_allocator_default());
    if (make_name(sorted, count, i, own_name(run, i), &name) != STOW_OK ||
        !cli_list_add(&run->output_names, &name, sizeof name)) {
      stow_string_free(&name);
      code = cli_fail_memory();
    }
  }
  free(sorted);
  return code;
}

stow_str cli_run_output_name(const cli_run* run, size_t index) {
  const stow_string* name = (const stow_string*)run->output_names.items + index;
  return (stow_str){name->data, name->size};
}

void cli_run_free_names(cli_run* run) {
  for (size_t i = 0; i < run->output_names.count; ++i) {
    stow_string_free((stow_string*)run->output_names.items + i);
  }
  cli_list_free(&run->output_names, sizeof(stow_string));
}
