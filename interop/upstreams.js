// Other people's servers as upstreams, and calls of all their tools.
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const packageFile = (path) => fileURLToPath(new URL(`./node_modules/@modelcontextprotocol/${path}`, import.meta.url));

/**
 * prepare makes a folder for the servers to work in.
 *
 * @returns {Promise<{folder: string, servers: object, calls: object, remove: Function}>}
 *   the servers as a configuration names them; and the calls of each, in order, which
 *   use every one of its tools: names and arguments
 */
export async function prepare() {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "beam-upstreams-")));
  const file = (name) => join(folder, name);
  await writeFile(file("note.txt"), "one\ntwo\nthree\n");
  await writeFile(file("pixel.png"), Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC", "base64"));
  const node = (...args) => ({ command: process.execPath, args });
  return {
    folder,
    servers: {
      everything: node(packageFile("server-everything/dist/index.js"), "stdio"),
      files: node(packageFile("server-filesystem/dist/index.js"), folder),
      memory: { ...node(packageFile("server-memory/dist/index.js")), env: { MEMORY_FILE_PATH: file("memory.jsonl") } },
      sdk2: node(fileURLToPath(new URL("./sdk2-server.js", import.meta.url))),
    },
    calls: { everything, files: files(file), memory, sdk2: [["deploy", { env: "prod" }]] },
    remove: () => rm(folder, { recursive: true }),
  };
}

const everything = [
  ["echo", { message: "hello" }],
  ["get-annotated-message", { messageType: "error", includeImage: true }],
  ["get-env", {}],
  ["get-resource-links", { count: 3 }],
  ["get-resource-reference", { resourceType: "Text", resourceId: 1 }],
  ["get-structured-content", { location: "Chicago" }],
  ["get-sum", { a: 1.5, b: 2 }],
  ["get-tiny-image", {}],
  ["gzip-file-as-resource", { name: "hello.gz", data: "data:text/plain,hello", outputType: "resource" }],
  ["toggle-simulated-logging", {}],
  ["toggle-simulated-logging", {}],
  ["toggle-subscriber-updates", {}],
  ["toggle-subscriber-updates", {}],
  ["trigger-long-running-operation", { duration: 0.1, steps: 2 }],
  ["get-roots-list", {}],
  ["trigger-elicitation-request", {}],
  ["trigger-url-elicitation", { url: "https://example.com/authorize", message: "Please authorize.", elicitationId: "one" }],
  ["trigger-sampling-request", { prompt: "What is the capital of France?", maxTokens: 50 }],
  ["simulate-research-query", { topic: "photons" }],
];

const files = (file) => [
  ["list_allowed_directories", {}],
  ["read_file", { path: file("note.txt") }],
  ["read_text_file", { path: file("note.txt"), head: 2 }],
  ["read_media_file", { path: file("pixel.png") }],
  ["read_multiple_files", { paths: [file("note.txt"), file("missing.txt")] }],
  ["write_file", { path: file("written.txt"), content: "alpha\nbeta\n" }],
  ["edit_file", { path: file("written.txt"), edits: [{ oldText: "beta", newText: "gamma" }], dryRun: true }],
  ["create_directory", { path: file("sub") }],
  ["move_file", { source: file("written.txt"), destination: file("sub/moved.txt") }],
  ["list_directory", { path: folderOf(file) }],
  ["list_directory_with_sizes", { path: folderOf(file), sortBy: "name" }],
  ["directory_tree", { path: folderOf(file) }],
  ["search_files", { path: folderOf(file), pattern: "**/*.txt" }],
  ["get_file_info", { path: file("note.txt") }],
  ["read_file", { path: "/etc/passwd" }], // outside the folder: an error of the tool
];

const folderOf = (file) => file(".").replace(/\/\.?$/, "");

const memory = [
  ["create_entities", { entities: [{ name: "Ada", entityType: "person", observations: ["likes engines"] }, { name: "Grace", entityType: "person", observations: [] }] }],
  ["create_relations", { relations: [{ from: "Ada", to: "Grace", relationType: "knows" }] }],
  ["add_observations", { observations: [{ entityName: "Grace", contents: ["likes compilers"] }] }],
  ["read_graph", {}],
  ["search_nodes", { query: "compilers" }],
  ["open_nodes", { names: ["Ada"] }],
  ["delete_observations", { deletions: [{ entityName: "Grace", observations: ["likes compilers"] }] }],
  ["delete_relations", { relations: [{ from: "Ada", to: "Grace", relationType: "knows" }] }],
  ["delete_entities", { entityNames: ["Ada", "Grace"] }],
];
