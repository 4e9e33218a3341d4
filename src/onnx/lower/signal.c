// Lowering transforms of signals and random numbers.
#include "base/diag.h"
#include "onnx/lower/rows.h"

static const stowi_onnx_attr_map dft_attrs[] = {{"inverse", NULL, STOWI_ONNX_MAP_BOOL},
                                                {"onesided", NULL, STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map stft_attrs[] = {{"onesided", NULL, STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map window_attrs[] = {
    {"periodic", NULL, STOWI_ONNX_MAP_BOOL}, {"output_datatype", "dtype", STOWI_ONNX_MAP_DTYPE}};
static const stowi_onnx_attr_map mel_attrs[] = {{"output_datatype", "dtype", STOWI_ONNX_MAP_DTYPE}};
static const stowi_onnx_attr_map image_attrs[] = {{"pixel_format", "format", STOWI_ONNX_MAP_WORD}};
static const stowi_onnx_attr_map normal_attrs[] = {{"shape", NULL, STOWI_ONNX_MAP_INTS},
                                                   {"dtype", NULL, STOWI_ONNX_MAP_DTYPE},
                                                   {"mean", NULL, STOWI_ONNX_MAP_FLOAT},
                                                   {"scale", NULL, STOWI_ONNX_MAP_FLOAT},
                                                   {"seed", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map uniform_attrs[] = {{"shape", NULL, STOWI_ONNX_MAP_INTS},
                                                    {"dtype", NULL, STOWI_ONNX_MAP_DTYPE},
                                                    {"low", NULL, STOWI_ONNX_MAP_FLOAT},
                                                    {"high", NULL, STOWI_ONNX_MAP_FLOAT},
                                                    {"seed", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map bernoulli_attrs[] = {{"dtype", NULL, STOWI_ONNX_MAP_DTYPE},
                                                      {"seed", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map multinomial_attrs[] = {
    {"sample_size", "samples", STOWI_ONNX_MAP_INT},
    {"dtype", NULL, STOWI_ONNX_MAP_DTYPE},
    {"seed", NULL, STOWI_ONNX_MAP_FLOAT}};

// ---------------------------------------------------------------------------------------------
// Functions

// Until opset 20 the axis was an attribute, and was 1 where it was not given.
static stow_status lower_dft_17(stowi_onnx_lowering* l) {
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_DFT);
  stowi_onnx_lower_add_operands(l, call, 0);
  STOW_TRY(
      stowi_onnx_lower_add_attrs(l, call, dft_attrs, sizeof(dft_attrs) / sizeof(dft_attrs[0])));
  stow_call_attr_int(call, "axis", stowi_onnx_lower_int(l, "axis", 1));
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

static stow_status lower_window(stowi_onnx_lowering* l, const char* kind) {
  const stowi_onnx_lower_row* row = l->row;
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_WINDOW);
  stowi_onnx_lower_add_operands(l, call, 0);
  stow_call_attr_string(call, "kind", stow_str_of(kind));
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, row->attrs, row->attr_count));
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

static stow_status lower_hann(stowi_onnx_lowering* l) { return lower_window(l, "hann"); }
static stow_status lower_hamming(stowi_onnx_lowering* l) { return lower_window(l, "hamming"); }
static stow_status lower_blackman(stowi_onnx_lowering* l) { return lower_window(l, "blackman"); }

// ---------------------------------------------------------------------------------------------
// Rows

static const stowi_onnx_lower_row rows[] = {
    {"", "DFT", 17, STOW_OP_DFT, LIST(dft_attrs), lower_dft_17},
    {"", "DFT", 20, STOW_OP_DFT, LIST(dft_attrs), NULL},
    {"", "STFT", 17, STOW_OP_STFT, LIST(stft_attrs), NULL},
    {"", "HannWindow", 17, STOW_OP_WINDOW, LIST(window_attrs), lower_hann},
    {"", "HammingWindow", 17, STOW_OP_WINDOW, LIST(window_attrs), lower_hamming},
    {"", "BlackmanWindow", 17, STOW_OP_WINDOW, LIST(window_attrs), lower_blackman},
    {"", "MelWeightMatrix", 17, STOW_OP_MEL_WEIGHTS, LIST(mel_attrs), NULL},
    {"", "ImageDecoder", 20, STOW_OP_DECODE_IMAGE, LIST(image_attrs), NULL},
    {"", "RandomNormal", 1, STOW_OP_RANDOM_NORMAL, LIST(normal_attrs), NULL},
    {"", "RandomNormalLike", 1, STOW_OP_RANDOM_NORMAL, LIST(normal_attrs), NULL},
    {"", "RandomUniform", 1, STOW_OP_RANDOM_UNIFORM, LIST(uniform_attrs), NULL},
    {"", "RandomUniformLike", 1, STOW_OP_RANDOM_UNIFORM, LIST(uniform_attrs), NULL},
    {"", "Bernoulli", 15, STOW_OP_BERNOULLI, LIST(bernoulli_attrs), NULL},
    {"", "Multinomial", 7, STOW_OP_MULTINOMIAL, LIST(multinomial_attrs), NULL},
};

const stowi_onnx_lower_table stowi_onnx_lower_signal_table = {LIST(rows)};
