#include "os/device/devices.h"

#include "os/boot/kernel.h"
#include "os/device/emulator_settings.h"
#include "os/device/pci.h"

namespace ingot::os {

namespace {

TableBytes table_or_nothing(const Kernel& kernel, std::string_view signature) {
  if (kernel.acpi.tables() == nullptr) return {};
  const Result<TableBytes> found = kernel.acpi.tables()->find(signature);
  return found.ok() ? found.value() : TableBytes();
}

// A row for each driver of a PCI device, the better of two first. Those of network cards and disks come here.
constexpr std::span<const PciDriver> pci_drivers{};

}  // namespace

void Devices::start(Kernel& kernel) {
  const auto tell = [&](std::string_view device, const Result<void>& started) {
    if (!started.ok()) kernel.log.warning(device, ": ", started.error());
  };
  tell("emulator's settings", read_emulator_settings(kernel));
  tell("screen", start_screen(kernel));
  tell("power", start_power(kernel));
  tell("wall clock", start_wall_clock(kernel));
  tell("pci", start_pci(kernel));
  tell("keyboard", start_keyboard(kernel));
}

// Behind the words of the loader: what the emulator was told, the program's arguments for one. By PVH it is the loader.
Result<void> Devices::read_emulator_settings(Kernel& kernel) {
  if (kernel.boot_info.loader == LoaderProtocol::pvh) return {};
  auto& line = kernel.boot_info.command_line;
  char room[BootInfo::command_line_capacity];
  const std::size_t free = BootInfo::command_line_capacity - line.view().size();
  const auto words =
      TRY(EmulatorSettings::read("opt/ingot/command-line", std::span(room).first(free > 0 ? free - 1 : 0)));
  if (!words) return {};
  kernel.log.information("boot: the emulator adds \"", *words, "\"");
  line.append(" ");
  line.append(*words);
  return {};
}

Result<void> Devices::start_power(Kernel& kernel) {
  if (kernel.acpi.tables() == nullptr) return {};  // the log says so already
  return kernel.power.learn(*kernel.acpi.tables(), [&](PhysicalAddress address, std::uint64_t bytes) {
    return kernel.memory->map_device(address, bytes, CacheMode::uncached);
  });
}

Result<void> Devices::start_wall_clock(Kernel& kernel) {
  const DateTime date = TRY(read_real_time_clock(parse_century_register(table_or_nothing(kernel, "FACP"))));
  wall_clock_.emplace(date, kernel.now());
  kernel.log.information("wall clock: ", date.seconds_since_1970(), " s since 1970");
  return {};
}

Result<void> Devices::start_screen(Kernel& kernel) {
  if (const std::optional<Framebuffer>& found = kernel.boot_info.framebuffer) {
    const std::uint64_t bytes = std::uint64_t{found->pitch} * found->height;
    const VirtualAddress pixels = TRY(kernel.memory->map_device(found->address, bytes, CacheMode::write_combining));
    framebuffer_ = TRY(FramebufferText::create(*found, reinterpret_cast<std::byte*>(pixels.value())));
    screen_.emplace(*framebuffer_);
  } else if (const std::optional<VgaText::Size> size = VgaText::size()) {
    const VirtualAddress cells =
        TRY(kernel.memory->map_device(VgaText::memory, VgaText::memory_bytes, CacheMode::uncached));
    vga_.emplace(*size, reinterpret_cast<std::uint16_t*>(cells.value()));
    screen_.emplace(*vga_);
  } else {
    return {};  // as most servers
  }
  // What was said before there was a screen.
  kernel.log.visit_kept([&](std::string_view line) {
    if (!line.starts_with(Log::prefix_of(LogLevel::debug))) screen_->write_line(line);
  });
  if (!kernel.log.add_sink(*screen_, LogLevel::information)) {
    return Error::of(ErrorCode::out_of_range, "expected room for one more sink of the log, found none");
  }
  kernel.log.information("screen: ", screen_->columns(), " by ", screen_->rows(), " characters, ",
                         framebuffer_ ? "drawn" : "by the card");
  return {};
}

Result<void> Devices::start_pci(Kernel& kernel) {
  if (const TableBytes table = table_or_nothing(kernel, "MCFG"); !table.empty()) {
    const PciWindows windows = TRY(parse_pci_windows(table));
    if (windows.size() != 0) pci_ = &pci_memory_.emplace(windows[0], *kernel.memory);
  }
  if (pci_ == nullptr && PciPorts::present()) pci_ = &pci_ports_.emplace();
  if (pci_ == nullptr) return {};
  std::size_t count = 0;
  for_each_pci_function(*pci_, 0, [&](PciAddress address, const PciHeader& header) {
    ++count;
    kernel.log.debug("pci ", address.bus, ":", address.device, ".", address.function, " ", Hexadecimal{header.vendor},
                     ":", Hexadecimal{header.device}, ", class ", Hexadecimal{header.base_class}, ".",
                     Hexadecimal{header.sub_class});
  });
  kernel.log.information("pci: ", count, " functions, by ", pci_memory_ ? "memory" : "ports");
  start_drivers(kernel, pci_drivers);
  return {};
}

std::size_t Devices::start_drivers(Kernel& kernel, std::span<const PciDriver> table) {
  std::size_t served = 0;
  if (pci_ == nullptr || table.empty()) return served;
  for_each_pci_function(*pci_, 0, [&](PciAddress address, const PciHeader& header) {
    const PciDriver* driver = find_pci_driver(table, header);
    if (driver == nullptr) return;
    const Result<void> created = driver->create(kernel, PciDevice(*pci_, address, header));
    if (created.ok()) {
      ++served;
    } else {
      kernel.log.warning(driver->name, " at pci ", address.bus, ":", address.device, ".", address.function, ": ",
                         created.error());
    }
  });
  return served;
}

Result<void> Devices::start_keyboard(Kernel& kernel) {
  if (!has_keyboard_controller(table_or_nothing(kernel, "FACP"))) return {};
  Keyboard& keyboard = keyboard_.emplace();
  if (const Result<void> done = keyboard.initialise(); !done.ok()) {
    keyboard_.reset();
    return done.error();
  }
  TRY(Task<void>::spawn(executor_, keyboard.decode(kernel.memory->heap())));
  executor_thread_.emplace(
      TRY(spawn(kernel, "drivers", [](Executor& executor) { executor.run_until([] { return false; }); }, executor_)));
  InterruptController& controller = kernel.controller();
  TRY(controller.connect(kernel.interrupts, controller.isa_line(Keyboard::isa_interrupt),
                         {Keyboard::on_interrupt, &keyboard}, 0));
  TRY(keyboard.enable_interrupt());
  kernel.log.information("keyboard: ready");
  return {};
}

}  // namespace ingot::os
