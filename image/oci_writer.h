// Writes a container's image without a daemon: an OCI layout in a tar, with the list that `docker load` of every age
// reads beside the index. Equal inputs give equal bytes: no times, one owner, paths in order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "image/oci_image.h"

namespace ingot::image {

struct OciRequest {
  OciImage image;                    // becomes one layer; the entrypoint's first word is a static program in it
  std::string output;                // the tar
  std::string name;                  // that it is loaded as: "server:latest"
  std::vector<std::uint16_t> ports;  // that it listens on
  std::vector<std::pair<std::string, std::string>> labels{};  // what it says of itself

  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};  // may be empty
};

struct OciReport {
  std::string architecture;  // as OCI names it: amd64, arm64
  std::uint64_t file_bytes = 0, layer_bytes = 0;
  std::string digest;  // of the image's manifest, 64 hexadecimal digits; empty where nothing was written
};

Result<OciReport> write_oci_image(const OciRequest& request);

// The same without writing: what would be refused is refused.
Result<OciReport> check_oci_image(const OciRequest& request);

}  // namespace ingot::image
