// Names inside a static picture: short, and still different from each other. Nearly all names of a
// model begin alike and many end alike, so that what most of them begin with is left out, and what
// is too long is cut where the fewest others become the same text. Where that is still another's
// text there is none: tooltips have the whole names.
#include <string.h>

#include "report/api.h"
#include "report/write/groups.h"
#include "report/write/svg.h"

#define MOST_PARTS 16  // of what names have in common

static bool begins_with(stow_str name, stow_str prefix) {
  return name.size >= prefix.size &&
         (prefix.size == 0 || memcmp(name.data, prefix.data, prefix.size) == 0);
}

static stow_str without(stow_str name, size_t size) {
  return (stow_str){name.data + size, name.size - size};
}

// The first |size| bytes of |name|, the part behind them and what separates that from the next
// one; nothing where there is no next one, which is the tensor's own name.
static stow_str one_part_more(stow_str name, size_t size) {
  stow_str rest = without(name, size);
  stowi_report_picture_next_part(&rest);
  stow_str after = rest;
  size_t kept = stowi_report_picture_next_part(&after).size + after.size;
  return kept == 0 ? (stow_str){"", 0} : (stow_str){name.data, name.size - kept};
}

static stow_str name_of(const stow_picture* picture, size_t buffer) {
  return stowi_report_picture_str(picture, picture->buffers.data[buffer].name);
}

// The majority of what is one part longer than |prefix|, if there is one: Boyer and Moore's vote.
static stow_str vote(const stow_picture* picture, stow_str prefix) {
  stow_str best = {"", 0};
  size_t votes = 0;
  for (size_t i = 0; i < picture->buffers.count; ++i) {
    stow_str name = name_of(picture, i);
    if (begins_with(name, prefix) && one_part_more(name, prefix.size).size > 0) {
      stow_str more = one_part_more(name, prefix.size);
      best = votes == 0 ? more : best;
      votes = stow_str_equal(best, more) ? votes + 1 : votes - 1;
    }
  }
  return best;
}

static size_t count_beginning(const stow_picture* picture, stow_str prefix) {
  size_t count = 0;
  for (size_t i = 0; i < picture->buffers.count; ++i) {
    stow_str name = name_of(picture, i);
    count += begins_with(name, prefix) && one_part_more(name, 0).size > 0;
  }
  return count;
}

// What at least two of three names that have a path begin with.
static stow_str find_prefix(const stow_picture* picture) {
  stow_str prefix = {"", 0};
  size_t all = count_beginning(picture, prefix);
  for (size_t i = 0; i < MOST_PARTS; ++i) {
    stow_str more = vote(picture, prefix);
    if (more.size == 0 || 3 * count_beginning(picture, more) < 2 * all) {
      break;
    }
    prefix = more;
  }
  return prefix;
}

void stowi_report_svg_names_start(stowi_report_svg_names* names, const stow_picture* picture) {
  *names = (stowi_report_svg_names){
      .picture = picture, .prefix = find_prefix(picture), .allocator = picture->allocator};
  stowi_report_strings_init(&names->taken, names->allocator);
}

void stowi_report_svg_names_end(stowi_report_svg_names* names) {
  STOWI_VEC_FREE(names->allocator, &names->all);
  stowi_report_strings_free(&names->taken);
}

// Without what most names begin with, and what exporters put behind the first result of a node.
static stow_str shortened(const stowi_report_svg_names* names, size_t buffer) {
  static const char first_result[] = "_output_0";
  const size_t tail = sizeof first_result - 1;
  stow_str name = name_of(names->picture, buffer);
  if (name.size > names->prefix.size && begins_with(name, names->prefix)) {
    name = without(name, names->prefix.size);
  }
  while (name.size > 1 && name.data[0] == '/') {
    name = without(name, 1);
  }
  if (name.size > tail && memcmp(name.data + name.size - tail, first_result, tail) == 0) {
    name.size -= tail;
  }
  return name;
}

void stowi_report_svg_names_add(stowi_report_svg_names* names, size_t buffer) {
  stow_str name = shortened(names, buffer);
  STOWI_REPORT_PICTURE_ADD(names, &names->all, name);
}

// How many names look like |name| when only their first and last bytes show; 0 where that is all of
// it, whose escapes are long then.
static size_t count_alike(const stowi_report_svg_names* names, stow_str name, size_t head,
                          size_t tail) {
  const stow_str* all = names->all.data;
  size_t count = 0;
  for (size_t i = 0; i < names->all.count && name.size > head + tail; ++i) {
    count += all[i].size > head + tail && memcmp(all[i].data, name.data, head) == 0 &&
             memcmp(all[i].data + all[i].size - tail, name.data + name.size - tail, tail) == 0;
  }
  return count;
}

static bool is_taken(stowi_report_svg_names* names, const char* text) {
  size_t before = names->taken.ends.count;
  uint32_t id = stowi_report_strings_intern(&names->taken, stow_str_of(text));
  names->broken = names->broken || names->taken.broken;
  return id != before;
}

static void cut_name(stow_str name, size_t head, size_t width,
                     char out[STOWI_REPORT_PICTURE_LABEL_SIZE]) {
  stowi_report_escape(name, out, STOWI_REPORT_PICTURE_LABEL_SIZE - 8);
  stowi_report_cut_after(out, head, width);
}

bool stowi_report_svg_name(stowi_report_svg_names* names, size_t buffer, size_t width,
                           char out[STOWI_REPORT_PICTURE_LABEL_SIZE]) {
  const stowi_report_picture_buffer* b = &names->picture->buffers.data[buffer];
  if (b->name == STOWI_REPORT_PICTURE_NONE || b->kind == STOWI_REPORT_PICTURE_SCRATCH) {
    stowi_report_picture_label(names->picture, buffer, width, out);
    return true;
  }
  stow_str name = shortened(names, buffer);
  cut_name(name, 0, 0, out);
  if (stowi_report_width(out) <= width) {
    return true;
  }
  size_t fewest = SIZE_MAX;
  size_t best = 0;
  for (size_t i = 0; i < width; ++i) {  // from the middle on to both sides
    size_t head = (i + width) % 2 != 0 ? (width - 1 - i) / 2 : (width + i) / 2;
    size_t alike = count_alike(names, name, head, width - 1 - head);
    best = alike < fewest ? head : best;
    fewest = alike < fewest ? alike : fewest;
  }
  cut_name(name, best, width, out);
  return !is_taken(names, out);
}
