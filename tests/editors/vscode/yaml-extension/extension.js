// Starts the program in YAMLLS for YAML files, and hands it the settings that it asks for.

const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async () => {
  const server = { command: process.env.YAMLLS, args: ["--stdio"] };
  client = new LanguageClient("yaml", "YAML", server, {
    documentSelector: [{ language: "yaml" }],
    synchronize: { configurationSection: ["yaml"] },
  });
  await client.start();
};

exports.deactivate = () => client?.stop();
