#include "image/iso_image.h"

#include <cstdlib>
#include <filesystem>

#include "image/bytes.h"
#include "image/content.h"
#include "image/output_file.h"
#include "image/process.h"

namespace ingot::image {

namespace {

// One moment for everything on the disc: GRUB finds its disc by this date, and equal inputs give equal bytes.
constexpr const char* disc_date = "2024010100000000";
constexpr const char* disc_epoch = "1704067200";

Result<std::string> grub_modules() {
  const char* chosen = std::getenv("INGOT_GRUB_MODULES");
  const std::string folder = chosen != nullptr ? chosen : "/usr/lib/grub/i386-pc";
  std::error_code problem;
  if (!find_program("grub-mkrescue")) {
    return Error::of(ErrorCode::not_found, "expected the program grub-mkrescue, found none: install grub-common");
  }
  if (!find_program("xorriso")) {
    return Error::of(ErrorCode::not_found, "expected the program xorriso, found none: install xorriso");
  }
  if (std::filesystem::is_directory(folder, problem)) return folder;
  return Error::of(ErrorCode::not_found, "expected GRUB's modules for PCs in '", folder,
                   "', found none: install grub-pc-bin, or name their folder in INGOT_GRUB_MODULES");
}

}  // namespace

Result<std::uint64_t> write_iso(const std::string& output, const std::string& options,
                                const std::function<Result<void>(const std::string&)>& write_kernel,
                                std::uint64_t kernel_bytes) {
  const std::string modules = TRY(grub_modules());
  // Checks the name and the room before any work; GRUB and the disc's own tables take some more.
  OutputFile file = TRY(OutputFile::create(output, kernel_bytes + (8 << 20)));
  const TemporaryFolder folder = TRY(TemporaryFolder::create());
  std::error_code problem;
  std::filesystem::create_directories(folder.path() + "/disc/boot/grub", problem);
  TRY(write_kernel(folder.path() + "/disc/boot/kernel"));
  OutputFile configuration = TRY(OutputFile::create(folder.path() + "/disc/boot/grub/grub.cfg", 512));
  TRY(configuration.write("set timeout=0\nmultiboot2 /boot/kernel " + options + "\nboot\n"));
  TRY(configuration.commit());

  const std::string disc = folder.path() + "/disc.iso";
  std::string complaints;
  const ProcessEnd end =
      TRY(run_process({.words = {"grub-mkrescue", "--directory=" + modules, "-o", disc, folder.path() + "/disc", "--",
                                 "-volume_date", "uuid", disc_date, "-volume_date", "all_file_dates", "set_to_mtime",
                                 "-alter_date_r", "b", "=" + std::string(disc_epoch), "/", "--"},
                       .environment = {std::string("SOURCE_DATE_EPOCH=") + disc_epoch},
                       .silenced = {0, 1},
                       .channels = {{2, [&](std::string_view text) { complaints += text; }}}}));
  if (end.status != 0) {
    const std::string_view last =
        std::string_view(complaints).substr(complaints.size() - std::min<std::size_t>(complaints.size(), 200));
    return Error::of(ErrorCode::input_output, "expected grub-mkrescue to make a disc, found status ", end.status, ": ",
                     last);
  }
  const Content made = TRY(Content::of_file(disc));
  TRY(file.write(made));
  TRY(file.commit());
  return made.size();
}

}  // namespace ingot::image
