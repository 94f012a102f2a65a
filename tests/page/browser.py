"""A headless Chromium, driven over pipes by messages of JSON that NUL ends."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

with open(os.path.join(os.path.dirname(__file__), "probe.js"),
          encoding="ascii") as text:
    PROBE = text.read()
NAMES = ("chromium-headless-shell", "chromium", "google-chrome")


def find():
    """The path of a browser; None where there is none."""
    wanted = [os.environ.get("NEAP_BROWSER"), *NAMES]
    return next(filter(None, (shutil.which(name) for name in wanted if name)), None)


def lifted(end):
    """A copy of a descriptor above those that the browser reads and writes."""
    import fcntl
    copy = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20)
    os.close(end)
    return copy


class Browser:
    def __init__(self, path, width=1600, height=1000):
        self.home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.to = map(lifted, os.pipe())
        self.of, to_write = map(lifted, os.pipe())

        def pipes():
            os.dup2(to_read, 3)
            os.dup2(to_write, 4)

        self.process = subprocess.Popen(
            [path, "--headless", "--remote-debugging-pipe", "--no-sandbox",
             "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--host-resolver-rules=MAP * ~NOTFOUND",
             f"--user-data-dir={self.home.name}",
             f"--window-size={width},{height}", "about:blank"],
            preexec_fn=pipes, pass_fds=(3, 4), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.of, 1 << 16)
            if not more:
                raise RuntimeError("the browser has ended")
            self.rest += more
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def js(self, text):
        """The value of an expression in the page, awaited."""
        answer = self.send("Runtime.evaluate", expression=text, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def open(self, path, script=True):
        """Loads a page; waits until it shows something."""
        self.send("Emulation.setScriptExecutionDisabled", value=not script)
        self.events.clear()
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        end = time.monotonic() + 60
        while time.monotonic() < end:
            # Evaluation works in a page whose own scripts are disabled, too.
            ready = "window.neapPage ? 1 : 0" if script else "1"
            if self.js(f"document.readyState === 'complete' && {ready}"):
                if script:
                    self.js(PROBE + "if (neapPage.app) "
                            "window.probe = probeOf(neapPage.app); null")
                return
            time.sleep(0.02)
        raise RuntimeError(f"{path} was not ready; {self.faults()}")

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def faults(self):
        kinds = ("Runtime.exceptionThrown", "Log.entryAdded",
                 "Runtime.consoleAPICalled")
        return [event["params"] for event in self.events
                if event.get("method") in kinds]

    def key(self, name):
        for kind in ("rawKeyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=name)

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def size(self, width, height, scheme="light"):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        answer = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        with open(path, "wb") as out:
            out.write(base64.b64decode(answer["data"]))

    def colours(self, columns=64, rows=36):
        """The mean colours of what is seen now: red, green and blue of each part of
        a grid, line by line. Leaves the page."""
        data = self.send("Page.captureScreenshot")["data"]
        self.send("Page.navigate", url="about:blank")
        return self.js("""(async () => {
            const image = new Image();
            image.src = 'data:image/png;base64,%s';
            await image.decode();
            const {width, height} = image;
            const canvas = document.createElement('canvas');
            Object.assign(canvas, {width, height});
            const context = canvas.getContext('2d');
            context.drawImage(image, 0, 0);
            const {data} = context.getImageData(0, 0, width, height);
            const out = [];
            for (let row = 0; row < %d; ++row) for (let at = 0; at < %d; ++at) {
              const [left, right] = [at, at + 1].map(n => n * width / %d | 0);
              const [top, foot] = [row, row + 1].map(n => n * height / %d | 0);
              const sums = [0, 0, 0];
              for (let y = top; y < foot; ++y) for (let x = left; x < right; ++x) {
                sums.forEach((_, k) => sums[k] += data[4 * (y * width + x) + k]);
              }
              out.push(...sums.map(n =>
                Math.round(n / (right - left) / (foot - top))));
            }
            return out; })()""" % (data, rows, columns, columns, rows))

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.of)
        self.home.cleanup()
