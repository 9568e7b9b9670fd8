// Whether the address sanitizer watches this program: g++ and clang say it in different words.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define INGOT_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define INGOT_ADDRESS_SANITIZER 1
#endif
#endif
#if !defined(INGOT_ADDRESS_SANITIZER)
#define INGOT_ADDRESS_SANITIZER 0
#endif
