"""The lines of answers that differ between versions of Ruby, for tests/parity/ruby/make: the kind, the question, and an
answer for each version. The first line has the versions. Characters that a list shows as they are in one version alone
are runs: `characters`, the first and the last in hexadecimal, and yes or no."""

import pathlib
import sys


def read(folder):
    answers, plain = {}, set()
    for line in (pathlib.Path(folder) / "answers.txt").read_text().split("\n"):
        if line.startswith("run\t"):
            first, last = (int(code, 16) for code in line.split("\t")[1:])
            plain.update(range(first, last + 1))
        elif line:
            kind, question, answer = line.split("\t")
            answers[kind, question] = answer
    return answers, plain


def main():
    folders = sys.argv[1:]
    versions = [(pathlib.Path(folder) / "versions.txt").read_text().strip() for folder in folders]
    print("\t".join(["kind", "question", *versions]))
    read_all = [read(folder) for folder in folders]
    sets = [plain for _, plain in read_all]
    run = None
    for code in range(0x110001):
        states = tuple(code in plain for plain in sets)
        state = states if len(set(states)) > 1 else None
        if run and state != run[1]:
            shown = ["yes" if plain else "no" for plain in run[1]]
            print("\t".join(["characters", f"{run[0]:x}-{code - 1:x}", *shown]))
            run = None
        if state and not run:
            run = (code, state)
    for question in read_all[0][0]:
        answers = [answers[question] for answers, _ in read_all]
        if len(set(answers)) > 1:
            print("\t".join([*question, *answers]))


main()
