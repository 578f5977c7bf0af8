// Follows a subscription through killed connections, resuming each time after the last cursor.
// Prints one event a line, and `{"ended": why}` whenever a connection has, until standard input
// ends. Usage: node follow.mjs ws|sse URL QUERY VARIABLES KILLS
// KILLS is a JSON list: kill the first connection after so many events, the second after, ...

import { setTimeout as wait } from "node:timers/promises";

import { connect } from "./clients.mjs";

const AGAIN_MILLISECONDS = 50;

const [transport, url, query, variables, kills] = process.argv.slice(2);
const wanted = JSON.parse(variables);
const schedule = JSON.parse(kills);

process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** Follow until the connection is gone, and say why it is. */
async function followOnce(client, left) {
  for await (const { data, errors } of client.iterate({ query, variables: wanted })) {
    if (errors) return JSON.stringify(errors);
    const [event] = Object.values(data);
    tell(event);
    if (event.cursor) wanted.after = event.cursor;
    if ((left -= 1) === 0) client.kill();
  }
  return left <= 0 ? "killed" : "complete";
}

for (let connection = 0; ; connection += 1) {
  const left = schedule[connection] ?? Infinity;
  const client = connect(transport, url);
  const why = await followOnce(client, left).catch((error) =>
    left === Infinity ? String(error.reason ?? error.message ?? error) : "killed",
  );
  tell({ ended: why });
  await wait(AGAIN_MILLISECONDS);
}
