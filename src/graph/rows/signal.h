// Rows of signal transforms and random numbers.
#ifndef STOWAGE_SRC_GRAPH_ROWS_SIGNAL_H_
#define STOWAGE_SRC_GRAPH_ROWS_SIGNAL_H_

#include "graph/rows/rows.h"
#include "graph/shapes/shapes.h"

#define SEED FLOAT("seed", 0.0)

static const spec dft_attrs[] = {INT("axis", -2), BOOL("inverse", false), BOOL("onesided", false)};
static const spec rfft_attrs[] = {BOOL("inverse", false), BOOL("onesided", true),
                                  BOOL("normalized", false), INT("signal_dims", 1)};
static const spec stft_attrs[] = {BOOL("onesided", true)};
static const spec window_attrs[] = {REQUIRED("kind", STOW_ATTR_STRING), BOOL("periodic", true),
                                    STRING("dtype", "f32")};
static const spec mel_weights_attrs[] = {STRING("dtype", "f32")};
static const spec decode_image_attrs[] = {STRING("format", "rgb")};

static const spec random_normal_attrs[] = {INTS("shape"), STRING("dtype", ""), FLOAT("mean", 0.0),
                                           FLOAT("scale", 1.0), SEED};
static const spec random_uniform_attrs[] = {INTS("shape"), STRING("dtype", ""), FLOAT("low", 0.0),
                                            FLOAT("high", 1.0), SEED};
static const spec bernoulli_attrs[] = {STRING("dtype", ""), SEED};
static const spec multinomial_attrs[] = {INT("samples", 1), STRING("dtype", "i32"), SEED};

// ---------------------------------------------------------------------------------------------
// Signals

#define ROW_DFT                                                                     \
  ABOUT("discrete Fourier transform along an axis"), OPERANDS(1, 3), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_dft), ATTRS(dft_attrs)
#define ROW_RFFT                                                                          \
  ABOUT("Fourier transform of real numbers along the last dim, or back"), OPERANDS(1, 1), \
      RESULTS(1, 1), INFERRED(stowi_graph_shape_rfft), ATTRS(rfft_attrs)
#define ROW_STFT                                                                    \
  ABOUT("Fourier transforms of overlapping frames"), OPERANDS(2, 4), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_stft), ATTRS(stft_attrs)
#define ROW_WINDOW                                                      \
  ABOUT("weights of a frame's samples"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_window), ATTRS(window_attrs)
#define ROW_MEL_WEIGHTS                                                                \
  ABOUT("weights that turn a spectrum into mel bands"), OPERANDS(5, 5), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_mel_weights), ATTRS(mel_weights_attrs)
#define ROW_DECODE_IMAGE                                           \
  ABOUT("pixels of an image file"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_decode_image), ATTRS(decode_image_attrs)

// ---------------------------------------------------------------------------------------------
// Random numbers

#define ROW_RANDOM_NORMAL                                                                          \
  ABOUT("normally distributed numbers, in the dims of x or shape"), OPERANDS(0, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_random), IN_PLACE(stowi_graph_in_place_index_first),              \
      ATTRS(random_normal_attrs)
#define ROW_RANDOM_UNIFORM                                                           \
  ABOUT("uniformly distributed numbers, in the dims of x or shape"), OPERANDS(0, 1), \
      RESULTS(1, 1), INFERRED(stowi_graph_shape_random),                             \
      IN_PLACE(stowi_graph_in_place_index_first), ATTRS(random_uniform_attrs)
#define ROW_BERNOULLI                                                                    \
  ABOUT("1 with probability x, else 0"), OPERANDS(1, 1), RESULTS(1, 1),                  \
      INFERRED(stowi_graph_shape_bernoulli), IN_PLACE(stowi_graph_in_place_index_first), \
      ATTRS(bernoulli_attrs)
#define ROW_MULTINOMIAL                                                                           \
  ABOUT("classes drawn by the logarithms of their probabilities"), OPERANDS(1, 1), RESULTS(1, 1), \
      INFERRED(stowi_graph_shape_multinomial), ATTRS(multinomial_attrs)

#endif  // STOWAGE_SRC_GRAPH_ROWS_SIGNAL_H_
