#include "image/kernel_choice.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "image/bytes.h"
#include "image/content.h"

namespace ingot::image {

namespace {

constexpr std::uint64_t largest_kernel = 64 << 20;

struct Candidate {
  KernelCandidate facts;
  KernelImage image;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Result<Candidate> read_candidate(const std::string& path, const std::vector<std::string>& rights) {
  const Content file = TRY(Content::of_file(path));
  Result<KernelImage> parsed = KernelImage::parse(TRY(file.read(largest_kernel)));
  if (!parsed.ok()) return parsed.error().within("kernel '", shortened(path), "'");
  Candidate candidate{{path, parsed.value().bytes(), parsed.value().grants(), {}}, std::move(parsed).value()};
  for (const std::string& right : rights) {
    if (!contains(candidate.facts.grants, right)) candidate.facts.lacks.push_back(right);
  }
  return candidate;
}

// The rights that no kernel has; where each is somewhere, all of them: no kernel has them together.
Error refusal(const std::vector<Candidate>& candidates, const std::vector<std::string>& rights) {
  std::vector<std::string> missing;
  for (const std::string& right : rights) {
    const bool found = std::any_of(candidates.begin(), candidates.end(),
                                   [&](const Candidate& each) { return contains(each.facts.grants, right); });
    if (!found && !contains(missing, right)) missing.push_back(right);
  }
  std::string kernels;
  for (const Candidate& each : candidates) {
    const std::string grants = joined(each.facts.grants);
    kernels += (kernels.empty() ? "" : ", ") + each.facts.name() + " (" + (grants.empty() ? "nothing" : grants) + ")";
  }
  return Error::of(ErrorCode::not_found, "expected a kernel that can grant ",
                   std::string_view(joined(missing.empty() ? rights : missing)), "; found ", std::string_view(kernels));
}

}  // namespace

std::string KernelCandidate::name() const { return std::filesystem::path(path).filename().string(); }

std::string KernelCandidate::reason() const { return lacks.empty() ? "larger" : "lacks " + joined(lacks); }

Result<KernelChoice> choose_kernel(const std::vector<std::string>& kernels, const std::vector<std::string>& rights) {
  std::vector<Candidate> candidates;
  for (const std::string& path : kernels) candidates.push_back(TRY(read_candidate(path, rights)));
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& left, const Candidate& right) {
    return std::tie(left.facts.bytes, left.facts.path) < std::tie(right.facts.bytes, right.facts.path);
  });
  const auto taken = std::find_if(candidates.begin(), candidates.end(),
                                  [](const Candidate& each) { return each.facts.lacks.empty(); });
  if (taken == candidates.end()) return refusal(candidates, rights);
  KernelChoice choice{std::move(taken->image), std::move(taken->facts), {}};
  for (auto each = candidates.begin(); each != candidates.end(); ++each) {
    if (each != taken) choice.passed_over.push_back(std::move(each->facts));
  }
  return choice;
}

}  // namespace ingot::image
