#!/usr/bin/env python3
"""The documents as a site of HTML that needs no network: `make docs`, or

    PYTHONPATH=build/python main.py FOLDER          writes FOLDER/source and, by Sphinx, FOLDER/html

Pages are those of docs/ and the reference (tools/reference.py). docs/index.md is the first page, and its sections with their links are
the navigation, so a page that it does not name is a failure, as every warning of Sphinx is.
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import doc_blocks  # noqa: E402
import doc_links  # noqa: E402
import reference  # noqa: E402
import sources  # noqa: E402

ROOT = sources.ROOT
LANGUAGES = {"output": "text", "": "text"}


def pages():
    """The documents' pages, relative to docs/."""
    return [page[len("docs/"):] for page in doc_blocks.pages() if page.startswith("docs/")]


def opening(match):
    """A block as Markdown that Sphinx reads: the language alone, without what tells the tests about it."""
    language = match["info"].strip().partition(" ")[0]
    said = match["indent"] + "```" + LANGUAGES.get(language, language)
    return said + match[0][match[0].index("\n"):]


def link(page, match):
    """A link as it is where it stays within the site, else its text and, where that does not say it, the file."""
    target = match["to"].partition("#")[0]
    if re.match(r"[a-z]+:|#", match["to"]) or not target:
        return match[0]
    name = os.path.normpath(os.path.join("docs", os.path.dirname(page), target))
    if name.startswith("docs/") and name.endswith((".md", ".svg")):
        return match[0]
    text = match["text"]
    return text if os.path.basename(name) in text else "%s (`%s`)" % (text, name)


def mention(page, match):
    """docs/NAME.md in the text, as a link to that page."""
    if not os.path.exists(os.path.join(ROOT, "docs", match[1])):
        return match[0]
    return "[%s](%s)" % (match[1], os.path.relpath(match[1], os.path.dirname(page) or "."))


def prose(page, text):
    """The text between blocks with its links."""
    text = re.sub(r"(?<![\w/\[(`])docs/([\w/]+\.md)", lambda match: mention(page, match), text)
    return doc_links.LINK.sub(lambda match: link(page, match), text)


def converted(page, text):
    """A page of docs/ for Sphinx."""
    parts, at = [], 0
    for match in doc_blocks.FENCE.finditer(text):
        parts += [prose(page, text[at:match.start()]), opening(match)]
        at = match.end()
    return "".join(parts) + prose(page, text[at:])


def navigation(index):
    """The sections of the first page: (title, pages)."""
    sections = []
    for part in re.split(r"(?m)^## ", index)[1:]:
        title, _, rest = part.partition("\n")
        names = [match["to"] for match in doc_links.LINK.finditer(rest)]
        names = [re.sub(r"\.md$", "", name) for name in names if not re.match(r"[a-z]+:|#", name)]
        sections.append((title, list(dict.fromkeys(names))))
    return sections


def toctree(names, *options):
    """Links to pages below this one, as Sphinx's Markdown."""
    return "\n".join(["", "```{toctree}", *options, "", *names, "```", ""])


def write_sources(folder):
    """Everything that Sphinx reads; returns the pages of Python and of C."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "reference"))
    found = reference.write_pages(os.path.join(folder, "reference"))
    for page in pages():
        text = converted(page, sources.read(ROOT, "docs/" + page))
        if page == "index.md":
            text += "".join(toctree(names, ":hidden:", ":caption: " + title) for title, names in navigation(text))
        elif page == "DECISIONS/README.md":
            text += toctree(navigation("## " + text)[0][1], ":hidden:")
        elif page == "reference/README.md":
            text += "".join("\n## %s\n" % title + toctree(names, ":maxdepth: 1") for title, names in zip(("Python", "C"), found))
        path = os.path.join(folder, page)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    for name in os.listdir(os.path.join(ROOT, "docs")):
        if name.endswith(".svg"):
            shutil.copy(os.path.join(ROOT, "docs", name), folder)
    for name in ("conf.py", "site.css", "search.js", "layout.html", "search.html"):
        shutil.copy(os.path.join(HERE, name), folder)
    return found


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    source, html = (os.path.join(sys.argv[1], part) for part in ("source", "html"))
    found = write_sources(source)
    shutil.rmtree(html, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-j", "auto", "-d", os.path.join(sys.argv[1], "doctrees"), source, html]
    code = subprocess.run(command).returncode
    if code:
        sys.exit(code)
    print("%d documents, %d pages of Python, %d of C: %s" % (len(pages()), len(found[0]), len(found[1]), os.path.join(html, "index.html")))


if __name__ == "__main__":
    main()
