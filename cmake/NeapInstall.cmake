# One library of all rooms, neap::neap: static, or shared with BUILD_SHARED_LIBS.
# Installed with its public headers, a CMake package and neap.pc.
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY NEAP_ROOMS)
get_property(public_libraries GLOBAL PROPERTY NEAP_ROOM_LIBRARIES)
get_property(private_libraries GLOBAL PROPERTY NEAP_ROOM_PRIVATE_LIBRARIES)
list(REMOVE_DUPLICATES public_libraries)
list(REMOVE_DUPLICATES private_libraries)
list(REMOVE_ITEM private_libraries ${public_libraries})

add_library(neap)
add_library(neap::neap ALIAS neap)
set_target_properties(neap PROPERTIES LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(neap PUBLIC cxx_std_20)
foreach(room IN LISTS rooms)
  target_sources(neap PRIVATE "$<TARGET_OBJECTS:neap_${room}>")
  target_include_directories(neap PUBLIC
    "$<BUILD_INTERFACE:${NEAP_WALLS}/${room}>")
endforeach()
target_include_directories(neap PUBLIC
  "$<BUILD_INTERFACE:${NEAP_WALLS}/umbrella>")
target_link_libraries(neap
  PUBLIC ${public_libraries}
  PRIVATE ${private_libraries} "$<BUILD_INTERFACE:neap_options>")
# Checks change what headers declare: who links a checked build sees the same.
if(NEAP_CHECKED)
  target_compile_definitions(neap PUBLIC NEAP_CHECKED)
  set(pc_cflags "-DNEAP_CHECKED")
endif()

# These belong to no room: they include what users need of all.
file(MAKE_DIRECTORY "${NEAP_WALLS}/umbrella/neap")
foreach(header fmt.hpp neap.hpp)
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/neap/${header}"
    "${NEAP_WALLS}/umbrella/neap/${header}" SYMBOLIC)
endforeach()
# scripts/check_public_headers.py makes the list.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/public_headers.txt" public_headers)
foreach(header IN LISTS public_headers)
  get_filename_component(folder "${header}" DIRECTORY)
  install(FILES "${PROJECT_SOURCE_DIR}/${header}"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}")
endforeach()

set(cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/neap")
install(TARGETS neap EXPORT neapTargets
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT neapTargets NAMESPACE neap:: DESTINATION "${cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/neapConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/neapConfig.cmake"
  "${PROJECT_BINARY_DIR}/neapConfigVersion.cmake" DESTINATION "${cmake_dir}")

# A static library is of no use without what it links, so that neap.pc names it
# as required; of a shared one it is nobody's business.
set(pc_names "fmt::fmt=fmt" "hwy::hwy=libhwy" "ZLIB::ZLIB=zlib"
  "PNG::PNG=libpng" "JPEG::JPEG=libjpeg" "PkgConfig::xxhash=libxxhash"
  "PkgConfig::pcre2=libpcre2-8" "PkgConfig::utf8proc=libutf8proc")
set(pc_requires "")
foreach(pair IN LISTS pc_names)
  string(REPLACE "=" ";" pair "${pair}")
  list(GET pair 0 target)
  list(GET pair 1 module)
  if(target IN_LIST public_libraries OR target IN_LIST private_libraries)
    list(APPEND pc_requires ${module})
  endif()
endforeach()
list(JOIN pc_requires ", " pc_requires)
get_target_property(neap_type neap TYPE)
if(neap_type STREQUAL "STATIC_LIBRARY")
  set(pc_requires_field "Requires")
  set(neap_is_static ON)
else()
  set(pc_requires_field "Requires.private")
  set(neap_is_static OFF)
endif()
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/neapConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/neapConfig.cmake" INSTALL_DESTINATION "${cmake_dir}")
set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH pc_up "/${pc_dir}" "/")
string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/neap.pc.in"
  "${PROJECT_BINARY_DIR}/neap.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/neap.pc" DESTINATION "${pc_dir}")
