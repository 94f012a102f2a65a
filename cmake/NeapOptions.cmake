# Flags that every target of this project has. -ffp-contract=off is a law:
# multiply-add is fused only where the source says so by name.
add_library(neap_options INTERFACE)
target_compile_options(neap_options INTERFACE
  -ffp-contract=off -fno-math-errno -ffunction-sections -fdata-sections
  -Wall -Wextra -Wpedantic -Wconversion
  -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
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
elseif(NEAP_SANITIZE STREQUAL "thread")
  target_compile_options(neap_options INTERFACE
    -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(neap_options INTERFACE -fsanitize=thread)
  # Threads meet outside the vector code: one set of it is compiled, not two.
  target_compile_definitions(neap_options INTERFACE
    HWY_BROKEN_TARGETS=HWY_AVX3)
endif()
# What a program does not call is left out of it.
target_link_options(neap_options INTERFACE -Wl,--gc-sections)
