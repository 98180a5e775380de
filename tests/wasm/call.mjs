// Calls the module that tests/package built: node call.mjs MODULE
import { readFile } from "node:fs/promises";
import process from "node:process";

const { instance } = await WebAssembly.instantiate(await readFile(process.argv[2]), {});
const elements = instance.exports.merged_elements();
console.log(`a lookup in WebAssembly merged ${elements} elements`);
process.exit(elements === 3 ? 0 : 1);
