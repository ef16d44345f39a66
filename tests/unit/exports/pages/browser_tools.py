"""What tests of a page in a browser need: pages that are watched, waiting, downloads, numbers."""

import math
import time


class Opened:
    """Pages that note what must not happen: errors, warnings, requests."""

    def __init__(self, browser):
        self.browser, self.contexts, self.wrong = browser, [], []

    def __call__(self, path, fragment="", **options):
        context = self.browser.new_context(accept_downloads=True, **options)
        self.contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: self.wrong.append(message.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", self._request)
        page.goto(f"{path.as_uri()}{fragment}")
        page.wait_for_selector("html.ready")
        return page

    def _request(self, request):
        if not request.url.startswith(("file:", "blob:")):
            self.wrong.append(request.url)


def until(page, condition):
    """Wait for a condition; Playwright's own waiting is refused by the page's security policy."""
    end = time.monotonic() + 20
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"never: {condition}"
        page.wait_for_timeout(10)


def change(page, whole=True, **settings):
    """Change the view; `whole`: redraw also what is far from the screen."""
    script = "([settings, all]) => { M.state.set(settings); if (all) M.update(true); }"
    page.evaluate(script, [settings, whole])


def show(page, section):
    """Scroll to a section, and wait until it is drawn: sections far from the screen are not."""
    page.evaluate(
        """async id => {
            document.getElementById(id).scrollIntoView({ behavior: "instant" });
            for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
        }""",
        section,
    )


def saved(page, section, label):
    with page.expect_download() as caught:
        page.locator(f"#{section} .save", has_text=label).first.click()
    return caught.value.path().read_text("utf-8")


def near(found, expected, tolerance=1e-9):
    """Whether two numbers are equal; null in the browser is NaN in Python."""
    if found is None or found == []:
        return math.isnan(expected)
    return math.isclose(found, expected, rel_tol=tolerance, abs_tol=1e-12)


def at(points, x):
    """The height of a step curve."""
    return next((p["share"] for p in reversed(points) if p["x"] <= x * (1 + 1e-12)), 0.0)
