#pragma once
#include <string>
#include <vector>

#include "model/model.hpp"

namespace hone::model {

/// Takes a key, as it is and as it may be encoded (base64, URL), out of what a server said.
class Redactor {
 public:
  explicit Redactor(const std::string& key);
  void apply(std::string& text) const;
  void apply(Answer& answer) const;

 private:
  void apply(Json& json) const;
  std::vector<std::string> forms_;
};

}  // namespace hone::model
