"""Drives the report page in headless Chromium over WebDriver; no module beyond Python's own.

page_browser.py PLAIN HOSTILE [--screenshots DIR]

PLAIN is used by pointer and keyboard, light and dark, wide and narrow; HOSTILE is a page whose texts
all try to run a script. Fails on a console message, a script that ran, or a page that doesn't work.
"""
import base64
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Right": "\ue014", "Down": "\ue015"}


class Browser:
    def __init__(self, dark=False, phone=False, width=1280, height=900):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        port = None
        for line in self.driver.stdout:
            if "on port " in line:
                port = line.rstrip(".\n").split("on port ")[-1]
            if port and port != "0":
                break
        self.base = f"http://127.0.0.1:{port}/session"
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     f"--window-size={width},{height}"]
        if dark:
            arguments.append("--blink-settings=preferredColorScheme=0")
        options = {"args": arguments}
        if phone:
            options["mobileEmulation"] = {"deviceMetrics": {"width": 390, "height": 844, "pixelRatio": 2}}
        reply = self.call("POST", "", {"capabilities": {"alwaysMatch": {
            "goog:loggingPrefs": {"browser": "ALL"}, "goog:chromeOptions": options}}})
        self.base += "/" + reply["sessionId"]

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.base + path, method=method,
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:  # WebDriver says why in the body
            raise AssertionError(f"{path}: {json.load(error)['value']['message'].splitlines()[0]}") from None

    def open(self, path):
        self.call("POST", "/url", {"url": "file://" + os.path.abspath(path)})

    def run(self, script):
        return self.call("POST", "/execute/sync", {"script": script, "args": []})

    def find(self, selector):
        found = self.call("POST", "/element", {"using": "css selector", "value": selector})
        return "/element/" + found[ELEMENT]

    def click(self, selector):
        # By script: WebDriver's own click misses at times where it emulates a phone.
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def type(self, selector, text):
        self.call("POST", self.find(selector) + "/value", {"text": text})

    def press(self, *keys):
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})

    def wait(self, script, what):
        for _ in range(100):
            if self.run("return " + script):
                return
            time.sleep(0.05)
        raise AssertionError(f"did not happen: {what}")

    def screenshot(self, file):
        with open(file, "wb") as out:
            out.write(base64.b64decode(self.call("GET", "/screenshot")))

    def console(self):
        return [e["message"] for e in self.call("POST", "/se/log", {"type": "browser"})]

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def use_plain(page, shots):
    for name, dark, phone in (("light", False, False), ("dark", True, False), ("phone", False, True)):
        browser = Browser(dark, phone)
        try:
            browser.open(page)
            browser.wait("document.querySelectorAll('#matrix .cell').length > 0", "the matrix")
            expect(browser.run("return document.querySelectorAll('canvas').length") >= 3, "charts are missing")
            wide = browser.run("return Math.max(innerWidth, document.documentElement.scrollWidth)")
            expect(wide <= (390 if phone else 1280), f"{name}: the page is {wide} wide")
            background = browser.run("return getComputedStyle(document.body).backgroundColor")
            expect((background == "rgb(20, 24, 26)") == dark, f"{name}: background {background}")
            if shots:
                browser.screenshot(f"{shots}/{name}.png")
            browser.run("document.querySelector('#matrix .cell').focus()")
            browser.press("Down", "Enter")
            browser.wait("document.querySelector('#detail').open && document.querySelector('#body .evidence')", "the details, by keyboard")
            before = browser.run("return document.querySelector('#runs [aria-pressed=true]').ariaLabel")
            browser.press("Right")
            after = browser.run("return document.querySelector('#runs [aria-pressed=true]').ariaLabel")
            expect(before != after, "the arrow key shows another run")
            if shots:
                browser.screenshot(f"{shots}/{name}-detail.png")
            browser.press("Escape")
            browser.wait("!document.querySelector('#detail').open", "Escape closes")
            rows = browser.run("return document.querySelectorAll('#matrix tbody tr').length")
            browser.click("#failing")
            fewer = browser.run("return document.querySelectorAll('#matrix tbody tr').length")
            expect(0 < fewer < rows, f"the filter leaves {fewer} of {rows} cases")
            browser.type("#find", "gelu")
            browser.wait("document.querySelectorAll('#matrix tbody tr').length === 1", "the search")
            expect(browser.console() == [], f"{name}: console: {browser.console()}")
        finally:
            browser.close()


def use_hostile(page, shots):
    browser = Browser()
    try:
        browser.open(page)
        browser.wait("document.querySelectorAll('#matrix .cell').length > 0", "the matrix of the hostile page")
        cells = browser.run("return document.querySelectorAll('#matrix .cell').length")
        for index in range(cells):
            browser.run(f"document.querySelectorAll('#matrix .cell')[{index}].click()")
            browser.wait("document.querySelector('#body .evidence')", "the details of a hostile answer")
            for _ in range(6):
                browser.run("document.querySelectorAll('#body details').forEach((d) => { d.open = true; })")
                browser.press("Right")
            browser.run("document.querySelector('#detail').close()")
        if shots:
            browser.run("document.querySelectorAll('#matrix .cell')[8].click()")
            browser.wait("document.querySelector('#body .evidence')", "the details")
            browser.screenshot(f"{shots}/hostile-detail.png")
        expect(browser.run("return document.title") == "Hone report", "a script from an answer ran")
        expect(browser.run("return document.querySelectorAll('img, svg, iframe, object').length") == 0, "an answer made an element")
        expect(browser.run("const s = document.createElement('script'); s.textContent = 'document.title = 1'; document.body.append(s); return document.title") == "Hone report", "the policy admits a script")
        console = [m for m in browser.console() if "Content Security Policy" not in m]
        expect(console == [], f"console: {console}")
    finally:
        browser.close()


def main():
    shots = sys.argv[4] if len(sys.argv) > 4 and sys.argv[3] == "--screenshots" else None
    use_plain(sys.argv[1], shots)
    use_hostile(sys.argv[2], shots)


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit(f"page_browser: {error}")
