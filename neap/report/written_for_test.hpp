// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "neap/files/door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

using Write = Result<void> (*)(files::Door&, const std::string&,
                               const Snapshot&);

/// The content of the file that an export writes.
inline std::string written(Write write, const Snapshot& s) {
  const files::TemporaryFolder folder;
  EXPECT_TRUE(write(files::system_door(), folder.at("file"), s).has_value());
  return folder.get("file");
}

}  // namespace neap::report
