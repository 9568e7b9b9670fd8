// For tests: an archive as the specification describes it, written independently of the parser.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "os/file/cpio.h"

namespace ingot::os::cpio_archive {

using Field = CpioEntry::Field;

// What to change in an otherwise right entry.
struct Change {
  Field field = Field::count;
  std::uint32_t value = 0;
};

class Archive {
 public:
  Archive& add(const std::string& path, const std::string& content, std::uint32_t mode = 0100644,
               std::vector<Change> changes = {}) {
    std::array<std::uint32_t, Field::count> fields{};
    fields[Field::inode] = ++inode_;
    fields[Field::mode] = mode;
    fields[Field::links] = 1;
    fields[Field::bytes] = static_cast<std::uint32_t>(content.size());
    fields[Field::path_bytes] = static_cast<std::uint32_t>(path.size() + 1);
    for (const Change& change : changes) fields[change.field] = change.value;
    text_ += "070701";
    for (const std::uint32_t field : fields) {
      char digits[9];
      std::snprintf(digits, sizeof digits, "%08X", field);
      text_ += digits;
    }
    text_ += path + '\0';
    pad();
    text_ += content;
    pad();
    return *this;
  }
  Archive& end() { return add("TRAILER!!!", "", 0); }
  Archive& raw(const std::string& bytes) {
    text_ += bytes;
    return *this;
  }
  std::string text() const { return text_; }

 private:
  void pad() { text_.resize((text_.size() + 3) / 4 * 4, '\0'); }
  std::string text_;
  std::uint32_t inode_ = 0;
};

}  // namespace ingot::os::cpio_archive
