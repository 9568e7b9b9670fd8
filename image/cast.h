// Cast: a kernel, a root and a manifest become one bootable file. Equal inputs give equal bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/image/image_table.h"
#include "base/result.h"
#include "image/file_tree.h"
#include "image/kernel_choice.h"

namespace ingot::image {

enum class ImageFormat : std::uint8_t { elf, disk, iso };

struct CastRequest {
  std::vector<std::string> kernels;  // ELF files: the smallest that can grant what is granted is taken
  std::string loader;                // BOOTX64.EFI, for disks
  std::string options;  // the kernel's command line on disks and discs; an ELF image's loader brings its own
  std::string output;
  std::vector<std::string> sources;  // files and folders that the root was read from, beside those that it names
  ImageFormat format = ImageFormat::elf;

  FileTree root;
  std::string program;  // a path in the root
  std::vector<std::string> arguments, default_arguments, environment;
  std::string directory = "/";
  std::vector<std::string> consumed;  // paths of large files
  std::vector<std::string> rights;
  std::vector<std::string> network;  // how it gets an address, with the right `network`: base/image/network_settings.h
  bool traces_system_calls = false;

  std::optional<std::uint64_t> memory_limit, tmpfs, descriptors;  // of the program
  std::uint64_t anonymous = 64 << 20;                             // what the program needs beside its files
  std::optional<std::uint64_t> machine_memory;  // checked against what is needed; nothing: what is needed
  std::optional<std::uint32_t> machine_cpus;

  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // may be empty
};

struct CastReport {
  struct Segment {
    std::string path;
    ImagePart part;
  };
  KernelCandidate kernel;                    // that was taken
  std::vector<KernelCandidate> passed_over;  // smallest first
  std::uint64_t file_bytes = 0;
  std::uint64_t bundle_bytes = 0;
  std::vector<Segment> segments;
  std::uint64_t least_memory = 0;            // the smallest machine
  std::uint64_t machine_memory = 0;          // what `ingot boot` gives it
  std::vector<std::string> missing_calls;    // that the program or a library of its may make
  std::vector<std::string> tried_calls;      // missing, too, and C libraries do without them
  std::size_t missing_in_the_c_library = 0;  // further ones, which neither names
  std::string manifest;
};

// Files from this size on get a segment of their own, the 30 largest if there are more.
inline constexpr std::uint64_t segment_from_bytes = ImageTable::segment_alignment;

Result<CastReport> cast(const CastRequest& request);

// The same without writing: what would be refused is refused.
Result<CastReport> check_cast(const CastRequest& request);

}  // namespace ingot::image
