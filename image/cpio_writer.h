// The bundle: a cpio archive in the newc form (os/file/cpio.h reads it), with the manifest first. Nothing in it depends
// on when, where or by whom it was written: no times, one owner, inodes counted from 1, paths in order.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "image/file_tree.h"

namespace ingot::image {

// The tree's nodes for which `is_inside` holds; directories, links and small files. Fails where a file passes 4 GiB.
Result<std::string> write_bundle(std::string_view manifest, const FileTree& tree,
                                 const std::function<bool(const std::string& path)>& is_inside);

// The content of an archive's first member, which must have this path. For reading back what write_bundle wrote.
Result<std::string_view> first_member(std::string_view archive, std::string_view path);

}  // namespace ingot::image
