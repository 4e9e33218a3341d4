# One object library per room (docs/architecture.md). libstowage is all of them; a unit test links
# only the rooms that its room may use, so that the linker enforces the layering.

# Flags for our own code; not exported to users.
add_library(stowage_flags INTERFACE)
target_include_directories(stowage_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(stowage_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wundef -Wvla
    $<$<BOOL:${STOWAGE_WERROR}>:-Werror>)
  if(STOWAGE_SANITIZE)
    target_compile_options(stowage_flags INTERFACE -fsanitize=${STOWAGE_SANITIZE}
      -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(stowage_flags INTERFACE -fsanitize=${STOWAGE_SANITIZE})
  endif()
  if(STOWAGE_COVERAGE)
    # Threads are counted too.
    target_compile_options(stowage_flags INTERFACE --coverage -O0 -fprofile-update=atomic)
    target_link_options(stowage_flags INTERFACE --coverage)
  endif()
endif()

# stowage_room(NAME [KNOWS a b …] SOURCES x.c …): a room, and the rooms whose api.h it may include.
# scripts/check-style.sh reads the same list.
function(stowage_room name)
  cmake_parse_arguments(R "" "" "KNOWS;SOURCES" ${ARGN})
  add_library(room_${name} OBJECT ${R_SOURCES})
  target_link_libraries(room_${name} PRIVATE stowage_flags)
  set_target_properties(room_${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
  # With the rooms that those know in turn: what a program needs beside the room itself.
  set(needs ${R_KNOWS})
  foreach(known IN LISTS R_KNOWS)
    get_property(more GLOBAL PROPERTY room_${known}_needs)
    list(APPEND needs ${more})
  endforeach()
  list(REMOVE_DUPLICATES needs)
  set_property(GLOBAL PROPERTY room_${name}_needs ${needs})
endfunction()

# stowage_test(NAME [SLOW] ROOMS a b … SOURCES x.c … [ARGS …]): a test program of rooms and of all
# that these know, and its CTest entry.
# SLOW ones are skipped under MSan.
function(stowage_test name)
  cmake_parse_arguments(T "SLOW" "" "ROOMS;SOURCES;ARGS" ${ARGN})
  foreach(room IN LISTS T_ROOMS)
    get_property(needs GLOBAL PROPERTY room_${room}_needs)
    list(APPEND T_ROOMS ${needs})
  endforeach()
  list(REMOVE_DUPLICATES T_ROOMS)
  list(TRANSFORM T_ROOMS PREPEND room_)
  add_executable(${name} ${T_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${T_ROOMS} stowage_test_support stowage_flags)
  add_test(NAME ${name} COMMAND ${name} ${T_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS "unit$<$<BOOL:${T_SLOW}>:;slow>")
endfunction()
