// Decodes greedily with a language model: generate MODEL COUNT TOKEN…
// One executor runs the prompt and then each token; the lengths of both and of caches are ranges.
#include <stdio.h>
#include <stdlib.h>
#include <stowage/exec.h>
#include <stowage/onnx.h>

static stow_diag diag;

static void require(stow_status status) {
  if (status != STOW_OK) {
    fprintf(stderr, "generate: %s\n", diag.message[0] ? diag.message : stow_status_text(status));
    exit(1);
  }
}

// Sets an input, which not every model has, to |first|, |first| + |step|, …
static void fill(stow_exec* exec, stow_value input, int64_t first, int64_t step) {
  stow_tensor to = {0};
  require(input == STOW_VALUE_NONE ? STOW_OK : stow_exec_fill(exec, input, &diag, &to));
  for (size_t i = 0; to.data != NULL && i < stow_tensor_elements(&to); ++i) {
    ((int64_t*)to.data)[i] = first + (int64_t)i * step;
  }
}

int main(int argc, char** argv) {
  stow_allocator heap = stow_allocator_default();
  stow_diag_init(&diag);
  int64_t prompt = argc - 3, count = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
  if (prompt < 1 || prompt > 4096 || count < 1) {
    return fprintf(stderr, "usage: generate MODEL COUNT TOKEN...\n"), 2;
  }

  // The model over ranges: as many tokens at once as the prompt has, or fewer, after all others.
  stow_model* model;
  stow_import_request* request;
  stow_import* import;
  stow_dim_range lengths = {1, prompt, 1}, pasts = {0, prompt + count - 1, 1};
  stow_str length = stow_str_of("sequence_length"), past = stow_str_of("past_sequence_length");
  require(stow_onnx_open(argv[1], heap, &diag, &model));
  require(stow_import_request_create(heap, &diag, &request));
  require(stow_import_request_bind(request, stow_str_of("batch_size"), 1, &diag));
  require(stow_import_request_bind_range(request, length, &lengths, &diag));
  require(stow_import_request_bind_range(request, past, &pasts, &diag));
  require(stow_import_model(model, request, heap, &diag, &import));
  const stow_graph* graph = stow_import_graph(import);
  require(graph != NULL ? STOW_OK : STOW_ERR_UNSUPPORTED);
  // What a step adds to the caches is there in the next one.
  stow_prepared* prepared;
  require(stow_prepare(graph, NULL, heap, &diag, &prepared));
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    char name[128] = "past_key_values.";
    stow_value output = stow_graph_outputs(graph)[i];
    if (sscanf(stow_graph_value_name(graph, output).data, "present.%100s", name + 16) == 1) {
      stow_value input = stow_graph_find(graph, stow_str_of(name));
      require(stow_prepared_carry(prepared, output, input, &diag));
    }
  }

  // One plan for all lengths, and one executor, which allocates everything.
  stow_plan_options plan;
  stow_formula_options options;
  stow_formula* formula;
  stow_exec* exec;
  stow_plan_options_init(&plan, STOW_PRESET_DEFAULT);
  stow_formula_options_init(&options);
  plan.params = plan.constants = false;
  options.plan = &plan;
  options.effects = stow_prepared_formula_effects(prepared);
  require(stow_formula_make(graph, &options, heap, &diag, &formula));
  require(stow_exec_create_range(prepared, formula, NULL, heap, &diag, &exec));

  static int64_t tokens[4096];
  for (int64_t step = 0, before = 0, now = prompt, token = 0; step < count; ++step) {
    // The dims of the tokens, and of caches, tell the shape.
    for (int64_t i = 0; i < now; ++i) {
      tokens[i] = step == 0 ? strtol(argv[3 + i], NULL, 10) : token;
    }
    stow_tensor logits, ids = {.data = tokens, .dtype = STOW_I64, .rank = 2, .dims = {1, now}};
    require(stow_exec_input(exec, stow_graph_find(graph, stow_str_of("input_ids")), &ids, &diag));
    fill(exec, stow_graph_find(graph, stow_str_of("attention_mask")), 1, 0);
    fill(exec, stow_graph_find(graph, stow_str_of("position_ids")), before, 1);
    require(stow_exec_run(exec, &diag));
    require(stow_exec_value(exec, stow_graph_find(graph, stow_str_of("logits")), &diag, &logits));
    const float* row = (const float*)logits.data + (now - 1) * logits.dims[2];
    for (int64_t i = token = 0; i < logits.dims[2]; ++i) {
      token = row[i] > row[token] ? i : token;
    }
    printf("%lld%s", (long long)token, step + 1 < count ? " " : "\n");
    before += now;
    now = 1;
  }
  stow_exec_destroy(exec);
  stow_formula_destroy(formula);
  stow_prepared_destroy(prepared);
  stow_import_destroy(import);
  stow_import_request_destroy(request);
  stow_model_close(model);
}
