#!/usr/bin/env python3
"""Whether the links of a built book lead to pages, headings and pictures that are there: links.py FOLDER"""

import html.parser
import pathlib
import sys
from urllib.parse import unquote, urlsplit


class Page(html.parser.HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.targets.append(value)
            elif name == "id":
                self.names.add(value)


def dead(at, page, pages):
    for target in page.targets:
        url = urlsplit(target)
        if url.scheme or url.netloc:
            continue
        to = (at.parent / unquote(url.path)).resolve() if url.path else at
        if not to.is_file():
            yield target
        elif url.fragment and to in pages and unquote(url.fragment) not in pages[to].names:
            yield target


def main():
    book = pathlib.Path(sys.argv[1]).resolve()
    pages = {at: Page(at.read_text()) for at in book.rglob("*.html")}
    # The page for printing is all pages in one; the error page has links from the server's root.
    checked = [at for at in sorted(pages) if at.name not in ("print.html", "404.html")]
    wrong = [f"{at.relative_to(book)}: {target}" for at in checked for target in dead(at, pages[at], pages)]
    print("\n".join(wrong) or f"{len(checked)} pages, no dead link")
    return 1 if wrong else 0


sys.exit(main())
