// What the extension does in a web extension host, by the editor's own interface. web.mjs puts it into the unpacked
// extension, and @vscode/test-web has the host run it. The folder is a copy of fixtures/acme in a virtual file system.

const vscode = require("vscode");

/** Longer than anything takes, in milliseconds. */
const LIMIT = 45_000;

const PAUSE = 200;

const root = () => vscode.workspace.workspaceFolders[0].uri;
const file = (path) => vscode.Uri.joinPath(root(), path);

function check(condition, words) {
  if (!condition) {
    throw new Error(words);
  }
}

/** Asks until the answer counts. */
async function until(what, ask, counts) {
  const end = Date.now() + LIMIT;
  let last;
  while (Date.now() < end) {
    last = await ask();
    if (counts(last)) {
      return last;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  throw new Error(`${what}: ${JSON.stringify(last)?.slice(0, 2000)}`);
}

/** The place of a text in a document, so many characters behind its start. */
function place(document, text, behind = 0) {
  const at = document.getText().indexOf(text);
  check(at >= 0, `${document.uri} has no '${text}'`);
  return document.positionAt(at + behind);
}

async function show(path) {
  const document = await vscode.workspace.openTextDocument(file(path));
  const editor = await vscode.window.showTextDocument(document, { preview: false });
  return { document, editor };
}

async function hoverText(document, at) {
  const hovers = await vscode.commands.executeCommand("vscode.executeHoverProvider", document.uri, at);
  return hovers.flatMap((hover) => hover.contents.map((content) => content.value ?? content)).join("\n");
}

async function insert(document, at, text) {
  const edit = new vscode.WorkspaceEdit();
  edit.insert(document.uri, at, text);
  check(await vscode.workspace.applyEdit(edit), `'${text}' was not inserted`);
}

async function revert(document) {
  await vscode.window.showTextDocument(document);
  await vscode.commands.executeCommand("workbench.action.files.revert");
  check(!document.isDirty, `${document.uri} was not reverted`);
}

/** The text of the server's document in front. */
const shownText = () => {
  const editor = vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === "hiera-ls");
  return editor?.document.getText() ?? "";
};

const codes = (uri) => vscode.languages.getDiagnostics(uri).map(({ code }) => code?.value ?? code);

const tests = {
  async "it runs in a browser, on files that are not on a disk"() {
    check(vscode.env.uiKind === vscode.UIKind.Web, "the editor is no browser");
    check(typeof process === "undefined" || process.versions?.node === undefined, "the host has Node");
    check(root().scheme === "vscode-test-web", String(root()));
    check(globalThis.crossOriginIsolated !== true, "the page is isolated, which vscode.dev often is not");
  },

  async "a hover shows the merged value"() {
    const { document } = await show("data/role/web.yaml");
    const at = place(document, "profile::web::firewall", 3);
    const text = await until("no hover", () => hoverText(document, at), (text) => text.includes("merged as hash from 2 levels"));
    check(text.includes("port: 443"), text);
    check(text.includes("](vscode-test-web://mount/data/common.yaml#L") && !text.includes("](file:"), text);
  },

  async "problems of files that are not open are shown"() {
    const mistakes = await until(
      "no problems",
      () => vscode.languages.getDiagnostics().filter(([uri]) => uri.path.includes("/mistakes/")),
      (found) => found.length > 10,
    );
    check(mistakes.every(([uri]) => uri.scheme === "vscode-test-web"), "a problem is in a file that is not there");
    const elsewhere = vscode.languages.getDiagnostics().filter(([uri]) => !uri.path.includes("/mistakes/"));
    check(elsewhere.flatMap(([, found]) => found).length === 0, JSON.stringify(elsewhere));
  },

  async "half-typed text is completed"() {
    const { document } = await show("data/role/web.yaml");
    const typed = "\nhalf: \"%{lookup('site::na";
    await insert(document, document.positionAt(document.getText().length), typed);
    const ask = () => vscode.commands.executeCommand(
      "vscode.executeCompletionItemProvider", document.uri, document.positionAt(document.getText().length));
    const label = (item) => (typeof item.label === "string" ? item.label : item.label.label);
    await until("no completion", ask, ({ items }) => items.some((item) => label(item) === "site::name"));
    await revert(document);
  },

  async "from a token to its key in another file, and to all its uses"() {
    const { document } = await show("data/common.yaml");
    const found = await vscode.commands.executeCommand(
      "vscode.executeDefinitionProvider", document.uri, place(document, "lookup('site::name')", 9));
    const [{ targetUri, uri, targetRange, range }] = found;
    check(String(targetUri ?? uri) === String(file("data/common.yaml")), JSON.stringify(found));
    check((targetRange ?? range).start.line === place(document, "site::name: Acme").line, JSON.stringify(found));
    const uses = await vscode.commands.executeCommand(
      "vscode.executeReferenceProvider", document.uri, place(document, "site::name: Acme", 2));
    check(uses.length >= 2 && uses.every(({ uri }) => uri.scheme === "vscode-test-web"), JSON.stringify(uses));
  },

  async "a key is renamed in all files"() {
    const { document: other } = await show("data/role/web.yaml");
    await insert(other, other.positionAt(other.getText().length), "\nrenames::other: \"%{lookup('site::name')}\"\n");
    const { document } = await show("data/common.yaml");
    const at = place(document, "site::name: Acme", 2);
    const { placeholder } = await vscode.commands.executeCommand("vscode.prepareRename", document.uri, at);
    check(placeholder === "site::name", placeholder);
    const edit = await vscode.commands.executeCommand("vscode.executeDocumentRenameProvider", document.uri, at, "site::title");
    const files = edit.entries().map(([uri]) => uri);
    check(files.length === 2 && files.every(({ scheme }) => scheme === "vscode-test-web"), files.join());
    check(await vscode.workspace.applyEdit(edit), "the key was not renamed");
    const documents = await Promise.all(files.map((uri) => vscode.workspace.openTextDocument(uri)));
    for (const changed of documents) {
      const text = changed.getText();
      check(text.includes("site::title") && !/site::name\b/.test(text), `${changed.uri}: ${text}`);
    }
    const moved = place(document, "site::title: Acme", 2);
    await until("no hover on the new name", () => hoverText(document, moved), (text) => text.includes("site::title"));
    for (const changed of documents) {
      await revert(changed);
    }
    await until("problems stay", () => documents.flatMap(({ uri }) => codes(uri)), (found) => found.length === 0);
  },

  async "an edit makes a problem, and a fix takes it away"() {
    const { document } = await show("data/role/web.yaml");
    check(codes(document.uri).length === 0, codes(document.uri).join());
    await insert(document, document.positionAt(document.getText().length), "\nprofile::web::mode: 0644\n");
    await until("no problem", () => codes(document.uri), (found) => found.includes("yaml11-octal"));
    const at = place(document, "0644");
    const ask = () => vscode.commands.executeCommand(
      "vscode.executeCodeActionProvider", document.uri, new vscode.Range(at, at.translate(0, 4)), undefined, 20);
    const actions = await until("no fix", ask, (actions) => actions.some(({ title }) => title.includes("Quote it")));
    const fix = actions.find(({ title }) => title.includes("Quote it"));
    check(await vscode.workspace.applyEdit(fix.edit), "the fix was not made");
    check(document.getText().includes('profile::web::mode: "0644"'), document.getText());
    await until("the problem stays", () => codes(document.uri), (found) => !found.includes("yaml11-octal"));
    await revert(document);
  },

  async "a matrix is shown as a table, and as a text"() {
    const { document, editor } = await show("data/role/web.yaml");
    const at = place(document, "profile::web::workers", 3);
    editor.selection = new vscode.Selection(at, at);
    await vscode.commands.executeCommand("hiera.matrix");
    const isMatrix = ({ label }) => label === "Values of profile::web::workers";
    await until("no table", () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs), (tabs) => tabs.some(isMatrix));
    await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
    await vscode.window.showTextDocument(document, { selection: new vscode.Range(at, at) });
    await vscode.commands.executeCommand("hiera-ls.matrixAsText");
    const text = await until("no text", shownText, (text) => text.includes("web01.lon.acme.example"));
    check(text.includes("profile::web::workers"), text);
    await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
  },

  async "the impact of an edit that is not saved is shown"() {
    const { document } = await show("data/common.yaml");
    const at = place(document, "site::name: Acme", "site::name: Acme".length);
    await insert(document, at, " Corp");
    await vscode.commands.executeCommand("hiera.impact");
    const text = await until("no impact", shownText, (text) => text.includes("Acme Corp"));
    check(text.includes("site::name"), text);
    await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
    await revert(document);
  },

  async "a file that appears beside the editor changes answers"() {
    const made = file("data/node/web01.lon.acme.example.yaml");
    const before = new TextDecoder().decode(await vscode.workspace.fs.readFile(made).then((bytes) => bytes, () => new Uint8Array()));
    const text = `${before}\nprofile::web::firewall: {ssh: {port: 2222}}\n`;
    await vscode.workspace.fs.writeFile(made, new TextEncoder().encode(text));
    const { document } = await show("data/role/web.yaml");
    const at = place(document, "profile::web::firewall", 3);
    await until("the new file is not seen", () => hoverText(document, at), (text) => text.includes("adds `ssh` on web01.lon.acme.example"));
    await vscode.workspace.fs.writeFile(made, new TextEncoder().encode(before));
    await until("the old file is not seen", () => hoverText(document, at), (text) => !text.includes("`ssh`"));
  },

  async "the page of a rule is there"() {
    const uri = vscode.Uri.parse("hiera-ls:/rules/yaml11-octal.md");
    const document = await vscode.workspace.openTextDocument(uri);
    check(document.getText().startsWith("# yaml11-octal"), document.getText().slice(0, 200));
  },

  async "what needs a disk says so"() {
    // The page looks for the sentence.
    await vscode.commands.executeCommand("hiera.reveal");
  },

  async "a server whose module traps is started again"() {
    const { document } = await show("data/role/web.yaml");
    const at = place(document, "profile::web::firewall", 3);
    // The module in this test traps here; the page looks for the sentence.
    const asked = vscode.workspace.openTextDocument(vscode.Uri.parse("hiera-ls:/rules/trap.md"));
    await asked.then(() => undefined, () => undefined);
    await until("no hover after a trap", () => hoverText(document, at), (text) => text.includes("merged as hash from 2 levels"));
  },
};

/** Shows a matrix and a hover, until the page has seen both and types. */
async function forThePage() {
  const { document, editor } = await show("data/role/web.yaml");
  const at = place(document, "profile::web::firewall", 3);
  editor.selection = new vscode.Selection(at, at);
  await vscode.commands.executeCommand("hiera.matrix");
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.One });
  await until(
    "the page has not seen a hover and a matrix",
    () => vscode.commands.executeCommand("editor.action.showHover").then(() => document.isDirty),
    Boolean,
  );
}

exports.run = async () => {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    const began = Date.now();
    try {
      await test();
      console.log(`ok ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED ${name}: ${error.stack ?? error}`);
    }
  }
  await forThePage();
  console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
  check(failed === 0, "some tests failed");
};
