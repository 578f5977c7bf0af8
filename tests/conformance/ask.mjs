// Runs the requests given as a JSON list on standard input, and prints what each one got.
// Usage: node ask.mjs ws|sse URL < requests.json

import { text } from "node:stream/consumers";

import { connect } from "./clients.mjs";

const [transport, url] = process.argv.slice(2);
const client = connect(transport, url);
const answers = [];
for (const request of JSON.parse(await text(process.stdin))) {
  const results = [];
  try {
    for await (const result of client.iterate(request)) results.push(result);
  } catch (errors) {
    // graphql-transport-ws tells what is wrong with a request in a message of its own
    results.push({ errors });
  }
  answers.push(results);
}
client.dispose();
console.log(JSON.stringify(answers));
process.exit(0);
