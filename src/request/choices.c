// What follows from what was said, and from what is planned.
#include "request/api.h"

bool stowi_request_follows_another(const stowi_request_choices* choices) {
  return choices->preset == STOW_PRESET_RLX || choices->preset == STOW_PRESET_RLX_0_2_2;
}

bool stowi_request_has_kernels(const stowi_request_choices* choices, bool is_model) {
  bool is_default = choices->kernels == STOWI_REQUEST_KERNELS_DEFAULT;
  return choices->kernels == STOWI_REQUEST_KERNELS_STOWAGE ||
         choices->kernels == STOWI_REQUEST_KERNELS_FASTEST ||
         (is_default && is_model && !stowi_request_follows_another(choices));
}

static bool applies_rules(const stowi_request_choices* choices, bool is_model) {
  if (choices->rewrite.is_given) {
    return !choices->rewrite.is_none;
  }
  return is_model && stowi_request_has_kernels(choices, is_model) &&
         !stowi_request_follows_another(choices) && !choices->has_layout;
}

bool stowi_request_rewrites(const stowi_request_choices* choices, bool is_model) {
  return choices->rewrite.streams || applies_rules(choices, is_model);
}

stow_rewrite_options stowi_request_rewrite_options(const stowi_request_choices* choices,
                                                   bool is_model) {
  const stowi_request_rewrite* rewrite = &choices->rewrite;
  uint32_t stream = stow_rewrite_bit(STOW_REWRITE_STREAM);
  stow_rewrite_options options;
  stow_rewrite_options_init(&options);
  options.off = rewrite->is_given ? rewrite->off : options.off;
  options.off = applies_rules(choices, is_model) ? options.off | stream : UINT32_MAX;
  options.off &= rewrite->streams ? ~stream : UINT32_MAX;
  options.stream_rows = rewrite->streams ? rewrite->stream_rows : 0;
  options.fold_limit = rewrite->has_limit ? rewrite->limit : options.fold_limit;
  return options;
}

uint64_t stowi_request_least_row(const stowi_request_choices* choices, bool has_kernels,
                                 bool is_dense) {
  bool is_pitched = has_kernels && !is_dense && !stowi_request_follows_another(choices);
  return is_pitched ? STOW_PLAN_LEAST_ROW : 0;
}

bool stowi_request_orders(const stowi_request_choices* choices, bool is_model) {
  return is_model && !stowi_request_follows_another(choices);
}

bool stowi_request_leaves_weights(const stowi_request_choices* choices, bool in_file) {
  return choices->weights == STOWI_REQUEST_WEIGHTS_FILE ||
         (choices->weights == STOWI_REQUEST_WEIGHTS_DEFAULT && in_file);
}

stow_prepare_options stowi_request_prepare(const stowi_request_choices* choices, bool in_file) {
  stow_prepare_options options;
  stow_prepare_options_init(&options);
  options.fastest = choices->kernels == STOWI_REQUEST_KERNELS_FASTEST;
  if (stowi_request_leaves_weights(choices, in_file)) {
    options.pack = choices->has_pack ? choices->pack : STOW_PACK_AUTO;
  }
  return options;
}
