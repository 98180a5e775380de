/**
 * Finds the server program: the user's setting, the environment, the copy inside this extension,
 * and the search path, in this order. A program counts only after it has said its version.
 */

import { execFile } from "node:child_process";
import * as path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A program that does not say its version within this time (milliseconds) is not ours. */
const VERSION_TIMEOUT = 10_000;

/** A program that does not print a page within this time (milliseconds) never will. */
const PAGE_TIMEOUT = 10_000;

/** Where a program was named, in words for people. */
export interface Candidate {
  readonly source: string;
  readonly program: string;
  /** Whether the user asked for this very program: nothing else is tried when it fails. */
  readonly chosen: boolean;
}

/** A program that answered. */
export interface Server extends Candidate {
  readonly version: string;
}

/** The programs to try, best first. */
export function candidates(
  setting: string,
  environment: NodeJS.ProcessEnv,
  extension: string,
  platform: NodeJS.Platform,
): Candidate[] {
  const name = platform === "win32" ? "hiera-ls.exe" : "hiera-ls";
  const found: Candidate[] = [];
  if (setting !== "") {
    found.push({ source: "the setting 'hiera-ls.server.path'", program: setting, chosen: true });
  }
  const named = environment["HIERA_LS_SERVER"] ?? "";
  if (named !== "") {
    found.push({ source: "the environment variable HIERA_LS_SERVER", program: named, chosen: true });
  }
  const bundled = path.join(extension, "server", name);
  found.push({ source: "this extension", program: bundled, chosen: false });
  found.push({ source: "the search path", program: name, chosen: false });
  return found;
}

/**
 * The first program that works, or why none does: one sentence per program that was tried.
 * A program that the user chose is never silently replaced by another.
 */
export async function find(candidates: readonly Candidate[]): Promise<Server | string[]> {
  const failures: string[] = [];
  for (const candidate of candidates) {
    const answer = await version(candidate.program);
    if ("version" in answer) {
      return { ...candidate, version: answer.version };
    }
    failures.push(`${candidate.program} (from ${candidate.source}): ${answer.failure}`);
    if (candidate.chosen) {
      break;
    }
  }
  return failures;
}

/** The page of a rule, as the program carries it. */
export async function page(program: string, code: string): Promise<string> {
  const { stdout } = await run(program, ["explain", code], { timeout: PAGE_TIMEOUT });
  return stdout;
}

async function version(program: string): Promise<{ version: string } | { failure: string }> {
  try {
    const { stdout } = await run(program, ["--version"], { timeout: VERSION_TIMEOUT });
    const said = /^hiera-ls (\S+)/.exec(stdout);
    if (said?.[1] === undefined) {
      return { failure: "it is not hiera-ls: `--version` says something else" };
    }
    return { version: said[1] };
  } catch (error) {
    return { failure: reason(error as NodeJS.ErrnoException & { killed?: boolean }) };
  }
}

function reason(error: NodeJS.ErrnoException & { killed?: boolean }): string {
  if (error.code === "ENOENT") {
    return "there is no such program";
  }
  if (error.code === "EACCES") {
    return "it is not executable";
  }
  if (error.killed === true) {
    return `it did not print its version within ${VERSION_TIMEOUT / 1000} seconds`;
  }
  return error.message.split("\n")[0] ?? error.message;
}
