# What is installed: libstowage, and libraries that stand on it.

# stowage_library(PREFIX OUTPUT ROOMS a b … [LINKS …]): stowage::<PREFIX>static and
# stowage::<PREFIX>shared of rooms, their .pc file, and how they are installed. A library with a
# prefix stands on libstowage. Symbols have versions: public ones the node of the minor version,
# which is in the SONAME too as long as the major one is 0; those for our other libraries
# (src/base/shared.h) the node of the full version.
function(stowage_library prefix output)
  cmake_parse_arguments(L "" "" "ROOMS;LINKS" ${ARGN})
  list(TRANSFORM L_ROOMS REPLACE "(.+)" "$<TARGET_OBJECTS:room_\\1>")
  string(TOUPPER ${output} NODE)
  string(REPLACE - _ NODE ${NODE})
  set(map ${CMAKE_CURRENT_BINARY_DIR}/${output}.map)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/library.map.in ${map} @ONLY)
  set(static stowage_${prefix}static)
  set(shared stowage_${prefix}shared)

  add_library(${static} STATIC ${L_ROOMS})
  add_library(${shared} SHARED ${L_ROOMS})
  foreach(kind IN ITEMS static shared)
    add_library(stowage::${prefix}${kind} ALIAS ${${kind}})
    target_include_directories(${${kind}} PUBLIC
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    if(prefix)
      target_link_libraries(${${kind}} PUBLIC stowage_${kind})
    endif()
    target_link_libraries(${${kind}} PRIVATE $<BUILD_INTERFACE:stowage_flags> ${L_LINKS})
    set_target_properties(${${kind}} PROPERTIES
      OUTPUT_NAME ${output} EXPORT_NAME ${prefix}${kind} LINKER_LANGUAGE C)
  endforeach()

  set_target_properties(${shared} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LINK_DEPENDS ${map})
  if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang" AND NOT APPLE)
    target_link_options(${shared} PRIVATE -Wl,--version-script=${map})
    if(NOT STOWAGE_SANITIZE) # clang keeps the sanitizers' runtime in the program
      target_link_options(${shared} PRIVATE -Wl,--no-undefined)
    endif()
  endif()

  install(TARGETS ${static} ${shared} EXPORT stowage-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # Relative, so that the installed tree can be moved and `cmake --install --prefix` works.
  file(RELATIVE_PATH PREFIX_FROM_PKGCONFIG
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${output}.pc.in
    ${CMAKE_CURRENT_BINARY_DIR}/${output}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${output}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
