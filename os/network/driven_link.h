// DrivenLink: a link of a device that a driver found at boot, before there was a network to tell of it. Kernel::links
// is the first.
#pragma once

#include "os/network/link.h"

namespace ingot::os {

class DrivenLink : public network::Link {
 public:
  // From now on the user is told; what came before is lost. Once; the user stays.
  virtual void attach(network::LinkUser& user) = 0;

  DrivenLink* next = nullptr;  // the one found after it

 protected:
  ~DrivenLink() = default;
};

}  // namespace ingot::os
