// Tests of the shapes of signal transforms and random numbers.
#include <string.h>

#include "graph/shape_cases.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Signals

TEST(FourierTransformsHaveHalfTheBinsOneSided) {
  GIVES("f32[1, 10, 10, 1]", "dft(%0)", "f32[1, 10, 10, 2]");
  GIVES("f32[1, 10, 10, 1]", "dft(%0) {axis = 1, onesided = true}", "f32[1, 6, 10, 2]");
  GIVES("f32[1, 6, 10, 2]", "dft(%0) {axis = 1, onesided = true, inverse = true}",
        "f32[1, 10, 10, 1]");
  GIVES("f32[1, ?(2*s), 1]", "dft(%0) {onesided = true}", "f32[1, ?(s + 1), 2]");
  GIVES("f32[1, 10, 1]; i64[]", "dft(%0, %1)", "f32[1, 16, 2]");
  GIVES("f32[1, 10, 9, 1]; i64[]", "dft(%0, _, %1)", "f32[1, 10, 9, 2]");
  REFUSES("f32[1, 10, 1]", "dft(%0) {axis = 2}", "f32[1, 10, 2]", "axis 2 is out of range");
  REFUSES("f32[1, 10, 1]; f32[]", "dft(%0, %1)", "f32[1, 10, 2]", "must be integers");
  GIVES("f32[2, 10]", "rfft(%0)", "f32[2, 6, 2]");
  GIVES("f32[2, 6, 2]", "rfft(%0) {inverse = true}", "f32[2, 10]");
  GIVES("f32[2, 10]", "rfft(%0) {onesided = false}", "f32[2, 10, 2]");
  REFUSES("f32[2, 6, 3]", "rfft(%0) {inverse = true}", "f32[2, 10]", "the last dim and 2 differ");
}

TEST(FramesOfASignalDependOnTheStep) {
  GIVES("f32[1, 128, 1]; i64[]; f32[16]", "stft(%0, %1, %2)", "f32[1, 15, 9, 2]");
  GIVES("f32[1, 128, 1]; i64[]; i64[]", "stft(%0, %1, _, %2)", "f32[1, 15, 9, 2]");
  REFUSES("f32[1, 128, 1]; i64[]; f32[16]", "stft(%0, %1, %2)", "f32[1, 15, 8, 2]", "");
  REFUSES("f32[1, 128, 1]; i64[]", "stft(%0, %1)", "f32[1, 15, 8, 2]",
          "a window or a frame length is required");
  REFUSES("f32[1, 128, 1, 1]; i64[]; f32[16]", "stft(%0, %1, %2)", "f32[1, 15, 9, 2]",
          "operand 0 has rank 4, expected 2 or 3");
}

TEST(WindowAndImageSizesDependOnData) {
  GIVES("i64[]", "window(%0) {kind = \"hann\"}", "f32[10]");
  GIVES("i64[]", "window(%0) {kind = \"hamming\", dtype = \"f64\", periodic = false}", "f64[10]");
  REFUSES("i64[]", "window(%0) {kind = \"flat\"}", "f32[10]", "\"hann\", \"hamming\" or");
  REFUSES("i64[]", "window(%0) {kind = \"hann\", dtype = \"float\"}", "f32[10]",
          "unknown dtype \"float\"; expected an element type such as f32");
  REFUSES("f32[]", "window(%0) {kind = \"hann\"}", "f32[10]", "must be integers");
  GIVES("i32[]; i32[]; i32[]; f32[]", "mel_weights(%0, %1, %2, %3, %3)", "f32[9, 8]");
  GIVES("u8[1058]", "decode_image(%0)", "u8[32, 32, 3]");
  GIVES("u8[1058]", "decode_image(%0) {format = \"grayscale\"}", "u8[32, 32, 1]");
  REFUSES("u8[2, 9]", "decode_image(%0)", "u8[32, 32, 3]",
          "operand 0 (file) has rank 2, expected 1");
}

// Reads a graph whose last node uses known values.
static void reads(const char* text, int line) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_module* module = NULL;
  stow_module_parse(text, strlen(text), NULL, NULL, stow_allocator_default(), &diag, &module);
  test_check(module != NULL, __FILE__, line, "%s: %s", text, diag.message);
  stow_module_destroy(module);
}

static void refuses(const char* text, const char* message, int line) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_module* module = NULL;
  stow_module_parse(text, strlen(text), NULL, NULL, stow_allocator_default(), &diag, &module);
  test_check(module == NULL, __FILE__, line, "%s is accepted", text);
  test_check(strstr(diag.message, message) != NULL, __FILE__, line, "\"%s\" has no \"%s\"",
             diag.message, message);
  stow_module_destroy(module);
}

#define WITH_NUMBER(number, type, node)                                               \
  "graph @g {\n  %0 = input \"x\" : " type "\n  %1 = constant \"n\" {data = [" number \
  "]} : i64[]\n  %2 = constant \"m\" {data = [4]} : i64[]\n  %3 = " node "\n  return %3\n}\n"
#define READS(number, type, node) reads(WITH_NUMBER(number, type, node), __LINE__)
#define DECLINES(number, type, node, message) \
  refuses(WITH_NUMBER(number, type, node), (message), __LINE__)

TEST(KnownLengthsAreFollowed) {
  READS("16", "f32[1, 10, 1]", "dft(%0, %1) : f32[1, 16, 2]");
  READS("16", "f32[1, 10, 1]", "dft(%0, %1) {onesided = true} : f32[1, 9, 2]");
  READS("1", "f32[1, 10, 12, 1]", "dft(%0, %2, %1) : f32[1, 4, 12, 2]");
  READS("8", "f32[?b, ?s, 1]", "stft(%0, %1, _, %2) : f32[?b, ?(floor_div(s - 4, 8) + 1), 3, 2]");
  READS("8", "f32[1]", "window(%1) {kind = \"blackman\"} : f32[8]");
  READS("8", "f32[]", "mel_weights(%1, %2, %1, %0, %0) : f32[3, 8]");
  READS("8", "f32[32, 6]",
        "relative_position_bias(%0, %1, %2) {max_distance = 9} : f32[1, 6, 8, 4]");
}

TEST(ImpossibleKnownLengthsAreRefused) {
  DECLINES("16", "f32[1, 10, 1]", "dft(%0, %1) : f32[1, 17, 2]", "f32[1, 16, 2]");
  DECLINES("2", "f32[1, 10, 1]", "dft(%0, _, %1) : f32[1, 10, 2]", "axis 2 is out of range");
  DECLINES("0", "f32[1, 128]", "stft(%0, %1, _, %2) : f32[1, 1, 3, 2]", "the step is 0");
  DECLINES("-1", "f32[1]", "window(%1) {kind = \"hann\"} : f32[1]", "would be negative");
  DECLINES("9223372036854775807", "f32[1, 10, 1]", "dft(%0, %1) : f32[1, 4, 2]", "");
}

// ---------------------------------------------------------------------------------------------
// Random numbers

TEST(RandomNumbersTakeDimsFromAttributeOrOperand) {
  GIVES("f32[1]", "random_normal() {shape = [2, 3], dtype = \"f16\"}", "f16[2, 3]");
  GIVES("f32[1]", "random_uniform() {shape = []}", "f32[]");
  GIVES("f64[?s, 2]", "random_normal(%0) {seed = 1.0}", "f64[?s, 2]");
  GIVES("i64[?s, 2]", "random_uniform(%0) {dtype = \"f32\", low = -1.0}", "f32[?s, 2]");
  REFUSES("f32[1]", "random_normal() {shape = [2, -3]}", "f32[2]", "dim 1 of the shape is -3");
  REFUSES("f32[1]", "random_normal() {shape = [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}", "f32[2]",
          "shape has 17 dims, the maximum is 16");
  GIVES("f64[3, 4]", "bernoulli(%0) {dtype = \"bool\"}", "bool[3, 4]");
  GIVES("f64[3, 4]", "bernoulli(%0)", "f64[3, 4]");
  GIVES("f32[?b, 4]", "multinomial(%0) {samples = 7, dtype = \"i64\"}", "i64[?b, 7]");
  REFUSES("f32[3, 4]", "multinomial(%0) {samples = 0}", "i32[3, 0]", "samples is 0");
  REFUSES("f32[3]", "multinomial(%0)", "i32[3, 1]", "operand 0 (x) has rank 1, expected 2");
}
