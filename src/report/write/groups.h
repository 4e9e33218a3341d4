// Groups of buffers that share a colour in a static picture: the modules that names tell, or else
// kinds. The page groups and colours them in the same way (page/colour.js), and a test compares.
#ifndef STOWAGE_SRC_REPORT_WRITE_GROUPS_H_
#define STOWAGE_SRC_REPORT_WRITE_GROUPS_H_

#include "report/picture/picture.h"

#define STOWI_REPORT_PICTURE_GROUPS_MAX 12
#define STOWI_REPORT_PICTURE_GROUP_LABEL 24  // characters, but for an ellipsis

typedef struct stowi_report_picture_group {
  const char* colour;  // `#rrggbb`
  char label[STOWI_REPORT_PICTURE_LABEL_SIZE];
} stowi_report_picture_group;

typedef struct stowi_report_picture_groups {
  size_t count;
  stowi_report_picture_group
      groups[STOWI_REPORT_PICTURE_GROUPS_MAX];  // quiet ones first, then those with most bytes
  size_t* of;                                   // the group of each buffer
  size_t of_count;
} stowi_report_picture_groups;

// End with stowi_report_picture_groups_free, whatever it returned.
stow_status stowi_report_picture_groups_make(stowi_report_picture_groups* groups,
                                             const stow_picture* picture);
void stowi_report_picture_groups_free(stowi_report_picture_groups* groups,
                                      stow_allocator allocator);

// The next part of a path, `/` or `.` between them: empty at the end. |path| becomes the rest.
stow_str stowi_report_picture_next_part(stow_str* path);

#endif  // STOWAGE_SRC_REPORT_WRITE_GROUPS_H_
