// Packs the extension with a server program inside, for the platform that this runs on:
//
//   npm run package              the release build, made now if it is missing or old
//   npm run package -- PROGRAM   this program, for the platform named in VSIX_PLATFORM
//
// With VSIX_PLATFORM=web it packs the server as a WebAssembly module, which web/build makes, and no program.
//
// Writes hiera-ls-PLATFORM.vsix into this folder, or to the file named in VSIX.

import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const project = join(root, "../..");
const suffix = process.platform === "win32" ? ".exe" : "";
const platform = `${process.platform}-${process.arch === "arm" ? "armhf" : process.arch}`;
const target = process.env.VSIX_PLATFORM || platform;
const output = resolve(process.env.VSIX || join(root, `hiera-ls-${target}.vsix`));

const module = join(root, "dist/hiera-ls.wasm");
rmSync(join(root, "server"), { recursive: true, force: true });
rmSync(module, { force: true });
if (target === "web") {
  const made = join(project, "target/web/hiera-ls-server.wasm");
  if (!existsSync(made)) {
    execFileSync(join(project, "web/build"), ["server"], { stdio: "inherit" });
  }
  copyFileSync(made, module);
} else {
  addProgram(process.argv[2]);
}

function addProgram(program) {
  if (program === undefined) {
    execFileSync("cargo", ["build", "--release", "--locked"], { cwd: project, stdio: "inherit" });
    program = join(project, "target/release", `hiera-ls${suffix}`);
  }
  const inside = join(root, "server", `hiera-ls${suffix}`);
  mkdirSync(join(root, "server"));
  copyFileSync(program, inside);
  chmodSync(inside, 0o755);
  try {
    execFileSync("strip", [inside], { stdio: "ignore" });
  } catch {
    // Without binutils the package is larger, and nothing else.
  }
}

// Those of the read-me, and those of the walkthrough for each kind of theme.
const pictures = { "lenses.png": "vscode-lenses-dark.png", "problem.png": "vscode-problem-dark.png" };
for (const theme of ["dark", "light"]) {
  for (const name of ["hover", "nodes", "select", "matrix"]) {
    pictures[`${name}-${theme}.png`] = `vscode-${name}-${theme}.png`;
  }
}
rmSync(join(root, "images"), { recursive: true, force: true });
mkdirSync(join(root, "images"));
for (const [name, picture] of Object.entries(pictures)) {
  copyFileSync(join(project, "docs/images", picture), join(root, "images", name));
}
const licences = ["LICENSE-MIT", "LICENSE-APACHE"].map((name) => readFileSync(join(project, name)));
writeFileSync(join(root, "LICENSE.txt"), licences.join("\n\n"));
const vsce = join(root, "node_modules/@vscode/vsce/vsce");
const flags = ["--no-dependencies", "--target", target, "--out", output];
// Pictures are inside the package, and the project has no public address yet.
flags.push("--allow-missing-repository", "--no-rewrite-relative-links");
// Node.js 18, which Debian 12 has, lacks a global that a package below vsce wants to see.
const file = 'import { File } from "node:buffer"; globalThis.File ??= File';
const node = ["--import", `data:text/javascript,${encodeURIComponent(file)}`];
execFileSync(process.execPath, [...node, vsce, "package", ...flags], { cwd: root, stdio: "inherit" });
