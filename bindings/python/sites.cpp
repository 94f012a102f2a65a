// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "sites.hpp"

#include <array>
#include <string>
#include <unordered_set>

namespace neap::python {
namespace {

namespace nb = nanobind;

constexpr std::size_t kMaxTexts = 3 * kMaxCodeObjects;
constexpr std::size_t kSlots = 2 * kMaxCodeObjects;  // a power of two

// A code object that was met. The table holds a reference to it, so that its
// address stays its own.
struct Known {
  PyCodeObject* code = nullptr;
  const char* file = "";
  const char* function = "";
  bool is_ours = false;
};

// The line of an instruction. Python looks for it from the function's start,
// which takes longer than a small operation.
struct Line {
  const Known* known = nullptr;
  long instruction = -1;
  int line = 0;
};
constexpr std::size_t kLines = 4096;  // a power of two; later ones replace

struct Table {
  std::array<Known, kSlots> slots{};  // an open-addressing hash
  std::array<Line, kLines> lines{};
  int count = 0;
  std::unordered_set<std::string> texts;  // nodes keep their address
  std::string folder;
};

// Never destroyed: call sites are asked for until the process ends.
Table& table() {
  static Table* const instance = new Table;
  return *instance;
}

std::string text_of(PyCodeObject* code, const char* attribute) {
  const nb::object value = nb::steal(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(code), attribute));
  if (!value.is_valid()) {
    PyErr_Clear();
    return {};
  }
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (text == nullptr) {
    PyErr_Clear();
    return {};
  }
  return {text, static_cast<std::size_t>(size)};
}

Known describe(PyCodeObject* code) {
  Table& t = table();
  const std::string file = text_of(code, "co_filename");
  std::string function = text_of(code, "co_qualname");  // from Python 3.11 on
  if (function.empty()) {
    function = text_of(code, "co_name");
  }
  Known known;
  known.code = code;
  known.file = kept_text(file);
  known.function = kept_text(function);
  known.is_ours = !t.folder.empty() && file.starts_with(t.folder);
  return known;
}

// nullptr: the table is full.
const Known* find(PyCodeObject* code) {
  Table& t = table();
  const auto key = reinterpret_cast<std::uintptr_t>(code) >> 4U;
  std::size_t slot = (key * 0x9E3779B97F4A7C15U >> 40U) & (kSlots - 1);
  for (; t.slots[slot].code != nullptr; slot = (slot + 1) & (kSlots - 1)) {
    if (t.slots[slot].code == code) {
      return &t.slots[slot];
    }
  }
  if (t.count == kMaxCodeObjects) {
    return nullptr;
  }
  t.slots[slot] = describe(code);
  Py_INCREF(reinterpret_cast<PyObject*>(code));
  ++t.count;
  return &t.slots[slot];
}

// The number of the instruction that a frame is at; -1: not known.
long instruction_of(PyFrameObject* frame) {
  static PyObject* const name = PyUnicode_InternFromString("f_lasti");
  const nb::object number =
      nb::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(frame), name));
  return number.is_valid() ? PyLong_AsLong(number.ptr()) : -1;
}

int line_of(PyFrameObject* frame, const Known* known) {
  const long instruction = instruction_of(frame);
  const auto key = (reinterpret_cast<std::uintptr_t>(known) >> 3U) * 31 +
                   static_cast<std::uintptr_t>(instruction);
  Line& line = table().lines[key & (kLines - 1)];
  if (line.known != known || line.instruction != instruction ||
      instruction < 0) {
    line = {known, instruction, PyFrame_GetLineNumber(frame)};
  }
  return line.line;
}

CallSite find_site() {
  PyFrameObject* at = PyEval_GetFrame();  // borrowed
  nb::object owner;                       // of `at`, for outer frames
  while (at != nullptr) {
    PyCodeObject* code = PyFrame_GetCode(at);
    const Known* known = find(code);
    Py_DECREF(reinterpret_cast<PyObject*>(code));
    if (known == nullptr) {
      return {};
    }
    if (!known->is_ours) {
      return {known->file, known->function, line_of(at, known)};
    }
    owner = nb::steal(
        PyObject_GetAttrString(reinterpret_cast<PyObject*>(at), "f_back"));
    if (!owner.is_valid() || owner.is_none()) {
      break;
    }
    at = reinterpret_cast<PyFrameObject*>(owner.ptr());
  }
  return {};
}

}  // namespace

CallSite here() noexcept {
  try {
    const CallSite site = find_site();
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
    }
    return site;
  } catch (...) {  // no memory for a text
    return {};
  }
}

const char* kept_text(std::string_view text) {
  Table& t = table();
  if (t.texts.size() >= kMaxTexts && !t.texts.contains(std::string(text))) {
    return "(further names)";
  }
  return t.texts.emplace(text).first->c_str();
}

void set_package_folder(std::string_view folder) {
  table().folder = folder;
}

int known_code_objects() noexcept {
  return table().count;
}

}  // namespace neap::python
