#include "report/page_assets.hpp"

#include "storage/asset.hpp"

HONE_ASSET(hone_page_html, HONE_PAGE_DIR "/page.html")
HONE_ASSET(hone_page_css, HONE_PAGE_DIR "/page.css")
HONE_ASSET(hone_page_js, HONE_PAGE_DIR "/page.js")
HONE_ASSET(hone_chart_js, HONE_CHART_JS)

namespace hone::report {

std::string_view page_html() { return hone_page_html(); }
std::string_view page_css() { return hone_page_css(); }
std::string_view page_js() { return hone_page_js(); }
std::string_view chart_js() { return hone_chart_js(); }

}  // namespace hone::report
