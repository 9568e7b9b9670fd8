// Which kernel an image gets: the smallest that has what the manifest grants, by what each file says of itself.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "image/kernel_image.h"

namespace ingot::image {

// A kernel that cast looked at.
struct KernelCandidate {
  std::string path;
  std::uint64_t bytes = 0;          // what is loaded of it
  std::vector<std::string> grants;  // what it can grant, in order
  std::vector<std::string> lacks;   // what is granted and it has not

  std::string name() const;    // of its file
  std::string reason() const;  // why it was passed over: "lacks pci", "larger"
};

struct KernelChoice {
  KernelImage image;
  KernelCandidate taken;
  std::vector<KernelCandidate> passed_over;  // smallest first: smaller ones lack something, larger ones are larger
};

// `kernels`: paths of their ELF files; one alone is taken if it has what is granted. Fails where none has it all: the
// error names the rights and what each kernel has.
Result<KernelChoice> choose_kernel(const std::vector<std::string>& kernels, const std::vector<std::string>& rights);

}  // namespace ingot::image
