#include "skill/sarif.hpp"

#include <algorithm>

namespace hone::skill {
namespace {

namespace fs = std::filesystem;
using storage::Json;

std::string uri_of(const std::string& file, const fs::path& base) {
  const fs::path path = fs::absolute(file).lexically_normal();
  const fs::path relative = path.lexically_relative(base);
  const bool below = !relative.empty() && *relative.begin() != "..";
  const std::string text = below ? relative.generic_string() : "file://" + path.generic_string();
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("-._~/:").find(c) != std::string_view::npos)
      uri += c;
    else
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return uri;
}

Json result_of(const Finding& finding, const fs::path& base) {
  const Diagnostic& d = finding.diagnostic;
  Json place = {{"artifactLocation", {{"uri", uri_of(d.where.file, base)}}}};
  if (d.where.line > 0) {
    place["region"] = {{"startLine", d.where.line}};
    if (d.where.column > 0) place["region"]["startColumn"] = d.where.column;
  }
  return {{"ruleId", finding.rule},
          {"level", d.warning ? "warning" : "error"},
          {"message", {{"text", d.message + (d.hint.empty() ? "" : " (" + d.hint + ")")}}},
          {"locations", Json::array({{{"physicalLocation", place}}})}};
}

}  // namespace

Json to_sarif(const std::vector<Finding>& findings, const fs::path& base) {
  const fs::path root = fs::absolute(base).lexically_normal();
  Json rules = Json::array();
  Json results = Json::array();
  std::vector<std::string> seen;
  for (const auto& finding : findings) {
    results.push_back(result_of(finding, root));
    if (std::find(seen.begin(), seen.end(), finding.rule) != seen.end()) continue;
    seen.push_back(finding.rule);
    rules.push_back({{"id", finding.rule}});
  }
  const Json driver = {{"name", "hone lint"}, {"rules", rules}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({{{"tool", {{"driver", driver}}}, {"results", results}}})}};
}

}  // namespace hone::skill
