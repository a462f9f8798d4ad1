#include "kernel/source.hpp"

#include <algorithm>
#include <set>

namespace hone::kernel {

std::string unsafe_name(std::string_view name, const FileLimits& limits) {
  if (name.empty()) return "empty name";
  if (name.size() > limits.name_bytes) return "name too long";
  if (name.front() == '/') return "absolute path";
  for (const char c : name)
    if (!(std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' ||
          c == '+' || c == '/'))
      return "a character other than letters, digits and _ . - + /";
  size_t depth = 0;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part == "..") return "leaves its folder by '..'";
    if (part.empty()) return "empty folder name";
    if (part.front() == '.') return "hidden file or folder";
    if (part.front() == '-') return "starts with '-', like an option";
    if (++depth > limits.depth + 1) return "too many folders";
    begin = end + 1;
  }
  return "";
}

std::string unsafe_files(const std::vector<SourceFile>& files, const FileLimits& limits) {
  if (files.size() > limits.files)
    return std::to_string(files.size()) + " files, more than the " + std::to_string(limits.files) +
           " allowed";
  std::set<std::string> names, folders;
  size_t total = 0;
  for (const auto& file : files) {
    if (const std::string why = unsafe_name(file.name, limits); !why.empty())
      return "file name '" + file.name.substr(0, 80) + "': " + why;
    if (file.text.size() > limits.file_bytes)
      return file.name + " has " + std::to_string(file.text.size()) + " bytes, more than the " +
             std::to_string(limits.file_bytes) + " allowed";
    total += file.text.size();
    if (!names.insert(file.name).second) return "two files named " + file.name;
    for (size_t slash = file.name.find('/'); slash != std::string::npos;
         slash = file.name.find('/', slash + 1))
      folders.insert(file.name.substr(0, slash));
  }
  for (const auto& name : names)
    if (folders.count(name) > 0) return name + " is a file and a folder";
  if (total > limits.total_bytes)
    return std::to_string(total) + " bytes in all, more than the " +
           std::to_string(limits.total_bytes) + " allowed";
  return "";
}

bool is_translation_unit(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view extension = name.substr(dot + 1);
  return extension == "cu" || extension == "cc" || extension == "cpp" || extension == "cxx" ||
         extension == "c";
}

}  // namespace hone::kernel
