"""Pictures: what can be drawn, as a page, SVG, text and data."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Optional, Union

from ._c import lib
from ._call import Handle, written

_FORMATS = {"html": 0, "json": 1, "svg": 2, "text": 3, "trace": 4}  # stow_picture_format


class Page(str):
    """An HTML page that notebooks show in a frame."""

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self, quote=True)}" '
                'style="width:100%;height:640px;border:0"></iframe>')


class Picture:
    """Something that can be drawn."""

    def _make_picture(self) -> int:
        raise NotImplementedError

    def draw(self, format: str = "html") -> str:
        """The picture as text: "html", "svg", "text", "json" (the data of the page), "trace"."""
        if format not in _FORMATS:
            raise ValueError(f"unknown format {format!r}; expected one of {', '.join(_FORMATS)}")
        picture = Handle(self._make_picture(), lib.stow_picture_destroy)
        return written(lib.stow_picture_write, picture, _FORMATS[format], None).decode()

    def view(self, path: Union[None, str, os.PathLike] = None) -> Page:
        """The page, which notebooks show; written to |path|, if that is given."""
        page = Page(self.draw())
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    def _repr_html_(self) -> str:
        return self.view()._repr_html_()
