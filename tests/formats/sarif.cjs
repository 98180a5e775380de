// node sarif.cjs FOLDER FILE: whether the SARIF file satisfies the schema in FOLDER/node_modules.
const fs = require("node:fs");
const path = require("node:path");

const [folder, file] = process.argv.slice(2);
const modules = path.join(folder, "node_modules");
const Ajv = require(path.join(modules, "ajv"));
const schemas = path.join(modules, "@microsoft/jest-sarif/lib/schemas");
const name = fs.readdirSync(schemas).find((entry) => entry.startsWith("sarif-2.1.0"));
const schema = JSON.parse(fs.readFileSync(path.join(schemas, name), "utf8"));
const ajv = new Ajv({ schemaId: "auto", unknownFormats: "ignore", allErrors: true });
const draft = schema.$schema ?? "";
if (draft.includes("draft-04")) ajv.addMetaSchema(require(path.join(modules, "ajv/lib/refs/json-schema-draft-04.json")));
const log = JSON.parse(fs.readFileSync(file, "utf8"));
const validate = ajv.compile(schema);
if (!validate(log)) {
  console.error(validate.errors.slice(0, 10));
  process.exit(1);
}
// A schema that accepts everything would prove nothing.
if (validate({ ...log, version: "1.0" })) {
  console.error("the schema accepts a wrong version");
  process.exit(1);
}
const count = log.runs[0].results.length;
if (count === 0) {
  console.error("no results to validate");
  process.exit(1);
}
console.log(`${count} results satisfy ${name}`);
