#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens Chrome JSON traces in the viewer of chrome://tracing.

The viewer is the one that Go ships for its trace tool (Debian: golang-1.19-src);
it runs in headless Chromium, served on loopback. Fails if the viewer throws,
warns, or does not show what is expected. Ends with 77 if Chromium, Selenium or
the viewer is not there: ctest then counts the test as skipped.

    open_in_trace_viewer.py trace.json --expect-thread main --expect-flows 3
"""

import argparse
import fnmatch
import functools
import gzip
import http.server
import json
import pathlib
import shutil
import sys
import tempfile
import threading

SKIP = 77
VIEWER_FILES = ("webcomponents.min.js", "trace_viewer_full.html")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
         "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--window-size=1600,900")

PAGE = """<!DOCTYPE html><html><head>
<script src="webcomponents.min.js"></script>
<script>
window.ready = false;
addEventListener('WebComponentsReady', () => { window.ready = true; });
</script>
<link rel="import" href="trace_viewer_full.html">
<style>html,body{margin:0;height:100%}
tr-ui-timeline-view{position:absolute;top:0;bottom:0;left:0;right:0}</style>
</head><body></body></html>"""

# Arguments: the trace's text, and a function to be called with what it shows.
IMPORT = """
const done = arguments[arguments.length - 1];
fetch(arguments[0]).then(r => r.text()).then(text => {
  const model = new tr.Model();
  const options = new tr.importer.ImportOptions();
  options.shiftWorldToZero = false;
  new tr.importer.Import(model, options).importTraces([text]);
  window.model = model;
  const shown = {warnings: model.importWarnings.map(w => w.message),
                 threads: {}, slices: {}, async: {}, counters: [], flows: [],
                 unfinished: 0, misnested: []};
  const count = (table, title) => { table[title] = (table[title] || 0) + 1; };
  for (const process of model.getAllProcesses()) {
    shown.counters.push(...Object.values(process.counters).map(c => c.name));
    for (const thread of Object.values(process.threads)) {
      const slices = thread.sliceGroup.slices;
      shown.threads[thread.name || String(thread.tid)] = slices.length;
      for (const slice of slices) {
        count(shown.slices, slice.title);
        if (slice.didNotFinish) ++shown.unfinished;
        const parent = slice.parentSlice;
        if (parent && (slice.start < parent.start || slice.end > parent.end))
          shown.misnested.push(slice.title);
      }
      for (const slice of thread.asyncSliceGroup.slices)
        count(shown.async, slice.title);
    }
  }
  for (const flow of model.flowEvents)
    shown.flows.push([flow.title, flow.startSlice ? flow.startSlice.title : null,
                      flow.endSlice ? flow.endSlice.title : null]);
  done(shown);
}).catch(error => done({error: String(error.message || error)}));
"""

SHOW = """
const tracks = document.createElement('track-view-container');
tracks.id = 'track_view_container';
const view = document.createElement('tr-ui-timeline-view');
view.track_view_container = tracks;
Polymer.dom(view).appendChild(tracks);
view.globalMode = true;
Polymer.dom(document.body).appendChild(view);
view.model = window.model;
"""


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIP)


def find_viewer():
    for root in sorted(pathlib.Path("/usr/share").glob("go-*")):
        for folder in (root / "misc/trace", root / "src/cmd/trace/static"):
            if all((folder / name).is_file() for name in VIEWER_FILES):
                return folder
    return skip("no trace viewer (Debian: golang-1.19-src)")


def read_trace(path):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rb") as file:
        return file.read()


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves what is in `files`, by path."""

    def __init__(self, files, *args):
        self.files = files
        super().__init__(*args)

    def do_GET(self):
        body = self.files.get(self.path)
        self.send_response(404 if body is None else 200)
        kind = "application/json" if "trace-" in self.path else (
            "text/javascript" if self.path.endswith(".js") else "text/html")
        self.send_header("Content-Type", kind + "; charset=utf-8")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_):
        pass


def serve(viewer, traces):
    files = {"/": PAGE.encode()}
    for name in VIEWER_FILES:
        files["/" + name] = (viewer / name).read_bytes()
    for number, path in enumerate(traces):
        files[f"/trace-{number}"] = read_trace(path)
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, files))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def start_browser(folder):
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        skip("no Selenium (Debian: python3-selenium)")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        skip("no Chromium (Debian: chromium, chromium-driver)")
    options = Options()
    options.binary_location = chromium
    for flag in FLAGS + (f"--user-data-dir={folder}",):
        options.add_argument(flag)
    browser = webdriver.Chrome(service=Service(driver), options=options)
    browser.set_script_timeout(120)
    return browser


def problems_of(shown, args):
    """What the viewer shows and should not, or the other way round."""
    if "error" in shown:
        return ["the viewer refuses it: " + shown["error"]]
    problems = ["warning: " + text for text in shown["warnings"]]
    problems += ["misnested: " + title for title in shown["misnested"]]
    problems += [f"flow without slice: {flow}" for flow in shown["flows"]
                 if None in flow]
    if shown["unfinished"]:
        problems.append(f"{shown['unfinished']} slices did not finish")
    for kind, names, table in (
            ("thread", args.expect_thread, shown["threads"]),
            ("slice", args.expect_slice, shown["slices"]),
            ("async span", args.expect_async, shown["async"]),
            ("counter", args.expect_counter, shown["counters"])):
        problems += [f"no {kind} {name!r} among {sorted(table)[:20]}"
                     for name in names
                     if name not in table and not fnmatch.filter(table, name)]
    if args.expect_flows is not None and \
            len(shown["flows"]) != args.expect_flows:
        problems.append(
            f"{len(shown['flows'])} arrows, expected {args.expect_flows}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traces", nargs="+", help=".json or .json.gz")
    for what in ("thread", "slice", "async", "counter"):
        parser.add_argument(f"--expect-{what}", action="append", default=[],
                            help="name that each trace must show")
    parser.add_argument("--expect-flows", type=int, help="number of arrows")
    parser.add_argument("--screenshot", help=".png of the last trace")
    args = parser.parse_args()

    server = serve(find_viewer(), args.traces)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        browser = start_browser(folder)
        try:
            from selenium.webdriver.support.ui import WebDriverWait
            browser.get(f"http://127.0.0.1:{server.server_address[1]}/")
            WebDriverWait(browser, 60).until(lambda b: b.execute_script(
                "return window.ready && window.tr && !!tr.importer"))
            for number, path in enumerate(args.traces):
                shown = browser.execute_async_script(IMPORT, f"/trace-{number}")
                problems = problems_of(shown, args)
                print(path)
                print(json.dumps(shown, indent=1, ensure_ascii=False))
                for problem in problems:
                    print("FAILED:", problem)
                failed = failed or bool(problems)
            if args.screenshot:
                browser.execute_script(SHOW)
                WebDriverWait(browser, 30).until(lambda b: b.execute_script(
                    "return document.querySelectorAll('canvas').length > 1"))
                browser.execute_async_script(
                    "const done = arguments[0]; requestAnimationFrame(() =>"
                    " requestAnimationFrame(() => done(true)))")
                browser.save_screenshot(args.screenshot)
        finally:
            browser.quit()
            server.shutdown()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
