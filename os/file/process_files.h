// ProcessFiles: everything of files that one process has: the tree it sees, its descriptors, where it stands.
#pragma once

#include <optional>
#include <span>

#include "os/boot/memory_map.h"
#include "os/file/channels/message_queue.h"
#include "os/file/descriptor_table.h"
#include "os/file/file_tree.h"
#include "os/file/program_device.h"
#include "os/file/socket/local_sockets.h"
#include "os/file/socket/socket_family.h"
#include "os/file/synthetic/dev_directory.h"
#include "os/file/synthetic/reports.h"
#include "os/memory/owned.h"

namespace ingot::os {

// A large file of the image.
struct ImageSegment {
  std::string_view path;
  PhysicalAddress physical;
  std::uint64_t bytes = 0;
  std::uint32_t permissions = 0;
  bool consumed = false;
};

// What a tree is made of. Of it, the objects that are pointed at, and the archives, outlive the process.
struct TreePlan {
  PhysicalAddress archives;                // cpio, where the loader put it
  std::uint64_t archive_bytes = 0;         // none: an empty root
  std::string_view hidden;                 // a path in the archives that the program shall not see
  std::span<const PhysicalRange> initrds;  // more archives, whose files hold; or else one file, /initrd
  std::span<const ImageSegment> segments;
  std::uint64_t tmpfs_bytes = 0;  // none: nothing can be written
  MachineReport* system = nullptr;
  ProcessReport* process = nullptr;
  RandomSource* random = nullptr;
  DeviceOpener* console = nullptr;         // none: no /dev/console and /dev/tty
  std::span<const ProgramDevice> devices;  // what it was granted besides
  SocketFamilies families;                 // as well
};

class ProcessFiles final : private SocketPlaces {
 public:
  // `services` without its lock of names, which is this object's own.
  static Result<Owned<ProcessFiles>> create(const FileServices& services);
  explicit ProcessFiles(const FileServices& services);
  ProcessFiles(const ProcessFiles&) = delete;
  ProcessFiles& operator=(const ProcessFiles&) = delete;
  ~ProcessFiles();

  // Once, before the program runs.
  Result<void> build(const TreePlan& plan);
  // Opens the console as 0, 1 and 2.
  Result<void> open_standard_files();
  Result<void> enter(std::string_view path);

  const FileServices& services() const { return services_; }
  Allocator& heap() const { return *services_.heap; }
  FileTree& tree() { return *tree_; }
  DescriptorTable& descriptors() { return descriptors_; }
  QueueNames& queues() { return queues_; }
  LocalSockets& local_sockets() { return local_sockets_; }
  std::span<const SocketFamily> families() const { return families_.all(); }  // that it may use beside AF_UNIX
  // A volume for files without names: memfd_create. It pays from the same quota as the tmpfs.
  const Reference<Volume>& writable_volume() const { return tmpfs_; }

  Reference<Directory> working_directory();
  void set_working_directory(Reference<Directory> directory);
  // The permissions a program's new files do not get.
  std::uint32_t exchange_mask(std::uint32_t mask) { return mask_.exchange(mask & 0777, MemoryOrder::relaxed); }
  std::uint32_t without_mask(std::uint32_t permissions) const {
    return permissions & 07777 & ~mask_.load(MemoryOrder::relaxed);
  }

 private:
  Result<Reference<MemoryDirectory>> mount_directory(std::string_view path, const Reference<Volume>& volume,
                                                     std::uint32_t permissions);
  Answer<void> add_socket(std::string_view path, LocalEnd& end) override;
  Answer<Reference<LocalEnd>> find_socket(std::string_view path) override;
  Result<void> add_image(const TreePlan& plan);
  Result<void> add_defaults();

  Mutex names_{LockRank::file_tree};
  FileServices services_;
  QueueNames queues_;
  LocalSockets local_sockets_;  // descriptors may hold sockets of it
  SocketFamilies families_;
  DescriptorTable descriptors_;
  Reference<Volume> tmpfs_;
  std::optional<FileTree> tree_;
  Locked<Reference<Directory>> working_directory_{LockRank::descriptors};
  Atomic<std::uint32_t> mask_{022};
};

}  // namespace ingot::os
