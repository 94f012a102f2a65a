# A room is one static library that sees the headers of the rooms it links and
# of no others: every room has an include root of its own, holding one link to
# its folder. ARCHITECTURE.md lists the ranks; this file enforces them.
#
#   neap_room(<name> SOURCES ... [ROOMS ...] [LIBRARIES ...]
#             [PRIVATE_LIBRARIES ...])
#   neap_room_test(<name> <file>... [ROOMS ...] [LIBRARIES ...] [LABELS ...])
#   neap_room_bench(<name> <file>... [ROOMS ...] [LIBRARIES ...])
include(GNUInstallDirs)

set(NEAP_WALLS "${PROJECT_BINARY_DIR}/walls")

# Which rooms a room or a test links, and the test's sources, a line each: for
# scripts/changed_tests.py.
set(NEAP_LINKS "${PROJECT_BINARY_DIR}/links.txt")
file(WRITE "${NEAP_LINKS}" "")

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
  neap_small_options(neap_${name} ${name})
  if(NEAP_SMALL AND NOT name IN_LIST NEAP_FAST_ROOMS)
    target_precompile_headers(neap_${name} REUSE_FROM neap_small_headers)
  else()
    target_precompile_headers(neap_${name} REUSE_FROM neap_std_headers)
  endif()
  file(APPEND "${NEAP_LINKS}" "room ${name} : ${ROOM_ROOMS}\n")
  set_property(GLOBAL APPEND PROPERTY NEAP_ROOMS ${name})
  set_property(GLOBAL APPEND PROPERTY NEAP_ROOM_LIBRARIES ${ROOM_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY NEAP_ROOM_PRIVATE_LIBRARIES
    ${ROOM_PRIVATE_LIBRARIES})
endfunction()

# The tests of an executable as few ctest cases, each of a share of them. A
# program with sanitizers takes long to start, and there are thousands of tests.
function(neap_test_shares target files labels)
  list(LENGTH files count)
  math(EXPR shares "1 + ${count} / 16")
  math(EXPR last "${shares} - 1")
  foreach(share RANGE ${last})
    add_test(NAME ${target}.${share} COMMAND ${target} --gtest_brief=1)
    set_tests_properties(${target}.${share} PROPERTIES
      TIMEOUT 1200 LABELS "${labels}" ENVIRONMENT
      "GTEST_TOTAL_SHARDS=${shares};GTEST_SHARD_INDEX=${share}")
  endforeach()
endfunction()

# A test's own code runs for a moment and takes longest to build. The library is
# what users get.
function(neap_test_options target)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O1)
  endif()
  # g++ 12 takes copies of short strings for writes beyond them (its bug 105651),
  # and says so where their header is a precompiled one.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE
      -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
  endif()
  # Each access is checked by a call, which is as thorough as code in its place,
  # slower to run and much faster to compile.
  if(NEAP_SANITIZE STREQUAL "address")
    target_compile_options(${target} PRIVATE
      "SHELL:--param asan-instrumentation-with-call-threshold=0")
    set_target_properties(${target} PROPERTIES NEAP_IS_TEST ON)
  endif()
endfunction()

# One executable of tests; each TEST is a ctest case of its own, but where there
# are sanitizers.
#   neap_test(<executable> <file>... [ROOMS ...] [LIBRARIES ...] [LABELS ...])
function(neap_test target)
  cmake_parse_arguments(TEST "" "" "ROOMS;LABELS;LIBRARIES" ${ARGN})
  if(NOT NEAP_TESTS)
    return()
  endif()
  # ThreadSanitizer has nothing to say of the others, and takes its time.
  if(NEAP_SANITIZE STREQUAL "thread" AND NOT "tsan" IN_LIST TEST_LABELS)
    return()
  endif()
  # Nor does ./dev soak build with sanitizers.
  if(NEAP_SANITIZE AND TEST_LABELS MATCHES "^(slow|soak)$")
    return()
  endif()
  # Where there is a door, every test must give back what it took.
  set(main GTest::gtest_main)
  if(TARGET neap_memory)
    set(main neap_test_main)
    if(NOT TARGET neap_test_main)
      add_library(neap_test_main STATIC
        "${PROJECT_SOURCE_DIR}/tests/support/zero_live_main.cpp")
      target_link_libraries(neap_test_main
        PRIVATE neap_memory neap_options GTest::gtest GTest::gmock)
    endif()
  endif()
  add_executable(${target} ${TEST_UNPARSED_ARGUMENTS})
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  list(TRANSFORM TEST_UNPARSED_ARGUMENTS PREPEND "${folder}/"
    OUTPUT_VARIABLE sources)
  file(APPEND "${NEAP_LINKS}" "test ${target} : ${TEST_ROOMS};${TEST_LIBRARIES} : ${sources}\n")
  list(TRANSFORM TEST_ROOMS PREPEND neap_)
  target_link_libraries(${target} PRIVATE ${TEST_ROOMS}
    neap_options fmt::fmt ${main} GTest::gtest GTest::gmock
    ${TEST_LIBRARIES})
  neap_test_options(${target})
  target_precompile_headers(${target} REUSE_FROM neap_test_headers)
  if(NOT TEST_LABELS)
    set(TEST_LABELS unit)
  endif()
  if(NEAP_SANITIZE)
    neap_test_shares(${target} "${TEST_UNPARSED_ARGUMENTS}" "${TEST_LABELS}")
    return()
  endif()
  # Discovery hands its properties on several times, and each time a level of
  # escapes goes: this many keep a list of labels one argument to the end.
  string(REPEAT "\\" 8 escapes)
  string(REPLACE ";" "${escapes};" labels "${TEST_LABELS}")
  gtest_discover_tests(${target}
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 300 LABELS "${labels}")
endfunction()

# The tests of a room, neap_<name>_test.
function(neap_room_test name)
  if(TARGET neap_${name})
    neap_test(neap_${name}_test ${ARGN} ROOMS ${name})
  else()
    neap_test(neap_${name}_test ${ARGN})
  endif()
endfunction()

# The micro-benchmarks of a room, neap_<name>_bench; ./dev bench runs them.
function(neap_room_bench name)
  cmake_parse_arguments(BENCH "" "" "ROOMS;LIBRARIES" ${ARGN})
  if(NOT NEAP_BENCH)
    return()
  endif()
  add_executable(neap_${name}_bench ${BENCH_UNPARSED_ARGUMENTS})
  list(TRANSFORM BENCH_ROOMS PREPEND neap_)
  target_link_libraries(neap_${name}_bench PRIVATE neap_${name} ${BENCH_ROOMS}
    neap_options fmt::fmt benchmark::benchmark benchmark::benchmark_main
    ${BENCH_LIBRARIES})
endfunction()
