# Writes a C file that contains other files as byte arrays. Run it as a script, in one of two forms:
#
#   cmake -DOUT=page.c "-DARRAYS=NAME=FILE,FILE|NAME=FILE" -P Embed.cmake
#   cmake -DOUT=sources.c -DTABLE=NAME -DHEADER=sources.h "-DFOLDERS=AS=FOLDER|AS=FOLDER"
#     -DFILES=LIST -P Embed.cmake
#
# The first writes arrays, each the concatenation of its files. The second writes a sorted table of
# files with rows {"AS/path in its folder", bytes, size}; the first folder that has a file counts,
# and AS may be `.`. HEADER declares the table, NAME_count is its number of rows, and LIST is a file
# with a path per line. Needs only CMake.
cmake_minimum_required(VERSION 3.16)

# embed_bytes(OUT_BYTES OUT_SIZE FILE…)
function(embed_bytes out_bytes out_size)
  set(bytes "")
  foreach(file IN LISTS ARGN)
    file(READ "${file}" hex HEX)
    string(APPEND bytes "${hex}")
  endforeach()
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  set(${out_bytes} "${bytes}" PARENT_SCOPE)
  set(${out_size} "${size}" PARENT_SCOPE)
endfunction()

set(text "// Made by cmake/Embed.cmake.\n#include <stddef.h>\n")
string(REPLACE "|" ";" arrays "${ARRAYS}")
foreach(array IN LISTS arrays)
  string(REGEX MATCH "^([^=]+)=(.*)$" matched "${array}")
  set(name ${CMAKE_MATCH_1})
  string(REPLACE "," ";" files "${CMAKE_MATCH_2}")
  embed_bytes(bytes size ${files})
  string(APPEND text "extern const unsigned char ${name}[];\nextern const size_t ${name}_size;\n"
    "const unsigned char ${name}[] = {\n${bytes}0};\nconst size_t ${name}_size = ${size};\n")
endforeach()

if(DEFINED TABLE)
  file(STRINGS "${FILES}" files)
  string(REPLACE "|" ";" folders "${FOLDERS}")
  set(names "")
  foreach(file IN LISTS files)
    foreach(folder IN LISTS folders)
      string(REGEX MATCH "^([^=]+)=(.*)$" matched "${folder}")
      set(as "${CMAKE_MATCH_1}")
      string(FIND "${file}" "${CMAKE_MATCH_2}/" at)
      if(at EQUAL 0)
        string(LENGTH "${CMAKE_MATCH_2}" skipped)
        string(SUBSTRING "${file}" ${skipped} -1 rest)
        string(REGEX REPLACE "^\\./" "" name "${as}${rest}")
        list(APPEND names "${name}=${file}")
        break()
      endif()
    endforeach()
  endforeach()
  list(SORT names)
  set(rows "")
  set(count 0)
  string(APPEND text "#include \"${HEADER}\"\n")
  foreach(name IN LISTS names)
    string(REGEX MATCH "^([^=]+)=(.*)$" matched "${name}")
    set(as "${CMAKE_MATCH_1}")
    embed_bytes(bytes size "${CMAKE_MATCH_2}")
    string(APPEND text "static const unsigned char file_${count}[] = {\n${bytes}0};\n")
    string(APPEND rows "    {\"${as}\", (const char*)file_${count}, ${size}},\n")
    math(EXPR count "${count} + 1")
  endforeach()
  string(APPEND text "const ${TABLE}_row ${TABLE}[] = {\n${rows}};\nconst size_t ${TABLE}_count = ${count};\n")
endif()
file(WRITE "${OUT}" "${text}")
