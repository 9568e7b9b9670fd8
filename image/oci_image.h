// An OCI image layout, as a folder or as a tar of one (`docker save`, `skopeo copy ... oci:`, `buildah push`): no
// daemon and no registry. Every part is checked against the digest that names it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "image/file_tree.h"

namespace ingot::image {

struct OciImage {
  FileTree root;
  std::vector<std::string> entrypoint, command;  // of the program: command is what may be replaced
  std::vector<std::string> environment;
  std::string directory = "/";
};

// The image for linux/amd64. Where an index names several images, it is the first such one.
Result<OciImage> read_oci_image(const std::string& path);

// One layer on top of the tree: files, links, and what it removes (".wh.NAME", ".wh..wh..opq").
Result<void> apply_layer(const Content& tar, FileTree& root);

}  // namespace ingot::image
