#pragma once
#include <string_view>

namespace hone::report {

/// The files of reports/page/ and Chart.js, as they were when the program was built.
std::string_view page_html();
std::string_view page_css();
std::string_view page_js();
std::string_view chart_js();

}  // namespace hone::report
