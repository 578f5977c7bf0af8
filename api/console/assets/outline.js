// The schema as an outline, from introspection: a foldable entry per type, a line per field.

const QUESTION = `query Outline {
  __schema {
    types {
      name
      kind
      description
      fields { name description args { name type { ...Named } } type { ...Named } }
      inputFields { name description type { ...Named } }
      enumValues { name description }
      possibleTypes { name }
    }
  }
}
fragment Named on __Type {
  kind name ofType { kind name ofType { kind name ofType {
    kind name ofType { kind name ofType { kind name } }
  } } }
}`;

const ROOTS = ["Subscription", "Mutation", "Query"];

/** Every type but those of introspection, the roots first, then by name; asked for with `ask`. */
export async function readTypes(ask) {
  const { data, errors } = await ask({ query: QUESTION, operationName: "Outline" });
  if (!data) throw new Error(errors?.[0]?.message ?? "the schema is not told");
  return data.__schema.types
    .filter(({ name }) => !name.startsWith("__"))
    .sort((a, b) => ROOTS.indexOf(b.name) - ROOTS.indexOf(a.name) || a.name.localeCompare(b.name));
}

/** Entries for `types`, those alone that `words` occur in. */
export function outline(types, words) {
  const wanted = words.trim().toLowerCase();
  const parts = types.map((each) => ({ type: each, lines: linesOf(each) }));
  return parts
    .filter(({ type, lines }) => [type.name, ...lines.map(([line]) => line)].some(holds(wanted)))
    .map(({ type, lines }) => entry(type, lines, wanted !== ""));
}

const holds = (wanted) => (text) => text.toLowerCase().includes(wanted);

function linesOf(type) {
  return [
    ...(type.fields ?? []).map((each) => [`${each.name}${given(each.args)}: ${named(each.type)}`, each]),
    ...(type.inputFields ?? []).map((each) => [`${each.name}: ${named(each.type)}`, each]),
    ...(type.enumValues ?? []).map((each) => [each.name, each]),
    ...(type.kind === "UNION" ? type.possibleTypes.map((each) => [each.name, {}]) : []),
  ];
}

const given = (args) =>
  args.length === 0 ? "" : `(${args.map((each) => `${each.name}: ${named(each.type)}`).join(", ")})`;

function named(type) {
  if (type.kind === "NON_NULL") return `${named(type.ofType)}!`;
  if (type.kind === "LIST") return `[${named(type.ofType)}]`;
  return type.name;
}

function entry(type, lines, open) {
  const list = element("dl");
  for (const [line, { description }] of lines) {
    list.append(element("dt", element("code", line)));
    if (description) list.append(element("dd", description));
  }
  const summary = element("summary", element("code", type.name), ` ${type.kind.toLowerCase()}`);
  const folded = element("details", summary, element("small", type.description ?? ""), list);
  folded.open = open;
  return folded;
}

function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}
