// Writes the C header of a plan with awkward names, a large arena and a result in place to standard
// output, for test_header.sh to compile.
#include <stdio.h>
#include <stowage/plan.h>
#include <stowage/text.h>
#include <string.h>

static const char* const text =
    "graph @awkward.net {\n"
    "  %0 = input \"a.b\" : f32[3]\n"
    "  %1 = input \"a-b\" : f32[3]\n"
    "  %2 = input \"arena\" : f32[5]\n"
    "  %3 = input \"7 */ \\\"x\\\\\" : u8[0]\n"
    "  %4 = param \"huge\" : u8[3000000000, 3]\n"
    "  %5 = param \"huge2\" : u8[3000000000]\n"
    "  %6 = narrow(%5) {axis = 0, start = 3, len = 7} : u8[7]\n"
    "  %7 = relu(%0) : f32[3] with {scratch = [24, 1]}\n"
    "  %8 = exp(%7) : f32[3]\n"
    "  return %6, %8\n"
    "}\n";

static stow_status write_stdout(void* user, const char* data, size_t size) {
  (void)user;
  return fwrite(data, 1, size, stdout) == size ? STOW_OK : STOW_ERR_IO;
}

int main(int argument_count, char** arguments) {
  stow_allocator allocator = stow_allocator_default();
  stow_module* module = NULL;
  stow_effects* effects = NULL;
  stow_plan* plan = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.tail_guard = 128;
  stow_status status = stow_module_parse(text, strlen(text), NULL, NULL, allocator, &diag, &module);
  if (status == STOW_OK) {
    status = stow_effects_create(stow_module_graph(module, 0), allocator, &diag, &effects);
  }
  if (status == STOW_OK) {
    status =
        stow_plan_make(stow_module_graph(module, 0), effects, &options, allocator, &diag, &plan);
  }
  if (status == STOW_OK) {
    stow_writer writer = {write_stdout, NULL};
    const char* prefix = argument_count > 1 ? arguments[1] : NULL;
    status = stow_plan_write_c(plan, prefix, writer, &diag);
  }
  if (status != STOW_OK) {
    fprintf(stderr, "write_header: %s\n", diag.message);
  }
  stow_plan_destroy(plan);
  stow_effects_destroy(effects);
  stow_module_destroy(module);
  return status == STOW_OK ? 0 : 1;
}
