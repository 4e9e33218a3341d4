// What Loop and Scan share: a core `loop` in the making.
#ifndef STOWAGE_SRC_ONNX_LOWER_LOOP_H_
#define STOWAGE_SRC_ONNX_LOWER_LOOP_H_

#include "onnx/import/importer.h"

enum { STOWI_ONNX_LOOP_LEADING = 2 };  // operands and arguments before what is carried

// Operands of the core's loop are |trip|, |condition| and the node's operands from |first_init| on.
typedef struct stowi_onnx_looping {
  stowi_onnx_lowering* l;
  const stowi_onnx_graph* body;
  size_t carried;
  size_t first_init;
  stow_value trip, condition;
  stow_value args;     // first of (round, condition, carried…)
  stow_value* yields;  // condition, carried…, scans…
  size_t yield_count;
  bool is_whole;  // the body could be imported
} stowi_onnx_looping;

// Opens a scope and a region, and calls |run|, which ends the region and adds the loop.
stow_status stowi_onnx_loop_run(stowi_onnx_looping* loop,
                                stow_status (*run)(stowi_onnx_looping* loop));
// Adds the `args` node, named after |carried| and |leading| (may be NULL).
stow_status stowi_onnx_loop_add_args(stowi_onnx_looping* loop, const stowi_onnx_value_info* carried,
                                     const stowi_onnx_value_info* leading);
// Binds names to |count| arguments, from |first| on.
stow_status stowi_onnx_loop_bind_args(stowi_onnx_looping* loop, const stowi_onnx_value_info* infos,
                                      size_t first, size_t count);
// Ends the region. Where the body is not whole, or changes the type of what it carries, the region
// gives back its arguments, |is_whole| is false, and |*out_reason| says what to return after
// stowi_onnx_loop_give_up.
stow_status stowi_onnx_loop_close(stowi_onnx_looping* loop, stow_status* out_reason);
// Begins the loop's node.
stow_call* stowi_onnx_loop_begin(stowi_onnx_looping* loop);
// Adds a loop that nothing reads, and returns |reason|.
stow_status stowi_onnx_loop_give_up(stowi_onnx_looping* loop, stow_status reason);

// |value| with its one element as a scalar; ONNX also allows one dim of 1.
stow_status stowi_onnx_lower_scalar(stowi_onnx_lowering* l, stow_value value,
                                    stow_value* out_value);

#endif  // STOWAGE_SRC_ONNX_LOWER_LOOP_H_
