// Status texts and the version.
#include <stowage/base.h>

const char* stow_status_text(stow_status status) {
  switch (status) {
#define STATUS_CASE(name, value, text) \
  case STOW_##name: return text;
    STOW_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
  }
  return "unknown status";
}

const char* stow_version(void) { return STOW_VERSION_STRING; }
