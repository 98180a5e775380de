"""OpenVox on Ruby 4.0, for scripts of tests/parity: see openvox.rb."""

import json
import pathlib
import resource
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# V8 takes its stack from the program's, in KiB.
STACK = 200_000


def gem_folders():
    """The folders of the gems that OpenVox needs, as Debian installs them; racc comes with Ruby."""
    script = """
      %w[semantic_puppet hocon].each { |name| puts "#{Gem::Specification.find_by_name(name).full_gem_path}/lib" }
      puts $LOAD_PATH.map { |at| File.join(at, 'racc') }.find { |at| File.exist?(File.join(at, 'parser.rb')) }
      puts $LOAD_PATH.map { |at| File.join(at, 'deep_merge') }.find { |at| File.exist?(at) }
    """
    return subprocess.run(["ruby", "-e", script], capture_output=True, text=True, check=True).stdout.split()


def answers(lib, folder, requests):
    """The answers to some requests; paths in them that are in `folder` are those of its copy, /w/run. Returns them with
    the versions."""
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        shutil.copytree(lib, root / "lib")
        shutil.copytree(folder, root / "run")
        (root / "gems").mkdir()
        for at in map(pathlib.Path, gem_folders()):
            inside = root / "gems" / (at.name if at.name != "lib" else "")
            shutil.copytree(at, inside, dirs_exist_ok=True)
            if at.name == "deep_merge":
                shutil.copy(at.parent / "deep_merge.rb", root / "gems")
        shutil.copy(HERE / "../oracle.rb", root)
        text = "\n".join(json.dumps(request) for request in requests) + "\n"
        (root / "requests.jsonl").write_text(text.replace(str(folder), "/w/run"))
        node = ["node", "--no-warnings", f"--stack-size={STACK}", "run.mjs", "4.0", "openvox.rb", str(root)]
        limit = lambda: resource.setrlimit(resource.RLIMIT_STACK, (STACK * 5120, STACK * 5120))
        run = subprocess.run(node, cwd=HERE, preexec_fn=limit, capture_output=True, text=True)
        if not (root / "answers.txt").exists():
            raise RuntimeError(run.stdout + run.stderr)
        lines = (root / "answers.txt").read_text().split("\n")
        return [json.loads(line) for line in lines if line], (root / "versions.txt").read_text().strip()
