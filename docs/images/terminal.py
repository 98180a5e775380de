#!/usr/bin/env python3
"""Runs a terminal program, types, waits for what it shows, and draws its screen as a picture.

usage: terminal.py OUT.png COLUMNSxROWS STEP... -- COMMAND...

A STEP is `wait:TEXT` (until the text is on the screen, at most 15 seconds), `keys:KEYS` (with Python's
escapes), or `keys:KEYS=>TEXT` (the keys again and again until they have brought the text). Needs pyte and pillow, and the font DejaVu Sans Mono.
"""

import codecs
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

import pyte
from PIL import Image, ImageDraw, ImageFont

LIMIT = 15.0
# The screen is drawn when the program has said nothing for so long.
QUIET = 0.4
SIZE = 18
MARGIN = 12
FONTS = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono%s.ttf"
FOREGROUND, BACKGROUND = "e0e2ea", "14161b"
COLOURS = {
    "black": "14161b", "red": "e06c75", "green": "98c379", "brown": "d7a95f",
    "blue": "61afef", "magenta": "c678dd", "cyan": "56b6c2", "white": "c8ccd4",
    "brightblack": "7f8899", "brightred": "e06c75", "brightgreen": "98c379", "brightbrown": "e5c07b",
    "brightblue": "61afef", "brightmagenta": "c678dd", "brightcyan": "56b6c2", "brightwhite": "ffffff",
}


class Screen(pyte.Screen):
    """A screen that passes over what a terminal's keys are set to, which Emacs does."""

    def select_graphic_rendition(self, *attributes, private=False):
        if not private:
            super().select_graphic_rendition(*attributes)


def main():
    out, size, *rest = sys.argv[1:]
    split = rest.index("--")
    columns, rows = map(int, size.split("x"))
    screen = Screen(columns, rows)
    process, terminal = start(rest[split + 1:], columns, rows)
    screen.write_process_input = lambda text: os.write(terminal, text.encode())
    stream = pyte.ByteStream(screen)
    try:
        for step in rest[:split]:
            kind, text = step.split(":", 1)
            if kind == "keys":
                keys, _, wanted = text.partition("=>")
                shown = press(screen, terminal, stream, keys, wanted)
            else:
                shown = shows(screen, terminal, stream, text, LIMIT)
            if not shown:
                sys.exit(f"not on the screen: {text}\n" + "\n".join(screen.display))
        listen(terminal, stream, QUIET)
        draw(screen).save(out, optimize=True)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def start(command, columns, rows):
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", LANG="C.UTF-8")
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return process, terminal


def listen(terminal, stream, quiet):
    """Takes what the program says until it has been silent for `quiet` seconds."""
    while select.select([terminal], [], [], quiet)[0]:
        try:
            stream.feed(os.read(terminal, 65536))
        except OSError:
            return


def press(screen, terminal, stream, keys, wanted):
    limit = time.monotonic() + LIMIT
    while time.monotonic() < limit:
        listen(terminal, stream, QUIET)
        os.write(terminal, codecs.decode(keys, "unicode_escape").encode())
        if not wanted or shows(screen, terminal, stream, wanted, 1.0):
            return True
    return False


def shows(screen, terminal, stream, text, seconds):
    limit = time.monotonic() + seconds
    while text not in "\n".join(screen.display):
        if time.monotonic() > limit:
            return False
        if select.select([terminal], [], [], 0.05)[0]:
            stream.feed(os.read(terminal, 65536))
    return True


def colour(name, default):
    return "#" + (default if name == "default" else COLOURS.get(name, name))


def draw(screen):
    plain, bold = (ImageFont.truetype(FONTS % style, SIZE) for style in ("", "-Bold"))
    width, height = round(plain.getlength("M")), round(SIZE * 1.3)
    full = (width * screen.columns + 2 * MARGIN, height * screen.lines + 2 * MARGIN)
    image = Image.new("RGB", full, "#" + BACKGROUND)
    pen = ImageDraw.Draw(image)
    for row in range(screen.lines):
        for column in range(screen.columns):
            cell = screen.buffer[row][column]
            front, back = colour(cell.fg, FOREGROUND), colour(cell.bg, BACKGROUND)
            if cell.reverse:
                front, back = back, front
            x, y = MARGIN + column * width, MARGIN + row * height
            if back != "#" + BACKGROUND:
                pen.rectangle([x, y, x + width - 1, y + height - 1], fill=back)
            if cell.data.strip():
                pen.text((x, y + 1), cell.data, font=bold if cell.bold else plain, fill=front)
            if cell.underscore:
                pen.line([x, y + height - 3, x + width - 1, y + height - 3], fill=front)
    return image


main()
