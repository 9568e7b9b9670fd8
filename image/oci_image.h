// An OCI image layout, as a folder or as a tar of one (`docker save`, `skopeo copy ... oci:`, `buildah push`): no
// daemon and no registry. Every part is checked against the size and digest that name it, every layer against the
// digest that the image's configuration has of it unpacked. Nothing is used before it was checked, and what is checked
// is what goes into the image, whoever changes files meanwhile: it is held in memory, or its digest is held until it is
// written.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "image/file_tree.h"
#include "image/oci_layer.h"

namespace ingot::image {

struct OciImage {
  FileTree root;
  std::vector<std::string> entrypoint, command;  // of the program: command is what may be replaced
  std::vector<std::string> environment;
  std::string directory = "/";
};

// The image for linux/amd64. Where an index names several images, it is the first such one.
Result<OciImage> read_oci_image(const std::string& path, const LayerLimits& limits = {});
// The same of a tar.
Result<OciImage> read_oci_archive(const Content& tar, const LayerLimits& limits = {});

}  // namespace ingot::image
