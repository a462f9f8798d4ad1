#include "oracle/operation.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace hone::oracle {

std::string Shape::name() const {
  std::string text;
  for (const auto& [extent, value] : extents) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", extent, value);
  }
  return text;
}

std::int64_t Shape::operator[](std::string_view extent) const {
  for (const auto& [name, value] : extents) {
    if (name == extent) return value;
  }
  throw std::out_of_range(fmt::format("shape {} has no extent {}", name(), extent));
}

std::int64_t Shape::elements() const {
  std::int64_t product = 1;
  for (const auto& [extent, value] : extents) product *= value;
  return product;
}

const Tensor& Problem::tensor(std::size_t parameter) const {
  return std::get<Tensor>(arguments.at(parameter));
}

std::int64_t Problem::integer(std::size_t parameter) const {
  return std::get<std::int64_t>(std::get<Scalar>(arguments.at(parameter)));
}

double Problem::real(std::size_t parameter) const {
  return std::get<double>(std::get<Scalar>(arguments.at(parameter)));
}

std::vector<Shape> shapes_1d(std::initializer_list<std::int64_t> values,
                             std::source_location where) {
  std::vector<Shape> shapes;
  for (const std::int64_t n : values) shapes.push_back({{{"n", n}}, where});
  return shapes;
}

std::vector<Shape> shapes_2d(std::initializer_list<std::pair<std::int64_t, std::int64_t>> values,
                             std::source_location where) {
  std::vector<Shape> shapes;
  for (const auto& [rows, cols] : values) {
    shapes.push_back({{{"rows", rows}, {"cols", cols}}, where});
  }
  return shapes;
}

}  // namespace hone::oracle
