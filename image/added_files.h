// Files and folders of the host for an image's root, as `--file SOURCE=DESTINATION` names them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "image/file_tree.h"

namespace ingot::image {

class AddedFiles {
 public:
  // Whether it is SOURCE=DESTINATION with an absolute destination.
  static Result<void> check_spelling(const std::string& option);

  // A file, or a folder with all that is in it; links stay links. Two of them may meet in a folder, and of a folder's
  // files those that come later replace those before; what would replace a file that was named by itself is refused.
  // A file that its group or others cannot read is not theirs to read in the image.
  // Precondition: check_spelling.
  Result<void> add(const std::string& option, FileTree& root);

 private:
  struct Added {
    std::string option, destination;  // where it is in the tree, links followed
    bool is_folder = false;
  };
  Result<void> check_place(const Added& added) const;
  Result<void> check_entry(const Added& folder, const std::string& place, bool is_folder) const;
  Result<void> add_content(const Added& folder, const std::string& source, FileTree& root) const;

  std::vector<Added> added_;
};

}  // namespace ingot::image
