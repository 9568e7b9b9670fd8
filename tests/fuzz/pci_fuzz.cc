// Any answers of configuration space end in a list of functions, capabilities and ranges, in bounded time.
#include <cstdlib>

#include "os/device/pci/pci.h"
#include "os/device/pci/pci_message_interrupts.h"
#include "tests/fuzz/byte_source.h"

using namespace ingot;
using namespace ingot::os;

namespace {

// Every read takes the next bytes; behind the last there is nothing, as where nothing is plugged in.
class HostilePci : public PciConfiguration {
 public:
  explicit HostilePci(ByteSource& source) : source_(source) {}
  std::uint32_t read(PciAddress, std::uint16_t offset) override {
    if (offset % 4 != 0) std::abort();
    return source_.empty() ? 0xffffffffu : source_.take<std::uint32_t>();
  }
  void write(PciAddress, std::uint16_t offset, std::uint32_t) override {
    if (offset % 4 != 0) std::abort();
  }

 private:
  ByteSource& source_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteSource source(data, size);
  HostilePci pci(source);
  for_each_pci_function(pci, 0, [&](PciAddress address, const PciHeader& header) {
    for (std::uint32_t index = 0; index < 6; ++index) {
      const Result<std::optional<PciBar>> bar = probe_pci_bar(pci, address, header, index);
      if (!bar.ok() || !bar.value()) continue;
      const PciBar& found = *bar.value();
      if (found.bytes == 0 || (found.bytes & (found.bytes - 1)) != 0 || found.address % found.bytes != 0) std::abort();
    }
    if (const auto offset = find_pci_capability(pci, address, Msi::capability, Msi::bytes)) {
      (void)Msi::read(pci, address, *offset).enable(pci, {0xfee00000, 0x40});
    }
    if (const auto offset = find_pci_capability(pci, address, MsiX::capability, MsiX::bytes)) {
      if (*offset < 0x40) std::abort();
      (void)MsiX::read(pci, address, *offset).check_table(PciBar{PciBar::Kind::memory, false, false, 0, 4096});
    }
  });
  return 0;
}
