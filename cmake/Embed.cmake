# Writes a C file that holds other files as arrays of bytes. Run as a script:
#
#   cmake -DOUT=page.c "-DARRAYS=NAME=FILE,FILE|NAME=FILE" -P Embed.cmake
#
# The files of an array are joined. Needs no tool but CMake itself.
cmake_minimum_required(VERSION 3.16)

set(text "// Made by cmake/Embed.cmake.\n#include <stddef.h>\n")
string(REPLACE "|" ";" arrays "${ARRAYS}")
foreach(array IN LISTS arrays)
  string(REGEX MATCH "^([^=]+)=(.*)$" matched "${array}")
  set(name ${CMAKE_MATCH_1})
  string(REPLACE "," ";" files "${CMAKE_MATCH_2}")
  set(bytes "")
  foreach(file IN LISTS files)
    file(READ "${file}" hex HEX)
    string(APPEND bytes "${hex}")
  endforeach()
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND text "extern const unsigned char ${name}[];\nextern const size_t ${name}_size;\n"
    "const unsigned char ${name}[] = {\n${bytes}0};\nconst size_t ${name}_size = ${size};\n")
endforeach()
file(WRITE "${OUT}" "${text}")
