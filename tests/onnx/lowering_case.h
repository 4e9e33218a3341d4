// Tables of what ONNX nodes become: a model of one node over some inputs is imported, and a text is
// looked for in the graph, or in the reason why there is none.
#ifndef STOWAGE_TESTS_ONNX_LOWERING_CASE_H_
#define STOWAGE_TESTS_ONNX_LOWERING_CASE_H_

#include <stddef.h>
#include <stdint.h>

typedef struct lowering_case {
  int64_t opset;        // of ONNX
  const char* op;       // with its domain before it: `microsoft:`, `ml:`, `training:` …
  const char* inputs;   // element types and dims, separated by ';'; `-`: absent
  const char* attrs;    // `name=1 name=0.5 name='text' name=1,2, name=1.0,2.0, name=a,b, name=@f32`
                        // (the last is a tensor)
  const char* outputs;  // names
  const char* text;     // part of the imported graph, or of the first issue
} lowering_case;

void check_lowerings(const lowering_case* cases, size_t count);
#define CHECK_CASES(list) check_lowerings((list), sizeof(list) / sizeof((list)[0]))

#endif  // STOWAGE_TESTS_ONNX_LOWERING_CASE_H_
