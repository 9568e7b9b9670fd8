#include "os/file/process_files.h"

#include "base/image/kernel_directories.h"
#include "os/file/cpio.h"
#include "os/file/initramfs.h"
#include "os/file/synthetic/proc_directory.h"
#include "os/file/synthetic/sys_directory.h"

namespace ingot::os {
namespace {

enum DeviceNumber : std::uint64_t { root_device = 1, proc_device, sys_device, dev_device, tmpfs_device };

Error explain(Errno error, std::string_view what) {
  const ErrorCode code = error == Errno::enomem ? ErrorCode::out_of_memory : ErrorCode::invalid_argument;
  return Error::of(code, "expected to make ", what, ", found ", name_of(error));
}

template <class Value>
Result<void> done(const Answer<Value>& answer, std::string_view what) {
  if (!answer.ok()) return explain(answer.error(), what);
  return {};
}

}  // namespace

ProcessFiles::ProcessFiles(const FileServices& services)
    : services_(services),
      queues_(*services.heap, *services.time),
      local_sockets_(*this, *services.heap, *services.time),
      descriptors_(*services.heap) {
  services_.names = &names_;
}

ProcessFiles::~ProcessFiles() { set_working_directory({}); }

Result<Owned<ProcessFiles>> ProcessFiles::create(const FileServices& services) {
  return make_owned<ProcessFiles>(*services.heap, services);
}

Result<Reference<MemoryDirectory>> ProcessFiles::mount_directory(std::string_view path, const Reference<Volume>& volume,
                                                                 std::uint32_t permissions) {
  Reference<MemoryDirectory> directory = TRY(make_reference<MemoryDirectory>(heap(), volume, permissions));
  TRY(done(tree_->mount(path, *directory), path));
  return directory;
}

Result<void> ProcessFiles::build(const TreePlan& plan) {
  families_ = plan.families;
  const auto make_volume = [&](DeviceNumber device, Volume::Writing writing, Volume::Limits limits = {}) {
    return make_reference<Volume>(heap(), services_, std::uint64_t{device}, writing, limits);
  };
  const Reference<Volume> root = TRY(make_volume(root_device, Volume::Writing::refused));
  Reference<MemoryDirectory> top = TRY(make_reference<MemoryDirectory>(heap(), root, 0755u));
  tree_.emplace(std::move(top), names_);
  set_working_directory(Reference<Directory>(tree_->root()));
  TRY(add_image(plan));
  TRY(add_defaults());

  const std::uint64_t pages = plan.tmpfs_bytes / page_bytes;
  tmpfs_ = TRY(make_volume(tmpfs_device, pages != 0 ? Volume::Writing::allowed : Volume::Writing::refused,
                           {pages, pages / 4 + 16}));
  if (pages != 0) {
    for (const std::string_view path : kernel_directory::writable) TRY(mount_directory(path, tmpfs_, 01777));
  }
  const Reference<Volume> dev = TRY(make_volume(dev_device, Volume::Writing::refused));
  const Reference<MemoryDirectory> devices = TRY(mount_directory(kernel_directory::devices, dev, 0755));
  TRY(done(add_dev_files(*devices, *plan.random), "/dev"));
  if (pages != 0) TRY(mount_directory(kernel_directory::shared_memory, tmpfs_, 01777));
  const auto add_device = [&](const ProgramDevice& it) -> Result<void> {
    Answer<Reference<Node>> file = make_device_file(dev, *it.opener, it.number, 0666);
    if (!file.ok()) return explain(file.error(), it.name);
    return done(devices->add(it.name, NameStorage::borrowed, *file.value()), it.name);
  };
  if (plan.console != nullptr) {
    TRY(add_device({"console", plan.console, make_device_number(5, 1)}));
    TRY(add_device({"tty", plan.console, make_device_number(5, 0)}));
  }
  for (const ProgramDevice& it : plan.devices) TRY(add_device(it));
  const Reference<Volume> proc = TRY(make_volume(proc_device, Volume::Writing::facts));
  const Reference<MemoryDirectory> processes = TRY(mount_directory(kernel_directory::processes, proc, 0555));
  TRY(done(add_proc_files(*processes, {*plan.system, *plan.process, *tree_}), "/proc"));
  for (const SocketFamily& family : families()) {
    if (family.files != nullptr) TRY(done(family.files->add_to(*tree_, *processes), family.right));
  }
  const Reference<Volume> sys = TRY(make_volume(sys_device, Volume::Writing::facts));
  const Reference<MemoryDirectory> machine = TRY(mount_directory(kernel_directory::machine, sys, 0555));
  return done(add_sys_files(*machine, *plan.system), "/sys");
}

Answer<void> ProcessFiles::add_socket(std::string_view path, LocalEnd& end) {
  return tree_->make(*working_directory(), path, {FileKind::socket, without_mask(0777), {}, &end});
}

Answer<Reference<LocalEnd>> ProcessFiles::find_socket(std::string_view path) {
  const Reference<Node> node = TRY(tree_->find(*working_directory(), path, LastLink::followed));
  LocalEnd* const end = node->as_local_end();
  if (end == nullptr) return Errno::econnrefused;
  return Reference<LocalEnd>(*end);
}

Result<void> ProcessFiles::add_image(const TreePlan& plan) {
  if (plan.archive_bytes != 0) {
    const std::span<const std::byte> archives(services_.window.at<std::byte>(plan.archives), plan.archive_bytes);
    TRY(add_initramfs(tree_->root(), archives, plan.archives, plan.hidden));
  }
  for (const PhysicalRange& it : plan.initrds) {
    const std::span<const std::byte> bytes(services_.window.at<std::byte>(it.begin), it.bytes);
    if (is_cpio(bytes)) {
      TRY(add_initramfs(tree_->root(), bytes, it.begin, {}));
    } else {
      TRY(add_image_file(tree_->root(), "/initrd", NameStorage::borrowed, {bytes, it.begin}, 0444));
    }
  }
  for (const ImageSegment& it : plan.segments) {
    ImageContent content;
    if (it.bytes != 0) content.bytes = {services_.window.at<std::byte>(it.physical), it.bytes};
    content.physical = it.physical;
    content.tail = ImageContent::Tail::zeros;
    content.consumed = it.consumed;
    TRY(add_image_file(tree_->root(), it.path, NameStorage::copied, content, it.permissions));
  }
  return {};
}

// What programs look up and few images carry. A file of the image always comes first.
Result<void> ProcessFiles::add_defaults() {
  struct Default {
    std::string_view path, text;
  };
  static constexpr Default defaults[] = {
      {"/etc/passwd", "root:x:0:0:root:/:/bin/sh\n"},
      {"/etc/group", "root:x:0:\n"},
      {"/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"},
      {"/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"},
  };
  for (const Default& it : defaults) {
    if (tree_->find(tree_->root(), it.path, LastLink::kept).ok()) continue;
    const ImageContent content{std::as_bytes(std::span(it.text)), {}, ImageContent::Tail::other};
    // An image whose /etc is no directory wants none.
    static_cast<void>(add_image_file(tree_->root(), it.path, NameStorage::borrowed, content, 0644));
  }
  return {};
}

Result<void> ProcessFiles::open_standard_files() {
  Answer<Reference<FileDescription>> console = tree_->open(tree_->root(), "/dev/console", open_flag::read_write, 0);
  if (!console.ok()) return explain(console.error(), "/dev/console");
  for (int number = 0; number < 3; ++number) {
    TRY(done(descriptors_.put(number, console.value(), OnExecute::keeps), "a standard file"));
  }
  return {};
}

Result<void> ProcessFiles::enter(std::string_view path) {
  Answer<Reference<Node>> node = tree_->find(tree_->root(), path, LastLink::followed);
  if (!node.ok()) return explain(node.error(), path);
  Directory* directory = node.value()->as_directory();
  if (directory == nullptr) return explain(Errno::enotdir, path);
  set_working_directory(Reference<Directory>(*directory));
  return {};
}

Reference<Directory> ProcessFiles::working_directory() {
  return working_directory_.with([](Reference<Directory>& it) { return it; });
}

void ProcessFiles::set_working_directory(Reference<Directory> directory) {
  // The old one goes with the argument, outside of the lock.
  working_directory_.with([&](Reference<Directory>& it) { std::swap(it, directory); });
}

}  // namespace ingot::os
