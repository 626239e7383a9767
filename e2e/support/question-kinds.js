// The kinds of questions that the photon kitchen-sink asks: what a person may
// fill in, what the photon gets, and what is refused and how.

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** files that people hand in. */
export const files = {
  notes: { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("one\ntwo\n") },
  png: { name: "dot.png", mimeType: "image/png", buffer: png },
  empty: { name: "empty.csv", mimeType: "text/csv", buffer: Buffer.alloc(0) },
};

const person = { name: "Ada Lovelace", email: "ada@example.org", age: 36, topics: ["auth"] };

/**
 * kinds maps each kind of one question to
 *   values: what is filled in;
 *   answer: what the photon gets;
 *   wrong: what is refused: the values, the field, and what is said beside it.
 */
export const kinds = {
  text: {
    values: { text: "Ada" },
    answer: "Ada",
    wrong: [
      { values: { text: "" }, field: "text", says: /required/ },
      { values: { text: "A" }, field: "text", says: /at least 2 characters/ },
    ],
  },
  secret: {
    values: { secret: "correct horse" },
    answer: { length: 13 },
    wrong: [{ values: { secret: "" }, field: "secret", says: /required/ }],
  },
  confirm: { values: {}, submit: "Yes", answer: true, wrong: [] },
  select: {
    values: { select: "staging" },
    answer: "staging",
    wrong: [{ values: {}, field: "select", says: /required/ }],
  },
  multiselect: {
    values: { multiselect: ["auth", "tracing"] },
    answer: ["auth", "tracing"],
    wrong: [
      { values: { multiselect: [] }, field: "multiselect", says: /required|at least/ },
      { values: { multiselect: ["auth", "logging", "metrics"] }, field: "multiselect", says: /at most 2/ },
    ],
  },
  number: {
    values: { number: "7.5" },
    answer: 7.5,
    wrong: [
      { values: { number: "" }, field: "number", says: /required/ },
      { values: { number: "10.5" }, field: "number", says: /at most 10/ },
      { values: { number: "-0.5" }, field: "number", says: /at least 0/ },
      { values: { number: "0.3" }, field: "number", says: /multiple of 0\.5/ },
    ],
  },
  integer: {
    values: { integer: "4" },
    answer: 4,
    wrong: [
      { values: { integer: "" }, field: "integer", says: /required/ },
      { values: { integer: "0" }, field: "integer", says: /at least 1/ },
      { values: { integer: "21" }, field: "integer", says: /at most 20/ },
      { values: { integer: "1.5" }, field: "integer", says: /whole number|integer/ },
    ],
  },
  date: {
    values: { date: "2026-05-17" },
    answer: "2026-05-17",
    wrong: [
      { values: { date: "" }, field: "date", says: /required/ },
      { values: { date: "2025-12-31" }, field: "date", says: /not be before 2026-01-01/ },
      { values: { date: "2027-01-01" }, field: "date", says: /not be after 2026-12-31/ },
    ],
  },
  datetime: {
    values: { datetime: "2026-05-17T18:30" },
    answer: "2026-05-17T18:30:00Z",
    wrong: [{ values: { datetime: "" }, field: "datetime", says: /required/ }],
  },
  file: {
    values: { file: files.notes },
    answer: { name: "notes.txt", size: 8 },
    wrong: [{ values: {}, field: "file", says: /choose a file/ }],
  },
  form: {
    values: person,
    answer: { ...person, newsletter: true },
    wrong: [
      { values: { ...person, name: "" }, field: "name", says: /required/ },
      { values: { ...person, email: "nobody" }, field: "email", says: /e-?mail/ },
      { values: { ...person, age: 17 }, field: "age", says: /at least 18/ },
      { values: { ...person, age: 121 }, field: "age", says: /at most 120/ },
      { values: { ...person, topics: ["auth", "logging", "metrics"] }, field: "topics", says: /at most 2/ },
      { values: { ...person, website: "not an address" }, field: "website", says: /URI|address/ },
    ],
  },
  url: { values: {}, submit: "I agree, continue", answer: true, wrong: [] },
};

/** verb is the label of the button that accepts a kind. */
export const verb = (kind) => kinds[kind].submit ?? "Submit";
