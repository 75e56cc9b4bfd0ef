"""Pages of jobs (`show --format html`) in a browser: they are shown without a complaint, the script works under the
page's own policy, names of a job stay names.

page.py TOOL_FOLDER CORPUS
"""

import html.parser
import os
import shutil
import struct
import subprocess
import zlib

from check import main

BROWSER = shutil.which("chromium")
HOSTILE = r"""
module {
  dist.mesh @world [dp = 2]
  dist.comm @"</title><script>document.title='run'</script>" on @world over [dp] group
  dist.role @"<img src=x onerror=document.title='run'>" on @world {
    pd.var @"\22><svg onload=document.title='run'>" : tensor<8xf32> {parameter}
    pd.var @"\00\1B[2J\0A\E2\80\AE" : tensor<8xf32>
    pd.program @main {
      %x = pd.input "x" : tensor<8xf32>
      %t = pd.tanh X(%x) -> Out("--></style><script>document.title='run'</script>") : (tensor<8xf32>) -> tensor<8xf32>
      %r = dist.all_reduce sum (%t) on @"</title><script>document.title='run'</script>" : (tensor<8xf32>) -> tensor<8xf32>
    }
  }
}
"""


class Elements(html.parser.HTMLParser):
    """What elements a page has, its title, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.title, self.words, self.inside = {}, "", [], None
        self.searching = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.inside = tag
        attributes = dict(attrs)
        if attributes.get("id") == "search":
            self.searching = "hidden" not in attributes
        if any(name.startswith("on") for name in attributes):
            self.tags["handler"] = 1

    def handle_data(self, data):
        if self.inside == "title" and not self.title:
            self.title = data
        if self.inside not in ("script", "style"):
            self.words.append(data)

    def text(self):
        return " ".join(self.words)


def browse(check, page, *flags):
    """What the browser prints, and its complaints about the page."""
    done = subprocess.run(
        [
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
            "--user-data-dir=" + check.path("browser"),
            "--window-size=1240,2400",
            *flags,
            "file://" + page,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=120,
        env=dict(os.environ, HOME=check.work),
    )
    complaints = [line for line in done.stderr.decode(errors="replace").split("\n") if "CONSOLE" in line]
    return done.stdout.decode(), "\n".join(complaints)


def pixels(path):
    """Bytes of a PNG's picture, still filtered: enough to see whether anything is on it."""
    with open(path, "rb") as f:
        data = f.read()
    at, parts = 8, b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            parts += data[at + 8 : at + 8 + length]
        at += 12 + length
    return zlib.decompress(parts)


def write_page(check, name, job):
    done = check.call("show", job, "--format", "html")
    check.expect(name + ": show --format html", done.returncode == 0, done.stderr)
    path = check.path(name + ".html")
    with open(path, "w", encoding="utf-8") as f:
        f.write(done.stdout)
    again = check.call("show", job, "--format", "html")
    check.expect(name + ": the same job gives the same bytes", again.stdout == done.stdout)
    return path


def look_at(check, name, job, *texts):
    path = write_page(check, name, job)
    dom, complaints = browse(check, path, "--dump-dom")
    elements = Elements(dom)
    check.expect(name + ": the browser does not complain", not complaints, complaints)
    missing = [text for text in texts if text not in elements.text()]
    check.expect(name + ": the page says what it should", not missing, "missing %s" % missing)
    check.expect(name + ": it draws", elements.tags.get("svg", 0) >= 3, str(elements.tags))
    check.expect(name + ": its script runs", elements.searching)
    picture = check.path(name + ".png")
    browse(check, path, "--screenshot=" + picture)
    drawn = os.path.exists(picture) and len(set(pixels(picture))) > 64
    check.expect(name + ": a picture of it is not blank", drawn)


def jobs(check):
    """The jobs by hand, which stand beside the corpora."""
    folder = os.path.join(os.path.dirname(check.corpus), "jobs")
    look_at(
        check,
        "pipeline",
        os.path.join(folder, "pipeline.mlir"),
        "@forward",
        "512 B × ?",
        "20 % idle",
        "B3",
        "linear_2.w_0_velocity_0",
    )
    look_at(
        check,
        "parameter_server",
        os.path.join(folder, "parameter_server.mlir"),
        "push ×2",
        "pull ×2",
        "@server",
        "blocks(10, per 10, first 0)",
    )
    look_at(
        check,
        "owner_sharded_4",
        os.path.join(folder, "owner_sharded_4.mlir"),
        "lies here only",
        "sharding = 3",
        "reduce sum to sharding = 2",
    )
    look_at(
        check,
        "merged_gradients",
        os.path.join(folder, "merged_gradients.mlir"),
        "in a branch or loop",
        "dp: P(sum)",
    )


def ran(check):
    """A pipeline that has run: its page draws that too. Needs no browser."""
    case = os.path.join(check.corpus, "static26", "mlp_stages")
    job, trace = check.path("ran"), check.path("trace")
    request = "--trainers 2 --pipeline --accumulate-steps 4".split()
    programs = [case + "/main.pdmodel", "--startup", case + "/startup.pdmodel"]
    check.expect_exit("a pipeline", 0, ["transpile", *programs, "-o", job, *request])
    values = ["--feeds", case + "/feeds", "--init", case + "/init"]
    check.expect_exit("it runs", 0, ["run", job, *values, "--steps", "3", "--trace", trace])
    done = check.call("show", job, "--format", "html", "--trace", trace)
    check.expect("its page", done.returncode == 0, done.stderr)
    for text in ("As it ran, to scale: step ", " of 3, the one of median length", "trainer 1: "):
        check.expect("the page says " + text, text in done.stdout, done.stdout[-3000:])
    check.expect("nothing contradicts the schedule", "is not drawn" not in done.stdout)
    for name, flags, code, says in (
        ("traces of nothing", ["html", "--trace", job], 1, "leaves one trace for each rank"),
        ("traces without a page", ["text", "--trace", trace], 2, "add --format html"),
    ):
        done = check.call("show", job, "--format", *flags)
        check.expect(name, done.returncode == code and says in done.stderr, done.stderr)


def transpiled(check):
    case = os.path.join(check.corpus, "fluid18", "bert_tiny")
    job = check.path("bert")
    check.expect_exit(
        "a job of the corpus",
        0,
        ["transpile", case + "/main.pdmodel", "--startup", case + "/startup.pdmodel", "-o", job]
        + ["--mode", "collective", "--trainers", "8"],
    )
    look_at(check, "bert_tiny", job, "collective", "grad_allreduce", "all_reduce sum", "8 ranks", "word_ids")


def hostile(check):
    source = check.path("hostile.mlir")
    with open(source, "w") as f:
        f.write(HOSTILE)
    path = write_page(check, "hostile", source)
    dom, complaints = browse(check, path, "--dump-dom")
    elements = Elements(dom)
    check.expect("names of a job do not run", elements.title.startswith("job sha256:"), elements.title)
    check.expect(
        "names of a job are no elements",
        elements.tags.get("script") == 1 and not {"img", "handler"} & set(elements.tags),
        str(elements.tags),
    )
    check.expect("they are shown", "<img src=x onerror=" in elements.text(), elements.text()[:2000])
    check.expect("without a complaint", not complaints, complaints)


if __name__ == "__main__":
    if not BROWSER:
        print("SKIPPED pages in a browser: chromium is not installed (tools/setup/install browser)")
    main([ran] + ([jobs, transpiled, hostile] if BROWSER else []))
