// Draws two buffers, as a program outside of the project would.
#include <stdio.h>
#include <stowage/report.h>

int main(void) {
  static const uint64_t offsets[] = {0, 64};
  stow_allocator allocator = stow_allocator_default();
  stow_string svg;
  stow_csv* csv = NULL;
  stow_picture* picture = NULL;
  stow_diff* diff = NULL;
  stow_growth none = {0, 0};
  stow_picture_rows from;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_picture_rows_init(&from);
  stow_string_init(&svg, allocator);
  stow_str text = stow_str_of("id,lower,upper,size\na,0,2,64\nb,1,3,32\n");
  stow_status status = stow_csv_read(text, allocator, &diag, &csv);
  from.csv = csv;
  from.offsets = offsets;
  from.source = "two buffers";
  status = status ? status : stow_picture_from_rows(&from, allocator, &diag, &picture);
  status = status ? status : stow_diff_create(picture, picture, none, allocator, &diag, &diff);
  status =
      status ? status
             : stow_picture_write(picture, STOW_PICTURE_SVG, NULL, stow_string_writer(&svg), &diag);
  if (status != STOW_OK) {
    puts(diag.message);
  } else {
    printf("%.4s %s\n", svg.data, stow_diff_is_too_large(diff) ? "grew" : "same");
  }
  stow_string_free(&svg);
  stow_diff_destroy(diff);
  stow_picture_destroy(picture);
  stow_csv_destroy(csv);
  return status == STOW_OK ? 0 : 1;
}
