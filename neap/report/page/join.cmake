# Joins the assets of the memory page into a C++ source:
#   cmake -DOUT=page_assets.cpp -P join.cmake
# Scripts and style lose their indents, empty lines, and comments that are lines
# of their own: the page has at most 60 KB of them.
function(read_slim out)
  set(all "")
  foreach(name ${ARGN})
    file(READ "${CMAKE_CURRENT_LIST_DIR}/${name}" text)
    string(APPEND all "${text}")
  endforeach()
  string(REGEX REPLACE "\n[ \t]+" "\n" all "\n${all}")
  string(REGEX REPLACE "\n//[^\n]*" "" all "${all}")
  string(REGEX REPLACE "\n/[*][*][^\n]*[*]/" "" all "${all}")
  string(REGEX REPLACE "\n\n+" "\n" all "${all}")
  string(REGEX REPLACE "^\n" "" all "${all}")
  set(${out} "${all}" PARENT_SCOPE)
endfunction()

# A raw string of C++ may have at most 65 536 characters in some compilers.
function(literal out text)
  set(code "")
  string(LENGTH "${text}" left)
  set(at 0)
  while(at LESS left)
    string(SUBSTRING "${text}" ${at} 16000 part)
    string(APPEND code "R\"neap_page(${part})neap_page\"\n")
    math(EXPR at "${at} + 16000")
  endwhile()
  set(${out} "${code}" PARENT_SCOPE)
endfunction()

read_slim(script load.js model.js picture.js map.js areas.js panel.js below.js
  diff.js main.js)
read_slim(style page.css)
file(READ "${CMAKE_CURRENT_LIST_DIR}/page.html" frame)
literal(script "${script}")
literal(style "${style}")
literal(frame "${frame}")
file(WRITE "${OUT}" "// Made by join.cmake of neap/report/page.
#include \"neap/report/page_assets.hpp\"

namespace neap::report {

namespace {

// Arrays: literals alone would stand among the texts of messages.
constexpr char kFrame[] = ${frame};
constexpr char kStyle[] = ${style};
constexpr char kScript[] = ${script};

}  // namespace

const std::string_view kPageFrame(kFrame, sizeof(kFrame) - 1);
const std::string_view kPageStyle(kStyle, sizeof(kStyle) - 1);
const std::string_view kPageScript(kScript, sizeof(kScript) - 1);

}  // namespace neap::report
")
