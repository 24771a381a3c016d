"""What a reader sees of a page."""

from __future__ import annotations

import html
import re


def text_of(answer) -> str:
    """What a reader sees, without the markup."""
    assert answer.status_code == 200, answer.text
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", answer.text)))


def table_of(answer) -> list[list[str]]:
    """Cells of the rows of the page's table of windows, or of its first table without one."""
    text = answer.text.partition('aria-label="Table of windows"')
    body = re.search(r"<tbody>(.*?)</tbody>", text[2] or text[0], flags=re.DOTALL)
    return [
        [
            html.unescape(re.sub(r"<[^>]*>", " ", cell)).strip()
            for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL)
        ]
        for row in re.findall(r"<tr>(.*?)</tr>", body[1], flags=re.DOTALL)
    ]
