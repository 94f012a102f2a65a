# A room is one static library that sees the headers of the rooms it links and
# of no others: every room has an include root of its own, holding one link to
# its folder. ARCHITECTURE.md lists the ranks; this file enforces them.
#
#   neap_room(<name> SOURCES ... [ROOMS ...] [LIBRARIES ...]
#             [PRIVATE_LIBRARIES ...])
#   neap_room_test(<name> <file>... [ROOMS ...] [LABELS ...])
include(GNUInstallDirs)

set(NEAP_WALLS "${PROJECT_BINARY_DIR}/walls")

function(neap_room name)
  cmake_parse_arguments(ROOM "" ""
    "SOURCES;ROOMS;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  file(MAKE_DIRECTORY "${NEAP_WALLS}/${name}/neap")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}"
    "${NEAP_WALLS}/${name}/neap/${name}" SYMBOLIC)

  add_library(neap_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(neap_${name} PUBLIC
    "$<BUILD_INTERFACE:${NEAP_WALLS}/${name}>")
  list(TRANSFORM ROOM_ROOMS PREPEND neap_)
  target_link_libraries(neap_${name}
    PUBLIC ${ROOM_ROOMS} ${ROOM_LIBRARIES}
    PRIVATE neap_options ${ROOM_PRIVATE_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY NEAP_ROOMS ${name})
  set_property(GLOBAL APPEND PROPERTY NEAP_ROOM_LIBRARIES ${ROOM_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY NEAP_ROOM_PRIVATE_LIBRARIES
    ${ROOM_PRIVATE_LIBRARIES})
endfunction()

# One executable per room's tests; each TEST is a ctest case of its own.
function(neap_room_test name)
  cmake_parse_arguments(TEST "" "" "ROOMS;LABELS;LIBRARIES" ${ARGN})
  if(NOT NEAP_TESTS)
    return()
  endif()
  add_executable(neap_${name}_test ${TEST_UNPARSED_ARGUMENTS})
  list(TRANSFORM TEST_ROOMS PREPEND neap_)
  if(TARGET neap_${name})
    list(PREPEND TEST_ROOMS neap_${name})
  endif()
  target_link_libraries(neap_${name}_test PRIVATE ${TEST_ROOMS}
    neap_options fmt::fmt GTest::gtest GTest::gmock GTest::gtest_main
    ${TEST_LIBRARIES})
  if(NOT TEST_LABELS)
    set(TEST_LABELS unit)
  endif()
  gtest_discover_tests(neap_${name}_test
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 300 LABELS "${TEST_LABELS}")
endfunction()
