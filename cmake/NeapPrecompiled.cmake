# Headers that most sources include, compiled once: those of the standard library
# for the rooms and the programs, and GoogleTest's for the tests, too. No room's
# header is among them, so that the walls stay. A source still includes what it
# uses, which clang-tidy and the shared build see, where nothing is precompiled.
# CMAKE_DISABLE_PRECOMPILE_HEADERS turns them off.
set(NEAP_STD_HEADERS
  <algorithm> <array> <atomic> <bit> <cmath> <concepts> <cstdint> <cstring>
  <functional> <initializer_list> <iterator> <limits> <memory> <mutex>
  <numeric> <optional> <span> <string> <string_view> <tuple> <type_traits>
  <unordered_map> <utility> <vector>)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/precompiled.cpp"
  CONTENT "int main() {}\n")

# A target for each kind: g++ takes no header compiled as another kind's.
add_library(neap_std_headers OBJECT "${PROJECT_BINARY_DIR}/precompiled.cpp")
target_link_libraries(neap_std_headers PRIVATE neap_options)
neap_small_options(neap_std_headers kernels)
target_precompile_headers(neap_std_headers PRIVATE ${NEAP_STD_HEADERS})
if(NEAP_SMALL)
  add_library(neap_small_headers OBJECT "${PROJECT_BINARY_DIR}/precompiled.cpp")
  target_link_libraries(neap_small_headers PRIVATE neap_options)
  neap_small_options(neap_small_headers models)
  target_precompile_headers(neap_small_headers PRIVATE ${NEAP_STD_HEADERS})
endif()

# Programs other than tests.
add_executable(neap_program_headers EXCLUDE_FROM_ALL
  "${PROJECT_BINARY_DIR}/precompiled.cpp")
target_link_libraries(neap_program_headers PRIVATE neap_options)
target_precompile_headers(neap_program_headers PRIVATE ${NEAP_STD_HEADERS})

if(NEAP_TESTS)
  add_executable(neap_test_headers "${PROJECT_BINARY_DIR}/precompiled.cpp")
  target_link_libraries(neap_test_headers PRIVATE
    neap_options GTest::gtest GTest::gmock)
  target_precompile_headers(neap_test_headers PRIVATE
    ${NEAP_STD_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
  neap_test_options(neap_test_headers)
endif()
