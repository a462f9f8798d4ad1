#include "answer.hpp"

#include <fmt/format.h>

#include <sstream>

#include "diagnostic/diagnostic.hpp"
#include "storage/storage.hpp"

namespace hone::attacks {

Answer read_answer(const std::filesystem::path& file) {
  Answer answer;
  answer.name = file.stem();
  std::istringstream in(storage::read_file(file));
  int line_number = 0;
  const auto fail = [&](const std::string& why) {
    throw Error(Exit::bad_input, fmt::format("{}:{}: {}", file.string(), line_number, why));
  };
  std::string line;
  const auto next = [&] {
    ++line_number;
    return static_cast<bool>(std::getline(in, line));
  };
  if (!next() || line != "---") fail("expected a line '---'");
  while (next() && line != "---") {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) fail("expected 'key: value'");
    const std::string key = line.substr(0, colon), value = line.substr(colon + 2);
    if (key == "suite")
      answer.suite = value;
    else if (key == "outcome")
      answer.outcome = value;
    else if (key == "or")
      answer.other = value;
    else if (key == "medium")
      answer.in_medium = value;
    else if (key == "says")
      answer.says = value;
    else if (key == "stage" && (value == "compile" || value == "run"))
      answer.compile_time = value == "compile";
    else
      fail(fmt::format(
          "unknown '{}'; known: suite, outcome, or, medium, says, stage (compile or run)", line));
  }
  if (answer.suite.empty() || answer.outcome.empty()) fail("suite and outcome are needed");
  std::ostringstream rest;
  rest << in.rdbuf();
  answer.text = rest.str();
  return answer;
}

}  // namespace hone::attacks
