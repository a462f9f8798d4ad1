#pragma once
#include <cstddef>
#include <string_view>

/// HONE_ASSET(name, "path"), at file scope: name() is the bytes of that file, which the program
/// carries. The file stands in the source's OBJECT_DEPENDS.
#define HONE_ASSET(name, path)                                                           \
  __asm__(".section .rodata\n.global " #name "_begin\n" #name "_begin:\n.incbin \"" path \
          "\"\n.global " #name "_end\n" #name "_end:\n.byte 0\n.previous\n");            \
  extern "C" const char name##_begin[], name##_end[];                                    \
  static std::string_view name() {                                                       \
    return {name##_begin, static_cast<std::size_t>(name##_end - name##_begin)};          \
  }
