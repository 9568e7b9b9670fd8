#include "image/kernel_choice.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "image/build_products.h"
#include "image/cast.h"
#include "image/fake_files.h"

namespace ingot::image {
namespace {

// Three kernels in a folder; their names say nothing, and the order of names is not that of sizes.
struct Kernels {
  TestFolder folder;
  std::vector<std::string> paths;

  Kernels() {
    const GrantNote log("kmsg"), bus("pci"), network("network");
    paths = {folder.put("kernels/a", fake_kernel(1, {log, bus, network}, 300)),
             folder.put("kernels/b", fake_kernel(1, {log})), folder.put("kernels/c", fake_kernel(1, {bus, log}, 200))};
  }
  std::string taken_for(const std::vector<std::string>& rights) const {
    const Result<KernelChoice> choice = choose_kernel(paths, rights);
    return choice.ok() ? choice.value().taken.name() : std::string(choice.error().text());
  }
};

TEST(KernelChoice, TheSmallestWithAllThatIsGrantedIsTaken) {
  const Kernels kernels;
  EXPECT_EQ(kernels.taken_for({}), "b");
  EXPECT_EQ(kernels.taken_for({"kmsg"}), "b");
  EXPECT_EQ(kernels.taken_for({"pci"}), "c");
  EXPECT_EQ(kernels.taken_for({"kmsg", "pci"}), "c");
  EXPECT_EQ(kernels.taken_for({"network"}), "a");
}

TEST(KernelChoice, ItSaysWhyOthersWerePassedOver) {
  const Kernels kernels;
  const KernelChoice choice = choose_kernel(kernels.paths, {"pci"}).value();
  EXPECT_EQ(choice.taken.grants, (std::vector<std::string>{"kmsg", "pci"}));
  EXPECT_EQ(choice.taken.bytes, 0x2000u + 200);
  ASSERT_EQ(choice.passed_over.size(), 2u);
  EXPECT_EQ(choice.passed_over[0].name() + ' ' + choice.passed_over[0].reason(), "b lacks pci");
  EXPECT_EQ(choice.passed_over[1].name() + ' ' + choice.passed_over[1].reason(), "a larger");
}

TEST(KernelChoice, AGrantThatNoKernelHasIsNamedWithWhatThereIs) {
  const Kernels kernels;
  EXPECT_EQ(kernels.taken_for({"kmsg", "gpu"}),
            "expected a kernel that can grant gpu; found b (kmsg), c (kmsg, pci), a (kmsg, network, pci)");
  // Each has one of the two.
  EXPECT_EQ(choose_kernel({kernels.folder.put("left", fake_kernel(1, {GrantNote("left")})),
                           kernels.folder.put("right", fake_kernel(1, {GrantNote("right")}))},
                          {"left", "right"})
                .error()
                .text(),
            "expected a kernel that can grant left, right; found left (left), right (right)");
  // Also where one is asked for by its path.
  EXPECT_EQ(choose_kernel({kernels.folder.put("bare", fake_kernel())}, {"kmsg"}).error().text(),
            "expected a kernel that can grant kmsg; found bare (nothing)");
}

TEST(KernelChoice, AFolderIsAllTheKernelsInIt) {
  const Kernels kernels;
  EXPECT_EQ(kernels_at(kernels.folder.path("kernels")).value(), kernels.paths);
  EXPECT_EQ(kernels_at(kernels.paths[1]).value(), std::vector{kernels.paths[1]});
  const std::string empty = kernels.folder.path("empty");
  std::filesystem::create_directory(empty);
  EXPECT_EQ(kernels_at(empty).error().code(), ErrorCode::not_found);
  kernels.folder.put("kernels/text", "#!/bin/sh");
  EXPECT_NE(std::string(choose_kernel(kernels_at(kernels.folder.path("kernels")).value(), {}).error().text())
                .find("kernels/text': expected an ELF file"),
            std::string::npos);
}

TEST(KernelChoice, TheImageHoldsTheKernelThatWasTaken) {
  const Kernels kernels;
  CastRequest request;
  request.kernels = kernels.paths;
  request.output = kernels.folder.path("image");
  request.program = "/program";
  ASSERT_TRUE(request.root.put_file("/program", 0755, Content::of_bytes(fake_program())).ok());
  request.rights = {"pci"};
  const CastReport report = cast(request).value();
  EXPECT_EQ(report.kernel.name(), "c");
  EXPECT_EQ(report.passed_over.size(), 2u);
  // What was cast announces it, too.
  EXPECT_EQ(KernelImage::parse(kernels.folder.get("image")).value().grants(),
            (std::vector<std::string>{"kmsg", "pci"}));
}

TEST(KernelChoice, DamagedNotesAreSurvived) {
  RandomNumbers numbers(9);
  const std::string whole = fake_kernel(1, {GrantNote("kmsg"), GrantNote("pci")});
  const std::size_t notes = 24 + 2 * sizeof(GrantNote);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    for (std::uint64_t count = 1 + numbers.below(5); count > 0; --count) {
      damaged[0x1800 + numbers.below(notes)] = static_cast<char>(numbers.next());
    }
    const Result<KernelImage> kernel = KernelImage::parse(damaged);
    EXPECT_TRUE(!kernel.ok() || kernel.value().grants().size() <= notes / 12);
  }
}

}  // namespace
}  // namespace ingot::image
