// Groups of buffers that share a colour in a static picture: the modules that names tell, or else
// kinds. The page groups and colours them in the same way (page/colour.js), and a test compares.
#ifndef STOWAGE_TOOLS_VIEW_GROUPS_H_
#define STOWAGE_TOOLS_VIEW_GROUPS_H_

#include "view.h"

#define CLI_VIEW_GROUPS_MAX 12
#define CLI_VIEW_GROUP_LABEL 24  // characters, but for an ellipsis

typedef struct cli_view_group {
  const char* colour;  // `#rrggbb`
  char label[CLI_VIEW_LABEL_SIZE];
} cli_view_group;

typedef struct cli_view_groups {
  size_t count;
  cli_view_group groups[CLI_VIEW_GROUPS_MAX];  // quiet ones first, then those with most bytes
  cli_list of;                                 // size_t: the group of each buffer
} cli_view_groups;

// Complains where memory is out. End with cli_view_groups_free, whatever it returned.
cli_exit cli_view_groups_make(cli_view_groups* groups, const cli_view* view);
void cli_view_groups_free(cli_view_groups* groups);
size_t cli_view_group_of(const cli_view_groups* groups, size_t buffer);

// The next part of a path, `/` or `.` between them: empty at the end. |path| becomes the rest.
stow_str cli_view_next_part(stow_str* path);

#endif  // STOWAGE_TOOLS_VIEW_GROUPS_H_
