#include "os/process/running_process_report.h"

#include "os/boot/kernel.h"
#include "os/file/process_files.h"
#include "os/process/process.h"
#include "os/process/program_arguments.h"

namespace ingot::os {

namespace {

// Each text with a zero behind it. An error would have kept the program from starting.
template <class Each>
void write_texts(TextWriter& text, Each&& each) {
  static_cast<void>(each([&](const auto& one) -> Result<void> {
    one.each([&](char letter) { text.add(letter); });
    text.add('\0');
    return {};
  }));
}

}  // namespace

Result<void> RunningProcessReport::set_executable(EscapedText path) {
  path.each([this](char letter) { executable_.append(letter); });
  if (!executable_.truncated()) return {};
  return Error::of(ErrorCode::out_of_range, "expected a path of at most 256 letters for the program, found ",
                   path.size());
}

void RunningProcessReport::set_auxiliary_vector(std::span<const InitialStack::Fact> facts) {
  for (std::size_t i = 0; i < facts.size(); ++i) auxiliary_[i] = facts[i];
  auxiliary_count_ = facts.size() + 1;
}

void RunningProcessReport::write_auxiliary_vector(TextWriter& text) {
  text.add(std::string_view(reinterpret_cast<const char*>(auxiliary_.data()),
                            auxiliary_count_ * sizeof(InitialStack::Fact)));
}

std::uint64_t RunningProcessReport::signals_caught() { return process_.signals_with(SignalAction::by_default).bits(); }
std::uint64_t RunningProcessReport::signals_ignored() { return process_.signals_with(SignalAction::ignore).bits(); }
std::uint32_t RunningProcessReport::identity() { return process_.number(); }
std::uint32_t RunningProcessReport::threads() { return process_.thread_count(); }

std::string_view RunningProcessReport::name() {
  constexpr std::size_t longest = 15;
  const std::string_view path = executable_.view();
  return path.substr(path.rfind('/') + 1).substr(0, longest);
}

ProcessMemory RunningProcessReport::memory() {
  ProcessMemory memory;
  const ProgramAccount& account = process_.memory().account();
  memory.resident_bytes = account.resident().now();
  memory.peak_resident_bytes = account.resident().peak();
  memory.virtual_bytes = account.addresses().now();
  memory.peak_virtual_bytes = account.addresses().peak();
  process_.space().each_region(VirtualAddress(0), [&](const RegionFields& region) {
    if (allows(region.access, Access::write)) memory.data_bytes += region.bytes;
    if (allows(region.access, Access::execute)) memory.text_bytes += region.bytes;
    return true;
  });
  return memory;
}

void RunningProcessReport::write_arguments(TextWriter& text) {
  write_texts(text, [&](auto&& use) { return each_argument(manifest_, command_line_, use); });
}
void RunningProcessReport::write_environment(TextWriter& text) {
  write_texts(text, [&](auto&& use) { return each_environment(manifest_, use); });
}

void RunningProcessReport::write_mapping(TextWriter& text, const RegionFields& region) {
  text.add(HexadecimalDigits{region.begin.value(), 8}, '-', HexadecimalDigits{(region.begin + region.bytes).value(), 8},
           ' ', allows(region.access, Access::read) && region.access != Access::none ? 'r' : '-',
           allows(region.access, Access::write) ? 'w' : '-', allows(region.access, Access::execute) ? 'x' : '-',
           region.sharing == Sharing::shared ? 's' : 'p', ' ', HexadecimalDigits{region.object_offset, 8}, " 00:00 0 ");
  if (Node* node = region.object->node(); node != nullptr) {
    std::array<char, 256> room;
    const Answer<std::string_view> path = process_.files().tree().path_of(*node, room);
    text.add(path.ok() ? path.value() : FileTree::instead_of_path(path.error()));
  } else if (region.begin == stack_begin_) {
    text.add("[stack]");
  } else if (process_.memory().heap_begin() - region.begin < region.bytes) {
    text.add("[heap]");
  } else if (region.object != &process_.memory().zeroes()) {
    text.add('[', region.object->name(), ']');
  }
  text.add('\n');
}

// A few at a time: names of files have a lock that comes before the address space's.
void RunningProcessReport::write_mappings(TextWriter& text) {
  for (VirtualAddress from{};;) {
    std::array<RegionFields, 8> few;  // owners of what they show: let go only when the lock is
    std::size_t count = 0;
    process_.space().each_region(from, [&](const RegionFields& region) {
      few[count++] = region;
      return count < few.size();
    });
    for (std::size_t i = 0; i < count; ++i) write_mapping(text, few[i]);
    if (count < few.size()) return;
    from = few[count - 1].begin + few[count - 1].bytes;
  }
}

void RunningProcessReport::write_limits(TextWriter& text) {
  // In the order of their numbers, in columns of Linux's widths.
  constexpr struct {
    std::string_view name, unit;
  } lines[resource_count] = {
      {"cpu time          ", "seconds"},   {"file size         ", "bytes"}, {"data size         ", "bytes"},
      {"stack size        ", "bytes"},     {"core file size    ", "bytes"}, {"resident set      ", "bytes"},
      {"processes         ", "processes"}, {"open files        ", "files"}, {"locked memory     ", "bytes"},
      {"address space     ", "bytes"},     {"file locks        ", "locks"}, {"pending signals   ", "signals"},
      {"msgqueue size     ", "bytes"},     {"nice priority     ", ""},      {"realtime priority ", ""},
      {"realtime timeout  ", "us"}};
  const auto add_column = [&](std::uint64_t limit) {
    FixedText<24> column;
    limit == ResourceLimit::unlimited ? column.append_all("unlimited") : column.append_all(limit);
    while (column.view().size() < 21) column.append(' ');
    text.add(column.view());
  };
  text.add("Limit                     Soft Limit           Hard Limit           Units     \n");
  for (std::uint32_t resource = 0; resource < resource_count; ++resource) {
    const ResourceLimit limit = process_.limit_of(static_cast<Resource>(resource));
    text.add("Max ", lines[resource].name, "    ");
    add_column(limit.current);
    add_column(limit.most);
    text.add(lines[resource].unit, '\n');
  }
}

void RunningProcessReport::write_memory_report(TextWriter& text) {
  process_.kernel().machine_report.write_frame_report(text);
  const ProgramAccount& account = process_.memory().account();
  const AddressSpaceStatistics& statistics = process_.space().statistics();
  text.add("page-faults ", statistics.faults, "\npage-copies ", statistics.copies);
  constexpr FrameOwnership in_place = FrameOwnership::borrowed, own = FrameOwnership::counted;
  text.add("\nin-place-1gib ", account.shown(PageSize::giant, in_place), "\nin-place-2mib ",
           account.shown(PageSize::large, in_place), "\nin-place-4kib ", account.shown(PageSize::small, in_place));
  text.add("\nfall-backs-4kib ", account.fall_backs(), "\nprivate-2mib ", account.shown(PageSize::large, own),
           "\nprivate-4kib ", account.shown(PageSize::small, own));
  text.add("\nin-place-bytes ", account.in_place(), "\nresident-bytes ", account.resident().now(),
           "\nresident-peak-bytes ", account.resident().peak());
  text.add("\ncharged-bytes ", account.charged(), "\ncharged-peak-bytes ", account.charges().peak(), "\nlimit-bytes ",
           account.limit(), "\n");
  if (const ProgramAccount::Peaked* sockets = account.sockets()) {
    text.add("socket-bytes ", sockets->now(), "\nsocket-peak-bytes ", sockets->peak(), "\n");
  }
}

DescriptorTable& RunningProcessReport::descriptors() { return process_.files().descriptors(); }
Reference<Directory> RunningProcessReport::working_directory() { return process_.files().working_directory(); }

}  // namespace ingot::os
