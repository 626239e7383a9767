// The kinds of questions that the photon kitchen_sink asks, with valid and invalid
// answers.

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** files to upload. */
export const files = {
  notes: { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("one\ntwo\n") },
  png: { name: "dot.png", mimeType: "image/png", buffer: png },
  empty: { name: "empty.csv", mimeType: "text/csv", buffer: Buffer.alloc(0) },
};

const person = { name: "Ada Lovelace", email: "ada@example.org", age: 36, topics: ["auth"] };

/**
 * kinds maps each kind of question to
 *   values: the values to fill in;
 *   answer: the answer that the photon receives;
 *   wrong: invalid values, the field that is invalid, and the error beside it.
 */
export const kinds = {
  text: {
    values: { text: "Ada" },
    answer: "Ada",
    wrong: [
      { values: { text: "" }, field: "text", text: /Enter a project name$/ },
      { values: { text: "A" }, field: "text", text: /^Enter a project name of 2 to 40 characters; this one has 1$/ },
    ],
  },
  secret: {
    values: { secret: "correct horse" },
    answer: { length: 13 },
    wrong: [{ values: { secret: "" }, field: "secret", text: /^Enter a passphrase$/ }],
  },
  confirm: { values: {}, submit: "Yes", answer: true, wrong: [] },
  select: {
    values: { select: "staging" },
    answer: "staging",
    wrong: [{ values: {}, field: "select", text: /^Choose an environment$/ }],
  },
  multiselect: {
    values: { multiselect: ["auth", "tracing"] },
    answer: ["auth", "tracing"],
    wrong: [
      { values: { multiselect: [] }, field: "multiselect", text: /^Choose 1 or 2 features$/ },
      { values: { multiselect: ["auth", "logging", "metrics"] }, field: "multiselect", text: /^Choose 1 or 2 features$/ },
    ],
  },
  number: {
    values: { number: "7.5" },
    answer: 7.5,
    wrong: [
      { values: { number: "" }, field: "number", text: /Enter the number of hours$/ },
      { values: { number: "10.5" }, field: "number", text: /^Enter 0 to 10 hours, in steps of 0\.5$/ },
      { values: { number: "-0.5" }, field: "number", text: /^Enter 0 to 10 hours, in steps of 0\.5$/ },
      { values: { number: "0.3" }, field: "number", text: /^Enter 0 to 10 hours, in steps of 0\.5$/ },
    ],
  },
  integer: {
    values: { integer: "4" },
    answer: 4,
    wrong: [
      { values: { integer: "" }, field: "integer", text: /Enter the number of people$/ },
      { values: { integer: "0" }, field: "integer", text: /^Enter 1 to 20 people$/ },
      { values: { integer: "21" }, field: "integer", text: /^Enter 1 to 20 people$/ },
      { values: { integer: "1.5" }, field: "integer", text: /^Enter a whole number of people from 1 to 20$/ },
    ],
  },
  date: {
    values: { date: "2026-05-17" },
    answer: "2026-05-17",
    wrong: [
      { values: { date: "" }, field: "date", text: /Enter a day$/ },
      { values: { date: "2025-12-31" }, field: "date", text: /^Enter a day from 2026-01-01 to 2026-12-31$/ },
      { values: { date: "2027-01-01" }, field: "date", text: /^Enter a day from 2026-01-01 to 2026-12-31$/ },
    ],
  },
  datetime: {
    values: { datetime: "2026-05-17T18:30" },
    answer: "2026-05-17T18:30:00Z",
    wrong: [{ values: { datetime: "" }, field: "datetime", text: /Enter a begin$/ }],
  },
  file: {
    values: { file: files.notes },
    answer: { name: "notes.txt", size: 8 },
    wrong: [{ values: {}, field: "file", text: /^Choose a file/ }],
  },
  form: {
    values: person,
    answer: { ...person, newsletter: true },
    wrong: [
      { values: { ...person, name: "" }, field: "name", text: /Enter a name$/ },
      { values: { ...person, email: "nobody" }, field: "email", text: /Enter an email, such as/ },
      { values: { ...person, age: 17 }, field: "age", text: /^Enter an age from 18 to 120$/ },
      { values: { ...person, age: 121 }, field: "age", text: /^Enter an age from 18 to 120$/ },
      { values: { ...person, topics: ["auth", "logging", "metrics"] }, field: "topics", text: /Choose (1 or|at most) 2 topics/ },
      { values: { ...person, website: "not an address" }, field: "website", text: /^Enter a website, such as/ },
    ],
  },
  url: { values: {}, submit: "I haven’t opened it; continue anyway", answer: true, wrong: [] },
  evidence: { values: {}, submit: "Replace", answer: true, wrong: [] }, // a confirm that shows what it is about
};

/** submitLabel returns the label of the button that submits a kind of question. */
export const submitLabel = (kind) => kinds[kind].submit ?? "Submit";
