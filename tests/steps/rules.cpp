// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "rules.hpp"

#include <algorithm>
#include <vector>

namespace neap::steps {
namespace {

std::vector<const Rule*> all_rules() {
  std::vector<const Rule*> all;
  for (const auto list :
       {value_rules(), state_rules(), gradient_rules(), hook_rules(),
        mode_rules(), scope_rules(), module_rules(), outside_rules()}) {
    for (const Rule& rule : list) {
      all.push_back(&rule);
    }
  }
  return all;
}

}  // namespace

std::span<const Rule* const> rules() {
  static const std::vector<const Rule*> all = all_rules();
  return all;
}

const Rule* find_rule(std::string_view name) {
  const auto all = rules();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Rule* r) { return r->name == name; });
  return found == all.end() ? nullptr : *found;
}

std::vector<std::string_view> forms_of(const Rule& rule) {
  std::vector<std::string_view> forms;
  std::string_view rest = rule.form;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    forms.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return forms;
}

}  // namespace neap::steps
