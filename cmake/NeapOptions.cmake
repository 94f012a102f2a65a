# Flags that every target of this project has. -ffp-contract=off is a law:
# multiply-add is fused only where the source says so by name.
add_library(neap_options INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # for ccache, with precompiled headers
  target_compile_options(neap_options INTERFACE -fpch-preprocess)
endif()
target_compile_options(neap_options INTERFACE
  -ffp-contract=off -fno-math-errno -ffunction-sections -fdata-sections
  -Wall -Wextra -Wpedantic -Wconversion
  -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
# std::stable_sort of libstdc++ 12 calls what libstdc++ 12 calls deprecated.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(neap_options INTERFACE -Wno-deprecated-declarations)
endif()
# Highway's NEON takes the instructions for AES along, which is a mismatch
# wherever it is inlined into what does not.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  target_compile_options(neap_options INTERFACE -march=armv8-a+crypto)
endif()
if(NEAP_STRICT)
  target_compile_options(neap_options INTERFACE -Werror)
endif()
if(NEAP_CHECKED)
  target_compile_definitions(neap_options INTERFACE NEAP_CHECKED)
endif()
if(NEAP_SANITIZE STREQUAL "address")
  target_compile_options(neap_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(neap_options INTERFACE -fsanitize=address,undefined)
  # The address sanitizer finds what these checks find, and takes less time.
  target_compile_options(neap_options INTERFACE -fno-sanitize=object-size,null)
  # A test's own code is not what these are for; they are a fifth of its build.
  target_compile_options(neap_options INTERFACE
    $<$<BOOL:$<TARGET_PROPERTY:NEAP_IS_TEST>>:-fno-sanitize=alignment,vptr>)
  # Only the best vector code that this processor has would run: the other sets
  # are left out, and with them half of the time that the kernels take to build.
  set(unused_target HWY_AVX3)
  if(EXISTS /proc/cpuinfo)
    file(STRINGS /proc/cpuinfo flags REGEX "^flags" LIMIT_COUNT 1)
    if(flags MATCHES " avx512f( |$)" AND flags MATCHES " avx512vl( |$)"
        AND flags MATCHES " avx512bw( |$)" AND flags MATCHES " avx512dq( |$)"
        AND flags MATCHES " avx512cd( |$)")
      set(unused_target HWY_AVX2)
    endif()
  endif()
  target_compile_definitions(neap_options INTERFACE
    "HWY_BROKEN_TARGETS=(${unused_target}|HWY_SSE4)")
elseif(NEAP_SANITIZE STREQUAL "thread")
  target_compile_options(neap_options INTERFACE
    -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(neap_options INTERFACE -fsanitize=thread)
  # Threads meet outside the vector code: one set of it is compiled, not two.
  target_compile_definitions(neap_options INTERFACE
    "HWY_BROKEN_TARGETS=(HWY_AVX3|HWY_SSE4)")
endif()
# What a program does not call is left out of it. Sanitizers refer to everything:
# there nothing would be, and each program is a hundred megabytes to link.
if(NOT NEAP_SANITIZE)
  target_link_options(neap_options INTERFACE -Wl,--gc-sections)
else()
  find_program(NEAP_LLD ld.lld)
  if(NEAP_LLD)
    target_link_options(neap_options INTERFACE -fuse-ld=lld)
  endif()
endif()

# NEAP_SMALL: the rooms in which a step or a search for a plan spends its time
# are compiled for speed, though without the copies of loops that -O3 makes; all
# others for size. Neither changes a bit of any result.
set(NEAP_FAST_ROOMS threads memory planner budget tensor kernels graph autograd)
set(NEAP_FAST_FLAGS -O2 -ftree-vectorize)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND NEAP_FAST_FLAGS -fvect-cost-model=dynamic)  # that of -O3
endif()
function(neap_small_options target room)
  if(NEAP_SMALL AND room IN_LIST NEAP_FAST_ROOMS)
    target_compile_options(${target} PRIVATE ${NEAP_FAST_FLAGS})
  elseif(NEAP_SMALL)
    target_compile_options(${target} PRIVATE -Os)
  endif()
endfunction()
